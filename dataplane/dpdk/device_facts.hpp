// SPDX-License-Identifier: Apache-2.0
// Facts about a DPDK device, by its driver: read once, when it has started, and the same until it is closed. The Device
// itself has what changes (the state of its link, its counters).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softspine::dataplane {

// In DPDK's words: "VLAN_STRIP", "MULTI_SEGS".
struct DeviceOffloads {
  std::vector<std::string> used;
  std::vector<std::string> offered;
};

struct DeviceFacts {
  std::string name;       // a PCI device's is its address
  std::string arguments;  // by which it was opened
  std::string driver;
  std::string bus;       // "pci", "vdev"
  std::string firmware;  // empty: not known to the driver
  int numa_node = -1;    // -1: none
  uint16_t rx_descriptors = 0;
  uint16_t tx_descriptors = 0;
  DeviceOffloads rx;
  DeviceOffloads tx;
};

// The port is configured. Descriptors stay 0 where the driver does not report them.
DeviceFacts read_device_facts(uint16_t port);

struct DeviceLink {
  bool up = false;          // as the edge acts on it: always, where the driver does not report it
  uint32_t speed_mbps = 0;  // 0: not known
  bool full_duplex = false;
  bool autonegotiated = false;
};

}  // namespace softspine::dataplane
