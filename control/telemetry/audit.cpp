// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/audit.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "control/telemetry/losses.hpp"
#include "control/telemetry/totals.hpp"

namespace softspine::control {

namespace {

using dataplane::kPriorities;
using PriorityCounters = std::array<uint64_t, kPriorities>;

struct Term {
  const char* name;
  uint64_t count;  // packets, or picoseconds
};
using Side = std::initializer_list<Term>;

uint64_t sum_of(Side side) {
  uint64_t sum = 0;
  for (const Term& term : side) sum += term.count;
  return sum;
}

std::string text_of(Side side) {
  std::string out;
  for (const Term& term : side) {
    out += (out.empty() ? "" : " + ") + std::string(term.name) + " " + std::to_string(term.count);
  }
  return out;
}

// Frames that pause or grant, sent and received by a port of any node.
struct ControlFrames {
  PriorityCounters pfc_tx{};
  PriorityCounters pfc_rx{};
  PriorityCounters tx_requested{};  // ps
  PriorityCounters rx_requested{};
  LinkPauseSnapshot link;
  uint64_t credit_tx = 0;
  uint64_t credit_rx = 0;
};

uint64_t picoseconds(dataplane::Duration time) {
  return static_cast<uint64_t>(time.count_ps());
}

ControlFrames control_frames(const HostPauses& pauses, const LinkPauseSnapshot& link,
                             const std::optional<CreditSnapshot>& credit) {
  ControlFrames out{.link = link};
  for (size_t i = 0; i < kPriorities; ++i) {
    out.pfc_tx[i] = pauses[i].tx_frames;
    out.pfc_rx[i] = pauses[i].rx_frames;
    out.tx_requested[i] = picoseconds(pauses[i].tx_requested);
    out.rx_requested[i] = picoseconds(pauses[i].rx_requested);
  }
  if (credit) {
    out.credit_tx = credit->tx_frames;
    out.credit_rx = credit->rx_frames;
  }
  return out;
}

class Audit {
 public:
  explicit Audit(const FabricSnapshot& snapshot) : snapshot_(snapshot) {}

  std::vector<std::string> run() {
    for (const SwitchSnapshot& node : snapshot_.switches) check_switch(node);
    sum_flows();
    for (const HostSnapshot& host : snapshot_.hosts) check_host(host);
    for (const EdgeSnapshot& edge : snapshot_.edges) check_edge(edge);
    collect_control_frames();
    for (const LinkDirection& way : link_directions(snapshot_)) check_link(way);
    check_flows();
    if (snapshot_.loss_account) check_losses(*snapshot_.loss_account);
    return std::move(wrong_);
  }

 private:
  void equal(const std::string& place, Side left, Side right) {
    if (sum_of(left) == sum_of(right)) return;
    wrong_.push_back(place + ": " + text_of(left) + " is not " + text_of(right));
  }

  void check_switch(const SwitchSnapshot& node) {
    const SwitchTotals totals = totals_of(node);
    equal(node.name, {{"rx", totals.rx_packets}, {"made", totals.made_packets}},
          {{"tx", totals.tx_packets}, {"ended", ended_packets(totals.drops)}, {"held", totals.held_packets}});
    if (!node.buffer_imbalances.empty()) wrong_.push_back(node.name + ": " + node.buffer_imbalances);
    uint64_t refused = 0;
    for (const PortSnapshot& port : node.ports) {
      const std::string place = node.name + ":" + port.name;
      equal(place, {{"sent by the link", port.link.packets}},
            {{"tx", port.counters.tx_packets}, {"on the wire", port.sends ? 1U : 0U}});
      equal(place, {{"held", port.counters.queued_packets()}},
            {{"waiting", port.waiting_packets}, {"on the wire", port.sends_queued ? 1U : 0U}});
      refused += port.counters.queue_dropped_packets();
      ended_ += port.counters.ended_flow_packets;
      copied_ += port.counters.copied_flow_packets;
    }
    uint64_t of_queues = 0;
    for (size_t i = 0; i < totals.drops.size(); ++i) {
      of_queues += dataplane::is_of_queue(static_cast<dataplane::DropReason>(i)) ? totals.drops[i] : 0;
    }
    equal(node.name, {{"ended by a queue", of_queues}}, {{"refused by queues", refused}});
  }

