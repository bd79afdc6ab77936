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
#include "testbeds/run/snapshot_parts.hpp"

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
    flows_.share();
    look_at_links();
    nodes_.for_each_switch([this](uint32_t n, const pipelines::Switch& node) { copy_switch(n, node); });
    nodes_.for_each_host([&](uint32_t n, const RoceHost& host) { copy_host(n, host, now); });
    nodes_.for_each_edge([&](LinkEnd end, const Nic& nic) { copy_edge(end, nic, now); });
    for (uint32_t i = 0; i < fabric_.links.size(); ++i) look_at_link(i);
    const EngineStats stats = nodes_.engine().stats();
    part_.node_runs = stats.node_runs;
    part_.lateness_ps = stats.lateness;
    if (!nodes_.ranks().is_alone()) join_ranks();
    out_.switches = std::move(part_.switches);
    out_.hosts = std::move(part_.hosts);
    out_.edges = std::move(part_.edges);
    for (size_t i = 0; i < flows_.size(); ++i) copy_flow(i);
    copy_workload_latency();
    for (uint32_t i = 0; i < fabric_.links.size(); ++i) copy_link(i);
    out_.engine = {.workers = nodes_.engine().workers(),
                   .windows = stats.windows,
                   .node_runs = part_.node_runs,
                   .lateness_ps = std::move(part_.lateness_ps)};
    return std::move(out_);
  }

 private:
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
    part_.switch_nodes.push_back(n);
    part_.switches.push_back(std::move(copy));
  }

  // Packets on links are found one by one: by the port that it will arrive at, and by its flow.
  void look_at_links() {
    nodes_.engine().see_on_links([this](NodeId to, PortNo port, const PacketGlance& packet) {
      ++part_.on_way_to[key_of(to, port)];
      found(packet, to.value());
    });
  }
  // `next`: the node that it gets to next. At most one of the flooded copies goes to the flow's destination.
  void found(const PacketGlance& packet, uint32_t next) {
    if (packet.flow >= flows_.size()) return;
    const PlannedFlow& plan = flows_.plan(packet.flow);
    FlowUnderWay& way = part_.under_way[packet.flow];
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
    part_.edge_nodes.push_back(nic.id().value());
    part_.edges.push_back(std::move(copy));
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
    part_.host_nodes.push_back(n);
    part_.latencies.push_back(host.sinks().latencies());
    part_.hosts.push_back(std::move(copy));
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
    copy.open_loop = source && source->is_open_loop();
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
    const FlowUnderWay& way = part_.under_way[static_cast<uint32_t>(index)];
    copy.under_way = way.packets;
    copy.copies = way.copies;
    copy.before_under_way = way.before_first;
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
    for (const auto& groups : part_.latencies) {
      for (const LatencyGroup& each : groups) out_.workload_latencies[each.group].packets.merge(each.latency_ps);
    }
  }

  // Of nodes as the engine numbers them: those of edges are none of the fabric's.
  static uint64_t key_of(NodeId node, PortNo port) { return uint64_t{node.value()} << 16 | port.value(); }
  uint64_t on_way_to(LinkEnd end) const {
    const PortRef place = nodes_.place_of(end);
    const auto found = part_.on_way_to.find(key_of(place.node, place.port));
    return found == part_.on_way_to.end() ? 0 : found->second;
  }

  void look_at_link(uint32_t number) {
    const control::FabricLink& link = fabric_.links[number];
    const Transmitter* const a = nodes_.transmitter_at(link.a);
    const Transmitter* const sender = a != nullptr ? a : nodes_.transmitter_at(link.b);
    part_.links.push_back(sender == nullptr ? SnapshotPart::kNotHere : static_cast<int8_t>(sender->up()));
  }

  // Rank 0 has all nodes then; another rank what it had.
  void join_ranks() {
    add_cut(nodes_, part_);
    auto all = nodes_.ranks().collect(part_);
    if (!all.empty()) part_ = join(std::move(all));
  }

  void copy_link(uint32_t number) {
    const control::FabricLink& link = fabric_.links[number];
    if (part_.links[number] == SnapshotPart::kNotHere) return;
    out_.links.push_back({.a = fabric_.name_of(link.a),
                          .b = fabric_.name_of(link.b),
                          .up = part_.links[number] != 0,
                          .under_way_to_a = on_way_to(link.a),
                          .under_way_to_b = on_way_to(link.b)});
  }

  const control::Testbed& testbed_;
  const control::Compiler& compiler_;
  const control::Fabric& fabric_;
  const LocalNodes& nodes_;
  const RunFlows& flows_;
  SnapshotPart part_;
  control::FabricSnapshot out_;
};

}  // namespace

control::FabricSnapshot snapshot_of(const control::Testbed& testbed, const control::Compiler& compiler,
                                    const LocalNodes& nodes, const RunFlows& flows, Instant now) {
  return Copier(testbed, compiler, nodes, flows).copy(now);
}

}  // namespace softspine::testbeds
