// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/machine_memory.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace softspine::testbeds {

namespace {

namespace fs = std::filesystem;

// A file of one number; "max" and whatever else is none.
std::optional<uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// A file of lines "key value": /proc/meminfo, memory.stat.
std::optional<uint64_t> value_of(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + " ") && !line.starts_with(key + ":")) continue;
    return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
  }
  return std::nullopt;
}

struct Names {
  const char* limit;
  const char* used;
  const char* cache;
};
constexpr Names kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Names kVersion2{"memory.max", "memory.current", "inactive_file"};

uint64_t left_in(const fs::path& group, const Names& names) {
  const auto limit = number_in(group / names.limit);
  const auto used = number_in(group / names.used);
  if (!limit || !used) return UINT64_MAX;
  const uint64_t cache = std::min(value_of(group / "memory.stat", names.cache).value_or(0), *used);
  return *limit - std::min(*limit, *used - cache);
}

// A limit of a group above holds, too. In a container the path may be the host's: then only the mount's own is there.
uint64_t left_on_way(const fs::path& mount, fs::path group, const Names& names) {
  uint64_t least = left_in(mount, names);
  for (; group.has_relative_path(); group = group.parent_path()) {
    least = std::min(least, left_in(mount / group.relative_path(), names));
  }
  return least;
}

}  // namespace

uint64_t available_memory(const fs::path& root) {
  const auto machine = value_of(root / "proc/meminfo", "MemAvailable");
  uint64_t least = machine ? *machine * 1024 : UINT64_MAX;
  const fs::path groups = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  // "0::/path" for version 2, "4:memory:/path" for version 1.
  for (std::string line; std::getline(file, line);) {
    const size_t name = line.find(':') + 1;
    const size_t path = line.find(':', name) + 1;
    if (name == 0 || path == 0) continue;
    const std::string controllers = "," + line.substr(name, path - name - 1) + ",";
    if (controllers == ",,") least = std::min(least, left_on_way(groups, line.substr(path), kVersion2));
    if (controllers.find(",memory,") == std::string::npos) continue;
    least = std::min(least, left_on_way(groups / "memory", line.substr(path), kVersion1));
  }
  return least;
}

}  // namespace softspine::testbeds
