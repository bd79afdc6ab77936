// SPDX-License-Identifier: Apache-2.0
// Links named on the command line, to compute what would happen if they were down.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "analysis/reading/host_named.hpp"
#include "control/model/fabric.hpp"

namespace softspine::tools {

// By link: true for all but those that "NODE:PORT" names.
inline std::expected<std::vector<bool>, std::string> links_without(const control::Fabric& fabric,
                                                                   const std::vector<std::string>& ends) {
  std::vector<bool> up(fabric.links.size(), true);
  for (const std::string& end : ends) {
    bool found = false;
    for (size_t l = 0; l < fabric.links.size(); ++l) {
      if (fabric.name_of(fabric.links[l].a) != end && fabric.name_of(fabric.links[l].b) != end) continue;
      up[l] = false;
      found = true;
    }
    if (found) continue;
    const std::string guess = analysis::guess_at_port(fabric, analysis::PortsOf::kAllNodes, end);
    return std::unexpected("there is no port " + control::shown(end) +
                           (guess.empty() ? ": expected NODE:PORT such as tor1:Ethernet0" : guess));
  }
  return up;
}

}  // namespace softspine::tools
