// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/comparison.hpp"

#include <algorithm>
#include <deque>
#include <tuple>

#include "analysis/explain/group_ports.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

// A switch that the flow comes to.
struct Arrival {
  uint32_t node = 0;
  std::optional<uint16_t> port;
  bool is_certain = false;  // that it comes here
};

// Whether the bytes have some that each switch writes anew: MACs, TTL, the checksum.
bool is_rewritten(const dp::KeyPart& part, bool is_ipv6) {
  const auto has = [&part](uint32_t at, uint32_t bytes) {
    return part.offset < at + bytes && part.offset + part.length > at;
  };
  if (part.base == dp::UdfBase::kL2) return has(dp::ethernet::kDestination, dp::ethernet::kType);
  if (part.base != dp::UdfBase::kL3) return false;
  return is_ipv6 ? has(dp::ipv6::kHopLimit, 1) : has(dp::ipv4::kTtl, 1) || has(dp::ipv4::kChecksum, 2);
}

// The part of a hash's key that the captures lack; empty: no part.
std::string unknown_part(const Choice& choice, bool knows_port) {
  constexpr const char* kByPort = "hashed by the port it came in by, which was not captured";
  constexpr const char* kByRewritten = "hashed by bytes that each switch writes anew";
  if ((choice.mode == dp::EcmpGroupMode::kInPort || choice.falls_back) && !knows_port) return kByPort;
  if (choice.layout == nullptr) return {};
  for (const dp::KeyPart& part : choice.layout->parts()) {
    const bool is_udf = part.source == dp::KeyPart::Source::kUdf;
    if (is_udf ? is_rewritten(part, choice.is_ipv6) : part.field == dp::HashField::kSrcMac) return kByRewritten;
    const bool is_of_port = part.field == dp::HashField::kInPort || part.field == dp::HashField::kVlanId;
    if (!is_udf && is_of_port && !knows_port) return kByPort;
  }
  return {};
}

class FlowComparer {
 public:
  FlowComparer(Walker& walker, dp::ScratchPacket& scratch, const SightedFlow& flow)
      : walker_(walker), fabric_(walker.testbed().fabric), scratch_(scratch), flow_(flow) {}

  ComparedFlow compare() {
    if (flow_.sender) arrive({fabric_.peer_of(*flow_.sender), true});
    follow();
    for (const auto& [end, packets] : flow_.left) {
      if (fabric_.nodes[end.node].kind != control::NodeKind::kSwitch || was_visited(end.node)) continue;
      waiting_.push_back(seen_arrival(end.node));
      follow();
    }
    out_.verdict = verdict();
    return std::move(out_);
  }

 private:
  struct Place {
    control::LinkEnd at;
    bool is_certain;
  };
  void arrive(const Place& place) {
    if (fabric_.nodes[place.at.node].kind == control::NodeKind::kSwitch)
      waiting_.push_back({place.at.node, place.at.port, place.is_certain});
  }
  // At a switch that the walk did not reach: by the port that a neighbour was seen to send to.
  Arrival seen_arrival(uint32_t node) const {
    for (const auto& [end, packets] : flow_.left) {
      const control::LinkEnd at = fabric_.peer_of(end);
      if (at.node == node) return {node, at.port, true};
    }
    return {node, std::nullopt, true};
  }
  bool was_visited(uint32_t node) const {
    return std::ranges::find(out_.hops, node, &ComparedHop::node) != out_.hops.end();
  }

  void follow() {
    while (!waiting_.empty() && out_.hops.size() < Walker::kMaxHops) {
      const Arrival next = waiting_.front();
      waiting_.pop_front();
      if (!was_visited(next.node)) visit(next);
    }
    waiting_.clear();
  }

