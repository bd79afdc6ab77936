// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/traffic.hpp"

#include <algorithm>

#include "testbeds/hosts/bond_hash.hpp"
#include "testbeds/run/ideal_time.hpp"

namespace softspine::testbeds {

namespace {

std::string sentences(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "; ") + line;
  return out;
}

// The racks by their numbers: the switch that a host's first port leads to.
std::vector<control::TrafficHost> traffic_hosts(const control::Fabric& fabric) {
  std::vector<control::TrafficHost> out(fabric.nodes.size());
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    if (node.kind != control::NodeKind::kHost || node.ports.empty()) continue;
    out[n] = {.address = ipv4_of(node), .rack = fabric.peer_of({n, 0}).node};
  }
  return out;
}

}  // namespace

std::vector<PlannedFlow> plan_traffic(const control::Testbed& testbed, std::vector<SharedPaths>* shared) {
  auto out = control::plan_flows(testbed.workloads, traffic_hosts(testbed.fabric), testbed.run.seed);
  auto found = choose_disjoint_ports(testbed, out);
  if (shared != nullptr) *shared = std::move(found);
  return out;
}

HostConfig bonded_host(const control::Fabric& fabric, uint32_t n, const dataplane::MacAddress& gateway) {
  const control::FabricNode& node = fabric.nodes[n];
  HostConfig out{.name = node.name, .mac = control::packet_mac(node.ports[0].mac), .ipv4 = ipv4_of(node)};
  out.ipv6 = node.ipv6.bytes;
  out.gateway = gateway;
  out.ports = static_cast<uint16_t>(node.ports.size());
  out.bond = node.bond;
  out.parameters = node.builtin;
  return out;
}

std::expected<void, std::string> add_traffic(const control::Testbed& testbed, Assembly& assembly) {
  assembly.flows = RunFlows{assembly.nodes->ranks()};
  std::vector<PlannedFlow> plan = plan_traffic(testbed);
  const std::vector<IdealTime> ideal = ideal_times(testbed.fabric, plan);
  for (PlannedFlow& flow : plan) {
    std::optional<FlowSource> source;
    std::optional<FlowSink> sink;
    if (RoceHost* const host = assembly.nodes->host_at(flow.source)) {
      flow.flow.port = bond_port(host->config(), flow.flow);
      FlowConfig sent = flow.flow;
      sent.rate = testbed.fabric.nodes[flow.source].clock.of(flow.flow.rate);
      if (const auto wrong = validate(host->config(), flow.flow); !wrong.empty()) {
        const std::string& name = testbed.workloads[flow.workload].name;
        return std::unexpected("workload " + name + ", from " + host->name() + ": " + sentences(wrong));
      }
      source = {.host = host, .number = host->add_flow(sent)};
    }
    flow.sink.latency_group = flow.workload;
    if (RoceHost* const host = assembly.nodes->host_at(flow.destination)) {
      sink = {.host = host, .number = host->add_sink(flow.sink)};
    }
    assembly.flows.add(flow, source, sink, ideal[flow.flow.id]);
  }
  assembly.flows.add_elsewhere();
  return {};
}

}  // namespace softspine::testbeds
