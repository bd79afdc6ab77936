// SPDX-License-Identifier: Apache-2.0
// Why memory was refused, and what would help, as the text of an error. The kernel's own message ("Cannot allocate
// memory", and from DPDK whatever error came last) names neither the limit nor the way to lift it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace softspine::dataplane {

struct MemoryLimits {
  std::optional<uint64_t> address_space;  // of a process: RLIMIT_AS
  bool strict_commit = false;             // /proc/sys/vm/overcommit_memory is 2
  uint64_t available = 0;                 // MemAvailable
};

struct HugePages {
  uint64_t page_bytes = 0;
  uint64_t total = 0;
  uint64_t free = 0;
};

constexpr int kNoNumaNode = -1;

MemoryLimits read_memory_limits();
// Where the kernel counts hugepages: those of a NUMA node, or all of the machine's (kNoNumaNode).
std::string hugepage_folder(int numa_node);
// The smallest pages first. `folder`: hugepage_folder(), or one like it.
std::vector<HugePages> read_hugepages(const std::filesystem::path& folder);

// A sentence that names the amount that was refused.
std::string memory_shortage(uint64_t wanted_bytes, const MemoryLimits& limits);
// The sentence's second half: which limit applies, and how to lift it.
std::string memory_limit(const MemoryLimits& limits);
// The second half for a refused thread, which needs address space for its stack and counts as a process.
std::string thread_limit(const MemoryLimits& limits);
// The error of hugepages, and the command (root's) that mends it; no command where the kernel has none at all.
struct HugepageLack {
  std::string fact;
  std::string command;
};
// Nothing if they have `wanted_bytes` free. `pages` are those of `numa_node`.
std::optional<HugepageLack> hugepage_lack(uint64_t wanted_bytes, const std::vector<HugePages>& pages, int numa_node);
// The same as a sentence, which is empty for nothing.
std::string hugepage_shortage(uint64_t wanted_bytes, const std::vector<HugePages>& pages, int numa_node);

}  // namespace softspine::dataplane
