// SPDX-License-Identifier: Apache-2.0
// A program in a guest, with streams of this process, by the guest's line (testbeds/guest_line/line_frames.hpp).
//
//   stdin and stdout are a terminal of which we are the foreground: the program has a terminal in the guest, ours hands
//     all keys on, and its size. If the program stops (Ctrl-Z), so do we, and it goes on when we do
//   else: its streams are pipes, and signals that we get are passed on to its process group
//
// It ends with us, and we end with it or its guest, or when nobody reads our stdout. Until the guest has answered a
// signal ends us, as it would any program, and the terminal is as it was; then does a signal or Ctrl-C that comes a
// second after one to which the guest has answered nothing.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "tools/softspine/labs/host_program.hpp"

namespace softspine::tools {

struct ProgramStreams {
  int input = 0;
  int output = 1;
  int errors = 2;
  bool may_be_terminal = true;
};

// Returns the program's exit status, as run_on_host(): 128 + SIGKILL if its guest ended first, which is said on stderr.
std::expected<int, std::string> run_in_guest(const HostEntrance& entrance, const std::vector<std::string>& command,
                                             const ProgramStreams& streams = {});

}  // namespace softspine::tools
