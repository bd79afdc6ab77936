// SPDX-License-Identifier: Apache-2.0
// Shared by generators: the links of one tier, and bandwidth ratios between tiers.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "control/document/document.hpp"
#include "control/format/quantity.hpp"
#include "control/model/fabric.hpp"

namespace softspine::control {

struct LinkSpec {
  Value where;
  dataplane::Rate rate;
  Length length = Length::metres(5);
  std::optional<uint32_t> mtu;
  dataplane::LinkParameters parameters;

  static LinkSpec of(dataplane::Rate rate) { return {.where = {}, .rate = rate, .mtu = {}}; }
};

// A switch's bandwidth down to its bandwidth up: 1:1.125, 7:1.
struct Ratio {
  uint32_t down_thousandths = 1'000;
  uint32_t up_thousandths = 1'000;
  friend bool operator==(const Ratio&, const Ratio&) = default;
};

enum class Rounding : uint8_t {
  kWhole,  // a fraction is an error
  kUp,     // the least number that gives at least this bandwidth
};

// How many uplinks of the rate `up` the ratio gives a switch that has `count` links of the rate `down` below it, or
// why there is no such number.
std::expected<uint32_t, std::string> uplinks_for(double count, dataplane::Rate down, dataplane::Rate up, Ratio ratio,
                                                 Rounding rounding = Rounding::kWhole);

}  // namespace softspine::control
