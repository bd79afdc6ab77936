// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/schema_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "control/load/load.hpp"

namespace softspine::tests {
namespace {

// Keys whose texts name something, by a part of the key's name. Others get any name at all.
constexpr std::array<std::pair<std::string_view, std::string_view>, 39> kNamed{{
    {"link", "port"},
    {"node", "node"},
    {"rack", "tor"},
    {"at", "switch"},
    {"via", "port_or_switch"},
    {"from", "host"},
    {"to", "host"},
    {"hosts", "host"},
    {"base", "base"},
    {"profile", "profile"},
    {"tor", "profile"},
    {"aggregation", "profile"},
    {"core", "profile"},
    {"ports", "port_name"},
    {"server", "host"},
    {"servers", "server"},
    {"of", "server"},
    {"servers_of", "fabric"},
    {"pool", "pool"},
    {"profile_list", "buffer_profile"},
    {"scheduler", "scheduler"},
    {"wred_profile", "wred"},
    {"switches", "tor"},
    {"primary", "tor"},
    {"between", "switch"},
    {"in", "edge_input"},
    {"out", "edge_output"},
    {"include", "include"},
    {"config_db", "config_db"},
    {"pg_profile_lookup", "pg_profile_lookup"},
    {"switch_json", "switch_json"},
    {"switch_config", "switch_config"},
    {"file", "import"},
    {"flow_list", "flow_list"},
    {"workload_text", "workload_text"},
    {"server_file", "server_file"},
    {"sizes", "sizes"},
    {"plan", "plan"},
    {"as", "import_rule"},
}};

std::string_view kind_of_name(std::string_view key) {
  const auto found = std::ranges::find(kNamed, key, &std::pair<std::string_view, std::string_view>::first);
  return found == kNamed.end() ? "any" : found->second;
}

}  // namespace

Schema::Schema() : all_(Json::parse(control::testbed_schema())) {
  leave_out();
  for (const auto& [name, table] : all_["$defs"].items()) {
    for (const auto& [key, of] : table["properties"].items()) keys_.push_back({name, key});
    find_distances(name);
  }
}

void Schema::leave_out() {
  for (auto& [name, table] : all_["$defs"].items()) {
    Json kept = Json::object();
    for (const auto& [key, of] : table["properties"].items()) {
      if (reason_to_leave_out({name, key}).empty()) kept[key] = of;
    }
    table["properties"] = std::move(kept);
  }
  all_["$defs"]["run"]["properties"]["clock"]["enum"] = Json::array({"virtual"});
}

std::string Schema::table_of(const Json& schema) {
  constexpr std::string_view kPrefix = "#/$defs/";
  const auto found = schema.find("$ref");
  return found == schema.end() ? "" : found->get<std::string>().substr(kPrefix.size());
}

const Json& Schema::followed(const Json& schema) const {
  const std::string name = table_of(schema);
  return name.empty() ? schema : table(name);
}

const Json& Schema::fitting(const Json& schema, const Json& value) const {
  for (const char* word : {"anyOf", "oneOf"}) {
    const auto found = schema.find(word);
    if (found == schema.end() || schema.contains("properties")) continue;
    for (const Json& option : *found) {
      const Json& of = followed(option);
      const std::string type = of.contains("type") && of["type"].is_string() ? of["type"].get<std::string>() : "";
      if (value.is_array() != (type == "array") || value.is_object() != (type == "object")) continue;
      const bool has_kind = value.is_object() && of.contains("properties") && of["properties"].contains("kind");
      if (has_kind && of["properties"]["kind"]["const"] != value.value("kind", "")) continue;
      return option;
    }
    return found->front();
  }
  return schema;
}

uint32_t Schema::distance_of(const Json& schema, const std::map<std::string, uint32_t>& known) const {
  if (const std::string name = table_of(schema); !name.empty()) {
    const auto found = known.find(name);
    return found == known.end() ? kFar : found->second;
  }
  uint32_t least = kFar;
  for (const char* word : {"anyOf", "oneOf"}) {
    if (!schema.contains(word) || schema.contains("properties")) continue;
    for (const Json& option : schema[word]) least = std::min(least, distance_of(option, known));
  }
  for (const char* word : {"items", "additionalProperties"}) {
    if (schema.contains(word) && schema[word].is_object()) least = std::min(least, distance_of(schema[word], known));
  }
  return least;
}

void Schema::find_distances(const std::string& to) {
  auto& known = distances_[to];
  known[to] = 0;
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [name, table] : all_["$defs"].items()) {
      if (known.contains(name)) continue;
      uint32_t least = kFar;
      for (const auto& [key, of] : table["properties"].items()) least = std::min(least, distance_of(of, known));
      if (least == kFar) continue;
      known[name] = least + 1;
      grown = true;
    }
  }
}

