// SPDX-License-Identifier: Apache-2.0
#include "control/load/pg_profile_lookup.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "control/model/qos.hpp"

namespace softspine::control {
namespace {

using LineWords = std::vector<std::string>;

constexpr size_t kLeastWords = 6;
constexpr size_t kMaxProfileWords = 7;

LineWords words_in(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool is_number(std::string_view word) {
  return !word.empty() && word.size() <= 18 && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_cable(std::string_view word) {
  return word.ends_with('m') && is_number(word.substr(0, word.size() - 1));
}

// A threshold may be below 0.
bool is_integer(std::string_view word) {
  return is_number(word.starts_with('-') ? word.substr(1) : word);
}

std::string why_not(const LineWords& words) {
  if (words.size() < kLeastWords || words.size() > kMaxProfileWords)
    return "expected speed, cable, size, xon, xoff, threshold and perhaps xon_offset, found " +
           std::to_string(words.size()) + " words";
  if (!is_number(words[0])) return "speed: expected Mb/s, such as 100000";
  if (!is_cable(words[1])) return "cable: expected metres, such as 40m";
  for (const size_t i : {2U, 3U, 4U}) {
    if (!is_number(words[i])) return std::string(i == 2 ? "size" : i == 3 ? "xon" : "xoff") + ": expected bytes";
  }
  if (!is_integer(words[5])) return "threshold: expected an integer";
  if (words.size() == kMaxProfileWords && !is_number(words[6])) return "xon_offset: expected bytes";
  return "";
}

std::string row_of(const LineWords& words, std::string_view threshold) {
  const auto pair = [](std::string_view key, const std::string& value) {
    return "\"" + std::string(key) + "\": \"" + value + "\"";
  };
  std::string out = "\"pg_lossless_" + words[0] + "_" + words[1] + "_profile\": {" +
                    pair("pool", std::string(kLosslessPool)) + ", " + pair("size", words[2]) + ", " +
                    pair("xon", words[3]) + ", " + pair("xoff", words[4]) + ", " + pair(threshold, words[5]);
  if (words.size() == kMaxProfileWords) out += ", " + pair("xon_offset", words[6]);
  return out + "}";
}

}  // namespace

std::string pg_profiles_json(std::string_view text, std::string_view threshold, const std::string& file,
                             Errors& errors) {
  std::vector<std::string> rows;       // by line
  std::map<LineWords, size_t> latest;  // line, by speed and cable
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    const LineWords words = words_in(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    if (const std::string wrong = why_not(words); !wrong.empty()) {
      errors.push_back({file, "", static_cast<int>(rows.size()), 1, wrong});
      continue;
    }
    const auto [place, is_new] = latest.try_emplace({words[0], words[1]}, rows.size() - 1);
    if (!is_new) rows[std::exchange(place->second, rows.size() - 1)].clear();
    rows.back() = row_of(words, threshold);
  }
  std::string out = "{\"BUFFER_PROFILE\": {";
  std::string_view before = "";
  for (const std::string& row : rows) {
    out += row.empty() ? "" : std::string(before) + row;
    if (!row.empty()) before = ", ";
    out += '\n';
  }
  return out + "}}";
}

}  // namespace softspine::control
