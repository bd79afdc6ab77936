// SPDX-License-Identifier: Apache-2.0
// The modes of a link's flow control: how the receiver keeps the sender from sending more than it can hold.
//
// Each mode has a row here; testbed files, schema and reference take its word and its sentence from it. The plan of
// every port, of a switch, NIC or built-in host, carries the mode to PortFlowControl, which obeys and makes the mode's
// frames (port_flow_control.cpp). A mode that asks for pauses needs nothing else; one that grants room beforehand also
// needs a plan of that room, such as CreditPlan. A link has one mode: PFC and PAUSE exclude each other (802.1Qbb).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "dataplane/flow_control/link_mode.hpp"
#include "dataplane/flow_control/link_parameters.hpp"
#include "dataplane/units/parameter_key.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct LinkModeRow {
  LinkMode mode;
  const char* word;  // of `flow_control` in testbed files
  const char* help;
  const char* said;  // of a link in that mode, after its other properties
};

inline constexpr std::array kLinkModes{
    LinkModeRow{LinkMode::kPfc, "pfc", "pauses, if the profile says so", ""},
    LinkModeRow{LinkMode::kCredit, "credit", "what would obey pauses sends only what the other end has room for",
                ", by credit"},
    LinkModeRow{LinkMode::kPause, "pause",
                "pauses of the whole link (802.3 PAUSE), for lossless groups, whatever pfc_enable says", ", by PAUSE"}};

constexpr const LinkModeRow& row_of(LinkMode mode) {
  return kLinkModes[static_cast<size_t>(mode)];
}

// The keys of a link's parameters. The help of flow_control is "pfc: …; credit: …".
inline const auto& link_keys() {
  static const std::string modes = [] {
    std::string out;
    for (const LinkModeRow& row : kLinkModes)
      out += (out.empty() ? "" : "; ") + std::string(row.word) + ": " + row.help;
    return out;
  }();
  static const std::tuple keys{
      parameter("flow_control", &LinkParameters::flow_control, modes),
      parameter("pfc_response_time", &LinkParameters::pfc_response,
                "how late after a pause's last bit an end may begin a frame of its priority; 802.3's maximum if not "
                "given",
                Duration{}, Duration::ms(1))};
  return keys;
}

// The priorities that pauses on such a link stop, of a port with this pfc_enable.
constexpr uint8_t paused_priorities(LinkMode mode, uint8_t pfc_enable) {
  switch (mode) {
    case LinkMode::kPfc: return pfc_enable;
    case LinkMode::kCredit: return 0;
    case LinkMode::kPause: break;
  }
  return 0xff;
}

}  // namespace softspine::dataplane
