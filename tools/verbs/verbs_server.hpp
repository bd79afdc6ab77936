// SPDX-License-Identifier: Apache-2.0
// The server: takes what clients send, as many at once as come, each on a thread of its own.
#pragma once

#include <expected>
#include <string>

#include "tools/verbs/interrupt_signal.hpp"

namespace softspine::tools {

struct ServerOptions {
  std::string address;  // ours; empty: all
  std::string port;
  uint32_t sessions = 0;  // after which it ends; 0: never
  bool json = false;
};

// Whether every byte of every session was right. Prints a line for each.
std::expected<bool, std::string> run_server(const ServerOptions& options, InterruptSignal& interrupt);

}  // namespace softspine::tools