  void sum_flows() {
    for (const FlowSnapshot& flow : snapshot_.flows) {
      sent_by_[flow.source] += flow.sent_packets;
      received_by_[flow.destination] += flow.received_packets;
      sent_ += flow.sent_packets;
      received_ += flow.received_packets;
      foreign_ += flow.foreign;
      under_way_ += flow.under_way + flow.copies;
    }
  }

  void check_host(const HostSnapshot& host) {
    uint64_t sent = 0;
    uint64_t arrived = 0;
    uint64_t credit_frames = 0;
    for (const HostPortSnapshot& port : host.ports) {
      sent += port.link.packets;
      arrived += port.rx_packets;
      credit_frames += port.credit ? port.credit->tx_frames : 0;
    }
    equal(host.name, {{"sent by its links", sent}},
          {{"of flows", sent_by_[host.name]},
           {"answers", host.counters.answers_sent},
           {"pause frames", host.counters.pauses_sent},
           {"credit frames", credit_frames}});
    equal(host.name, {{"arrived at its ports", arrived}}, {{"received", host.counters.received_packets}});
    equal(host.name, {{"received", host.counters.received_packets}},
          {{"delivered", host.counters.delivered_packets},
           {"responses", host.counters.responses},
           {"answered", host.counters.answered},
           {"dropped", ended_packets(host.counters.dropped)},
           {"buffered", host.counters.buffered}});
    equal(host.name, {{"delivered", host.counters.delivered_packets}},
          {{"received of flows", received_by_[host.name]}});
    ended_ += host.counters.ended_flow_packets;
  }

  void check_edge(const EdgeSnapshot& edge) {
    const std::string place = edge.name + ":" + edge.port;
    const dataplane::EdgeCounters& counters = edge.counters;
    equal(place, {{"sent by its link", edge.link.packets}},
          {{"in", counters.in_packets}, {"made", edge.nic.made_packets}});
    equal(place, {{"arrived", counters.arrived_packets}},
          {{"out", counters.out_packets},
           {"ended", ended_packets(counters.out_drops)},
           {"waiting for the outside", edge.waiting_for_outside}});
    ended_ += counters.arrived_flow_packets;
  }

  // Edges are left out: what is outside may send pauses of its own.
  void collect_control_frames() {
    for (const SwitchSnapshot& node : snapshot_.switches) {
      for (const PortSnapshot& port : node.ports) {
        ControlFrames& frames = control_frames_[node.name + ":" + port.name];
        frames = control_frames({}, port.link_pause, port.credit);
        for (size_t i = 0; i < port.pauses.size(); ++i) {
          frames.pfc_tx[i] = port.pauses[i].tx_frames;
          frames.pfc_rx[i] = port.pauses[i].rx_frames;
          frames.tx_requested[i] = picoseconds(port.pauses[i].tx_requested);
          frames.rx_requested[i] = picoseconds(port.pauses[i].rx_requested);
        }
      }
    }
    for (const HostSnapshot& host : snapshot_.hosts) {
      for (const HostPortSnapshot& port : host.ports) {
        control_frames_[host.name + ":" + port.name] = control_frames(port.pause, port.link_pause, port.credit);
      }
    }
  }

