// SPDX-License-Identifier: Apache-2.0
// The memory that DPDK itself takes for a testbed: what a device writes into without asking us. PCI devices write into
// hugepages, so with one of them all of it has to be there as hugepages before anything starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "testbeds/run/ranks.hpp"

namespace softspine::testbeds {

// "0000:3b:00.0" or "3b:00.0", maybe with arguments behind a comma.
bool is_pci(const control::DpdkEdge& edge);
// Its address in full, as /sys/bus/pci/devices has it.
std::string pci_address(const std::string& device);
// The kernel takes frames in the memory of the pool itself, none longer than a page (PacketPool::room_in_a_page).
bool is_xdp(const control::DpdkEdge& edge);

struct DeviceNeed {
  std::vector<std::string> pci;  // the devices, as the testbed names them
  uint64_t frame_packets = 0;    // of the pool of whole frames, where it is DPDK's memory; else 0
  uint64_t xdp_packets = 0;      // of the pool of AF_XDP edges
  uint64_t xdp_bytes = 0;        // its memory
  uint32_t eal_mebibytes = 0;    // all of it, with what DPDK's rings and its own tables take
  bool drivers = false;          // whether any host is behind a device of DPDK's

  // Where this memory is to lie (dataplane/packet/numa.hpp).
  int numa_node(const std::filesystem::path& root = "/") const;
};

// Of the hosts that are here.
DeviceNeed device_need(const control::Testbed& testbed, const Ranks& ranks = {});
// `edges`: ports of outside hosts, those of `pci` and AF_XDP among them.
DeviceNeed device_need(uint64_t edges, std::vector<std::string> pci, uint64_t xdp_edges);

}  // namespace softspine::testbeds
