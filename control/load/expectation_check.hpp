// SPDX-License-Identifier: Apache-2.0
// Finds errors in expectations before anything runs, by the outline of the report that the testbed will have:
//
//   a path that leads nowhere                          named with its nearest neighbour
//   a bare number against a value that has a unit      `rate at_least 90` would hold at 91 bit/s; 0 is 0 in every unit
//   a quantity against a value of another kind         fct_p99 at_most 40Gbps
//   a duration, rate or size against a plain number    completed at_least 5us
//   per cent of a number that is no share              completed at_least 100%, which would be 1
//   a share that is to be no more than all             share at_most 100%, which cannot fail
//   a word against a number, a number against a word, either against true or false, anything against a map
//
// `at_least: 0` and `within: 100%`, which cannot fail either, are refused as they are read (expectations.cpp). Values
// that only a run can tell (find_in_outline) are not checked, nor are values that this testbed's report will not have
// (a completion time without flows).
#pragma once

#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/expectation.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::control {

// In the order of the expectations, at most one error for each. `file`: the file that they are in.
Errors check_expectations(const std::vector<Expectation>& expectations, const Json& outline, const std::string& file);

}  // namespace softspine::control
