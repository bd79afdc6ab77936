// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/snapshots.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "control/traffic/pairs.hpp"
#include "testbeds/hosts/roce_reader.hpp"
#include "testbeds/run/node_words.hpp"
#include "testbeds/run/port_copy.hpp"

namespace softspine::testbeds {

using namespace dataplane;
using control::FabricNode;
using control::LinkEnd;

namespace {

class Copier {
 public:
  Copier(const control::Testbed& testbed, const control::Compiler& compiler, const LocalNodes& nodes,
         const RunFlows& flows)
      : testbed_(testbed), compiler_(compiler), fabric_(testbed.fabric), nodes_(nodes), flows_(flows) {}

  control::FabricSnapshot copy(Instant now) {
    out_.instant = now;
    look_at_links();
    nodes_.for_each_switch([this](uint32_t n, const pipelines::Switch& node) { copy_switch(n, node); });
    nodes_.for_each_host([&](uint32_t n, const RoceHost& host) { copy_host(n, host, now); });
    for (size_t i = 0; i < flows_.size(); ++i) copy_flow(i);
    copy_workload_latency();
    nodes_.for_each_edge([&](LinkEnd end, const Nic& nic) { copy_edge(end, nic, now); });
    for (const control::FabricLink& link : fabric_.links) copy_link(link);
    const EngineStats stats = nodes_.engine().stats();
    out_.engine = {.workers = nodes_.engine().workers(),
                   .windows = stats.windows,
                   .node_runs = stats.node_runs,
                   .lateness_ps = stats.lateness};
    return std::move(out_);
  }

 private:
  // The packets of one flow.
  struct UnderWay {
    uint64_t packets = 0;
    uint64_t copies = 0;
    std::optional<uint64_t> before_first;  // PSNs from the one that is expected to the first packet
  };

  // By a perfect clock, as it is configured.
  Rate nominal_rate_of(LinkEnd end) const { return fabric_.links[fabric_.port(end).link].rate; }

  void copy_switch(uint32_t n, const pipelines::Switch& from) {
    const FabricNode& node = fabric_.nodes[n];
    control::SwitchSnapshot copy{.name = node.name, .role = control::name_of(node.role), .ports = {}};
    const auto& counters = from.counters();
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const Transmitter& transmitter = from.transmitter(PortNo{p});
      copy.ports.push_back({.name = node.ports[p].name,
                            .up = transmitter.up(),
                            .rate = nominal_rate_of({n, p}),
                            .counters = counters[p],
                            .link = transmitter.counters()});
    }
    const Egress& egress = from.egress();
    copy_waiting(n, egress, copy);
    copy_buffers(n, egress, copy);
    const SwitchTables& tables = from.tables();
    copy.short_hash_keys = tables.short_keys;
    copy.unknown_mac_floods = tables.unknown_floods;
    copy.flowlets = tables.chances.flowlets.begun() + tables.own_chances.flowlets.begun();
    copy.override_hits = tables.overridden.hits;
    copy.override_fallbacks = tables.overridden.fallbacks;
    copy.fdb_evictions = tables.fdb.evictions();
    copy.neighbour_refusals = tables.neighbours.refusals();
    out_.switches.push_back(std::move(copy));
  }

  // Packets on links are found one by one: by the port that it will arrive at, and by its flow.
  void look_at_links() {
    under_way_.resize(flows_.size());
    nodes_.engine().see_on_links([this](NodeId to, PortNo port, const PacketGlance& packet) {
      ++on_way_to_[{to, port}];
      found(packet, to.value());
    });
  }
  // `next`: the node that it gets to next. At most one of the flooded copies goes to the flow's destination.
  void found(const PacketGlance& packet, uint32_t next) {
    if (packet.flow >= under_way_.size()) return;
    const PlannedFlow& plan = flows_.plan(packet.flow);
    UnderWay& way = under_way_[packet.flow];
    if (packet.is_copy && next != plan.destination) {
      ++way.copies;
      return;
    }
    ++way.packets;
    const auto psn = psn_of({packet.bytes, packet.stored_bytes, packet.meta.frame_bytes});
    const auto& sink = flows_.sink(packet.flow);
    if (!psn || !sink) return;
    const uint32_t ahead = (*psn - sink->expected_psn()) & bth::kMask24;
    const uint64_t before = ahead > bth::kMask24 / 2 ? 0 : ahead;  // one that is late
    way.before_first = std::min(before, way.before_first.value_or(before));
  }

