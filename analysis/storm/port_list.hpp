// SPDX-License-Identifier: Apache-2.0
// A list of the names that ports have in a capture: one a line, `#` begins a comment. The last word is the port, what
// stands before it is its name in the capture.
//
//   eth3                sw1:Ethernet12      an interface's name
//   interface 0         sw1:Ethernet16      the first interface, if it has no name
//   02:11:22:33:44:55   gpu7:mlx5_0         a MAC address that pause frames come from; also 02-11-22-33-44-55 and
//                                           0211.2233.4455
//   02:11:22:33:44:66   leaf01              a MAC address that all ports of a node send from, as SONiC's do
//
// A file that begins with { is a switch's config_db.json (config_db_ports.hpp). A list goes before a testbed, where
// both name a port for one address.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/storm/pause_log.hpp"

namespace softspine::analysis::storm {

// As vendors write it. No value: no MAC address.
std::optional<uint64_t> mac_of(std::string_view text);

// Adds to `known`. The error is a sentence with file and line.
std::expected<void, std::string> read_port_list(const std::string& path, KnownFabric& known);

// The lines of a list that match no interface of the capture and no source of its pause frames, as a sentence's end:
// "2 (eth33), 7 (02:11:22:33:44:56)". Empty: each matches.
std::string unmatched_lines(const KnownFabric& known, const PauseRecorder& recorded);

}  // namespace softspine::analysis::storm
