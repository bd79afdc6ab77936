// SPDX-License-Identifier: Apache-2.0
// softspine explain --pcap: the way of each packet of captures, as the testbed's fabric would route it.
// A packet of which too little was captured gets a remark: one without addresses or ports is not followed, one without
// its BTH is, with a remark. Frames other than IP are followed only if --from names their sender.
#pragma once

#include <string>
#include <vector>

#include "analysis/explain/walker.hpp"
#include "tools/command/exit_status.hpp"

namespace softspine::tools {

struct CaptureQuestion {
  std::vector<std::string> files;
  std::string from;   // "": the hosts that have the source addresses; a host; or SWITCH:PORT
  uint16_t port = 0;  // by which a host sends
  bool json = false;  // an object a line
};

ExitStatus explain_captures(const CaptureQuestion& question, analysis::Walker& walker);

}  // namespace softspine::tools
