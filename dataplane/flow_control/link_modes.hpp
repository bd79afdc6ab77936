// SPDX-License-Identifier: Apache-2.0
// The modes of a link's flow control: how the receiver keeps the sender from sending more than it can hold.
//
// A mode has its row here; testbed files, schema and reference have its word and its sentence from this table. The plan
// of every port carries the mode to PortFlowControl, of switches, NICs and built-in hosts alike, and there its frames
// are obeyed and made (port_flow_control.cpp). What asks for pauses needs nothing else; what grants room beforehand
// needs a plan of that room, as CreditPlan is one.
#pragma once

#include <array>
#include <cstdint>

namespace softspine::dataplane {

enum class LinkMode : uint8_t {
  kPfc,     // the receiver asks for pauses of priorities (802.1Qbb)
  kCredit,  // the receiver grants credit beforehand, as InfiniBand's does
};

struct LinkModeRow {
  LinkMode mode;
  const char* word;  // of `flow_control` in testbed files
  const char* help;
};

inline constexpr std::array kLinkModes{
    LinkModeRow{LinkMode::kPfc, "pfc", "pauses, if the profile says so"},
    LinkModeRow{LinkMode::kCredit, "credit", "what would obey pauses sends only what the other end has room for"}};

}  // namespace softspine::dataplane
