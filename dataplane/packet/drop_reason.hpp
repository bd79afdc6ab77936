// SPDX-License-Identifier: Apache-2.0
// Why a packet ended without reaching a wire or a host. Each reason is counted per node.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace softspine::dataplane {

enum class DropReason : uint8_t {
  kTruncated,            // a header says more than the frame holds
  kBadVersion,           // IP version or header length impossible
  kBadChecksum,          // IPv4 header checksum
  kBadLength,            // IP or UDP length contradicts the frame
  kBadSource,            // multicast, broadcast, loopback or zero where a unicast source is due
  kUnknownMacControl,    // 0x8808 with an opcode that nobody here understands
  kPfcConsumed,          // a PFC frame, ended at this port as it must
  kCreditConsumed,       // a credit frame, likewise
  kNotForUs,             // unicast at layer 2 to another station on a routed port
  kVlanNotAllowed,       // tag of a VLAN that the port is not a member of
  kSamePort,             // would leave where it came in
  kTtlExpired,           // TTL or hop limit ran out (the sender is told)
  kNoRoute,              // no prefix matches
  kNoMember,             // the next-hop group has no member that is up
  kNeighbourIncomplete,  // connected subnet, MAC not known (asked for)
  kMtuExceeded,          // longer than the egress port's MTU (the sender is told)
  kQueueFull,            // egress queue over its limit
  kIngressFull,          // lossy priority group over its limit
  kHeadroomFull,         // lossless priority group with no headroom left: its sender did not stop in time
  kWredDropped,          // not ECN-capable, dropped early by its queue's WRED profile
  kPfcWatchdog,          // for a queue that the PFC watchdog has shut
  kPfcWatchdogIngress,   // for a priority group that it has shut: from the port that storms
  kLinkDown,             // egress port without a link
  kLostOnLink,           // was on a link when it went down, or the link's fault took it
  kNoBuffer,             // no packet left in the pool to copy or answer with
  kConsumed,             // addressed to this node and dealt with here
  kUnsupported,          // addressed to this node, nothing here speaks it
  kOversize,             // a frame longer than any port takes
  kEdgeFull,             // what is outside the edge took no more
  kBadIcrc,              // RoCEv2 invariant CRC wrong at the host
  kUnknownQp,            // RoCEv2 packet to a queue pair that the host does not have
  kReceiveBufferFull,    // a slow host's receive buffer was full
  kCount
};

inline constexpr int kDropReasons = static_cast<int>(DropReason::kCount);

// Snake case, as counters and reports print it: "queue_full".
std::string_view name_of(DropReason reason);

// Ended by the queue that it was for, and counted there too.
constexpr bool is_of_queue(DropReason reason) {
  return reason == DropReason::kQueueFull || reason == DropReason::kWredDropped || reason == DropReason::kPfcWatchdog;
}

using DropCounters = std::array<uint64_t, kDropReasons>;

}  // namespace softspine::dataplane
