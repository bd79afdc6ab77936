// SPDX-License-Identifier: Apache-2.0
// Links named on the command line, to compute what would happen if they were down.
#pragma once

#include <expected>
#include <string>
#include <vector>

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
    if (!found) return std::unexpected("there is no port '" + end + "': expected NODE:PORT such as tor1:Ethernet0");
  }
  return up;
}

}  // namespace softspine::tools
