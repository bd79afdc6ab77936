// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/memory_shortage.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

namespace softspine::dataplane {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderBegin = "hugepages-";

std::string mebibytes(uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

uint64_t number_in(const fs::path& file) {
  uint64_t number = 0;
  std::ifstream(file) >> number;
  return number;
}

uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    uint64_t kibibytes = 0;
    if (word == "MemAvailable:" && file >> kibibytes) return kibibytes << 10;
  }
  return 0;
}

}  // namespace

MemoryLimits read_memory_limits() {
  MemoryLimits limits;
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) limits.address_space = space.rlim_cur;
  limits.strict_commit = number_in("/proc/sys/vm/overcommit_memory") == 2;
  limits.available = available_bytes();
  return limits;
}

std::string hugepage_folder(int numa_node) {
  return numa_node == kNoNumaNode ? "/sys/kernel/mm/hugepages"
                                  : "/sys/devices/system/node/node" + std::to_string(numa_node) + "/hugepages";
}

std::vector<HugePages> read_hugepages(const fs::path& folder) {
  std::vector<HugePages> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    uint64_t kibibytes = 0;
    if (!name.starts_with(kFolderBegin)) continue;
    if (std::from_chars(name.data() + kFolderBegin.size(), name.data() + name.size(), kibibytes).ec != std::errc{})
      continue;
    all.push_back(
        {kibibytes << 10, number_in(entry.path() / "nr_hugepages"), number_in(entry.path() / "free_hugepages")});
  }
  std::ranges::sort(all, {}, &HugePages::page_bytes);
  return all;
}

std::string memory_shortage(uint64_t wanted_bytes, const MemoryLimits& limits) {
  return mebibytes(wanted_bytes) + " of memory are not to be had: " + memory_limit(limits);
}

std::string memory_limit(const MemoryLimits& limits) {
  if (limits.address_space) {
    return "a process may have " + mebibytes(*limits.address_space) +
           " of address space here; `ulimit -v unlimited` lifts that";
  }
  if (limits.strict_commit) {
    return "this machine commits no more memory than it has (vm.overcommit_memory is 2); `sysctl "
           "vm.overcommit_memory=0` changes that";
  }
  return mebibytes(limits.available) + " are available on this machine, or in this container";
}

std::string thread_limit(const MemoryLimits& limits) {
  if (limits.address_space || limits.strict_commit) return memory_limit(limits);
  return "the number of processes and threads is limited here: `ulimit -u`, or a container's pids.max";
}

std::optional<HugepageLack> hugepage_lack(uint64_t wanted_bytes, const std::vector<HugePages>& pages, int numa_node) {
  uint64_t free_bytes = 0;
  for (const HugePages& each : pages) free_bytes += each.free * each.page_bytes;
  if (free_bytes >= wanted_bytes) return std::nullopt;
  const std::string where = numa_node == kNoNumaNode ? "" : " on its NUMA node " + std::to_string(numa_node);
  const std::string begin = "a PCI device needs " + mebibytes(wanted_bytes) + " of hugepages" + where + ", and ";
  if (pages.empty()) return HugepageLack{begin + "this machine's kernel has none", ""};
  const HugePages& smallest = pages.front();
  const uint64_t missing = (wanted_bytes - free_bytes + smallest.page_bytes - 1) / smallest.page_bytes;
  return HugepageLack{begin + mebibytes(free_bytes) + " of them are free",
                      "echo " + std::to_string(smallest.total + missing) + " >" + hugepage_folder(numa_node) +
                          "/hugepages-" + std::to_string(smallest.page_bytes >> 10) + "kB/nr_hugepages"};
}

std::string hugepage_shortage(uint64_t wanted_bytes, const std::vector<HugePages>& pages, int numa_node) {
  const auto lack = hugepage_lack(wanted_bytes, pages, numa_node);
  if (!lack) return "";
  return lack->command.empty() ? lack->fact : lack->fact + "; as root: " + lack->command;
}

}  // namespace softspine::dataplane
