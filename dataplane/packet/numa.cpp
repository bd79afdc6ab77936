// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/numa.hpp"

#include <algorithm>
#include <fstream>
#include <map>

#include "dataplane/packet/memory_shortage.hpp"

namespace softspine::dataplane {

namespace fs = std::filesystem;

int numa_node_of(const std::vector<std::string>& pci, const fs::path& root) {
  const fs::path nodes = root / "sys/devices/system/node";
  std::error_code ignored;
  if (!fs::exists(nodes / "node1", ignored)) return kNoNumaNode;
  std::map<int, size_t> devices;
  for (const std::string& address : pci) {
    int node = kNoNumaNode;
    std::ifstream(root / "sys/bus/pci/devices" / address / "numa_node") >> node;
    std::string processors;
    std::ifstream(nodes / ("node" + std::to_string(node)) / "cpulist") >> processors;
    if (!processors.empty()) ++devices[node];
  }
  const auto most = std::ranges::max_element(devices, {}, &std::map<int, size_t>::value_type::second);
  return most == devices.end() ? kNoNumaNode : most->first;
}

}  // namespace softspine::dataplane
