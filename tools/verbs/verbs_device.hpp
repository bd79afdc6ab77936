// SPDX-License-Identifier: Apache-2.0
// The RDMA device behind an IP address: the port that has it as a RoCEv2 GID; and what the device has counted.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <map>
#include <string>

#include "tools/verbs/handles.hpp"

namespace softspine::tools {

// An IPv6 address, or an IPv4 one as ::ffff:a.b.c.d.
using GidBytes = std::array<uint8_t, 16>;
std::string address_text(const GidBytes& gid);

struct RdmaPort {
  DeviceContext context;
  std::string device;  // rxe0
  uint8_t number = 1;
  uint8_t gid_index = 0;
  GidBytes gid{};
  uint32_t mtu_bytes = 0;  // of RDMA, as the port has it now
};

// Or a sentence that names the addresses there are.
std::expected<RdmaPort, std::string> open_port_of(const GidBytes& address);

// /sys/class/infiniband/DEVICE/ports/N/hw_counters: names as the driver has them. Empty if it has none.
using DeviceCounters = std::map<std::string, uint64_t>;
DeviceCounters device_counters(const RdmaPort& port);
// The counts since then; a counter that went back (someone has reset it) has its value.
DeviceCounters counted_since(const DeviceCounters& before, const DeviceCounters& now);

}  // namespace softspine::tools
