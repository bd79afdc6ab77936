// SPDX-License-Identifier: Apache-2.0
// This machine as the doctor sees it: files below a root folder (/proc, /sys, /dev), and facts that only a system call
// gives. Tests give a folder of their own and answers of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "testbeds/guests/installation.hpp"

namespace softspine::testbeds {

struct InterfaceHere {
  bool up = false;
  bool carrier = false;
  uint32_t mtu = 0;
  std::string driver;  // "veth", "tun", …; empty: not known from its driver
  std::string peer;    // the other end of a veth, if it is in reach
  uint32_t peer_mtu = 0;
};

// Facts that no file has, or that files have of another network namespace (/sys/class/net is that of who mounted /sys).
struct MachineCalls {
  std::function<bool()> owns_network;  // our rights count for the network namespace that we are in
  std::function<std::optional<InterfaceHere>(const std::string& name)> interface;
  std::function<std::string()> why_no_namespace;  // empty: one can be made
  std::function<std::string()> why_no_xdp;        // empty: the kernel has AF_XDP sockets, as far as we may know
  std::function<bool(const std::string& program)> has_program;  // by its path, or in $PATH
  std::function<std::string()> why_no_foreign_memory;           // empty: we may copy that of a process that lets us
  std::function<PartHere()> uml_kernel;
  std::function<PartHere()> guest_root;
  std::function<PartHere()> qemu;
  std::function<std::string(const std::string& kernel, const std::string& root)> uml_obstacle;
};
MachineCalls calls_of_this_machine();

class Machine {
 public:
  explicit Machine(std::filesystem::path root = "/", MachineCalls calls = calls_of_this_machine())
      : root_(std::move(root)), calls_(std::move(calls)) {}

  const std::filesystem::path& root() const { return root_; }
  const MachineCalls& calls() const { return calls_; }
  bool has(const std::string& path) const;
  // To read and to write, as the user that we are; empty: it can be, "Permission denied".
  std::string why_not_open(const std::string& path) const;
  // The first line; nothing: it cannot be read.
  std::optional<std::string> line_in(const std::string& path) const;
  // The text behind `key` in a file of such lines: field("proc/self/status", "CapEff:").
  std::optional<std::string> field(const std::string& path, const std::string& key) const;
  // The name at the end of a symbolic link; empty: there is none.
  std::string link_at(const std::string& path) const;
  // The names in a folder, in order.
  std::vector<std::string> names_in(const std::string& folder) const;

  bool holds(int capability) const;       // among our effective rights
  bool could_hold(int capability) const;  // not taken away for good, as from a container
  // A right over memory, programs in the kernel or hardware counts only there. If no file shows it, we are in it.
  bool is_in_first_user_namespace() const;
  // Bytes; nothing: unlimited. `name`: "Max locked memory", as in /proc/self/limits.
  std::optional<uint64_t> limit(const std::string& name) const;
  // Loaded, or built in, or a file that the kernel loads when it is asked for.
  bool has_module(const std::string& name) const;

 private:
  bool is_in_set(const std::string& key, int capability) const;

  std::filesystem::path root_;
  MachineCalls calls_;
};

}  // namespace softspine::testbeds