  // The packet as it comes to a switch: addressed to its router.
  Walker::Step ask(const Arrival& arrival) {
    const uint32_t bytes = std::max(flow_.frame_bytes, static_cast<uint32_t>(flow_.frame.size()));
    dp::Packet& packet = scratch_.load(flow_.frame, bytes);
    dp::store_mac(packet.data() + dp::ethernet::kDestination, walker_.router_mac(arrival.node));
    return walker_.step(arrival.node, arrival.port.value_or(any_port(arrival.node)), packet);
  }
  // One that routes whatever comes: links to switches have no VLAN.
  uint16_t any_port(uint32_t node) const {
    const uint16_t ports = static_cast<uint16_t>(fabric_.nodes[node].ports.size());
    for (uint16_t p = 0; p < ports; ++p) {
      if (fabric_.nodes[fabric_.peer_of({node, p}).node].kind == control::NodeKind::kSwitch) return p;
    }
    return 0;
  }

  void visit(const Arrival& arrival) {
    const Walker::Step step = ask(arrival);
    ComparedHop hop{.node = arrival.node, .is_choice = false, .predicted = {}, .seen = {}, .why = {}};
    for (auto it = flow_.left.lower_bound({arrival.node, 0}); it != flow_.left.end() && it->first.node == arrival.node;
         ++it) {
      hop.seen.emplace(it->first.port, it->second);
    }
    predict(step, arrival.port.has_value(), hop);
    const bool is_direct = !hop.seen.empty();
    if (!is_direct && arrival.is_certain && step.hop && step.hop->choice) infer(*step.hop->choice, hop);
    judge(hop);
    go_on(hop, arrival.is_certain || is_direct);
    out_.hops.push_back(std::move(hop));
  }

  void predict(const Walker::Step& step, bool knows_port, ComparedHop& hop) const {
    if (!step.hop) {
      hop.why = step.end == PathEnd::kDropped
                    ? "the testbed's switch drops it: " + std::string(dp::name_of(step.reason))
                    : "the testbed's switch does not route it";
      return;
    }
    hop.predicted = step.hop->candidates;
    const auto look = [&](const Choice& choice, bool has_several) {
      hop.is_choice = hop.is_choice || has_several;
      if (hop.why.empty())
        hop.why = choice.is_drawn ? "drawn for each packet or flowlet" : unknown_part(choice, knows_port);
    };
    if (step.hop->choice) look(*step.hop->choice, ports_of(*step.hop->choice, hop.node).size() > 1);
    if (step.hop->lag) look(step.hop->lag->choice, step.hop->lag->choice.buckets > 1);
  }

  std::vector<uint16_t> ports_of(const Choice& choice, uint32_t node) const {
    const dp::ForwardingState& state = walker_.state(node);
    return analysis::ports_of(state, state.groups[choice.group]);
  }

  bool was_seen_at(uint32_t node) const {
    const auto it = flow_.left.lower_bound({node, 0});
    return it != flow_.left.end() && it->first.node == node;
  }
  // The ports to the one next switch that was seen to send the flow.
  void infer(const Choice& choice, ComparedHop& hop) const {
    for (const uint16_t port : ports_of(choice, hop.node)) {
      const uint32_t next = fabric_.peer_of({hop.node, port}).node;
      if (fabric_.nodes[next].kind == control::NodeKind::kSwitch && was_seen_at(next) && !was_visited(next))
        hop.seen.emplace(port, 0);
    }
  }

  static bool is_inferred(const ComparedHop& hop) {
    return std::ranges::all_of(hop.seen, [](const auto& seen) { return seen.second == 0; });
  }
  void judge(ComparedHop& hop) const {
    if (hop.seen.empty() || hop.predicted.empty()) {
      hop.verdict = hop.why.empty() ? HopVerdict::kNotSeen : HopVerdict::kNotComputable;
      return;
    }
    const bool is_any = !hop.why.empty() && hop.predicted.size() == 1;  // computed from a part that is not known
    const auto is_predicted = [&](const auto& seen) {
      return is_any || std::ranges::find(hop.predicted, seen.first) != hop.predicted.end();
    };
    const bool all = std::ranges::all_of(hop.seen, is_predicted);
    const bool some = std::ranges::any_of(hop.seen, is_predicted);
    if (!hop.why.empty() && all) {
      hop.verdict = HopVerdict::kNotComputable;
    } else if (all) {
      hop.verdict = HopVerdict::kAgrees;
    } else {
      hop.verdict = some && is_inferred(hop) ? HopVerdict::kNotSeen : HopVerdict::kDiffers;
    }
  }

