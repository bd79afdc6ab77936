// SPDX-License-Identifier: Apache-2.0
// SONiC's port channels of imported config_db.json files: which of the links are LAGs.
//
//   PORTCHANNEL|NAME              min_links, fast_rate
//   PORTCHANNEL_MEMBER|NAME|PORT  a port of it
//
// A port channel becomes a LAG if its links lead to one switch and have one rate and MTU, and if that switch's own
// file, where it is there, has the same links in one port channel. Other port channels, such as those to hosts, are
// noted and become no LAG. min_links is the larger of both ends' values; fast_rate holds if either end has it.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "control/document/reader.hpp"
#include "control/imports/foreign_topology.hpp"

namespace softspine::control {

struct SonicChannel {
  std::string_view name;
  uint32_t min_links = 1;
  bool fast_rate = false;
  Value at;
};

// The port channels of one switch.
struct SonicChannels {
  std::vector<SonicChannel> channels;
  std::unordered_map<std::string_view, size_t> of_port;
};

// Errors are reported.
SonicChannels read_sonic_channels(Reader& reader, Value root);

// Once all links are there. `by_node`: of each node, null where its file is not there.
void join_sonic_channels(const std::vector<const SonicChannels*>& by_node, ForeignTopology& topology);

}  // namespace softspine::control
