// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace softspine::testbeds {

// An error of something from outside, and its place: a field of a spec, a file, a program.
struct Error {
  std::string path;
  std::string message;
};

}  // namespace softspine::testbeds
