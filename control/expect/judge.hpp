// SPDX-License-Identifier: Apache-2.0
// Compares expectations with a report, and returns in words which held and which did not. Pure: no file, no clock.
//
// expectation.hpp defines how a value is found, compared and read. Beyond that:
//   - keys of the report may hold dots themselves ("Ethernet0.100"): the longest key that fits is tried first
//   - `fct_p99` finds `fct_p99_ps` only where there is no `fct_p99`; with several such keys, the first in the report
//   - a `*` holds if every match does; the first kMaxFailuresListed failures are listed one by one
//   - a measure without a unit is compared with the number as it stands in the report; where that has a unit,
//     check_expectations() has refused it before the run
//   - bounds have a relative slack of 1e-12, so that rounding decimal numbers to binary ones is no failure
//   - a value that the report lacks fails its expectation; the message names the nearest key that there is
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/model/expectation.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::control {

inline constexpr size_t kMaxFailuresListed = 3;

struct Verdict {
  const Expectation* expectation = nullptr;
  bool held = false;
  std::string found;  // "51.3us"; with several matches the first that failed, else the first; empty: nothing there
  std::string text;   // "flows.perm.fct_p99: at_most 40us, is 51.3us"
};

// How many flows stalled of workloads whose number of stalled flows no expectation names: `totals.stalled_flows` names
// that of all, `flows.NAME.stalled_flows` that of one.
uint64_t unexpected_stalls(const std::vector<Expectation>& expectations, const Json& report);

// One verdict for each expectation, in their order. Verdicts point into `expectations`.
std::vector<Verdict> judge(const std::vector<Expectation>& expectations, const Json& report);

}  // namespace softspine::control
