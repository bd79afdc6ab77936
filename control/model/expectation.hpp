// SPDX-License-Identifier: Apache-2.0
// One line of `expect:`: a value in the report and what it must be.
//
//   - {value: flows.perm.completed, equal: 64}
//   - {value: flows.perm.fct_p99, at_most: 40us}
//   - {value: switches.*.drops.queue_full, equal: 0}       every match must hold
//   - {value: links.tor1:Ethernet16.share, between: [20%, 30%]}
//   - {value: hosts.h1.rate, equal: 97Gbps, within: 1%}
//
// `value` is a dotted path into the report's JSON; `*` stands for any key or index.
// A quantity with a unit is compared in the unit that the report's key ends in (_ps _ns _us _ms _s, _bps, _bytes,
// _percent), which the path need not spell: `fct_p99` finds `fct_p99_ps`. Without such an ending it is picoseconds,
// bit/s, bytes, and a fraction (50% = 0.5).
//
// A value that the report of a testbed can't have, and a bare number where the value has a unit, are refused before the
// run: expectation_check.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace softspine::control {

enum class Dimension : uint8_t { kNumber, kDuration, kRate, kBytes, kShare };

struct Measure {
  Dimension dimension = Dimension::kNumber;
  double value = 0;  // picoseconds, bit/s, bytes, fraction
  std::string text;  // as written
};

// The value that the report must show: a quantity, a word, or true/false.
using Expected = std::variant<Measure, std::string, bool>;

enum class Comparison : uint8_t { kEqual, kAtLeast, kAtMost, kBetween };

struct Expectation {
  std::string value;  // dotted path into the report
  Comparison comparison = Comparison::kEqual;
  std::vector<Expected> bounds;  // one; two for kBetween
  double within = 0;             // kEqual: relative tolerance
  std::string path;              // where it stands: "expect[3]"
  int line = 0;
  int column = 0;
};

}  // namespace softspine::control
