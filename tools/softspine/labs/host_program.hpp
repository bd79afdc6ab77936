// SPDX-License-Identifier: Apache-2.0
// A program of this machine on a host of a running fabric, with the streams, the terminal and the rights of this
// process. If the host has no namespaces, this process becomes the program. Else it is our child in them, so its
// terminal, job control and signals are the kernel's (testbeds/process/attended_program.hpp); and it is in the host's
// PID namespace, so it ends with the host. A guest has a kernel of its own: guest_program.hpp.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace softspine::tools {

// The fabric's answer (testbeds/outside/outside_host.hpp).
struct HostEntrance {
  std::string host;
  std::map<std::string, std::string> environment;
  std::filesystem::path folder;  // of the host's files
  std::optional<int> process;    // whose namespaces are the host's
  std::filesystem::path line;    // of a guest: the socket on which its programs are asked for; else empty
};

// Asks the running fabric of that name, or the only one.
std::expected<HostEntrance, std::string> entrance_of(const std::string& fabric, const std::string& host);

// Runs `work` on the host, in a process of its own if that has namespaces, and returns its exit status: 128 + signal if
// one ended it. `work` returns the exit status. The error is a sentence for a person: the host cannot be entered.
std::expected<int, std::string> run_on_host(const HostEntrance& entrance, const std::function<int()>& work);

}  // namespace softspine::tools
