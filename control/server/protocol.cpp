// SPDX-License-Identifier: Apache-2.0
#include "control/server/protocol.hpp"

namespace softspine::control {

namespace {

// Text that came from outside may be cut anywhere; a bad byte must not throw when it goes out again.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The request's JSON, or what was too much about it. Values beyond the limit are not kept while the rest is read.
Json parsed(std::string_view line, std::string& excess) {
  int keys = 0;
  const auto within_bounds = [&](int depth, Json::parse_event_t event, Json&) {
    const bool opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    keys += event == Json::parse_event_t::key;
    if (opens && depth >= kMaxRequestDepth)
      excess = "the request nests deeper than " + std::to_string(kMaxRequestDepth);
    if (keys > kMaxKeys) excess = "the request has more than " + std::to_string(kMaxKeys) + " keys";
    return excess.empty();
  };
  return Json::parse(line, within_bounds, false);
}

std::expected<void, std::string> take_key(Request& request, const std::string& key, Json& value) {
  if (key == "id") {
    if (!value.is_number() && !value.is_string() && !value.is_null())
      return std::unexpected("'id' is neither a number nor a string");
    request.id = std::move(value);
  } else if (key == "command") {
    if (!value.is_string()) return std::unexpected("'command' is not a string");
    request.command = value.get<std::string>();
  } else if (key == "arguments") {
    if (!value.is_object()) return std::unexpected("'arguments' is not an object");
    request.arguments = std::move(value);
  } else {
    return std::unexpected("unknown key '" + key + "'; a request has id, command and arguments");
  }
  return {};
}

}  // namespace

std::expected<Request, std::string> parse_request(std::string_view line) {
  std::string excess;
  Json json = parsed(line, excess);
  if (!excess.empty()) return std::unexpected(excess);
  if (!json.is_object()) return std::unexpected("the request is not a JSON object");
  Request request;
  for (auto& [key, value] : json.items()) {
    if (const auto taken = take_key(request, key, value); !taken) return std::unexpected(taken.error());
  }
  if (request.command.empty()) return std::unexpected("the request names no command");
  return request;
}

std::expected<Json, std::string> parse_arguments(std::string_view text) {
  std::string excess;
  Json json = parsed(text, excess);
  if (!excess.empty()) return std::unexpected(excess);
  if (!json.is_object()) return std::unexpected("the arguments are not a JSON object");
  return json;
}

std::string json_text_of(const Json& json) {
  return text_of(json);
}

std::string format_request(const Request& request) {
  return text_of({{"id", request.id}, {"command", request.command}, {"arguments", request.arguments}}) + '\n';
}

std::string format_response(const Json& id, const Result& result) {
  const std::string head = R"({"id":)" + text_of(id);
  if (!result) return head + R"(,"ok":false,"error":)" + text_of(result.error()) + "}\n";
  return head + R"(,"ok":true,"result":)" + text_of(*result) + "}\n";
}

std::string format_page(const Json& id, const std::string& page) {
  return R"({"id":)" + text_of(id) + R"(,"ok":true,"more":true,"result":)" + text_of(page) + "}\n";
}

Response parse_response(std::string_view line) {
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("ok") || !json["ok"].is_boolean()) {
    return {.id = Json{}, .result = std::unexpected("the answer is not one of softspine's"), .more = false};
  }
  Json id = std::move(json["id"]);
  if (json["ok"].get<bool>()) {
    const bool more = json.value("more", Json{}) == Json(true);
    return {.id = std::move(id), .result = std::move(json["result"]), .more = more};
  }
  const Json& error = json["error"];
  return {.id = std::move(id),
          .result = std::unexpected(error.is_string() ? error.get<std::string>() : "refused without a reason"),
          .more = false};
}

}  // namespace softspine::control
