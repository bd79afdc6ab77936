// SPDX-License-Identifier: Apache-2.0
// The numbers by which HPCC's ns-3 knows nodes and ports: hosts from 0 in the fabric's order, as flow lists have them,
// then switches likewise; a node's ports from 1, since its loopback is 0.
#pragma once

#include <cstdint>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::testbeds {

// By node of the fabric.
inline std::vector<uint32_t> ns3_nodes(const control::Fabric& fabric) {
  std::vector<uint32_t> out(fabric.nodes.size());
  uint32_t next = 0;
  for (const control::NodeKind kind : {control::NodeKind::kHost, control::NodeKind::kSwitch}) {
    for (size_t n = 0; n < fabric.nodes.size(); ++n) {
      if (fabric.nodes[n].kind == kind) out[n] = next++;
    }
  }
  return out;
}

}  // namespace softspine::testbeds
