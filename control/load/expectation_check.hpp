// SPDX-License-Identifier: Apache-2.0
// What is wrong with expectations before anything runs, by the outline of the report that the testbed will have:
//
//   a path that leads nowhere                          named with its nearest neighbour
//   a bare number against a value that has a unit      `rate at_least 90` would hold at 91 bit/s; 0 is 0 in every unit
//   a quantity against a value of another kind         fct_p99 at_most 40Gbps
//   a duration, rate or size against a plain number    completed at_least 5us
//   a word against a number, a number against a word, either against true or false, anything against a map
//
// A share goes with every number that has no unit: shares are fractions (50% = 0.5). Of what only a run can tell
// (find_in_outline) nothing is said here, nor of what is not there in this one (a completion time of no flow).
#pragma once

#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/expectation.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {

// In their order, one error for each expectation at most. `file`: where they stand.
Errors check_expectations(const std::vector<Expectation>& expectations, const Json& outline, const std::string& file);

}  // namespace softspine::control
