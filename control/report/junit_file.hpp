// SPDX-License-Identifier: Apache-2.0
// What a run was expected to do, as test cases in the XML of JUnit, as CI systems read it: one suite, which is the run.
// A failure is an expectation or command that failed; an error is a run that went wrong. Names are the same in each
// run of a testbed, so that a case can be followed over time.
#pragma once

#include <string>
#include <vector>

namespace softspine::control {

struct JunitCase {
  std::string name;
  std::string file;       // where it stands; empty: nowhere
  int line = 0;           // in it
  double seconds = 0;     // of wall time
  std::string failure;    // empty: it held
  bool is_error = false;  // the failure is one of the run
};

// `output`: what the run printed for a person. Bytes that XML cannot carry are left out.
std::string junit_text(const std::string& suite, const std::vector<JunitCase>& cases, double seconds,
                       const std::string& output);

}  // namespace softspine::control
