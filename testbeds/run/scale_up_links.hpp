// SPDX-License-Identifier: Apache-2.0
// Which hosts of one server are joined beside the fabric (testbeds/hosts/scale_up_port.hpp), and by which of their
// ports: those whose ranks talk to each other. These ports come behind a host's ports in the fabric, which has none of
// them; nothing else in a testbed knows them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "control/model/testbed.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::testbeds {

class ScaleUpLinks {
 public:
  // The testbed outlives it.
  explicit ScaleUpLinks(const control::Testbed& testbed);

  uint16_t ports_of(uint32_t node) const;
  // They are joined.
  dataplane::PortNo port(uint32_t node, uint32_t peer) const;
  // see(node, its port, peer, the peer's port), once for each two.
  template <typename See>
  void for_each(See&& see) const {
    for (const auto& [node, peers] : peers_of_) {
      for (const uint32_t peer : peers) {
        if (node < peer) see(node, port(node, peer), peer, port(peer, node));
      }
    }
  }

 private:
  const control::Testbed& testbed_;
  std::map<uint32_t, std::vector<uint32_t>> peers_of_;  // ascending
};

}  // namespace softspine::testbeds
