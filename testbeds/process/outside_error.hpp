// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace softspine::testbeds {

// What was wrong with something from outside, and where it was: a field of a spec, a file, a program.
struct Error {
  std::string path;
  std::string message;
};

}  // namespace softspine::testbeds
