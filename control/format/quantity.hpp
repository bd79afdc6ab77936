// SPDX-License-Identifier: Apache-2.0
// Quantities as people write them: a decimal number and a unit, "400Gbps", "2.5 us", "96KiB".
//
//   rate      bps kbps Mbps Gbps Tbps            powers of 1000, in bit/s
//   length    mm cm m km                         in micrometres
//   size      B KB MB GB (1000)  KiB MiB GiB (1024)   in bytes
//   duration  ps ns us ms s min                  in picoseconds
//   share     %                                  in millionths
//
// Exact: what is not a whole number of the base unit is an error, and so is what does not fit 63 bits.
// A bare number is an error, because its unit is not known. In a config_db.json it is none, since SONiC defines the
// unit: sizes are bytes, times milliseconds, rates bytes a second, shares percent.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/share.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

struct Bytes {
  uint64_t count = 0;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
};

struct Length {
  uint64_t micrometres = 0;
  static constexpr Length metres(uint64_t n) { return {n * 1'000'000}; }
  friend auto operator<=>(const Length&, const Length&) = default;
};

using dataplane::Share;

struct Unit {
  std::string_view name;
  uint64_t scale;  // base units in one
};

// One kind of quantity: what it is called, which units it may have, how one looks.
struct QuantityKind {
  std::string_view name;  // "a rate"
  std::string_view example;
  std::string_view base;  // "bit/s", what it must be a whole number of
  std::span<const Unit> units;
  uint64_t bare = 0;  // base units in one where SONiC writes a bare number; 0: it never does
};

extern const QuantityKind kRateQuantity;
extern const QuantityKind kLengthQuantity;
extern const QuantityKind kBytesQuantity;
extern const QuantityKind kDurationQuantity;
extern const QuantityKind kShareQuantity;

// The number of base units, or what is wrong with the text.
std::expected<int64_t, std::string> parse_quantity(std::string_view text, const QuantityKind& kind);
std::expected<int64_t, std::string> parse_bare_quantity(std::string_view text, const QuantityKind& kind);

// The shortest exact form: 100000000000 as a rate is "100Gbps", 2500 ps is "2.5ns".
std::string print_quantity(int64_t value, const QuantityKind& kind);

// Which kind of quantity the text's unit belongs to; null without a unit that anyone knows.
const QuantityKind* quantity_kind_of(std::string_view text);

// Light in fibre: length / 1.98e8 m/s, rounded to the picosecond; at least 1 ps, so that windows have a width.
dataplane::Duration propagation_of(Length length);

}  // namespace softspine::control
