// SPDX-License-Identifier: Apache-2.0
#include "control/imports/ns3_units.hpp"

#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "control/format/quantity.hpp"

namespace softspine::control {
namespace {

constexpr std::pair<std::string_view, double> kNs3Prefixes[] = {
    {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0}, {"k", 1e3}, {"K", 1e3},
    {"M", 1e6},     {"G", 1e9},        {"T", 1e12}};

// The bits of a rate's unit; empty: it is no unit.
std::optional<double> ns3_bits_of(std::string_view unit) {
  if (unit.empty()) return 1;
  const bool per_second = unit.ends_with("ps") || unit.ends_with("/s");
  if (!per_second || unit.size() < 3) return std::nullopt;
  unit.remove_suffix(2);
  if (!unit.ends_with('b') && !unit.ends_with('B')) return std::nullopt;
  const double bits = unit.ends_with('B') ? 8 : 1;
  unit.remove_suffix(1);
  if (unit.empty()) return bits;
  for (const auto& [prefix, factor] : kNs3Prefixes) {
    if (unit == prefix) return bits * factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> ns3_rate(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !(number >= 0)) return std::nullopt;
  const auto bits = ns3_bits_of(text.substr(static_cast<size_t>(end - text.data())));
  if (!bits) return std::nullopt;
  const double bps = number * *bits;
  // Only rates that a double holds exactly.
  if (bps > 9e15 || std::abs(bps - std::round(bps)) > 1e-6 * bps) return std::nullopt;
  return static_cast<uint64_t>(std::llround(bps));
}

std::optional<int64_t> ns3_time(std::string_view text) {
  const bool is_bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
  const auto found = parse_quantity(is_bare ? std::string(text) + "s" : std::string(text), kDurationQuantity);
  return found ? std::optional(*found) : std::nullopt;
}

}  // namespace softspine::control