  void copy_waiting(uint32_t n, const Egress& egress, control::SwitchSnapshot& copy) {
    for (uint16_t p = 0; p < copy.ports.size(); ++p) {
      copy.ports[p].sends = egress.departures().is_sending(PortNo{p});
      copy.ports[p].sends_queued = egress.departures().is_sending_queued(PortNo{p});
    }
    egress.departures().see_waiting([&](PortNo port, const PacketGlance& packet) {
      ++copy.ports[port.value()].waiting_packets;
      found(packet, fabric_.peer_of({n, port.value()}).node);
    });
  }

  void copy_buffers(uint32_t n, const Egress& egress, control::SwitchSnapshot& copy) {
    const Mmu& mmu = egress.mmu();
    const control::Profile& profile = testbed_.profiles[compiler_.profile_of(n)];
    const bool shares = profile.qos && profile.qos->has_buffers();
    uint64_t held = 0;
    for (uint16_t p = 0; p < copy.ports.size(); ++p) {
      control::PortSnapshot& port = copy.ports[p];
      held += port.counters.queued_packets();
      copy_pauses(egress, PortNo{p}, out_.instant, port.pauses);
      port.pausable_queues = pausable_queues(egress.plan().ports[p]);
      copy_storms(egress.watchdogs(), PortNo{p}, port.pauses);
      port.link_pause = link_pause_of(egress.flow_control(PortNo{p}), out_.instant);
      port.credit = credit_of(egress.flow_control(PortNo{p}).credits(), out_.instant);
      if (shares) port.buffers = buffers_of(mmu, PortNo{p});
    }
    if (shares) copy.pools = pools_of(*profile.qos, mmu);
    const char* const wrong = mmu.validate(held == 0);
    copy.buffer_imbalances = wrong == nullptr ? "" : wrong;
  }

  void copy_edge(LinkEnd end, const Nic& nic, Instant now) {
    const FabricNode& node = fabric_.nodes[end.node];
    const Transmitter& transmitter = nic.transmitter(PortNo{0});
    control::EdgeSnapshot copy{.name = node.name,
                               .kind = edge_kind(node.attachment, end.port),
                               .counters = nic.counters(),
                               .port = node.ports[end.port].name,
                               .is_only = node.ports.size() == 1,
                               .up = transmitter.up(),
                               .rate = nominal_rate_of(end),
                               .link = transmitter.counters(),
                               .nic = nic.nic_counters(),
                               .waiting_packets = nic.waiting_packets(),
                               .waiting_for_outside = nic.waiting_for_outside(),
                               .statistics = nic.statistics()};
    // Frames that the kernel had for a TAP and dropped, since it was not read while its link was behind.
    copy.counters.in_drops[static_cast<size_t>(DropReason::kEdgeFull)] += nic.lost_outside();
    copy.pause = pauses_of(nic.flow_control(), now);
    copy.link_pause = link_pause_of(nic.flow_control(), now);
    out_.edges.push_back(std::move(copy));
  }

