// SPDX-License-Identifier: Apache-2.0
// DPDK's environment layer, started once per process, without hugepages, root or PCI unless a NIC is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/packet/memory_shortage.hpp"

namespace softspine::dataplane {

struct EalConfig {
  uint32_t memory_mib = 512;       // for packets and device rings; reserved, touched only when used
  std::vector<std::string> pci;    // physical NICs by address: only these are touched, and hugepages are needed then
  int numa_node = kNoNumaNode;     // where these hugepages are to be; any node's, if it is none
  bool drivers = true;             // of devices: all that the system has (driver_search.hpp); a device needs them
  bool quiet = true;               // only DPDK's errors reach stderr
  std::vector<std::string> extra;  // further EAL arguments, passed on unchanged
};

// "DPDK 22.11.11": of the libraries that this process has loaded.
std::string dpdk_version();

// The calling thread becomes a worker's thread. A second call is a no-op, and asks for no drivers if the first did not.
// Throws std::runtime_error.
void start_eal(const EalConfig& config);

// A thread must be registered before it runs a worker: without that it has no packet caches.
void register_worker_thread();
void unregister_worker_thread();

}  // namespace softspine::dataplane
