// SPDX-License-Identifier: Apache-2.0
// What a kernel shows of an RDMA device below /sys/class/infiniband/DEVICE, as it is now:
//
//   node_type, node_guid, fw_ver, …            of the device
//   ports/1/state, rate, gids/N, gid_attrs/…   of its port
//   ports/1/hw_counters/NAME                   kRnicCounters
//   ports/1/counters/NAME                      of the port's frames, by InfiniBand's names; data in words of four bytes
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/edge/edge_counters.hpp"
#include "testbeds/verbs_device/rnic_counters.hpp"
#include "testbeds/verbs_device/shared/device_calls.hpp"

namespace softspine::testbeds {

struct DeviceState {
  const PortFacts& port;
  const RnicCounters& rnic;
  const dataplane::EdgeCounters& passed;
};

// With its line's end, as a kernel has it; none: there is no such file.
std::optional<std::string> device_file(std::string_view path, const DeviceState& state);
// All paths that device_file() knows.
std::vector<std::string> device_file_paths();

}  // namespace softspine::testbeds
