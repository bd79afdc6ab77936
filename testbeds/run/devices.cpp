// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/devices.hpp"

#include "dataplane/dpdk/device_edge.hpp"

namespace softspine::testbeds {

std::vector<DeviceHere> devices_of(const LocalNodes& nodes) {
  std::vector<DeviceHere> out;
  nodes.for_each_edge([&out](control::LinkEnd end, dataplane::Nic& nic) {
    auto* const over = dynamic_cast<dataplane::DeviceEdge*>(&nic);
    if (over == nullptr) return;
    dataplane::Device& device = over->device();
    out.push_back({.end = end,
                   .facts = &device.facts(),
                   .link = device.link(),
                   .mtu = device.mtu(),
                   .largest_frame = device.largest_frame()});
  });
  return out;
}

}  // namespace softspine::testbeds
