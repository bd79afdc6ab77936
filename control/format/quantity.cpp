// SPDX-License-Identifier: Apache-2.0
#include "control/format/quantity.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "control/document/words.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::control {
namespace {

using dataplane::Uint128;

constexpr std::array kRateUnits{Unit{"bps", 1}, Unit{"kbps", 1'000}, Unit{"Mbps", 1'000'000},
                                Unit{"Gbps", 1'000'000'000}, Unit{"Tbps", 1'000'000'000'000}};
constexpr std::array kLengthUnits{Unit{"mm", 1'000}, Unit{"cm", 10'000}, Unit{"m", 1'000'000},
                                  Unit{"km", 1'000'000'000}};
constexpr std::array kBytesUnits{Unit{"B", 1},          Unit{"KB", 1'000},    Unit{"KiB", 1 << 10},
                                 Unit{"MB", 1'000'000}, Unit{"MiB", 1 << 20}, Unit{"GB", 1'000'000'000},
                                 Unit{"GiB", 1 << 30}};
constexpr std::array kDurationUnits{Unit{"ps", 1},
                                    Unit{"ns", 1'000},
                                    Unit{"us", 1'000'000},
                                    Unit{"ms", 1'000'000'000},
                                    Unit{"s", 1'000'000'000'000},
                                    Unit{"min", 60'000'000'000'000},
                                    Unit{"h", 3'600'000'000'000'000}};
constexpr std::array kShareUnits{Unit{"%", 10'000}};

// digits [. digits] [space] unit
struct Split {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view unit;
};

std::optional<Split> split(std::string_view text) {
  Split out;
  if (text.starts_with('-') || text.starts_with('+')) {
    out.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const auto take_digits = [&text] {
    size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    const std::string_view digits = text.substr(0, n);
    text.remove_prefix(n);
    return digits;
  };
  out.whole = take_digits();
  if (out.whole.empty()) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    out.fraction = take_digits();
    if (out.fraction.empty()) return std::nullopt;
  }
  if (text.starts_with(' ')) text.remove_prefix(1);
  out.unit = text;
  return out;
}

std::string unit_names(const QuantityKind& kind) {
  std::string out;
  for (const Unit& unit : kind.units) out += (out.empty() ? "" : ", ") + std::string(unit.name);
  return out;
}

// (whole + fraction) × scale as an exact integer.
std::expected<int64_t, std::string> scaled(const Split& parts, uint64_t scale, const QuantityKind& kind,
                                           std::string_view text) {
  constexpr auto kMax = static_cast<Uint128>(std::numeric_limits<int64_t>::max());
  constexpr size_t kMaxPlaces = 24;  // 10^24 × the largest scale stays below 2^127
  const auto too_large = [&] { return std::unexpected(shown(text) + " is too large"); };
  const auto too_fine = [&] {
    return std::unexpected(shown(text) + " is not a whole number of " + std::string(kind.base));
  };

  Uint128 value = 0;
  for (const char c : parts.whole) {
    value = value * 10 + static_cast<Uint128>(c - '0');
    if (value > kMax) return too_large();
  }
  value *= scale;
  if (value > kMax) return too_large();

  std::string_view places = parts.fraction;
  while (places.ends_with('0')) places.remove_suffix(1);
  if (places.size() > kMaxPlaces) return too_fine();
  Uint128 fraction = 0;
  Uint128 divisor = 1;
  for (const char c : places) {
    fraction = fraction * 10 + static_cast<Uint128>(c - '0');
    divisor *= 10;
  }
  if (fraction * scale % divisor != 0) return too_fine();
  value += fraction * scale / divisor;
  return value > kMax ? too_large() : std::expected<int64_t, std::string>(static_cast<int64_t>(value));
}

}  // namespace

constinit const QuantityKind kRateQuantity{"a rate", "100Gbps", "bits per second", kRateUnits, 8};
constinit const QuantityKind kLengthQuantity{"a length", "40m", "micrometres", kLengthUnits};
constinit const QuantityKind kBytesQuantity{"a size", "96KiB", "bytes", kBytesUnits, 1};
constinit const QuantityKind kDurationQuantity{"a duration", "2ms", "picoseconds", kDurationUnits, 1'000'000'000};
constinit const QuantityKind kShareQuantity{"a percentage", "25%", "millionths", kShareUnits, 10'000};

std::expected<int64_t, std::string> parse_quantity(std::string_view text, const QuantityKind& kind) {
  const std::string wanted = "expected " + std::string(kind.name) + " such as " + std::string(kind.example);
  const auto parts = split(text);
  if (!parts) return std::unexpected(wanted + ", found " + shown(text));
  if (parts->unit.empty()) {
    return std::unexpected(shown(text) + " has no unit: " + wanted + " (" + unit_names(kind) + ")");
  }
  const auto unit = std::ranges::find(kind.units, parts->unit, &Unit::name);
  if (unit == kind.units.end()) {
    return std::unexpected(wanted + ", found " + shown(text) + " (units: " + unit_names(kind) + ")");
  }
  if (parts->negative) return std::unexpected(shown(text) + " must not be negative");
  return scaled(*parts, unit->scale, kind, text);
}

std::expected<int64_t, std::string> parse_bare_quantity(std::string_view text, const QuantityKind& kind) {
  const auto parts = split(text);
  if (!parts || !parts->unit.empty() || kind.bare == 0) return parse_quantity(text, kind);
  if (parts->negative) return std::unexpected(shown(text) + " must not be negative");
  return scaled(*parts, kind.bare, kind, text);
}

std::string print_quantity(int64_t value, const QuantityKind& kind) {
  const auto v = static_cast<uint64_t>(value);
  const Unit* best = &kind.units.front();
  for (const Unit& unit : kind.units) {
    const bool short_enough = unit.scale % 100 == 0 ? v % (unit.scale / 100) == 0 : v % unit.scale == 0;
    if (v >= unit.scale && short_enough) best = &unit;
  }
  std::string out = std::to_string(v / best->scale);
  // Ends: where something is left, the scale is a power of ten.
  uint64_t rest = v % best->scale;
  if (rest != 0) out += '.';
  for (; rest != 0; rest = rest * 10 % best->scale) out += static_cast<char>('0' + rest * 10 / best->scale);
  return out + std::string(best->name);
}

const QuantityKind* quantity_kind_of(std::string_view text) {
  const auto parts = split(text);
  if (!parts || parts->unit.empty()) return nullptr;
  for (const QuantityKind* kind :
       {&kRateQuantity, &kLengthQuantity, &kBytesQuantity, &kDurationQuantity, &kShareQuantity}) {
    if (std::ranges::find(kind->units, parts->unit, &Unit::name) != kind->units.end()) return kind;
  }
  return nullptr;
}

dataplane::Duration propagation_of(Length length) {
  // 1 µm / 1.98e8 m/s = 1/198 ps
  const auto ps = static_cast<int64_t>((length.micrometres + 99) / 198);
  return dataplane::Duration::ps(std::max<int64_t>(ps, 1));
}

}  // namespace softspine::control
