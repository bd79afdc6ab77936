// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/rank_plan.hpp"

#include <algorithm>
#include <variant>

#include "dataplane/engine/window_nest.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/scale_up_links.hpp"

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::NestLink;
using dataplane::Rate;

namespace {

// The engine's links, as the assembly makes them.
std::vector<NestLink> links_of(const control::Testbed& testbed) {
  const control::Fabric& fabric = testbed.fabric;
  std::vector<NestLink> out;
  for (const control::FabricLink& link : fabric.links) {
    const Rate faster =
        std::max(fabric.nodes[link.a.node].clock.of(link.rate), fabric.nodes[link.b.node].clock.of(link.rate));
    out.push_back({link.a.node, link.b.node, faster.time_of_frame(0) + link.propagation});
  }
  ScaleUpLinks{testbed}.for_each([&](uint32_t node, dataplane::PortNo, uint32_t peer, dataplane::PortNo) {
    const control::BuiltinHostParameters& link = fabric.nodes[node].builtin;
    out.push_back({node, peer, link.scale_up_rate.time_of_frame(0) + link.scale_up_latency});
  });
  return out;
}

}  // namespace

double RankPlan::imbalance() const {
  double most = 0;
  double sum = 0;
  for (const RankPart& part : parts) {
    most = std::max(most, static_cast<double>(part.rate.count_bps()));
    sum += static_cast<double>(part.rate.count_bps());
  }
  return sum == 0 ? 1 : most * static_cast<double>(parts.size()) / sum;
}

RankPlan plan_ranks(const control::Testbed& testbed, uint32_t ranks) {
  const control::Fabric& fabric = testbed.fabric;
  const uint32_t workers = testbed.run.workers;
  const std::vector<uint32_t> share_of = spread_over_workers(fabric, ranks * workers);
  RankPlan out{.parts = std::vector<RankPart>(ranks), .window = {}, .shortest_cut = Duration::max()};
  const std::vector<NestLink> links = links_of(testbed);
  for (const NestLink& link : links) {
    ++out.links;
    if (share_of[link.a] / workers == share_of[link.b] / workers) continue;
    ++out.cut_links;
    out.shortest_cut = std::min(out.shortest_cut, link.latency);
  }
  const bool is_wall = testbed.run.clock == control::ClockKind::kWall;
  out.window = std::min(dataplane::nest_windows(share_of, links).lookahead,
                        is_wall ? dataplane::kLongestOverNetwork : dataplane::kLongestWindow);
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    RankPart& part = out.parts[share_of[n] / workers];
    ++(fabric.nodes[n].kind == control::NodeKind::kSwitch ? part.switches : part.hosts);
    part.ports += fabric.nodes[n].ports.size();
    for (const control::FabricPort& port : fabric.nodes[n].ports) {
      if (port.link == control::kNone) continue;
      part.rate = Rate::bps(part.rate.count_bps() + fabric.links[port.link].rate.count_bps());
    }
  }
  return out;
}

std::vector<std::string> not_over_ranks(const control::Testbed& testbed) {
  const bool has_verbs = std::ranges::any_of(testbed.fabric.nodes, [](const control::FabricNode& node) {
    return std::holds_alternative<control::VerbsHost>(node.attachment);
  });
  if (!has_verbs) return {};
  return {"verbs hosts are not there with more than one rank yet"};
}

}  // namespace softspine::testbeds
