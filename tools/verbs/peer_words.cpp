// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/peer_words.hpp"

#include <fmt/format.h>

#include "control/telemetry/printable.hpp"

namespace softspine::tools {

std::expected<Json, std::string> object_of(std::string_view line) {
  int keys = 0;
  bool is_too_much = false;
  const auto within_bounds = [&](int depth, Json::parse_event_t event, Json&) {
    keys += event == Json::parse_event_t::key;
    is_too_much = is_too_much || depth > kMaxNesting || keys > kMaxKeys;
    return !is_too_much;
  };
  Json object = Json::parse(line, within_bounds, false);
  if (is_too_much) return std::unexpected("the other end says too much: is it softspine-verbs?");
  if (!object.is_object()) return std::unexpected("the other end does not speak JSON: is it softspine-verbs?");
  if (const auto wrong = object.find("error"); wrong != object.end()) {
    const std::string said = wrong->is_string() ? wrong->get<std::string>() : wrong->dump();
    return std::unexpected("the other end: " + control::printable(said, kMaxSentenceBytes));
  }
  return object;
}

std::optional<uint64_t> NumberReader::number_in(const char* key, uint64_t least, uint64_t most) {
  const auto found = json_.find(key);
  const bool is_number = found != json_.end() && found->is_number_unsigned();
  const uint64_t value = is_number ? found->get<uint64_t>() : 0;
  if (is_number && value >= least && value <= most) return value;
  if (error_.empty()) {
    error_ = is_number ? fmt::format("the other end's {} is {}, not in {} … {}", key, value, least, most)
                       : fmt::format("the other end names no {}", key);
  }
  return std::nullopt;
}

}  // namespace softspine::tools
