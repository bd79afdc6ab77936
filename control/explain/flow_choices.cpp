// SPDX-License-Identifier: Apache-2.0
#include "control/explain/flow_choices.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "dataplane/hashing/xxh3.hpp"
#include "dataplane/units/check.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::control {

namespace dp = dataplane;

namespace {

constexpr size_t kSamplesOfOneWay = 1'024;
constexpr size_t kSamples = 65'536;

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

std::string end_of(const Path& path) {
  switch (path.end) {
    case PathEnd::kHost: return "arrives";
    case PathEnd::kSwitch: return "taken by a switch";
    case PathEnd::kBridged: return "bridged by what was learned";
    case PathEnd::kLinkDown: return "link down";
    case PathEnd::kDropped: return std::string(dp::name_of(path.reason));
    case PathEnd::kTooLong: return "in a circle";
  }
  return "?";
}

// Of two configurations with RTAG7's further parts nothing is assumed.
bool are_alike(const HashConfig& a, const HashConfig& b) {
  return !a.rtag7 && !b.rtag7 && a.model == b.model && a.algorithm == b.algorithm && a.fields == b.fields &&
         a.udfs == b.udfs && a.seed == b.seed && a.offset == b.offset && a.key == b.key;
}

// Hash functions, told apart by what they compute as far as their configurations say it.
class Functions {
 public:
  uint32_t of(const dp::EcmpHash& hash, uint32_t profile, Role role) {
    const auto [known, is_new] = known_.try_emplace({profile, role}, 0);
    if (!is_new) return known->second;
    const auto alike =
        std::ranges::find_if(configs_, [&](const HashConfig* it) { return are_alike(*it, hash.config()); });
    known->second = static_cast<uint32_t>(alike - configs_.begin());
    if (alike == configs_.end()) configs_.push_back(&hash.config());
    return known->second;
  }

 private:
  std::map<std::pair<uint32_t, Role>, uint32_t> known_;  // by profile and role
  std::vector<const HashConfig*> configs_;
};

// Some of the flows of each way, every one of them with the same probability (Vitter's algorithm R).
class Samples {
 public:
  void add(const std::vector<uint64_t>& way, FlowChoices::Sample&& sample) {
    Place& place = places_[way];
    const uint64_t seen = place.seen++;
    if (place.kept.size() < kSamplesOfOneWay && samples_.size() < kSamples) {
      place.kept.push_back(samples_.size());
      samples_.push_back(std::move(sample));
      return;
    }
    const uint64_t drawn = rng_.below(seen + 1);
    if (drawn < place.kept.size()) samples_[place.kept[drawn]] = std::move(sample);
  }
  std::vector<FlowChoices::Sample> take() && {
    std::ranges::sort(samples_, {}, &FlowChoices::Sample::flow);
    return std::move(samples_);
  }

 private:
  struct Place {
    uint64_t seen = 0;
    std::vector<size_t> kept;  // of samples_
  };
  std::map<std::vector<uint64_t>, Place> places_;
  std::vector<FlowChoices::Sample> samples_;
  dp::Rng rng_{1, 4};
};

class Walk {
 public:
  Walk(Walker& walker, const std::vector<FlowProbe>& flows) : walker_(walker), fabric_(walker.testbed().fabric) {
    out_.begins.push_back(0);
    for (const FlowProbe& flow : flows) add(flow);
    out_.samples = std::move(samples_).take();
    order_tiers();
  }
  FlowChoices take() && { return std::move(out_); }

 private:
  bool leads_up(uint32_t node, uint16_t port) const {
    const FabricNode& peer = fabric_.nodes[fabric_.peer_of({node, port}).node];
    return peer.kind == NodeKind::kSwitch && tier_of(peer.role) > tier_of(fabric_.nodes[node].role);
  }

