// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/drop_reason.hpp"

#include <iterator>

namespace softspine::dataplane {

namespace {

struct Row {
  DropReason reason;
  DropReasonFacts facts;
};

// The rows stand in the order of the enumeration.
constexpr Row kRows[] = {
    {DropReason::kTruncated, {"truncated", "A header says more than the frame holds."}},
    {DropReason::kBadVersion, {"bad_version", "The IP version or the header's length is impossible."}},
    {DropReason::kBadChecksum, {"bad_checksum", "The IPv4 header's checksum is wrong."}},
    {DropReason::kBadLength, {"bad_length", "The IP or UDP length contradicts the frame."}},
    {DropReason::kBadSource,
     {"bad_source", "Multicast, broadcast, loopback or zero stands where a unicast source must."}},
    {DropReason::kUnknownMacControl,
     {"unknown_mac_control", "A MAC control frame (0x8808) with an opcode that is not known here."}},
    {DropReason::kPfcConsumed, {"pfc_consumed", "A PFC frame, which ends at the port that receives it. No loss."}},
    {DropReason::kCreditConsumed,
     {"credit_consumed", "A credit frame, which ends at the port that receives it. No loss."}},
    {DropReason::kNotForUs, {"not_for_us", "A routed port received a unicast frame with the MAC of another station."}},
    {DropReason::kForOthers,
     {"for_others", "A broadcast or multicast that asks another station, or a flooded copy for another. No loss."}},
    {DropReason::kVlanNotAllowed,
     {"vlan_not_allowed", "The tag names a VLAN that the port is no member of, or there is none and must be one."}},
    {DropReason::kNoLayer2,
     {"no_layer_2", "The ToRs of its hosts share no layer 2: what is not for the router ends at the ToR."}},
    {DropReason::kSamePort, {"same_port", "The frame would leave by the port that it came in by."}},
    {DropReason::kTtlExpired, {"ttl_expired", "The TTL or hop limit ran out; the sender is told by ICMP."}},
    {DropReason::kNoRoute, {"no_route", "No prefix matches the destination."}},
    {DropReason::kNoMember, {"no_member", "The next-hop group, or the LAG, has no member that is up."}},
    {DropReason::kNeighbourIncomplete,
     {"neighbour_incomplete",
      "The destination is in a connected subnet, and its MAC is not known yet: it was asked for. Or the port of its "
      "MAC is not known, and no port is up to flood the frame by."}},
    {DropReason::kMtuExceeded,
     {"mtu_exceeded", "The packet is longer than the egress port's MTU; the sender is told by ICMP."}},
    {DropReason::kQueueFull, {"queue_full", "The egress queue was over its limit."}},
    {DropReason::kIngressFull, {"ingress_full", "The lossy priority group was over its limit."}},
    {DropReason::kHeadroomFull,
     {"headroom_full", "The lossless priority group had no headroom left: its sender did not stop in time."}},
    {DropReason::kWredDropped,
     {"wred_dropped", "The queue's WRED profile dropped it early, since it is not ECN-capable."}},
    {DropReason::kPfcWatchdog, {"pfc_watchdog", "It was bound for a queue that the PFC watchdog has shut."}},
    {DropReason::kPfcWatchdogIngress,
     {"pfc_watchdog_ingress", "It came in by a storming port, to a priority group that the PFC watchdog has shut."}},
    {DropReason::kLinkDown, {"link_down", "The link of the egress port was down."}},
    {DropReason::kLostOnLink, {"lost_on_link", "It was on a link when that went down, or the link's fault took it."}},
    {DropReason::kNoBuffer, {"no_buffer", "The pool had no packet left to copy it or to answer it with."}},
    {DropReason::kConsumed, {"consumed", "It was addressed to this node and dealt with here. No loss."}},
    {DropReason::kUnsupported, {"unsupported", "It was addressed to this node, and nothing here speaks its protocol."}},
    {DropReason::kOversize, {"oversize", "The frame is longer than any port takes."}},
    {DropReason::kEdgeFull, {"edge_full", "The host outside took no more."}},
    {DropReason::kBadIcrc, {"bad_icrc", "The RoCEv2 invariant CRC was wrong at the host."}},
    {DropReason::kUnknownQp, {"unknown_qp", "The host has no such queue pair."}},
    {DropReason::kReceiveBufferFull, {"receive_buffer_full", "The receive buffer of a slow host was full."}},
};

constexpr bool is_in_order() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (static_cast<size_t>(kRows[i].reason) != i) return false;
  }
  return std::size(kRows) == kDropReasons;
}
static_assert(is_in_order(), "each reason has its row, in its place");

}  // namespace

const DropReasonFacts& facts_of(DropReason reason) {
  static constexpr DropReasonFacts kNone{"unknown", "No reason is known."};
  return reason < DropReason::kCount ? kRows[static_cast<size_t>(reason)].facts : kNone;
}

}  // namespace softspine::dataplane
