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

Workload workload_of(const control::Workload& from) {
  Workload out{.pattern = pattern_of(from.pattern), .hosts = from.hosts, .from = from.from, .to = from.to};
  out.qps = from.qps;
  out.first_qp = from.first_qp;
  out.source_port = from.source_port;
  out.rate = from.rate;
  out.flow.message_bytes = from.message_bytes;
  out.flow.messages = from.messages;
  out.flow.path_mtu = from.mtu;
  out.flow.start = from.start;
  out.flow.dscp = from.dscp;
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
    assembly.flow_at_source.push_back(source->add_flow(flow.flow));
    assembly.sink_at_destination.push_back(destination->add_sink(flow.sink));
  }
  return {};
}

}  // namespace softspine::testbeds
