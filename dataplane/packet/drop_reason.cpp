// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/drop_reason.hpp"

namespace softspine::dataplane {

std::string_view name_of(DropReason reason) {
  switch (reason) {
    case DropReason::kTruncated: return "truncated";
    case DropReason::kBadVersion: return "bad_version";
    case DropReason::kBadChecksum: return "bad_checksum";
    case DropReason::kBadLength: return "bad_length";
    case DropReason::kBadSource: return "bad_source";
    case DropReason::kUnknownMacControl: return "unknown_mac_control";
    case DropReason::kPfcConsumed: return "pfc_consumed";
    case DropReason::kCreditConsumed: return "credit_consumed";
    case DropReason::kNotForUs: return "not_for_us";
    case DropReason::kVlanNotAllowed: return "vlan_not_allowed";
    case DropReason::kSamePort: return "same_port";
    case DropReason::kTtlExpired: return "ttl_expired";
    case DropReason::kNoRoute: return "no_route";
    case DropReason::kNoMember: return "no_member";
    case DropReason::kNeighbourIncomplete: return "neighbour_incomplete";
    case DropReason::kMtuExceeded: return "mtu_exceeded";
    case DropReason::kQueueFull: return "queue_full";
    case DropReason::kIngressFull: return "ingress_full";
    case DropReason::kHeadroomFull: return "headroom_full";
    case DropReason::kWredDropped: return "wred_dropped";
    case DropReason::kPfcWatchdog: return "pfc_watchdog";
    case DropReason::kPfcWatchdogIngress: return "pfc_watchdog_ingress";
    case DropReason::kLinkDown: return "link_down";
    case DropReason::kLostOnLink: return "lost_on_link";
    case DropReason::kNoBuffer: return "no_buffer";
    case DropReason::kConsumed: return "consumed";
    case DropReason::kUnsupported: return "unsupported";
    case DropReason::kOversize: return "oversize";
    case DropReason::kEdgeFull: return "edge_full";
    case DropReason::kBadIcrc: return "bad_icrc";
    case DropReason::kUnknownQp: return "unknown_qp";
    case DropReason::kReceiveBufferFull: return "receive_buffer_full";
    case DropReason::kCount: break;
  }
  return "unknown";
}

}  // namespace softspine::dataplane