  void go_on(const ComparedHop& hop, bool is_certain) {
    for (const auto& [port, packets] : hop.seen) arrive({fabric_.peer_of({hop.node, port}), is_certain});
    if (!hop.seen.empty() || hop.predicted.size() != 1 || !hop.why.empty()) return;
    arrive({fabric_.peer_of({hop.node, hop.predicted.front()}), is_certain && !hop.is_choice});
  }

  FlowVerdict verdict() const {
    const auto has = [this](auto&& claim) { return std::ranges::any_of(out_.hops, claim); };
    if (has([](const ComparedHop& hop) { return hop.verdict == HopVerdict::kDiffers; })) return FlowVerdict::kDiffers;
    if (has([](const ComparedHop& hop) { return hop.is_choice && hop.verdict == HopVerdict::kAgrees; }))
      return FlowVerdict::kAgrees;
    const bool is_open = out_.hops.empty() || has([](const ComparedHop& hop) {
                           return hop.is_choice || hop.verdict == HopVerdict::kNotComputable;
                         });
    return is_open ? FlowVerdict::kUndecided : FlowVerdict::kNoChoice;
  }

  Walker& walker_;
  const control::Fabric& fabric_;
  dp::ScratchPacket& scratch_;
  const SightedFlow& flow_;
  std::deque<Arrival> waiting_;
  ComparedFlow out_;
};

// As the way has them: up by rising tier, then down by falling tier.
using ComparedPlace = std::tuple<bool, int, control::Role>;

ComparedPlace place_of(const control::Fabric& fabric, const ComparedHop& hop) {
  const control::Role role = fabric.nodes[hop.node].role;
  const uint16_t port = hop.predicted.empty() ? hop.seen.begin()->first : hop.predicted.front();
  const control::FabricNode& peer = fabric.nodes[fabric.peer_of({hop.node, port}).node];
  const bool up = peer.kind == control::NodeKind::kSwitch && tier_of(peer.role) > tier_of(role);
  return {!up, up ? tier_of(role) : -tier_of(role), role};
}

uint64_t& count_of(ComparedTier& tier, HopVerdict verdict) {
  switch (verdict) {
    case HopVerdict::kAgrees: return tier.agree;
    case HopVerdict::kDiffers: return tier.differ;
    case HopVerdict::kNotSeen: return tier.not_seen;
    case HopVerdict::kNotComputable: break;
  }
  return tier.not_computable;
}

std::vector<ComparedTier> tiers_of(const control::Fabric& fabric, const std::vector<ComparedFlow>& flows) {
  std::map<ComparedPlace, ComparedTier> tiers;
  for (const ComparedFlow& flow : flows) {
    for (const ComparedHop& hop : flow.hops) {
      const bool counts = hop.is_choice || hop.verdict == HopVerdict::kDiffers;
      if (!counts || (hop.predicted.empty() && hop.seen.empty())) continue;
      const ComparedPlace place = place_of(fabric, hop);
      ComparedTier& tier = tiers[place];
      tier.name = name_of(std::get<control::Role>(place)) + (std::get<bool>(place) ? " down" : " up");
      ++count_of(tier, hop.verdict);
    }
  }
  std::vector<ComparedTier> out;
  for (auto& [place, tier] : tiers) out.push_back(std::move(tier));
  return out;
}

}  // namespace

uint64_t PathComparison::count(FlowVerdict verdict) const {
  return static_cast<uint64_t>(std::ranges::count(flows, verdict, &ComparedFlow::verdict));
}

PathComparison compare_with(Walker& walker, const std::vector<SightedFlow>& flows) {
  dp::ScratchPacket scratch;
  PathComparison out;
  for (const SightedFlow& flow : flows) out.flows.push_back(FlowComparer(walker, scratch, flow).compare());
  out.tiers = tiers_of(walker.testbed().fabric, out.flows);
  return out;
}

}  // namespace softspine::analysis
