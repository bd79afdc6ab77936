// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/totals.hpp"

#include <map>
#include <numeric>
#include <optional>

#include "control/model/role.hpp"

namespace softspine::control {

using dataplane::DropReason;

namespace {

// Facts about a port that a link ends at.
struct End {
  size_t node = 0;          // its switch; hosts share one, which is no switch
  std::optional<int> tier;  // of a switch
  dataplane::Rate rate;
  dataplane::LinkCounters sent;
  uint64_t queued_bytes = 0;
  std::optional<uint64_t> arrived;
};

End end_of_switch(const PortSnapshot& port, size_t node, std::optional<int> tier) {
  End out{.node = node, .tier = tier, .rate = port.rate, .sent = port.link, .arrived = port.counters.rx_packets};
  for (const dataplane::QueueCounters& queue : port.counters.queues) out.queued_bytes += queue.bytes;
  return out;
}

std::map<std::string, End> ends_of(const FabricSnapshot& snapshot) {
  std::map<std::string, End> ends;
  for (size_t i = 0; i < snapshot.switches.size(); ++i) {
    const SwitchSnapshot& node = snapshot.switches[i];
    for (const PortSnapshot& port : node.ports) {
      ends[node.name + ":" + port.name] = end_of_switch(port, i, tier_of_word(node.role));
    }
  }
  const size_t no_switch = snapshot.switches.size();
  for (const HostSnapshot& host : snapshot.hosts) {
    for (const HostPortSnapshot& port : host.ports) {
      ends[host.name + ":" + port.name] = {
          .node = no_switch, .tier = {}, .rate = port.rate, .sent = port.link, .arrived = port.rx_packets};
    }
  }
  for (const EdgeSnapshot& edge : snapshot.edges) {
    ends[edge.name + ":" + edge.port] = {
        .node = no_switch, .tier = {}, .rate = edge.rate, .sent = edge.link, .arrived = edge.counters.arrived_packets};
  }
  return ends;
}

}  // namespace

bool is_loss(DropReason reason) {
  return !dataplane::is_consumed(reason);
}

uint64_t ended_packets(const dataplane::DropCounters& drops) {
  return std::accumulate(drops.begin(), drops.end(), uint64_t{0});
}

uint64_t dropped_packets(const dataplane::DropCounters& drops) {
  uint64_t sum = 0;
  for (size_t i = 0; i < drops.size(); ++i) sum += is_loss(static_cast<DropReason>(i)) ? drops[i] : 0;
  return sum;
}

void SwitchTotals::add(const dataplane::PortCounters& port) {
  rx_packets += port.rx_packets;
  rx_bytes += port.rx_bytes;
  tx_packets += port.tx_packets;
  tx_bytes += port.tx_bytes;
  made_packets += port.made_packets;
  held_packets += port.queued_packets();
  held_bytes += port.queued_bytes();
  for (const dataplane::QueueCounters& queue : port.queues) {
    queue_watermark_bytes = std::max(queue_watermark_bytes, queue.watermark_bytes);
  }
  for (size_t i = 0; i < drops.size(); ++i) drops[i] += port.drops[i];
}

void SwitchTotals::add(const SwitchTotals& other) {
  rx_packets += other.rx_packets;
  rx_bytes += other.rx_bytes;
  tx_packets += other.tx_packets;
  tx_bytes += other.tx_bytes;
  made_packets += other.made_packets;
  held_packets += other.held_packets;
  held_bytes += other.held_bytes;
  queue_watermark_bytes = std::max(queue_watermark_bytes, other.queue_watermark_bytes);
  for (size_t i = 0; i < drops.size(); ++i) drops[i] += other.drops[i];
}

SwitchTotals totals_of(const SwitchSnapshot& node) {
  SwitchTotals totals;
  for (const PortSnapshot& port : node.ports) totals.add(port.counters);
  return totals;
}

SwitchTotals totals_of(const std::vector<SwitchSnapshot>& nodes) {
  SwitchTotals totals;
  for (const SwitchSnapshot& node : nodes) totals.add(totals_of(node));
  return totals;
}

double LinkDirection::utilisation(dataplane::Instant now) const {
  const double possible = static_cast<double>(rate.count_bps()) * now.seconds();
  const uint64_t bytes = sent.bytes + sent.packets * dataplane::kWireOverheadBytes;
  return possible > 0 ? static_cast<double>(bytes) * 8 / possible : 0;
}

std::vector<LinkDirection> link_directions(const FabricSnapshot& snapshot) {
  const std::map<std::string, End> ends = ends_of(snapshot);
  const auto end_of = [&](const std::string& name) {
    const auto found = ends.find(name);
    return found == ends.end() ? End{.node = snapshot.switches.size()} : found->second;
  };
  std::vector<LinkDirection> all;
  std::vector<size_t> senders;
  std::vector<uint64_t> uplink_bytes(snapshot.switches.size() + 1);
  const auto add = [&](bool up, const std::string& from, const std::string& to, uint64_t under_way) {
    const End sender = end_of(from);
    const End receiver = end_of(to);
    const bool rises = sender.tier && receiver.tier.value_or(-1) > *sender.tier;
    all.push_back({.from = from,
                   .to = to,
                   .up = up,
                   .is_uplink = rises,
                   .rate = sender.rate,
                   .sent = sender.sent,
                   .queued_bytes = sender.queued_bytes,
                   .under_way = under_way,
                   .arrived = receiver.arrived});
    senders.push_back(sender.node);
    if (rises) uplink_bytes[sender.node] += sender.queued_bytes;
  };
  for (const LinkSnapshot& link : snapshot.links) {
    add(link.up, link.a, link.b, link.under_way_to_b);
    add(link.up, link.b, link.a, link.under_way_to_a);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const uint64_t sum = uplink_bytes[senders[i]];
    if (!all[i].is_uplink || sum == 0) continue;
    all[i].share = static_cast<double>(all[i].queued_bytes) / static_cast<double>(sum);
  }
  return all;
}

}  // namespace softspine::control
