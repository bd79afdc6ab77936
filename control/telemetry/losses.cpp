// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/losses.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "control/telemetry/totals.hpp"

namespace softspine::control {

namespace {

using dataplane::DropCounters;
using dataplane::DropReason;

void add(std::vector<Loss>& out, const std::string& place, const std::string& reason, uint64_t packets) {
  if (packets > 0) out.push_back({place, reason, packets});
}

template <typename Takes>
void add_drops(std::vector<Loss>& out, const std::string& place, const DropCounters& drops, Takes&& takes) {
  for (size_t i = 0; i < drops.size(); ++i) {
    const auto reason = static_cast<DropReason>(i);
    if (is_loss(reason) && takes(reason)) add(out, place, std::string(name_of(reason)), drops[i]);
  }
}

// Why the queues of a switch have refused packets, as far as its counters show.
std::string queue_reasons(const DropCounters& drops) {
  std::string out;
  for (size_t i = 0; i < drops.size(); ++i) {
    const auto reason = static_cast<DropReason>(i);
    if (!is_of_queue(reason) || drops[i] == 0) continue;
    out += (out.empty() ? "" : " or ") + std::string(name_of(reason));
  }
  return out;
}

void add_switch(std::vector<Loss>& out, const SwitchSnapshot& node) {
  const std::string reasons = queue_reasons(totals_of(node).drops);
  for (const PortSnapshot& port : node.ports) {
    const std::string place = node.name + ":" + port.name;
    add_drops(out, place, port.counters.drops, [](DropReason reason) { return !is_of_queue(reason); });
    for (size_t q = 0; q < port.counters.queues.size(); ++q) {
      add(out, place + " queue " + std::to_string(q), reasons, port.counters.queues[q].dropped_packets);
    }
  }
}

}  // namespace

std::vector<Loss> losses_of(const FabricSnapshot& snapshot) {
  std::vector<Loss> out;
  const auto all = [](DropReason) { return true; };
  for (const SwitchSnapshot& node : snapshot.switches) add_switch(out, node);
  for (const HostSnapshot& host : snapshot.hosts) add_drops(out, host.name, host.counters.dropped, all);
  for (const EdgeSnapshot& edge : snapshot.edges) {
    add_drops(out, edge.name + ":" + edge.port + " in", edge.counters.in_drops, all);
    add_drops(out, edge.name + ":" + edge.port + " out", edge.counters.out_drops, all);
  }
  for (const LinkDirection& way : link_directions(snapshot)) {
    const std::string place = way.from + " → " + way.to;
    add(out, place, "link_down", way.lost_packets());
    add(out, place, "vanished", way.sent.vanished_packets);
    add(out, place, "damaged", way.sent.damaged_packets);
  }
  std::ranges::sort(out, [](const Loss& a, const Loss& b) {
    return std::tie(b.packets, a.place, a.reason) < std::tie(a.packets, b.place, b.reason);
  });
  return out;
}

std::vector<Loss> losses_by_reason(const FabricSnapshot& snapshot) {
  std::map<std::string, uint64_t> sums;
  const auto add_all = [&sums](const DropCounters& drops) {
    for (size_t i = 0; i < drops.size(); ++i) {
      const auto reason = static_cast<DropReason>(i);
      if (is_loss(reason) && drops[i] > 0) sums[std::string(name_of(reason))] += drops[i];
    }
  };
  add_all(totals_of(snapshot.switches).drops);
  for (const HostSnapshot& host : snapshot.hosts) add_all(host.counters.dropped);
  for (const LinkDirection& way : link_directions(snapshot)) {
    sums["link_down"] += way.lost_packets();
    sums["vanished"] += way.sent.vanished_packets;
    sums["damaged"] += way.sent.damaged_packets;
  }
  std::vector<Loss> out;
  for (const auto& [reason, packets] : sums) {
    if (packets > 0) out.push_back({.place = "", .reason = reason, .packets = packets});
  }
  return out;
}

}  // namespace softspine::control