uint32_t Schema::distance(const Json& schema, const std::string& to) const {
  return distance_of(schema, distances_.at(to));
}

const Schema& schema() {
  static const Schema all;
  return all;
}

// As likely small as large: a power of two at most `most`, and something below it.
uint64_t SchemaValues::about(uint64_t least, uint64_t most) {
  if (most <= least) return least;
  const uint64_t span = most - least;
  const uint64_t bits = below(static_cast<uint64_t>(std::bit_width(span)) + 1);
  const uint64_t end = bits >= 64 ? span : std::min(span, (uint64_t{1} << bits) - 1);
  return least + below(end + 1);
}

const Json& SchemaValues::chosen(const Json& of, const SchemaKey* goal) {
  for (const char* word : {"anyOf", "oneOf"}) {
    if (!of.contains(word) || of.contains("properties")) continue;
    std::vector<const Json*> options;
    uint32_t least = Schema::kFar;
    for (const Json& option : of[word]) {
      const uint32_t distance = goal == nullptr ? Schema::kFar : schema().distance(option, goal->table);
      if (distance < least) options.clear();
      least = std::min(least, distance);
      if (distance == least) options.push_back(&option);
    }
    return *options[below(options.size())];
  }
  return of;
}

Json SchemaValues::draw(const Json& of, const std::string& key, const SchemaKey* goal) {
  const Json& one = chosen(of, goal);
  if (&one != &of) return draw(one, key, goal);
  if (const std::string name = Schema::table_of(of); !name.empty()) {
    ++depth_;
    Json out = map_of_keys(schema().table(name), name, goal);
    --depth_;
    return out;
  }
  if (of.contains("const")) return of["const"];
  if (of.contains("enum")) return of["enum"][below(of["enum"].size())];
  if (of.contains("propertyNames")) return map_of_names(of, key, goal);
  if (of.contains("items")) return list(of, key, goal);
  const bool is_number = of["type"].is_array() ? of["type"][0] == "integer" : of["type"] == "integer";
  return is_number ? number(of, key) : text(of, key);
}

Json SchemaValues::map_of_keys(const Json& table, const std::string& name, const SchemaKey* goal) {
  const bool is_here = goal != nullptr && goal->table == name;
  std::string towards;  // the key under which the goal is
  uint32_t least = Schema::kFar;
  for (const auto& [key, of] : table["properties"].items()) {
    if (is_here && key == goal->key) towards = key;
    if (goal == nullptr || is_here) continue;
    const uint32_t distance = schema().distance(of, goal->table);
    if (distance < least) towards = key;
    least = std::min(least, distance);
  }
  const auto is_required = [&](const char* where, const std::string& key) {
    const Json* list = table.contains(where) ? &table[where] : nullptr;
    if (list != nullptr && std::string_view(where) == "anyOf") list = &(*list)[1]["required"];
    return list != nullptr && std::find(list->begin(), list->end(), Json(key)) != list->end();
  };
  Json out = Json::object();
  for (const auto& [key, of] : table["properties"].items()) {
    const bool must = key == towards || is_required("required", key) || is_required("anyOf", key);
    if (!must && (depth_ > 4 || !one_in(6))) continue;
    std::string word = key;
    if (key == "file" && name == "workload") word = "flow_list";  // unlike an import's
    if (key == "file" && name == "training") word = "workload_text";
    if (key == "file" && name == "server") word = "server_file";
    if (key == "of" && name == "server") word = "hosts";
    out[key] = draw(of, word, key == towards && !is_here ? goal : nullptr);
  }
  return out;
}

Json SchemaValues::map_of_names(const Json& of, const std::string& key, const SchemaKey* goal) {
  Json out = Json::object();
  const std::string pattern = of["propertyNames"].value("pattern", "");
  for (uint64_t i = 0, n = 1 + below(2); i < n; ++i) {
    std::string name = name_for(pattern);
    if (key == "PFC_WD" && one_in(2)) name = "GLOBAL";
    if (key == "PORT_QOS_MAP" && one_in(2)) name = "global";
    if (key == "DEFAULT_LOSSLESS_BUFFER_PARAMETER" || key == "LOSSLESS_TRAFFIC_PATTERN" || key == "CABLE_LENGTH")
      name = "AZURE";
    out[name] = draw(of["additionalProperties"], key + "[]", goal);
  }
  return out;
}

