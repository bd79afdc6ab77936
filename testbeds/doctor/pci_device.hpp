// SPDX-License-Identifier: Apache-2.0
// A PCI device as /sys/bus/pci/devices has it.
#pragma once

#include <string>
#include <string_view>

#include "testbeds/doctor/machine.hpp"

namespace softspine::testbeds {

struct PciDevice {
  std::string address;
  bool is_there = false;
  bool is_network = false;
  std::string driver;       // of the kernel; empty: none
  std::string iommu_group;  // empty: none
  std::string numa_node;    // "-1": not known to the machine
};

PciDevice pci_device(const Machine& machine, const std::string& address);

inline constexpr std::string_view kVfioDriver = "vfio-pci";
bool is_uio(std::string_view driver);
// Its adapters stay with the kernel's driver: DPDK reaches them through the kernel's RDMA.
bool is_bifurcated(std::string_view driver);

}  // namespace softspine::testbeds
