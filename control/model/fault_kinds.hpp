// SPDX-License-Identifier: Apache-2.0
// The kinds of faults, one row each: the word in a testbed's `faults:` and of `softspine inject`, what the fault sits
// on, the keys that it takes, which losses it explains, and its words in help, report and event log.
//
// To add one: its enumerator and its row here, and its act in testbeds/run: a case in FaultControl::set_host or
// set_port, or in LinkControl::strike. Reading, checks, schema, help, events and the ledger of losses read the row.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dataplane/packet/drop_reason.hpp"

namespace softspine::control {

// In the order of kFaultKinds.
enum class FaultKind : uint8_t {
  kDown,
  kUp,
  kStorm,
  kSlowReceiver,
  kLossy,
  kDeaf,
  kTxDisabled,
  kClear,
  kOneWay,
  kDead,
  kDrained
};

// The place of a fault. Links and their routes are LinkControl's, the rest is FaultControl's. kAnything: ends those of
// cables, ports and hosts.
enum class FaultTarget : uint8_t { kCable, kPort, kSwitchPort, kHost, kLinks, kAnything };

// Keys that not every fault takes: a bit each.
using FaultKeys = uint32_t;
inline constexpr FaultKeys kFaultLink = 1U << 0;
inline constexpr FaultKeys kFaultNode = 1U << 1;
inline constexpr FaultKeys kFaultUntil = 1U << 2;
inline constexpr FaultKeys kFaultPriorities = 1U << 3;
inline constexpr FaultKeys kFaultDrain = 1U << 4;
inline constexpr FaultKeys kFaultShares = 1U << 5;  // drop, corrupt
inline constexpr FaultKeys kFaultDirection = 1U << 6;
inline constexpr FaultKeys kFaultCarrier = 1U << 7;
inline constexpr FaultKeys kFaultLinksAfter = 1U << 8;
inline constexpr FaultKeys kFaultFlap = 1U << 9;
inline constexpr FaultKeys kFaultGroups = 1U << 10;  // plane, rack, ports
inline constexpr FaultKeys kFaultPlace = kFaultLink | kFaultNode;

// Where a packet was dropped, as seen from the fault's ports.
enum class DropPlace : uint8_t {
  kCameIn,        // it came in by one of them
  kWentOut,       // it was to go out by one of them
  kCameFrom,      // it came from one of them
  kWentTo,        // it was to go to one of them
  kInTheirOwner,  // in their node
};
struct ExplainedDrop {
  dataplane::DropReason reason;
  DropPlace place;
};

// The losses that a fault explains.
struct LossScope {
  bool takes_links_down = false;  // what is on its links or sent into them
  bool kills_frames = false;      // what its ports send is lost or damaged
  bool stops_flows = false;       // it stops packets without losing any
  std::span<const ExplainedDrop> drops = {};
};

inline constexpr std::array kDropsOfLostPauses{
    ExplainedDrop{dataplane::DropReason::kHeadroomFull, DropPlace::kCameIn},
    ExplainedDrop{dataplane::DropReason::kIngressFull, DropPlace::kCameIn},
};
inline constexpr std::array kDropsOfDeafPorts{
    ExplainedDrop{dataplane::DropReason::kHeadroomFull, DropPlace::kCameFrom},
    ExplainedDrop{dataplane::DropReason::kIngressFull, DropPlace::kCameFrom},
};
inline constexpr std::array kDropsOfSilentPorts{
    ExplainedDrop{dataplane::DropReason::kQueueFull, DropPlace::kWentOut},
    ExplainedDrop{dataplane::DropReason::kWredDropped, DropPlace::kWentOut},
    ExplainedDrop{dataplane::DropReason::kPfcWatchdog, DropPlace::kWentOut},
};
inline constexpr std::array kDropsOfHosts{
    ExplainedDrop{dataplane::DropReason::kPfcWatchdog, DropPlace::kWentTo},
    ExplainedDrop{dataplane::DropReason::kPfcWatchdogIngress, DropPlace::kCameFrom},
    ExplainedDrop{dataplane::DropReason::kReceiveBufferFull, DropPlace::kInTheirOwner},
};

struct FaultKindRow {
  FaultKind kind;
  std::string_view word;
  FaultTarget target;
  FaultKeys keys;
  LossScope losses = {};
  // The words for its begin, and for its end, with {where}: its ports, host or links; {priorities}; {takes}: what a
  // buffer drains; {drop}, {corrupt}: shares of frames; {from}, {to}: ends of the first cable; {more}: how many others.
  std::string_view begins;
  std::string_view ends = {};
  std::string_view meaning = {};  // for a testbed's author, in brackets behind the word; empty: the word is enough
  std::string_view help = {};     // of `softspine inject`; empty: it is no fault to inject
  uint8_t priorities = 0xff;      // if none are named
  std::string_view old_word = {};
};

inline constexpr std::array kFaultKinds{
    FaultKindRow{.kind = FaultKind::kDown,
                 .word = "down",
                 .target = FaultTarget::kLinks,
                 .keys = kFaultPlace | kFaultGroups | kFaultFlap,
                 .losses = {.takes_links_down = true},
                 .begins = "{where} down"},
    FaultKindRow{.kind = FaultKind::kUp,
                 .word = "up",
                 .target = FaultTarget::kLinks,
                 .keys = kFaultPlace | kFaultGroups,
                 .begins = "{where} up"},
    FaultKindRow{.kind = FaultKind::kStorm,
                 .word = "storm",
                 .target = FaultTarget::kHost,
                 .keys = kFaultNode | kFaultUntil | kFaultPriorities,
                 .losses = {.stops_flows = true, .drops = kDropsOfHosts},
                 .begins = "{where} storms: pauses of priority {priorities} without end",
                 .ends = "{where}: storm ends",
                 .meaning = "it pauses its peers without end",
                 .help = "a built-in host pauses its peers without end",
                 .priorities = 0x18},
    FaultKindRow{.kind = FaultKind::kSlowReceiver,
                 .word = "slow_receiver",
                 .target = FaultTarget::kHost,
                 .keys = kFaultNode | kFaultUntil | kFaultPriorities | kFaultDrain,
                 .losses = {.stops_flows = true, .drops = kDropsOfHosts},
                 .begins = "{where} is a slow receiver of priority {priorities}: takes {takes}",
                 .ends = "{where}: slow receiver ends",
                 .meaning = "its buffer drains too slowly",
                 .help = "a built-in host's buffer drains too slowly, and fills",
                 .priorities = 0x18},
    FaultKindRow{.kind = FaultKind::kLossy,
                 .word = "lossy",
                 .target = FaultTarget::kCable,
                 .keys = kFaultPlace | kFaultUntil | kFaultShares | kFaultDirection,
                 .losses = {.kills_frames = true, .drops = kDropsOfLostPauses},
                 .begins = "cable of {where} loses {drop} and damages {corrupt} of the frames sent",
                 .ends = "{where}: its cable is good again",
                 .help = "a link (NODE:PORT) or all of a node's lose or damage a share of their frames"},
    FaultKindRow{.kind = FaultKind::kDeaf,
                 .word = "deaf",
                 .target = FaultTarget::kPort,
                 .keys = kFaultPlace | kFaultUntil | kFaultPriorities,
                 .losses = {.drops = kDropsOfDeafPorts},
                 .begins = "{where} is deaf to pauses of priority {priorities}",
                 .ends = "{where}: obeys pauses again",
                 .meaning = "it does not react to PFC",
                 .help = "a port, or all of a node's, does not react to PFC"},
    FaultKindRow{.kind = FaultKind::kTxDisabled,
                 .word = "tx_disabled",
                 .target = FaultTarget::kSwitchPort,
                 .keys = kFaultPlace | kFaultUntil,
                 .losses = {.stops_flows = true, .drops = kDropsOfSilentPorts},
                 .begins = "{where}: TX disabled",
                 .ends = "{where}: TX enabled again",
                 .meaning = "its queues send nothing: SAI's PKT_TX_ENABLE",
                 .help = "queues of a switch's port, or of all of its ports, send nothing"},
    FaultKindRow{.kind = FaultKind::kClear,
                 .word = "clear",
                 .target = FaultTarget::kAnything,
                 .keys = kFaultPlace,
                 .begins = "{where}: faults cleared",
                 .help = "ends these faults; one_way, dead and drained end by: softspine link WHERE up",
                 .old_word = "well"},
    FaultKindRow{.kind = FaultKind::kOneWay,
                 .word = "one_way",
                 .target = FaultTarget::kLinks,
                 .keys = kFaultLink | kFaultUntil | kFaultDirection | kFaultCarrier,
                 .losses = {.kills_frames = true, .drops = kDropsOfLostPauses},
                 .begins = "frames from {from} to {to}{more} die",
                 .ends = "{where}: frames pass again",
                 .meaning = "frames of one direction die",
                 .help = "what a port sends (--direction out) or gets (in) dies; its link stays up"},
    FaultKindRow{.kind = FaultKind::kDead,
                 .word = "dead",
                 .target = FaultTarget::kLinks,
                 .keys = kFaultPlace | kFaultGroups | kFaultUntil | kFaultCarrier,
                 .losses = {.kills_frames = true, .drops = kDropsOfLostPauses},
                 .begins = "{where}: frames of both directions die",
                 .ends = "{where}: frames pass again",
                 .meaning = "frames of both directions die, and the links stay up: a data plane that has died",
                 .help = "frames of both directions die on a link, or on all of a node's: a data plane that has died"},
    FaultKindRow{.kind = FaultKind::kDrained,
                 .word = "drained",
                 .target = FaultTarget::kLinks,
                 .keys = kFaultPlace | kFaultGroups | kFaultLinksAfter,
                 .losses = {.takes_links_down = true},
                 .begins = "{where} drained",
                 .meaning = "routes leave them wherever there is another way",
                 .help = "routes leave a link, or all of a node's, wherever there is another way"},
};

constexpr const FaultKindRow& row_of(FaultKind kind) {
  return kFaultKinds[static_cast<size_t>(kind)];
}
static_assert(std::ranges::all_of(kFaultKinds, [](const FaultKindRow& row) { return &row == &row_of(row.kind); }));

// "down, up, dead, drained": the words of the rows that fit.
template <typename Rows, typename Fits>
std::string fault_words(const Rows& rows, Fits&& fits) {
  std::string out;
  for (const FaultKindRow& row : rows) {
    if (fits(row)) out.append(out.empty() ? "" : ", ").append(row.word);
  }
  return out;
}

}  // namespace softspine::control
