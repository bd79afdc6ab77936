// SPDX-License-Identifier: Apache-2.0
// On which NUMA node the memory of PCI devices has to lie: a device reads and writes its own node's fastest.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace softspine::dataplane {

// That of most of the devices, by address (of equals the lowest); kNoNumaNode where the machine has one node only, or
// does not report them, or the node has no processor, since DPDK sees no memory there. `root` holds the machine's /sys.
int numa_node_of(const std::vector<std::string>& pci, const std::filesystem::path& root = "/");

}  // namespace softspine::dataplane
