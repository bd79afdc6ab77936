// SPDX-License-Identifier: Apache-2.0
// The DPDK devices of a running fabric: what its edges that are no TAPs and no files stand on, guests' too.
#pragma once

#include <vector>

#include "control/model/fabric.hpp"
#include "dataplane/dpdk/device_facts.hpp"
#include "testbeds/run/local_nodes.hpp"

namespace softspine::testbeds {

struct DeviceHere {
  control::LinkEnd end;  // the host's port
  const dataplane::DeviceFacts* facts = nullptr;
  dataplane::DeviceLink link;
  uint32_t mtu = 0;
  uint32_t largest_frame = 0;  // that it is given
};

// In the order of the edges. From any thread but a worker's, since drivers ask their hardware for the link; until the
// engine is drained.
std::vector<DeviceHere> devices_of(const LocalNodes& nodes);

}  // namespace softspine::testbeds
