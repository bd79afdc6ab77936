// SPDX-License-Identifier: Apache-2.0
// softspine explain --against: the ports that flows took in captures, beside those that the testbed predicts.
#pragma once

#include <string>
#include <vector>

#include "analysis/explain/walker.hpp"
#include "tools/command/exit_status.hpp"

namespace softspine::tools {

struct AgainstArguments {
  std::vector<std::string> captures;  // FILE, SWITCH=FILE or SWITCH:PORT=FILE
  std::string ports;                  // a file: what captures call a port
  bool all = false;                   // every row
};

// kUnexpected if some flow took another port.
ExitStatus compare_captures(const AgainstArguments& arguments, const std::string& from, analysis::Walker& walker,
                            bool json);

}  // namespace softspine::tools
