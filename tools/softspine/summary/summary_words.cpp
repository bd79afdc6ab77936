// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/telemetry/json.hpp"

namespace softspine::tools {

using control::Json;

double number(const Json& value) {
  return value.is_number() ? value.get<double>() : 0;
}

std::string counted(uint64_t number, const char* one) {
  return fmt::format("{} {}{}", number, one, number == 1 ? "" : "s");
}

bool is_loss(const std::string& reason) {
  return !reason.ends_with("consumed");
}

std::string short_number(double value, const char* unit) {
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  while (std::abs(value) >= 1000 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  const int places = prefix == 0 ? 0 : std::max(0, 2 - static_cast<int>(std::log10(std::max(std::abs(value), 1.0))));
  const std::string tail = std::string(kPrefixes[prefix]) + unit;
  return fmt::format("{:.{}f}{}{}", value, places, tail.empty() ? "" : " ", tail);
}

std::string short_time(const Json& picoseconds) {
  if (!picoseconds.is_number()) return "–";
  double value = picoseconds.get<double>();
  for (const char* unit : {"ps", "ns", "us", "ms"}) {
    if (std::abs(value) < 1000) return fmt::format("{:.4g} {}", value, unit);
    value /= 1000;
  }
  return fmt::format("{:.4g} s", value);
}

}  // namespace softspine::tools
