// SPDX-License-Identifier: Apache-2.0
// Facts about a switch's ports in captures, from its config_db.json (SONiC):
//
//   DEVICE_METADATA|localhost|mac        the address that all of its ports send from
//   DEVICE_METADATA|localhost|hostname   its node; the file's name without its ending if it is not there
//   PORT|Ethernet0|alias                 another name of the port: leaf01:etp1 is leaf01:Ethernet0
//
// Its links come from a testbed: `softspine import sonic`.
#pragma once

#include <expected>
#include <string>

#include "analysis/storm/pause_log.hpp"

namespace softspine::analysis::storm {

// Adds to `known`. The error is a sentence with the file.
std::expected<void, std::string> read_config_db(const std::string& path, const std::string& text, KnownFabric& known);

}  // namespace softspine::analysis::storm
