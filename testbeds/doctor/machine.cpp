// SPDX-License-Identifier: Apache-2.0
#include "testbeds/doctor/machine.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace fs = std::filesystem;

namespace {

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t") + 1);
  return text;
}

// "kernel/drivers/net/bonding/bonding.ko.xz: …" is bonding; '-' and '_' are the same to the kernel.
bool is_module_in(std::ifstream file, std::string name) {
  std::ranges::replace(name, '-', '_');
  for (std::string line; std::getline(file, line);) {
    std::string path = line.substr(0, line.find(':'));
    path.erase(0, path.rfind('/') + 1);
    std::ranges::replace(path, '-', '_');
    if (path.starts_with(name + ".ko")) return true;
  }
  return false;
}

}  // namespace

bool Machine::has(const std::string& path) const {
  std::error_code ignored;
  return fs::exists(root_ / path, ignored);
}

std::string Machine::why_not_open(const std::string& path) const {
  const OwnedFd file(open((root_ / path).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  return file.get() >= 0 ? "" : std::strerror(errno);
}

std::optional<std::string> Machine::line_in(const std::string& path) const {
  std::ifstream file(root_ / path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<std::string> Machine::field(const std::string& path, const std::string& key) const {
  std::ifstream file(root_ / path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return trimmed(line.substr(key.size()));
  }
  return std::nullopt;
}

std::string Machine::link_at(const std::string& path) const {
  std::error_code ignored;
  return fs::read_symlink(root_ / path, ignored).filename().string();
}

std::vector<std::string> Machine::names_in(const std::string& folder) const {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root_ / folder, ignored)) {
    out.push_back(entry.path().filename().string());
  }
  std::ranges::sort(out);
  return out;
}

bool Machine::is_in_set(const std::string& key, int capability) const {
  const auto mask = field("proc/self/status", key);
  return mask && (std::strtoull(mask->c_str(), nullptr, 16) >> capability & 1) != 0;
}

bool Machine::holds(int capability) const {
  return is_in_set("CapEff:", capability);
}

bool Machine::could_hold(int capability) const {
  return is_in_set("CapBnd:", capability);
}

bool Machine::is_in_first_user_namespace() const {
  const auto line = line_in("proc/self/uid_map");
  if (!line) return true;
  std::istringstream words(*line);
  uint64_t inside = 0;
  uint64_t outside = 0;
  uint64_t count = 0;
  words >> inside >> outside >> count;
  return inside == 0 && outside == 0 && count == UINT32_MAX;
}

std::optional<uint64_t> Machine::limit(const std::string& name) const {
  const auto text = field("proc/self/limits", name);
  uint64_t value = 0;
  if (!text || !(std::istringstream(*text) >> value)) return std::nullopt;
  return value;
}

bool Machine::has_module(const std::string& name) const {
  if (has("sys/module/" + name)) return true;
  const std::string folder = "lib/modules/" + line_in("proc/sys/kernel/osrelease").value_or("");
  return is_module_in(std::ifstream(root_ / folder / "modules.builtin"), name) ||
         is_module_in(std::ifstream(root_ / folder / "modules.dep"), name);
}

}  // namespace softspine::testbeds
