// SPDX-License-Identifier: Apache-2.0
// A capture of a running fabric into Wireshark's pipe, from its reader's coming to the end: Wireshark stops (SIGTERM,
// SIGINT or SIGHUP), the reader leaves, or the fabric ends. The fabric writes into the pipe itself. It is asked for its
// list of captures several times a second, which makes it write what it holds: on the virtual clock nothing else does.
//
// Nothing is left behind: the capture is stopped in the fabric; if this program is killed, it ends there when the
// reader has left (testbeds/run/captures.hpp: for_reader).
#pragma once

#include <expected>
#include <string>

#include "tools/extcap/fabric_ports.hpp"

namespace softspine::tools {

struct PipeCapture {
  InterfaceName of;
  std::string pipe;
  std::string ports = "*";  // of a fabric: names or patterns between blanks; *: every port
  std::string direction = "both";
  std::string filter;        // libpcap's syntax
  std::string other_filter;  // takes effect, too
  uint32_t snaplen = 0;      // 0: whole frames
};

// The error is a sentence.
std::expected<void, std::string> capture_into_pipe(const PipeCapture& wanted);

// Of both filters; empty: every frame.
std::string joined_filter(const PipeCapture& wanted);

}  // namespace softspine::tools
