// SPDX-License-Identifier: Apache-2.0
// Shared by readers of captures: a frame without the tags of the network where it was captured, the identity of its
// flow, and places of a fabric by their names.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/model/fabric.hpp"
#include "dataplane/packet/packet.hpp"

namespace softspine::analysis {

// Everything that a hash may look at by default and that is the same for a flow's packets; addresses as bytes.
struct FlowIdentity {
  std::string source;
  std::string destination;
  std::string rest;
  std::string all() const { return source + destination + rest; }
};
// The packet must have been parsed and be IP.
FlowIdentity identity_of(const dataplane::Packet& packet);

struct BareFrame {
  std::vector<uint8_t> bytes;
  uint32_t length = 0;  // on the wire
};
BareFrame without_tags(std::span<const uint8_t> captured, uint32_t length);

// Hosts by address, as bytes.
std::unordered_map<std::string, uint32_t> hosts_by_address(const control::Fabric& fabric);

// The sender of frames that come in at a place: "" for nobody in particular, a host, or SWITCH:PORT, whose peer it is.
std::expected<std::optional<control::LinkEnd>, std::string> sender_named(const control::Fabric& fabric,
                                                                         const std::string& from);

}  // namespace softspine::analysis
