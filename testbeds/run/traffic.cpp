// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/traffic.hpp"

#include <algorithm>

namespace softspine::testbeds {

namespace {

Pattern pattern_of(control::Pattern pattern) {
  switch (pattern) {
    case control::Pattern::kPermutation: return Pattern::kPermutation;
    case control::Pattern::kIncast: return Pattern::kIncast;
    case control::Pattern::kPairs: return Pattern::kPairs;
    case control::Pattern::kAllToAll: return Pattern::kAllToAll;
    case control::Pattern::kRing: return Pattern::kRing;
  }
  return Pattern::kPairs;
}

Scaling scaling_of(control::Scaling scaling) {
  switch (scaling) {
    case control::Scaling::kEach: return Scaling::kEach;
    case control::Scaling::kSplit: return Scaling::kSplit;
    case control::Scaling::kRoundRobin: return Scaling::kRoundRobin;
  }
  return Scaling::kEach;
}

void set_transport(Workload& out, const control::TransportConfig& from) {
  const bool reliable = from.kind == control::TransportKind::kReliable;
  out.flow.transport = out.sink.transport = reliable ? Transport::kReliable : Transport::kOpenLoop;
  out.flow.verb = from.verb == control::Verb::kWrite ? Verb::kWrite : Verb::kSend;
  out.flow.reliable = {.window = from.window,
                       .ask_every = from.ack_every,
                       .timeout = from.ack_timeout,
                       .retry_count = from.retries,
                       .reaction = reaction_of(from.congestion_control)};
  out.sink.ack_dscp = from.ack_dscp;
  out.sink.cnp_dscp = from.cnp_dscp;
  if (out.flow.reliable.reaction) out.sink.cnp_interval = from.cnp_interval;
}

Workload workload_of(const control::Workload& from) {
  Workload out{.pattern = pattern_of(from.pattern), .hosts = from.hosts, .from = from.from, .to = from.to};
  out.qps = from.qps;
  out.scaling = scaling_of(from.scaling);
  out.first_qp = from.first_qp;
  out.source_port = from.source_port;
  out.rate = from.rate;
  out.flow.message_bytes = from.message_bytes;
  out.flow.messages = from.messages;
  out.flow.path_mtu = from.mtu;
  out.flow.start = from.start;
  out.flow.dscp = from.dscp;
  set_transport(out, from.transport);
  return out;
}

std::string sentences(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "; ") + line;
  return out;
}

// The racks by their numbers: the switch that a host's first port leads to.
std::vector<Endpoint> endpoints_of(const control::Fabric& fabric) {
  std::vector<Endpoint> out(fabric.nodes.size());
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    if (node.kind != control::NodeKind::kHost || node.ports.empty()) continue;
    out[n] = {.address = ipv4_of(node), .rack = fabric.peer_of({n, 0}).node};
  }
  return out;
}

}  // namespace

std::optional<dataplane::ReactionParameters> reaction_of(control::CongestionControl control) {
  switch (control) {
    case control::CongestionControl::kOff: break;
    case control::CongestionControl::kDcqcnConnectx: return dataplane::ReactionParameters::connectx();
    case control::CongestionControl::kDcqcnPaper: return dataplane::ReactionParameters::paper();
  }
  return std::nullopt;
}

std::expected<std::vector<PlannedFlow>, std::string> plan_traffic(const control::Testbed& testbed) {
  std::vector<Workload> workloads;
  for (const control::Workload& workload : testbed.workloads) workloads.push_back(workload_of(workload));
  auto plan = plan_flows(workloads, endpoints_of(testbed.fabric), testbed.run.seed);
  if (!plan) return std::unexpected(sentences(plan.error()));
  return std::move(*plan);
}

std::expected<void, std::string> add_traffic(const control::Testbed& testbed, Assembly& assembly) {
  auto plan = plan_traffic(testbed);
  if (!plan) return std::unexpected(plan.error());
  assembly.flows = std::move(*plan);
  for (PlannedFlow& flow : assembly.flows) {
    RoceHost* source = assembly.hosts[flow.source];
    RoceHost* destination = assembly.hosts[flow.destination];
    // A bond spreads its queue pairs over its ports.
    flow.flow.port = dataplane::PortNo{static_cast<uint16_t>(flow.flow.id % source->config().ports)};
    if (const auto wrong = wrong_with(source->config(), flow.flow); !wrong.empty()) {
      const std::string& name = testbed.workloads[flow.workload].name;
      return std::unexpected("workload " + name + ", from " + source->name() + ": " + sentences(wrong));
    }
    flow.sink.latency_group = flow.workload;
    assembly.flow_at_source.push_back(source->add_flow(flow.flow));
    assembly.sink_at_destination.push_back(destination->add_sink(flow.sink));
  }
  return {};
}

}  // namespace softspine::testbeds
