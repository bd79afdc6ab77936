// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/testbed_growth.hpp"

#include <algorithm>
#include <cctype>

#include "control/load/load.hpp"
#include "tests/scenario/random/drawn_files.hpp"

namespace softspine::tests {
namespace {

constexpr uint32_t kRounds = 40;
constexpr size_t kMaxRepeatedNodes = 80;  // of a testbed that is run several times

bool is_required(const Json& table, const std::string& key) {
  const auto found = table.find("required");
  return found != table.end() && std::find(found->begin(), found->end(), Json(key)) != found->end();
}

// What a value stands for: the table's map if it is one, else nothing.
std::string table_at(const Json& of, const Json& value) {
  return value.is_object() ? Schema::table_of(schema().fitting(of, value)) : "";
}

void collect(const Json& value, const Json& of, std::set<SchemaKey>& out) {
  const Json& fitting = schema().fitting(of, value);
  const std::string table = table_at(of, value);
  const Json& followed = schema().followed(fitting);
  if (value.is_object() && followed.contains("properties")) {
    for (const auto& [key, inner] : value.items()) {
      out.insert({table, key});
      if (followed["properties"].contains(key)) collect(inner, followed["properties"][key], out);
    }
  } else if (value.is_object() && followed.contains("additionalProperties")) {
    for (const auto& [key, inner] : value.items()) collect(inner, followed["additionalProperties"], out);
  } else if (value.is_array() && followed.contains("items")) {
    for (const Json& inner : value) collect(inner, followed["items"], out);
  }
}

// Words of a message, without their quotes.
std::set<std::string> words_in_message(const std::string& message) {
  std::set<std::string> out;
  std::string word;
  for (const char c : message + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      word += c;
    } else if (!word.empty()) {
      out.insert(word);
      word.clear();
    }
  }
  return out;
}

std::vector<std::string> segments_of(const std::string& path) {
  std::vector<std::string> out;
  std::string word;
  bool quoted = false;
  for (const char c : path + ".") {
    if (c == '\'' || c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '.' || c == '[' || c == ']')) {
      if (!word.empty()) out.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  return out;
}

}  // namespace

std::set<SchemaKey> keys_in(const Json& testbed) {
  std::set<SchemaKey> out;
  collect(testbed, schema().root(), out);
  return out;
}

bool TestbedGrowth::load() {
  ++loads_;
  const auto loaded = control::parse_testbed(testbed_.dump(), drawn_testbed_file(), {});
  errors_ = loaded ? control::Errors{} : loaded.error();
  if (loaded && loaded->fabric.nodes.size() > kMaxRepeatedNodes)
    errors_.push_back({.file = "drawn.yaml", .path = "fabric", .message = "is too large to be run"});
  if (loaded) {
    hosts_ = static_cast<size_t>(
        std::ranges::count(loaded->fabric.nodes, control::NodeKind::kHost, &control::FabricNode::kind));
  }
  return errors_.empty();
}

bool TestbedGrowth::add(const SchemaKey& goal) {
  const Json before = testbed_;
  if (keys_in(testbed_).contains(goal) && load()) return true;
  extend_map(testbed_, "testbed", goal);
  for (uint32_t i = 0; i < kRounds; ++i) {
    if (load()) {
      if (keys_in(testbed_).contains(goal)) return true;
      break;
    }
    change(errors_[rng_.below(errors_.size())], &goal);
  }
  why_ = errors_.empty() ? "it was left out, so that the rest loads" : to_string(errors_.front());
  testbed_ = before;
  return false;
}

bool TestbedGrowth::mend() {
  for (uint32_t i = 0; i < kRounds; ++i) {
    if (load()) return true;
    change(errors_[rng_.below(errors_.size())], nullptr);
  }
  return load();
}

void TestbedGrowth::extend_map(Json& map, const std::string& table, const SchemaKey& goal) {
  const Json& properties = schema().table(table)["properties"];
  if (table == goal.table) {
    map[goal.key] = values_.draw(properties[goal.key], goal.key, nullptr);
    return;
  }
  std::vector<std::string> nearest;
  uint32_t least = Schema::kFar;
  for (const auto& [key, of] : properties.items()) {
    const uint32_t distance = schema().distance(of, goal.table);
    if (distance < least) nearest.clear();
    least = std::min(least, distance);
    if (distance == least) nearest.push_back(key);
  }
  const std::string& key = nearest[rng_.below(nearest.size())];
  if (map.contains(key)) {
    extend(map[key], properties[key], key, goal);
  } else {
    map[key] = values_.draw(properties[key], key, &goal);
  }
}

void TestbedGrowth::extend(Json& value, const Json& of, const std::string& key, const SchemaKey& goal) {
  const Json& fitting = schema().fitting(of, value);
  if (!value.is_structured() || schema().distance(fitting, goal.table) == Schema::kFar) {
    value = values_.draw(of, key, &goal);
  } else if (const std::string table = table_at(of, value); !table.empty()) {
    extend_map(value, table, goal);
  } else if (value.is_array()) {
    if (value.empty() || one_in(4)) {
      value.push_back(values_.draw(fitting["items"], key, &goal));
    } else {
      extend(value[rng_.below(value.size())], fitting["items"], key, goal);
    }
  } else if (value.empty() || one_in(4)) {
    value.update(values_.draw(of, key, &goal));
  } else {
    auto chosen = value.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(rng_.below(value.size())));
    extend(*chosen, fitting["additionalProperties"], key, goal);
  }
}

