// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/flow_probes.hpp"

#include <algorithm>
#include <set>

#include "analysis/explain/probe.hpp"
#include "control/traffic/rxe_source_port.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

using control::LinkEnd;

namespace {

constexpr uint32_t kMaxRandomFlows = 10'000'000;

FlowProbe flow_of(Walker& walker, const Probe& probe) {
  const control::Fabric& fabric = walker.testbed().fabric;
  const LinkEnd sender{probe.from, probe.port};
  return {frame_of(fabric, probe, walker.router_mac(fabric.peer_of(sender).node)), sender};
}

}  // namespace

FlowProbes random_flows(Walker& walker, uint32_t count, uint64_t seed) {
  const control::Fabric& fabric = walker.testbed().fabric;
  if (count > kMaxRandomFlows) return std::unexpected("at most " + std::to_string(kMaxRandomFlows) + " random flows");
  std::vector<uint32_t> hosts;
  std::set<uint32_t> racks;
  const auto rack_of = [&fabric](uint32_t host) { return fabric.peer_of({host, 0}).node; };
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind != control::NodeKind::kHost) continue;
    hosts.push_back(n);
    racks.insert(rack_of(n));
  }
  if (racks.size() < 2) return std::unexpected("random flows need hosts in two racks");
  dataplane::Rng rng{seed, 0};
  std::vector<FlowProbe> out;
  while (out.size() < count) {
    Probe probe{.from = hosts[rng.below(hosts.size())], .to = hosts[rng.below(hosts.size())]};
    if (rack_of(probe.from) == rack_of(probe.to)) continue;
    probe.port = static_cast<uint16_t>(rng.below(fabric.nodes[probe.from].ports.size()));
    const auto source_qp = static_cast<uint32_t>(17 + rng.below(4'096));
    probe.qp = static_cast<uint32_t>(17 + rng.below(4'096));
    probe.source_port = control::rxe_source_port(source_qp, probe.qp);
    out.push_back(flow_of(walker, probe));
  }
  return out;
}

}  // namespace softspine::analysis