  void check_link(const LinkDirection& way) {
    const dataplane::LinkCounters& sent = way.sent;
    ended_ += sent.lost_flow_packets;
    if (!way.arrived) return;
    const std::string place = way.from + " → " + way.to;
    equal(place, {{"sent", sent.packets}, {"injected", sent.injected_packets}},
          {{"arrived", *way.arrived},
           {"lost", sent.lost_packets},
           {"cut", sent.cut_packets},
           {"vanished", sent.vanished_packets},
           {"damaged", sent.damaged_packets},
           {"under way", way.under_way}});
    const auto from = control_frames_.find(way.from);
    const auto to = control_frames_.find(way.to);
    const bool all_arrived = sent.never_arrived() + way.under_way + sent.injected_packets == 0;
    if (!all_arrived || from == control_frames_.end() || to == control_frames_.end()) return;
    for (size_t i = 0; i < kPriorities; ++i) {
      equal(place + ", priority " + std::to_string(i), {{"PFC frames sent", from->second.pfc_tx[i]}},
            {{"PFC frames received", to->second.pfc_rx[i]}});
      equal(place + ", priority " + std::to_string(i), {{"ps of pause requested", from->second.tx_requested[i]}},
            {{"ps of pause that arrived", to->second.rx_requested[i]}});
    }
    equal(place, {{"PAUSE frames sent", from->second.link.tx_frames}},
          {{"PAUSE frames received", to->second.link.rx_frames}});
    equal(place, {{"ps of PAUSE requested", picoseconds(from->second.link.tx_requested)}},
          {{"ps of PAUSE that arrived", picoseconds(to->second.link.rx_requested)}});
    equal(place, {{"credit frames sent", from->second.credit_tx}}, {{"credit frames received", to->second.credit_rx}});
  }

  void check_flows() {
    equal("all flows", {{"sent", sent_}, {"foreign", foreign_}, {"flooded copies", copied_}},
          {{"received", received_}, {"ended", ended_}, {"under way", under_way_}});
  }

  void check_losses(const LossAccount& account) {
    std::map<std::string, uint64_t> counted;
    for (const Loss& loss : losses_by_reason(snapshot_)) counted[loss.reason] = loss.packets;
    std::map<std::string, std::array<uint64_t, 3>> known;
    const auto add = [&known](const std::vector<ReasonLoss>& sums, size_t place) {
      for (const ReasonLoss& each : sums) known[each.reason][place] += each.sum.packets;
    };
    add(account.explained, 0);
    add(account.unexplained, 1);
    add(account.before, 2);
    for (const auto& [reason, packets] : counted) known[reason];
    for (const auto& [reason, parts] : known) {
      if (reason == dataplane::name_of(dataplane::DropReason::kNoBuffer)) continue;
      equal("losses, " + reason, {{"of faults", parts[0]}, {"unexplained", parts[1]}, {"before", parts[2]}},
            {{"counted", counted[reason]}});
    }
    check_losses_of_flows(account);
  }

  // A copy of a flooded packet is lost and not missed; what leads outside is missed and ends there.
  void check_losses_of_flows(const LossAccount& account) {
    if (!account.is_whole || foreign_ + copied_ != 0 || !snapshot_.edges.empty()) return;
    for (const FlowSnapshot& flow : snapshot_.flows) {
      equal("flow " + std::to_string(flow.id), {{"lost", account.lost_of_flow[flow.id]}},
            {{"missing", flow.missing()}});
    }
  }

  const FabricSnapshot& snapshot_;
  std::vector<std::string> wrong_;
  std::map<std::string, uint64_t> sent_by_;
  std::map<std::string, uint64_t> received_by_;
  std::map<std::string, ControlFrames> control_frames_;
  uint64_t sent_ = 0;
  uint64_t received_ = 0;
  uint64_t foreign_ = 0;
  uint64_t under_way_ = 0;
  uint64_t ended_ = 0;   // packets of flows, at switches, hosts, edges and on links
  uint64_t copied_ = 0;  // by flooding
};

}  // namespace

std::vector<std::string> audit(const FabricSnapshot& snapshot) {
  return Audit{snapshot}.run();
}

}  // namespace softspine::control
