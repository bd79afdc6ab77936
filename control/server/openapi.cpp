// SPDX-License-Identifier: Apache-2.0
#include "control/server/openapi.hpp"

#include "control/server/web_target.hpp"

namespace softspine::control {

namespace {

Json content(const char* type, Json schema) {
  return {{type, {{"schema", std::move(schema)}}}};
}

Json responses(Json good_content, const char* good_words) {
  return {{"200", {{"description", good_words}, {"content", std::move(good_content)}}},
          {"default",
           {{"description", "why there is no answer"},
            {"content", content("application/json", {{"$ref", "#/components/schemas/Error"}})}}}};
}

Json operation(const std::string& id, const std::string& help) {
  Json out{{"operationId", id}, {"summary", help}};
  return out;
}

std::string id_of(const CommandFacts& facts) {
  std::string id = facts.name;
  for (char& c : id) c = c == ' ' || c == '-' ? '_' : c;
  return id;
}

Json text_type() {
  return content("text/plain", {{"type", "string"}});
}

Json reading(const CommandFacts& facts) {
  Json out = operation(id_of(facts), facts.help);
  Json parameters = Json::array();
  for (const ArgumentFacts& each : facts.arguments) {
    if (each.name == "format") continue;
    parameters.push_back({{"name", each.name},
                          {"in", "query"},
                          {"required", each.required},
                          {"description", each.help},
                          {"schema", {{"type", each.type}}}});
  }
  out["parameters"] = std::move(parameters);
  out["responses"] = responses(facts.is_paged ? text_type() : content("application/json", Json::object()),
                               facts.is_paged ? "the text" : "what `softspine show --json` prints");
  return {{"get", std::move(out)}};
}

Json changing(const CommandFacts& facts) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const ArgumentFacts& each : facts.arguments) {
    if (each.name == "format") continue;
    properties[each.name] = {{"type", each.type}, {"description", each.help}};
    if (each.required) required.push_back(each.name);
  }
  Json schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = facts.takes_others;
  Json out = operation(id_of(facts), facts.help);
  out["requestBody"] = {{"required", true}, {"content", content("application/json", std::move(schema))}};
  out["responses"] = responses(content("application/json", Json::object()), "what was done");
  return {{"post", std::move(out)}};
}

Json get_of(const char* id, const char* help, Json good_content) {
  Json out = operation(id, help);
  out["responses"] = responses(std::move(good_content), "as the summary says");
  return {{"get", std::move(out)}};
}

Json all_paths(const Commands& commands, const WebPolicy& policy) {
  Json paths = Json::object();
  paths["/metrics"] = get_of("metrics", "everything as Prometheus reads it", text_type());
  paths["/api/openapi.json"] = get_of("openapi", "this document", content("application/json", Json::object()));
  paths["/events"] = get_of("events", "a WebSocket: each message is an array of events, in the order of emulated time",
                            content("application/json", {{"type", "array"}, {"items", {{"type", "object"}}}}));
  for (const CommandFacts* facts : commands.all_facts()) {
    if (facts->kind == CommandKind::kReading) paths[path_of(*facts)] = reading(*facts);
    if (facts->kind == CommandKind::kChanging && policy.control) paths[path_of(*facts)] = changing(*facts);
  }
  return paths;
}

}  // namespace

Json openapi_json(const Commands& commands, const WebPolicy& policy, const ApiTitle& title) {
  Json out{{"openapi", "3.1.0"},
           {"info", {{"title", "softspine: " + title.testbed}, {"version", title.version}}},
           {"paths", all_paths(commands, policy)}};
  Json error{{"type", "object"}, {"properties", {{"error", {{"type", "string"}}}}}};
  out["components"] = {{"schemas", {{"Error", std::move(error)}}}};
  if (!policy.token.empty()) {
    out["components"]["securitySchemes"] = {{"token", {{"type", "http"}, {"scheme", "bearer"}}}};
    out["security"] = Json::array({Json{{"token", Json::array()}}});
  }
  return out;
}

}  // namespace softspine::control
