// SPDX-License-Identifier: Apache-2.0
// Expectations against a report: what held, what did not, in words for a person. Pure: no file, no clock.
//
// How a value is found, compared and read is said in expectation.hpp. Beyond that:
//   - keys of the report may hold dots themselves ("Ethernet0.100"): the longest key that fits is tried first
//   - `fct_p99` finds `fct_p99_ps` only where there is no `fct_p99`; with several such keys, the first in the report
//   - a `*` holds if every match does; the failures are told one by one, the first kMaxFailuresTold of them
//   - a measure without a unit is compared with the number as it stands in the report; where that has a unit,
//     check_expectations() has refused it before the run
//   - bounds are held with a slack of 1e-12, relative: binary fractions of decimal numbers are no failure
//   - what is not there is not held, and named with its nearest neighbour
#pragma once

#include <string>
#include <vector>

#include "control/model/expectation.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {

inline constexpr size_t kMaxFailuresTold = 3;

struct Verdict {
  const Expectation* expectation = nullptr;
  bool held = false;
  std::string found;  // "51.3us"; with several matches the first that failed, else the first; empty: nothing there
  std::string text;   // "flows.perm.fct_p99: at_most 40us, is 51.3us"
};

// One verdict each, in their order; they point into `expectations`.
std::vector<Verdict> judge(const std::vector<Expectation>& expectations, const Json& report);

}  // namespace softspine::control
