// SPDX-License-Identifier: Apache-2.0
// One thing that is wrong with a file: where, and what.
#pragma once

#include <string>
#include <vector>

namespace softspine::control {

struct Error {
  std::string file;
  std::string path;  // "topology.links[3].endpoints[0]"; empty: the file itself
  int line = 0;      // from 1; 0: the file as a whole
  int column = 0;
  std::string message;
  friend bool operator==(const Error&, const Error&) = default;
};

using Errors = std::vector<Error>;

// FILE:LINE:COLUMN: path: message
std::string to_string(const Error& error);

}  // namespace softspine::control
