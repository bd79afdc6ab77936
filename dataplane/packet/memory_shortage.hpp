// SPDX-License-Identifier: Apache-2.0
// Why memory is refused, and what would help: for errors of those who asked for it in vain. The kernel's own word for
// it
// ("Cannot allocate memory", and from DPDK whatever error came last) names neither the limit nor the way to lift it.
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

MemoryLimits read_memory_limits();
// The smallest pages first. `folder`: the kernel's, or one like it.
std::vector<HugePages> read_hugepages(const std::filesystem::path& folder = "/sys/kernel/mm/hugepages");

// A sentence: so much was asked for and not to be had.
std::string memory_shortage(uint64_t wanted_bytes, const MemoryLimits& limits);
// Its second half: which limit it is, and what lifts it.
std::string memory_limit(const MemoryLimits& limits);
// The same of a thread, which needs an address space for its stack, and is counted as a process.
std::string thread_limit(const MemoryLimits& limits);
// Empty when so much is free.
std::string hugepage_shortage(uint64_t wanted_bytes, const std::vector<HugePages>& pages);

}  // namespace softspine::dataplane
