// SPDX-License-Identifier: Apache-2.0
#include "control/explain/flow_choices.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "dataplane/hashing/xxh3.hpp"

namespace softspine::control {

namespace dp = dataplane;

namespace {

constexpr uint64_t kSamples = 2'048;

// As the way has them: up by rising tier, then down by falling tier.
struct TierPlace {
  bool down;
  int height;
  Role role;
  friend auto operator<=>(const TierPlace&, const TierPlace&) = default;
};

uint64_t key_of(const Choice& choice, uint16_t in_port) {
  if (choice.mode == dp::EcmpGroupMode::kInPort || choice.key.count == 0) return in_port;
  return dp::Xxh3::of(choice.key.words.data(), choice.key.count, 1);
}

class Walk {
 public:
  Walk(Walker& walker, const std::vector<FlowProbe>& flows) : walker_(walker), fabric_(walker.testbed().fabric) {
    const uint64_t every = std::max<uint64_t>(1, flows.size() / kSamples);
    out_.begins.push_back(0);
    for (const FlowProbe& flow : flows) add(flow, out_.bytes.size() % every == 0 && out_.samples.size() < kSamples);
    order_tiers();
    find_shapes();
  }
  FlowChoices take() && { return std::move(out_); }

 private:
  bool leads_up(uint32_t node, uint16_t port) const {
    const FabricNode& peer = fabric_.nodes[fabric_.peer_of({node, port}).node];
    return peer.kind == NodeKind::kSwitch && tier_of(peer.role) > tier_of(fabric_.nodes[node].role);
  }

  void add(const FlowProbe& flow, bool is_sample) {
    const auto stored = static_cast<uint32_t>(flow.frame.size());
    const Path path = walker_.walk(flow.frame, std::max(stored, flow.frame_bytes), flow.sender);
    out_.arrived += path.end == PathEnd::kHost;
    FlowChoices::Sample sample{.flow = out_.bytes.size(), .keys = {}};
    for (const Hop& hop : path.hops) {
      if (!hop.choice && !hop.is_pinned) continue;
      const uint32_t group = group_of(hop);
      if (out_.groups[group].links.size() < 2) continue;
      out_.met.push_back({group, link_of(out_.groups[group], hop), hop.choice ? key_of(*hop.choice, hop.in_port) : 0});
      if (is_sample) sample.keys.push_back(hop.choice ? hop.choice->key : dp::HashKey{});
    }
    if (!sample.keys.empty()) out_.samples.push_back(std::move(sample));
    out_.begins.push_back(out_.met.size());
    out_.bytes.push_back(flow.bytes);
  }

  static uint32_t link_of(const LinkGroup& group, const Hop& hop) {
    const auto found = std::ranges::find(group.links, hop.out_port, &LinkEnd::port);
    return static_cast<uint32_t>(found - group.links.begin());
  }

  uint32_t tier_for(const Hop& hop) {
    const FabricNode& node = fabric_.nodes[hop.node];
    const bool up = leads_up(hop.node, hop.out_port);
    const TierPlace place{!up, up ? tier_of(node.role) : -tier_of(node.role), node.role};
    const auto [found, is_new] = tiers_.emplace(place, static_cast<uint32_t>(out_.tiers.size()));
    if (is_new)
      out_.tiers.push_back({.name = name_of(node.role) + (up ? " up" : " down"), .role = node.role, .up = up});
    ChoiceTier& tier = out_.tiers[found->second];
    if (hop.is_pinned) tier.mode = TierMode::kPinned;
    if (hop.choice && hop.choice->mode == dp::EcmpGroupMode::kInPort) tier.mode = TierMode::kByInPort;
    if (hop.choice && hop.choice->is_drawn) tier.mode = TierMode::kDrawn;
    return found->second;
  }

  // The group by which the flow's destination is reached; all groups with the same links and shares are one.
  uint32_t group_of(const Hop& hop) {
    const uint64_t name = uint64_t{hop.node} << 32 | (hop.choice ? hop.choice->group : UINT32_MAX);
    const auto known = known_.find(name);
    if (known != known_.end()) return known->second;
    LinkGroup made = hop.choice ? hashed_group(hop) : pinned_group(hop);
    if (made.links.size() > 1) made.tier = tier_for(hop);
    std::vector<uint16_t> ports;
    for (const LinkEnd& link : made.links) ports.push_back(link.port);
    const auto [same, is_new] = same_.emplace(std::tuple{hop.node, std::move(ports), made.by_bucket},
                                              static_cast<uint32_t>(out_.groups.size()));
    if (is_new) out_.groups.push_back(std::move(made));
    return known_[name] = same->second;
  }
  LinkGroup hashed_group(const Hop& hop) {
    const dp::ForwardingState& state = walker_.state(hop.node);
    const dp::EcmpGroup& group = state.groups[hop.choice->group];
    std::map<uint16_t, uint32_t> buckets;  // by port
    std::vector<uint16_t> ports;
    for (uint32_t b = 0; b < group.count; ++b) {
      ports.push_back(state.adjacencies[state.members[group.first + b]].port);
      ++buckets[ports.back()];
    }
    LinkGroup out{.node = hop.node, .links = {}, .weights = {}, .by_bucket = {}};
    for (const auto& [port, count] : buckets) {
      out.links.push_back({hop.node, port});
      out.weights.push_back(static_cast<double>(count) / group.count);
    }
    for (const uint16_t port : ports)
      out.by_bucket.push_back(static_cast<uint16_t>(std::distance(buckets.begin(), buckets.find(port))));
    return out;
  }
  LinkGroup pinned_group(const Hop& hop) const {
    LinkGroup out{.node = hop.node, .links = {}, .weights = {}, .by_bucket = {}};
    for (uint16_t p = 0; p < fabric_.nodes[hop.node].ports.size(); ++p) {
      if (leads_up(hop.node, p)) out.links.push_back({hop.node, p});
    }
    out.weights.assign(out.links.size(), 1.0 / static_cast<double>(std::max<size_t>(1, out.links.size())));
    return out;
  }

  void order_tiers() {
    std::vector<uint32_t> to(out_.tiers.size());
    std::vector<ChoiceTier> sorted;
    for (const auto& [place, tier] : tiers_) {
      to[tier] = static_cast<uint32_t>(sorted.size());
      sorted.push_back(std::move(out_.tiers[tier]));
    }
    out_.tiers = std::move(sorted);
    for (LinkGroup& group : out_.groups) group.tier = to[group.tier];
  }

  void find_shapes() {
    std::map<std::pair<uint32_t, std::vector<uint16_t>>, uint32_t> shapes;
    for (LinkGroup& group : out_.groups) {
      const auto key = std::pair{group.tier, group.by_bucket};
      group.shape = shapes.emplace(key, static_cast<uint32_t>(shapes.size())).first->second;
    }
    out_.shapes = static_cast<uint32_t>(shapes.size());
  }

  Walker& walker_;
  const Fabric& fabric_;
  FlowChoices out_;
  std::map<TierPlace, uint32_t> tiers_;
  std::unordered_map<uint64_t, uint32_t> known_;  // (node, the state's group) → group
  std::map<std::tuple<uint32_t, std::vector<uint16_t>, std::vector<uint16_t>>, uint32_t> same_;
};

}  // namespace

FlowChoices choices_of(Walker& walker, const std::vector<FlowProbe>& flows) {
  return Walk(walker, flows).take();
}

}  // namespace softspine::control
