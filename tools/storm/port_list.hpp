// SPDX-License-Identifier: Apache-2.0
// A list of the names that ports have in a capture: one a line, `#` begins a comment.
//
//   eth3                sw1:Ethernet12      an interface's name in the capture
//   02:11:22:33:44:55   gpu7:mlx5_0         a MAC address that pause frames come from
#pragma once

#include <expected>
#include <string>

#include "tools/storm/pause_log.hpp"

namespace softspine::tools::storm {

// Adds to `known`. The error is a sentence with file and line.
std::expected<void, std::string> read_port_list(const std::string& path, KnownFabric& known);

}  // namespace softspine::tools::storm
