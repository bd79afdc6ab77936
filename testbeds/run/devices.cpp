// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/devices.hpp"

#include "dataplane/dpdk/device_edge.hpp"

namespace softspine::testbeds {

std::vector<DeviceHere> devices_of(const Assembly& assembly) {
  std::vector<DeviceHere> out;
  for (const EdgePort& edge : assembly.edges) {
    auto* const over = dynamic_cast<dataplane::DeviceEdge*>(edge.nic);
    if (over == nullptr) continue;
    dataplane::Device& device = over->device();
    out.push_back({.end = edge.end,
                   .facts = &device.facts(),
                   .link = device.link(),
                   .mtu = device.mtu(),
                   .largest_frame = device.largest_frame()});
  }
  return out;
}

}  // namespace softspine::testbeds
