// SPDX-License-Identifier: Apache-2.0
// The usual packet in one pass, from its parsed headers to its way out: what the stages (stages.hpp) would find, one
// after another, with the packet's meta read and written once.
//
//   usual      IPv4 without options or fragments, UDP or TCP, no fault, TTL above 1, tagged or not;
//              from a routed port to the router's MAC, or from a bridged one to that or to a MAC whose port is known;
//              the route leads to an adjacency, or to a group that is hashed, and the packet is not too long for it
//   the switch hashes plainly (EcmpHash::is_plain), has no LAGs, no ages and no maps by port (is_usual_switch)
//
// A pass takes packets from the front of a burst and stops before the first one that is not usual: that one and those
// behind it are the stages', so that the switch learns from packets in their order. It decides and writes what the
// stages would: tests/scenario/switch/usual_pass_test.cpp compares both.
#pragma once

#include <cstdint>

#include "dataplane/forwarding/stages.hpp"

namespace softspine::dataplane {

// Whether any packet of a switch with this state is usual.
bool is_usual_switch(const ForwardingState& state) noexcept;
// Whether ports may be bridged, as the stage bridge() has them, or all are routed, as accept_routed() has them.
enum class PassPorts : uint8_t { kRouted, kBridged };
// Takes the usual packets at the front of a parsed burst; returns how many.
template <PassPorts P>
uint32_t forward_usual(SwitchTables& tables, Burst& burst) noexcept;

}  // namespace softspine::dataplane