TestbedGrowth::Spot TestbedGrowth::spot_of(const std::string& path) {
  Spot at{.value = &testbed_, .of = &schema().root()};
  std::string table = "testbed";
  for (const std::string& segment : segments_of(path)) {
    const Json& of = schema().followed(schema().fitting(*at.of, *at.value));
    if (at.value->is_object() && at.value->contains(segment)) {
      if (of.contains("properties")) {
        if (!of["properties"].contains(segment)) break;
        at.map = at.value;
        at.table = table;
        at.key = segment;
        at.of = &of["properties"][segment];
      } else {
        at.of = &of["additionalProperties"];
      }
      at.value = &(*at.value)[segment];
    } else if (at.value->is_array() && std::ranges::all_of(segment, [](char c) { return c >= '0' && c <= '9'; }) &&
               std::stoul(segment) < at.value->size()) {
      at.list = at.value;
      at.item = std::stoul(segment);
      at.of = &of["items"];
      at.value = &(*at.value)[at.item];
    } else {
      break;
    }
    table = table_at(*at.of, *at.value);
  }
  return at;
}

bool TestbedGrowth::add_missing(const Spot& spot, const std::string& message) {
  constexpr std::string_view kBegin = "the key '";
  const size_t at = message.find(kBegin);
  if (at == std::string::npos || message.find("' is missing") == std::string::npos) return false;
  const std::string key =
      message.substr(at + kBegin.size(), message.find('\'', at + kBegin.size()) - at - kBegin.size());
  const Json& of = schema().followed(schema().fitting(*spot.of, *spot.value));
  if (!spot.value->is_object() || !of.contains("properties") || !of["properties"].contains(key)) return false;
  (*spot.value)[key] = values_.draw(of["properties"][key], key, nullptr);
  return true;
}

// A message names what it wants: a key beside this one, or a word that one of them should have.
bool TestbedGrowth::follow_words(const Spot& spot, const std::string& message, const SchemaKey* goal) {
  std::string table = table_at(*spot.of, *spot.value);
  Json* map = table.empty() ? spot.map : spot.value;
  if (table.empty()) table = spot.table;
  if (map == nullptr || table.empty()) return false;
  const std::set<std::string> words = words_in_message(message);
  std::vector<std::pair<std::string, Json>> changes;
  for (const auto& [key, of] : schema().table(table)["properties"].items()) {
    if (goal != nullptr && goal->table == table && goal->key == key) continue;
    if (words.contains(key))
      changes.emplace_back(key, map->contains(key) && one_in(2) ? Json() : values_.draw(of, key, nullptr));
    if (!of.contains("enum")) continue;
    for (const Json& word : of["enum"]) {
      if (word.is_string() && words.contains(word.get<std::string>())) changes.emplace_back(key, word);
    }
  }
  if (changes.empty()) return false;
  auto& [key, value] = changes[rng_.below(changes.size())];
  if (value.is_null()) {
    map->erase(key);
  } else {
    (*map)[key] = std::move(value);
  }
  return true;
}

// Nothing is known but where it is wrong.
void TestbedGrowth::shake(const Spot& spot, const SchemaKey* goal) {
  const bool is_goal = goal != nullptr && spot.table == goal->table && spot.key == goal->key;
  const std::string table = table_at(*spot.of, *spot.value);
  if (!table.empty() && !one_in(4)) {  // a rule over the map's keys
    const Json& all = schema().table(table);
    auto chosen = all["properties"].begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(rng_.below(all["properties"].size())));
    const bool is_kept =
        (goal != nullptr && goal->table == table && goal->key == chosen.key()) || chosen.key() == "kind";
    if (is_kept) return;
    if (spot.value->contains(chosen.key()) && !is_required(all, chosen.key()) && one_in(2)) {
      spot.value->erase(chosen.key());
    } else if (spot.value->contains(chosen.key()) || one_in(3)) {
      (*spot.value)[chosen.key()] = values_.draw(chosen.value(), chosen.key(), nullptr);
    }
  } else if (spot.map == nullptr) {
    return;
  } else if (is_goal || one_in(2)) {
    *spot.value = values_.draw(*spot.of, spot.key, is_goal || goal == nullptr ? nullptr : goal);
  } else if (spot.list != nullptr && spot.list->size() > 1 && one_in(3)) {
    spot.list->erase(spot.item);
  } else if (!is_required(schema().table(spot.table), spot.key)) {
    spot.map->erase(spot.key);
  }
}

void TestbedGrowth::change(const control::Error& error, const SchemaKey* goal) {
  const Spot spot = spot_of(error.path);
  if (add_missing(spot, error.message)) return;
  if (!one_in(3) && follow_words(spot, error.message, goal)) return;
  shake(spot, goal);
}

}  // namespace softspine::tests