  void copy_host(uint32_t n, const RoceHost& host, Instant now) {
    const FabricNode& node = fabric_.nodes[n];
    const HostCounters& from = host.counters();
    control::HostSnapshot copy{.name = node.name, .ports = {}};
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const Transmitter& transmitter = host.transmitter(PortNo{p});
      copy.ports.push_back({.name = node.ports[p].name,
                            .up = transmitter.up(),
                            .rate = nominal_rate_of({n, p}),
                            .link = transmitter.counters(),
                            .rx_packets = host.rx_packets(PortNo{p})});
      copy.ports.back().pause = pauses_of(host.flow_control(PortNo{p}), now);
      copy.ports.back().link_pause = link_pause_of(host.flow_control(PortNo{p}), now);
      copy.ports.back().credit = credit_of(host.flow_control(PortNo{p}).credits(), now);
    }
    copy.counters = from;
    host.see_buffered([&](const PacketGlance& packet) { found(packet, n); });
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const uint64_t most = host.receive_buffer(PortNo{p}).watermark_bytes();
      copy.receive_buffer_max_bytes = std::max(copy.receive_buffer_max_bytes, most);
    }
    copy.latency = control::LatencySummary::of(host.sinks().latency());
    copy.message_latency = control::LatencySummary::of(from.message_latency_ps);
    copy.completion = control::LatencySummary::of(from.completion_ps);
    out_.hosts.push_back(std::move(copy));
  }

  void copy_flow(size_t index) {
    const PlannedFlow& plan = flows_.plan(index);
    const auto& source = flows_.source(index);
    const auto& sink = flows_.sink(index);
    const FlowSent nothing_sent;
    const FlowReceived nothing_received;
    const FlowSent& sent = source ? source->sent() : nothing_sent;
    const FlowReceived& received = sink ? sink->received() : nothing_received;
    control::FlowSnapshot copy;
    copy.id = plan.flow.id;
    copy.open_loop = source && source->sender() == nullptr;
    copy.workload = testbed_.workloads[plan.workload].name;
    copy.source = fabric_.nodes[plan.source].name;
    copy.destination = fabric_.nodes[plan.destination].name;
    copy.source_qp = plan.flow.source_qp;
    copy.destination_qp = plan.flow.destination_qp;
    copy.planned_messages = plan.flow.messages;
    copy.message_bytes = plan.flow.message_bytes;
    copy.source_port = plan.flow.source_port;
    copy.dscp = plan.flow.dscp;
    copy.listed = is_listed(testbed_.workloads[plan.workload].pattern);
    copy.start = plan.flow.start;
    copy.ideal = flows_.ideal(index).there;
    copy.ideal_back = flows_.ideal(index).back;
    copy.sent_packets = sent.packets;
    copy.sent_bytes = sent.bytes;
    copy.sent_messages = sent.messages;
    copy.received_packets = received.packets;
    copy.received_bytes = received.bytes;
    copy.received_messages = received.messages;
    copy.foreign = received.foreign;
    copy.under_way = under_way_[index].packets;
    copy.copies = under_way_[index].copies;
    copy.before_under_way = under_way_[index].before_first;
    copy.sequence_gaps = received.gaps;
    copy.skipped_packets = received.skipped;
    copy.behind = received.behind;
    copy.marked = received.marked;
    copy.reliable = {sent.reliable, received.reliable};
    copy.latency = {.samples = received.packets,
                    .min_ps = static_cast<uint64_t>(received.latency_min_ps),
                    .mean_ps = static_cast<uint64_t>(received.latency_mean_ps()),
                    .max_ps = static_cast<uint64_t>(received.latency_max_ps),
                    .p50_ps = std::nullopt,
                    .p99_ps = std::nullopt};
    copy.first_sent = sent.first_sent;
    if (received.packets > 0) copy.last_arrived = received.last_arrived;
    if (plan.flow.messages != 0 && received.messages == plan.flow.messages) {
      copy.completion = flow_completion(sent, received);
    }
    if (plan.flow.messages != 0 && sent.reliable.completed_messages == plan.flow.messages) {
      copy.acked = sent.last_completed - sent.first_sent;
    }
    out_.flows.push_back(std::move(copy));
  }

  // Hosts keep one histogram for each workload that ends there.
  void copy_workload_latency() {
    for (const control::Workload& workload : testbed_.workloads) {
      out_.workload_latencies.push_back({.workload = workload.name, .packets = {}});
    }
    nodes_.for_each_host([this](uint32_t, const RoceHost& host) {
      for (const LatencyGroup& each : host.sinks().latencies()) {
        out_.workload_latencies[each.group].packets.merge(each.latency_ps);
      }
    });
  }

  uint64_t on_way_to(LinkEnd end) const {
    const auto here = nodes_.at(end);
    const auto found = here ? on_way_to_.find(*here) : on_way_to_.end();
    return found == on_way_to_.end() ? 0 : found->second;
  }

  void copy_link(const control::FabricLink& link) {
    const Transmitter* const a = nodes_.transmitter_at(link.a);
    const Transmitter* const sender = a != nullptr ? a : nodes_.transmitter_at(link.b);
    if (sender == nullptr) return;
    out_.links.push_back({.a = fabric_.name_of(link.a),
                          .b = fabric_.name_of(link.b),
                          .up = sender->up(),
                          .under_way_to_a = on_way_to(link.a),
                          .under_way_to_b = on_way_to(link.b)});
  }

  const control::Testbed& testbed_;
  const control::Compiler& compiler_;
  const control::Fabric& fabric_;
  const LocalNodes& nodes_;
  const RunFlows& flows_;
  std::map<PortRef, uint64_t> on_way_to_;  // packets on links, by the port that they will arrive at
  std::vector<UnderWay> under_way_;        // packets found anywhere, by flow
  control::FabricSnapshot out_;
};

}  // namespace

control::FabricSnapshot snapshot_of(const control::Testbed& testbed, const control::Compiler& compiler,
                                    const LocalNodes& nodes, const RunFlows& flows, Instant now) {
  return Copier(testbed, compiler, nodes, flows).copy(now);
}

}  // namespace softspine::testbeds
