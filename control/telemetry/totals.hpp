// SPDX-License-Identifier: Apache-2.0
// Sums over a snapshot, and what they must add up to.
//
//   of a switch:   rx + made = tx + ended + held
//
// `ended` is every packet that left by no port: dropped, or consumed (addressed to the switch, PFC). Drop counters
// count the same. `dropped` is `ended` less the consumed packets: what a sender or receiver would miss.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// True for a packet that was not addressed to where it ended, so that its sender or receiver would miss it.
bool is_loss(dataplane::DropReason reason);
uint64_t ended_packets(const dataplane::DropCounters& drops);
uint64_t dropped_packets(const dataplane::DropCounters& drops);

struct SwitchTotals {
  uint64_t rx_packets = 0;
  uint64_t rx_bytes = 0;
  uint64_t tx_packets = 0;
  uint64_t tx_bytes = 0;
  uint64_t made_packets = 0;
  uint64_t held_packets = 0;  // in queues and on the way out
  uint64_t held_bytes = 0;
  uint64_t queue_watermark_bytes = 0;  // of its fullest queue
  dataplane::DropCounters drops{};

  // Zero, unless a packet was lost or counted twice.
  int64_t imbalance() const {
    return static_cast<int64_t>(rx_packets + made_packets - tx_packets - ended_packets(drops) - held_packets);
  }
  void add(const dataplane::PortCounters& port);
  void add(const SwitchTotals& other);
};

SwitchTotals totals_of(const SwitchSnapshot& node);
SwitchTotals totals_of(const std::vector<SwitchSnapshot>& nodes);

// One direction of a link, seen from the port that sends.
struct LinkDirection {
  std::string from;  // "tor1:Ethernet16"
  std::string to;
  bool up = false;
  bool is_uplink = false;  // from a switch to one of a higher tier
  dataplane::Rate rate;
  dataplane::LinkCounters sent;
  uint64_t queued_bytes = 0;        // bytes of `sent` from a switch's queues: without its own pause and credit frames
  uint64_t under_way = 0;           // packets
  std::optional<uint64_t> arrived;  // packets that the other end has taken; not known of a node that no snapshot has
  double share = 0;  // of the queued bytes that its switch sent by its uplinks; 0 … 1, 0 if none or no uplink

  // Packets sent while the link was down, or under way when it went down.
  uint64_t lost_packets() const { return sent.lost_packets + sent.cut_packets; }

  // The share of the time until `now` that the sent frames took at the link's rate, including Ethernet's preamble, FCS
  // and gap.
  double utilisation(dataplane::Instant now) const;
};

// Both directions of each link, a → b first, in the order of the links.
std::vector<LinkDirection> link_directions(const FabricSnapshot& snapshot);

}  // namespace softspine::control
