// SPDX-License-Identifier: Apache-2.0
// A program of this machine on a host of a running fabric, with the streams, the terminal and the rights of this
// process. If the host has no namespaces, this process becomes the program. Else it is our child in them, so its
// terminal, job control and signals are the kernel's; and it is in the host's PID namespace, so it ends with the host.
//
//   on a terminal of which we are the foreground: it gets a process group of its own and the terminal, so Ctrl-C,
//     Ctrl-Z and the window's size reach it alone; when it stops, so do we, and it goes on when we do
//   else: it is in our process group, and gets the signals that somebody sends to us
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace softspine::tools {

// The fabric's answer (testbeds/outside/outside_host.hpp).
struct HostEntrance {
  std::string host;
  std::map<std::string, std::string> environment;
  std::filesystem::path folder;  // of the host's files
  std::optional<int> process;    // whose namespaces are the host's
};

// Asks the running fabric of that name, or the only one.
std::expected<HostEntrance, std::string> entrance_of(const std::string& fabric, const std::string& host);

// Runs `work` on the host, in a process of its own if that has namespaces, and returns its exit status: 128 + signal if
// one ended it. `work` returns the exit status. The error is a sentence for a person: the host cannot be entered.
std::expected<int, std::string> run_on_host(const HostEntrance& entrance, const std::function<int()>& work);

// For `work`: becomes the program, which is found by PATH. Returns 127 if there is none, 126 if it cannot be run.
int become(const std::vector<std::string>& command);

}  // namespace softspine::tools
