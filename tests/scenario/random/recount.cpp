// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/recount.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "tests/scenario/random/captured_frames.hpp"

namespace softspine::tests {
namespace {

using control::FabricSnapshot;
using control::FlowSnapshot;
using control::LinkEnd;
using control::NodeKind;
using control::Testbed;
using dataplane::Instant;

using FlowKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // addresses, queue pair

constexpr int64_t kClocksApart = 4000;  // 250 ppm: two of 802.3's 100 ppm, and something

struct Arrival {
  int64_t born_ps;
  int64_t at_ps;
};

class Recounting {
 public:
  Recounting(const Testbed& testbed, const FabricSnapshot& snapshot, std::string_view capture)
      : testbed_(testbed), snapshot_(snapshot), captured_(read_capture(capture)), end_ps_(snapshot.instant.count_ps()) {
    const auto& nodes = testbed.fabric.nodes;
    std::map<std::string, LinkEnd> ends;
    for (uint32_t node = 0; node < nodes.size(); ++node) {
      for (uint16_t port = 0; port < nodes[node].ports.size(); ++port)
        ends[testbed.fabric.name_of({node, port})] = {node, port};
    }
    for (const std::string& name : captured_.interfaces) ends_.push_back(ends.at(name));
  }

  Recount operator()() {
    count_links();
    follow_flows();
    count_flows();
    measure_latencies();
    measure_gaps();
    measure_pauses();
    time_losses();
    count_strangers();
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void find(fmt::format_string<Args...> text, Args&&... args) {
    out_.findings.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  const control::FabricLink& link_of(LinkEnd end) const {
    return testbed_.fabric.links[testbed_.fabric.port(end).link];
  }
  bool is_host(LinkEnd end) const { return testbed_.fabric.nodes[end.node].kind == NodeKind::kHost; }
  int64_t arrival_of(const CapturedFrame& frame) const {
    return frame.at_ps + link_of(ends_[frame.interface]).propagation.count_ps();
  }

  void count_links();
  void hold_link(const std::string& name, const dataplane::LinkCounters& counted);
  void follow_flows();
  void count_flows();
  void measure_latencies();
  void measure_gaps();
  void measure_pauses();
  void hold_pauses(LinkEnd end, size_t priority, int64_t counted_ps);
  void time_losses();
  void count_strangers();
  bool has_all_arrivals(const FlowSnapshot& flow) const;
  FlowKey key_of(const FlowSnapshot& flow) const;

  const Testbed& testbed_;
  const FabricSnapshot& snapshot_;
  Captured captured_;
  int64_t end_ps_;
  std::vector<LinkEnd> ends_;  // of interfaces
  std::map<std::string, std::pair<uint64_t, uint64_t>> of_port_;
  std::map<FlowKey, uint64_t> sent_;
  std::map<FlowKey, std::vector<Arrival>> arrived_;
  Recount out_;
};

void Recounting::hold_link(const std::string& name, const dataplane::LinkCounters& counted) {
  const auto [frames, bytes] = of_port_[name];
  ++out_.compared["links"];
  if (frames != counted.packets || bytes != counted.bytes)
    find("links: {} sent {} frames, {} bytes; the capture has {}, {}", name, counted.packets, counted.bytes, frames,
         bytes);
}

void Recounting::count_links() {
  for (const CapturedFrame& frame : captured_.frames) {
    auto& [frames, bytes] = of_port_[captured_.interfaces[frame.interface]];
    ++frames;
    bytes += frame.bytes;
  }
  for (const auto& node : snapshot_.switches) {
    for (const auto& port : node.ports) hold_link(node.name + ":" + port.name, port.link);
  }
  for (const auto& host : snapshot_.hosts) {
    for (const auto& port : host.ports) hold_link(host.name + ":" + port.name, port.link);
  }
}

// A packet is known by its flow and PSN; of one that was sent again, the last copy that had left by then is the one
// that arrives.
void Recounting::follow_flows() {
  std::map<std::pair<FlowKey, uint32_t>, int64_t> born;
  for (const CapturedFrame& frame : captured_.frames) {
    if (!frame.roce) continue;
    const FlowKey key{frame.roce->source, frame.roce->destination, frame.roce->qp};
    const LinkEnd from = ends_[frame.interface];
    const auto& sender = testbed_.fabric.nodes[from.node];
    if (is_host(from) && sender.ipv4.value == frame.roce->source) {
      ++sent_[key];
      born[{key, frame.roce->psn}] = frame.at_ps - link_of(from).rate.time_of_frame(frame.bytes).count_ps();
    }
    const LinkEnd to = testbed_.fabric.peer_of(from);
    const auto& receiver = testbed_.fabric.nodes[to.node];
    const int64_t at = arrival_of(frame);
    if (!is_host(to) || receiver.ipv4.value != frame.roce->destination || at > end_ps_) continue;
    const auto found = born.find({key, frame.roce->psn});
    if (found != born.end()) arrived_[key].push_back({found->second, at});
  }
  for (auto& [key, arrivals] : arrived_) std::ranges::sort(arrivals, {}, &Arrival::at_ps);
}

FlowKey Recounting::key_of(const FlowSnapshot& flow) const {
  const auto address = [&](const std::string& name) {
    return std::ranges::find(testbed_.fabric.nodes, name, &control::FabricNode::name)->ipv4.value;
  };
  return {address(flow.source), address(flow.destination), flow.destination_qp};
}

bool Recounting::has_all_arrivals(const FlowSnapshot& flow) const {
  const auto found = arrived_.find(key_of(flow));
  return (found == arrived_.end() ? 0 : found->second.size()) == flow.received_packets;
}

void Recounting::count_flows() {
  for (const FlowSnapshot& flow : snapshot_.flows) {
    const std::string name =
        fmt::format("{} {} → {} qp {}", flow.workload, flow.source, flow.destination, flow.destination_qp);
    ++out_.compared["flows"];
    if (sent_[key_of(flow)] != flow.sent_packets)
      find("flows: {} sent {}; the capture has {}", name, flow.sent_packets, sent_[key_of(flow)]);
    const uint64_t received = flow.received_packets - flow.foreign;
    if (received + flow.missing() + flow.under_way != flow.sent_packets)
      find("flows: {} sent {} = received {} + missing {} + under way {}", name, flow.sent_packets, received,
           flow.missing(), flow.under_way);
  }
}

// By nearest rank: the smallest value that at least this share of all is no larger than.
uint64_t exact_quantile(const std::vector<int64_t>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return static_cast<uint64_t>(sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1]);
}

void Recounting::measure_latencies() {
  if (!testbed_.host_faults.empty()) return;  // what waits in a receiver's buffer is not delivered when it arrives
  std::map<std::string, std::vector<int64_t>> all;
  std::set<std::string> unknown;
  for (const FlowSnapshot& flow : snapshot_.flows) {
    if (!has_all_arrivals(flow) || flow.reliable.retransmitted_packets != 0 || flow.foreign != 0)
      unknown.insert(flow.workload);
    for (const Arrival& each : arrived_[key_of(flow)]) all[flow.workload].push_back(each.at_ps - each.born_ps);
  }
  for (const control::WorkloadLatency& each : snapshot_.workload_latencies) {
    std::vector<int64_t>& latencies = all[each.workload];
    if (unknown.contains(each.workload) || latencies.empty() || latencies.size() != each.packets.count()) continue;
    std::ranges::sort(latencies);
    for (const double share : {0.5, 0.99}) {
      const uint64_t exact = exact_quantile(latencies, share);
      const uint64_t reported = each.packets.quantile(share);
      const double tolerance = 0.005 * static_cast<double>(exact) + 2 * kCaptureTick;
      ++out_.compared["latencies"];
      if (std::abs(static_cast<double>(reported) - static_cast<double>(exact)) > tolerance)
        find("latencies: quantile {} of {} is {} ps; of the capture's {} packets it is {}", share, each.workload,
             reported, latencies.size(), exact);
    }
  }
}

// Looks come every 10 us, later every 1/64 of the time since the fault, and a stall may end one look late.
void Recounting::measure_gaps() {
  for (const control::FaultSnapshot& fault : snapshot_.faults) {
    if (!fault.window) continue;
    for (const control::FlowLoss& loss : fault.window->flows) {
      const FlowSnapshot& flow = snapshot_.flows[loss.flow];
      if (loss.stalled.count_ps() == 0 || !has_all_arrivals(flow)) continue;
      int64_t last = flow.first_sent.count_ps();
      int64_t largest = 0;
      for (const Arrival& each : arrived_[key_of(flow)]) {
        largest = std::max(largest, each.at_ps - last);
        last = each.at_ps;
      }
      largest = std::max(largest, end_ps_ - last);
      const int64_t look = std::max<int64_t>(10'000'000, (end_ps_ - fault.at.count_ps()) / 64);
      ++out_.compared["stalls"];
      if (loss.stalled.count_ps() > largest + look)
        find("stalls: {} {} → {} stood still for {} ps by '{}'; the capture's largest gap is {}", flow.workload,
             flow.source, flow.destination, loss.stalled.count_ps(), fault.what, largest);
    }
  }
}

// The union of what the neighbour asks for: from a frame's arrival, for so many quanta, or until one of none.
void Recounting::hold_pauses(LinkEnd end, size_t priority, int64_t counted_ps) {
  const LinkEnd peer = testbed_.fabric.peer_of(end);
  const int64_t quantum = link_of(end).rate.time_of_bytes(64).count_ps();
  int64_t asked = 0;
  int64_t from = 0;
  int64_t until = 0;
  for (const CapturedFrame& frame : captured_.frames) {
    if (!frame.pause || ends_[frame.interface] != peer || (frame.pause->priorities >> priority & 1) == 0) continue;
    const int64_t at = arrival_of(frame);
    if (at > end_ps_) continue;
    if (at >= until) {
      asked += until - from;
      from = at;
    }
    const int64_t asked_for = quantum * frame.pause->quanta[priority];
    until = at + asked_for + asked_for / kClocksApart + kCaptureTick;
  }
  asked += std::max<int64_t>(std::min(until, end_ps_) - from, 0);
  ++out_.compared["pauses"];
  if (counted_ps > asked)
    find("pauses: {} priority {} was paused for {} ps; the capture asks for {}", testbed_.fabric.name_of(end), priority,
         counted_ps, asked);
}

void Recounting::measure_pauses() {
  for (size_t i = 0; i < captured_.interfaces.size(); ++i) {
    const LinkEnd end = ends_[i];
    if (link_of(end).flow_control != control::FlowControl::kPfc) continue;
    const std::string& name = testbed_.fabric.nodes[end.node].name;
    for (size_t priority = 0; priority < 8; ++priority) {
      int64_t counted = 0;
      for (const auto& node : snapshot_.switches) {
        if (node.name == name) counted = node.ports[end.port].pauses[priority].time.count_ps();
      }
      for (const auto& host : snapshot_.hosts) {
        if (host.name == name) counted = host.ports[end.port].pause[priority].paused.count_ps();
      }
      if (counted != 0) hold_pauses(end, priority, counted);
    }
  }
}

// A vanished frame is lost when its last bit has left.
void Recounting::time_losses() {
  std::set<int64_t> instants;
  for (const CapturedFrame& frame : captured_.frames) instants.insert(frame.at_ps);
  for (const control::FaultSnapshot& fault : snapshot_.faults) {
    if (!fault.window) continue;
    for (const control::ReasonLoss& each : fault.window->reasons) {
      if (each.reason != "vanished") continue;
      for (const Instant at : {each.sum.first, each.sum.last}) {
        ++out_.compared["losses"];
        if (!instants.contains(at.count_ps() / kCaptureTick * kCaptureTick))
          find("losses: a frame vanished at {} ps by '{}'; no captured frame left then", at.count_ps(), fault.what);
      }
    }
  }
}

uint64_t number_of(const control::MacAddress& mac) {
  uint64_t out = 0;
  for (const uint8_t byte : mac.bytes) out = out << 8 | byte;
  return out;
}

// Frames to another station's address that left for a host, and those of its drops.
void Recounting::count_strangers() {
  std::map<std::string, uint64_t> strangers;
  constexpr uint64_t kGroupBit = uint64_t{1} << 40;
  for (const CapturedFrame& frame : captured_.frames) {
    const LinkEnd to = testbed_.fabric.peer_of(ends_[frame.interface]);
    const auto& receiver = testbed_.fabric.nodes[to.node];
    const bool is_for_it = frame.to_mac == number_of(receiver.ports[to.port].mac) || (frame.to_mac & kGroupBit) != 0;
    if (is_host(to) && !is_for_it && arrival_of(frame) <= end_ps_) ++strangers[receiver.name];
  }
  for (const control::HostSnapshot& host : snapshot_.hosts) {
    const uint64_t dropped = host.counters.dropped[static_cast<size_t>(dataplane::DropReason::kNotForUs)];
    ++out_.compared["strangers"];
    if (dropped > strangers[host.name])
      find("strangers: {} dropped {} frames as not_for_us; {} with another's address left for it", host.name, dropped,
           strangers[host.name]);
  }
}

}  // namespace

Recount recount(const Testbed& testbed, const FabricSnapshot& snapshot, std::string_view capture) {
  return Recounting(testbed, snapshot, capture)();
}

}  // namespace softspine::tests