Json SchemaValues::list(const Json& of, const std::string& key, const SchemaKey* goal) {
  Json out = Json::array();
  const bool is_pair = key == "between" || key == "switches" || key == "endpoints";
  for (uint64_t i = 0, n = is_pair ? 2 : 1 + below(3); i < n; ++i) {
    Json item = draw(of["items"], key, goal);
    if (item.is_object() || std::find(out.begin(), out.end(), item) == out.end()) out.push_back(std::move(item));
  }
  return out;
}

Json SchemaValues::number(const Json& of, const std::string& key) {
  const int64_t least = of.value("minimum", int64_t{0});
  if (least < 0)
    return least + static_cast<int64_t>(below(static_cast<uint64_t>(of["maximum"].get<int64_t>() - least + 1)));
  if (key == "mtu" && !of.contains("maximum")) return 256U << below(5);
  const uint64_t open_end = key == "seed" ? UINT32_MAX : key == "offset" ? 40 : 3;  // else sizes of fabrics
  const uint64_t most = of.value("maximum", static_cast<uint64_t>(least) + open_end);
  if (key == "k") return 2 * (1 + below(2));
  const bool costs = key == "qps" || key == "count" || key == "flows";  // flows; changes of all routes
  return about(static_cast<uint64_t>(least), costs ? std::min<uint64_t>(most, 16) : most);
}

std::string SchemaValues::quantity(const std::string& pattern, const std::string& key) {
  if (key == "memory") return "2GiB";
  const auto has = [&](std::string_view unit) { return pattern.find(unit) != std::string::npos; };
  if (has("Gbps")) return one_in(3) ? fmt::format("{}Mbps", 1 + below(20'000)) : fmt::format("{}Gbps", about(1, 400));
  if (has("|ns|"))
    return one_in(3) ? fmt::format("{}ps", 100'000 + about(1, 50'000'000)) : fmt::format("{}us", about(1, 200));
  if (has("KiB")) return fmt::format("{}B", about(1, 4 << 20));
  if (has("%")) return fmt::format("{}%", one_in(4) ? 100 * below(2) : below(100));
  return one_in(8) ? fmt::format("{}km", 1 + below(5)) : fmt::format("{}m", about(1, 500));
}

// A name that the pattern of a map's keys allows.
std::string SchemaValues::name_for(const std::string& pattern) {
  const auto of = [&](const char* what) {
    const auto found = names_.find(what);
    return found == names_.end() || found->second.empty() ? std::string("one")
                                                          : found->second[below(found->second.size())];
  };
  const auto has = [&](std::string_view part) { return pattern.find(part) != std::string::npos; };
  if (pattern == "^[0-9]+(-[0-9]+)?$") {
    const uint64_t from = below(8);
    return one_in(3) ? fmt::format("{}-{}", from, from + below(8 - from)) : fmt::format("{}", from);
  }
  if (has("[0-7](-[0-7])?$")) {
    const uint64_t from = below(8);
    const std::string queues = one_in(2) ? fmt::format("{}", from) : fmt::format("{}-{}", from, from + below(8 - from));
    return one_in(2) ? queues : (one_in(2) ? "*" : of("switch_port")) + "|" + queues;
  }
  if (has("[*]|")) return one_in(2) ? "*" : of("switch_port");
  if (has("{0,127}")) return of("row");
  return of("free");
}

Json SchemaValues::text(const Json& of, const std::string& key) {
  const std::string pattern = of.value("pattern", "");
  if (pattern.find("[+]?") != std::string::npos) return quantity(pattern, key);
  if (pattern.starts_with("^([0-7]")) return std::to_string(below(8));
  const auto found = names_.find(std::string(kind_of_name(key)));
  const bool has_name = found != names_.end() && !found->second.empty();
  if (of.contains("examples") && (!has_name || kind_of_name(key) == "any" || one_in(2))) {
    const std::string example = of["examples"][0].get<std::string>();
    return example.substr(0, example.find(" or "));
  }
  if (!has_name) return "one";
  return found->second[below(found->second.size())];
}

}  // namespace softspine::tests