  void add(const FlowProbe& flow) {
    const auto stored = static_cast<uint32_t>(flow.frame.size());
    const Path path = walker_.walk(flow.frame, std::max(stored, flow.frame_bytes), flow.sender);
    if (path.end == PathEnd::kHost) {
      ++out_.arrived;
    } else {
      ++out_.lost[end_of(path)];
    }
    FlowChoices::Sample sample{.flow = out_.bytes.size(), .keys = {}};
    std::vector<uint64_t> way;  // functions and shapes
    for (const Hop& hop : path.hops) {
      if (!hop.choice && !(hop.is_pinned && leads_up(hop.node, hop.out_port))) continue;
      const uint32_t index = group_of(hop);
      const LinkGroup& group = out_.groups[index];
      if (group.links.size() < 2) continue;
      out_.met.push_back({index, link_of(group, hop), hop.choice ? key_of(*hop.choice, hop.in_port) : 0});
      sample.keys.push_back(hop.choice ? hop.choice->key : dp::HashKey{});
      way.push_back(uint64_t{group.function} << 32 | group.shape);
    }
    if (!sample.keys.empty()) samples_.add(way, std::move(sample));
    out_.begins.push_back(out_.met.size());
    out_.bytes.push_back(flow.bytes);
  }

  static uint32_t link_of(const LinkGroup& group, const Hop& hop) {
    const auto found = std::ranges::find(group.links, hop.out_port, &LinkEnd::port);
    SOFTSPINE_CHECK(found != group.links.end(), hop.node, hop.out_port);
    return static_cast<uint32_t>(found - group.links.begin());
  }

  uint32_t tier_for(const Hop& hop) {
    const FabricNode& node = fabric_.nodes[hop.node];
    const bool up = leads_up(hop.node, hop.out_port);
    const TierPlace place{!up, up ? tier_of(node.role) : -tier_of(node.role), node.role};
    const auto [found, is_new] = tiers_.emplace(place, static_cast<uint32_t>(out_.tiers.size()));
    if (is_new)
      out_.tiers.push_back({.name = name_of(node.role) + (up ? " up" : " down"), .role = node.role, .up = up});
    return found->second;
  }

  void describe(LinkGroup& group, const Hop& hop) {
    const FabricNode& node = fabric_.nodes[hop.node];
    group.tier = tier_for(hop);
    group.function = functions_.of(walker_.state(hop.node).hash, node.profile, node.role);
    group.is_hashed = hop.choice && !hop.choice->is_drawn && hop.choice->mode != dp::EcmpGroupMode::kInPort;
    const auto shape = std::pair{group.tier, group.by_bucket};
    group.shape = shapes_.emplace(shape, static_cast<uint32_t>(shapes_.size())).first->second;
  }

  // The group by which the flow's destination is reached; all groups with the same links and shares are one.
  uint32_t group_of(const Hop& hop) {
    const uint64_t name = uint64_t{hop.node} << 32 | (hop.choice ? hop.choice->group : UINT32_MAX);
    const auto known = known_.find(name);
    if (known != known_.end()) return known->second;
    LinkGroup made = hop.choice ? hashed_group(hop) : pinned_group(hop);
    if (made.links.size() > 1) describe(made, hop);
    std::vector<uint16_t> ports;
    for (const LinkEnd& link : made.links) ports.push_back(link.port);
    const auto [same, is_new] = same_.emplace(std::tuple{hop.node, made.is_hashed, std::move(ports), made.by_bucket},
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
  // A pinned flow's links are those that lead up; an override may choose among others, and then has no group.
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

  Walker& walker_;
  const Fabric& fabric_;
  FlowChoices out_;
  std::map<TierPlace, uint32_t> tiers_;
  std::map<std::pair<uint32_t, std::vector<uint16_t>>, uint32_t> shapes_;  // by tier and links by bucket
  Functions functions_;
  Samples samples_;
  std::unordered_map<uint64_t, uint32_t> known_;  // (node, the state's group) → group
  std::map<std::tuple<uint32_t, bool, std::vector<uint16_t>, std::vector<uint16_t>>, uint32_t> same_;
};

}  // namespace

FlowChoices choices_of(Walker& walker, const std::vector<FlowProbe>& flows) {
  return Walk(walker, flows).take();
}

}  // namespace softspine::control
