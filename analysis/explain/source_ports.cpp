// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/source_ports.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "analysis/explain/group_ports.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr uint32_t kFirstPort = 0xc000;
constexpr uint32_t kLastPort = 0xffff;

// The ports by which a switch may send to an address: all of its group's.
std::vector<uint16_t> ways_of(const dp::ForwardingState& state, const uint8_t* address, bool is_ipv6) {
  const dp::RouteValue route{state.below_overrides(is_ipv6 ? state.ipv6.lookup(address) : state.ipv4.lookup(address))};
  if (route.packed() == dp::PrefixTrie::kMiss) return {};
  if (route.kind() == dp::RouteKind::kAdjacency) return ports_of(state, route.index());
  if (route.kind() == dp::RouteKind::kEcmpGroup) return ports_of(state, state.groups[route.index()]);
  return {};
}

// Paths from a switch to the host's, each switch's counted once. Routes form no circle.
class PathCount {
 public:
  PathCount(Walker& walker, const control::FabricNode& to, bool is_ipv6) : walker_(walker), is_ipv6_(is_ipv6) {
    if (is_ipv6) {
      address_ = to.ipv6.bytes;
    } else {
      dp::store32(address_.data(), to.ipv4.value);
    }
  }
  uint64_t from(uint32_t node) {
    const auto known = known_.find(node);
    if (known != known_.end()) return known->second;
    uint64_t& paths = known_[node];
    uint64_t sum = 0;
    const control::Fabric& fabric = walker_.testbed().fabric;
    const auto ways = ways_of(walker_.state(node), address_.data(), is_ipv6_);
    for (const uint16_t port : ways) {
      const uint32_t peer = fabric.peer_of({node, port}).node;
      sum += fabric.nodes[peer].kind == control::NodeKind::kHost ? 1 : from(peer);
    }
    paths = ways.empty() ? 1 : sum;  // a neighbour that it has to learn
    return known_[node] = paths;
  }

 private:
  Walker& walker_;
  bool is_ipv6_;
  dp::AddressBytes address_{};
  std::map<uint32_t, uint64_t> known_;
};

}  // namespace

std::vector<control::LinkEnd> links_between_switches(const control::Fabric& fabric, const Path& path) {
  std::vector<control::LinkEnd> out;
  const auto see = [&](const control::LinkEnd& end) {
    if (fabric.nodes[fabric.peer_of(end).node].kind == control::NodeKind::kSwitch) out.push_back(end);
  };
  for (const Hop& hop : path.hops) {
    const bool is_drawn = (hop.choice && hop.choice->is_drawn) || (hop.lag && hop.lag->choice.is_drawn);
    if (!is_drawn) see({hop.node, hop.out_port});
    for (const uint16_t port : is_drawn ? hop.candidates : std::vector<uint16_t>{}) see({hop.node, port});
  }
  return out;
}

PortSearch disjoint_source_ports(Walker& walker, const Probe& probe, uint32_t wanted) {
  const control::Fabric& fabric = walker.testbed().fabric;
  const control::LinkEnd sender{probe.from, probe.port};
  const uint32_t first_switch = fabric.peer_of(sender).node;
  PortSearch out{.disjoint = {},
                 .paths_there = PathCount{walker, fabric.nodes[probe.to], probe.is_ipv6}.from(first_switch)};
  std::set<control::LinkEnd> taken;
  std::set<std::vector<control::LinkEnd>> reached;
  Probe with_port = probe;
  for (uint32_t port = kFirstPort; port <= kLastPort && out.disjoint.size() < wanted; ++port) {
    with_port.source_port = static_cast<uint16_t>(port);
    const auto frame = frame_of(fabric, with_port, walker.router_mac(first_switch));
    const Path path = walker.walk(frame, static_cast<uint32_t>(frame.size()), sender);
    ++out.ports_tried;
    if (path.end != PathEnd::kHost) continue;
    const auto links = links_between_switches(fabric, path);
    if (!reached.insert(links).second) continue;
    if (std::ranges::any_of(links, [&](control::LinkEnd link) { return taken.contains(link); })) continue;
    taken.insert(links.begin(), links.end());
    out.disjoint.push_back({with_port.source_port, links});
  }
  out.paths_reached = static_cast<uint32_t>(reached.size());
  return out;
}

}  // namespace softspine::analysis
