// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/flow_choices.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/explain/group_ports.hpp"
#include "dataplane/hashing/xxh3.hpp"
#include "dataplane/units/check.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr size_t kSamplesOfOneWay = 1'024;
constexpr size_t kSamples = 65'536;

// As the way has them: up by rising tier, then down by falling tier.
struct TierPlace {
  bool down;
  int height;
  control::Role role;
  bool is_of_lags;
  friend auto operator<=>(const TierPlace&, const TierPlace&) = default;
};

uint64_t key_of(const Choice& choice, uint16_t in_port) {
  if (choice.mode == dp::EcmpGroupMode::kInPort || choice.key.count == 0) return in_port;
  return dp::Xxh3::of(choice.key.words.data(), choice.key.count, 1);
}

// Two configurations with RTAG7's further parts are taken as different.
bool are_alike(const control::HashConfig& a, const control::HashConfig& b) {
  return !a.rtag7 && !b.rtag7 && a.model == b.model && a.algorithm == b.algorithm && a.fields == b.fields &&
         a.udfs == b.udfs && a.seed == b.seed && a.offset == b.offset && a.key == b.key;
}

// Hash functions, distinguished by what they compute as far as their configurations show it.
class Functions {
 public:
  uint32_t of(const dp::EcmpHash& hash, uint32_t profile, control::Role role, bool is_of_lags) {
    const auto [known, is_new] = known_.try_emplace({profile, role, is_of_lags}, 0);
    if (!is_new) return known->second;
    const auto alike =
        std::ranges::find_if(configs_, [&](const control::HashConfig* it) { return are_alike(*it, hash.config()); });
    known->second = static_cast<uint32_t>(alike - configs_.begin());
    if (alike == configs_.end()) configs_.push_back(&hash.config());
    return known->second;
  }

 private:
  std::map<std::tuple<uint32_t, control::Role, bool>, uint32_t>
      known_;  // by profile, role, and whether it is that of LAGs
  std::vector<const control::HashConfig*> configs_;
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
    const control::FabricNode& peer = fabric_.nodes[fabric_.peer_of({node, port}).node];
    return peer.kind == control::NodeKind::kSwitch && tier_of(peer.role) > tier_of(fabric_.nodes[node].role);
  }

  void add(const FlowProbe& flow) {
    const auto stored = static_cast<uint32_t>(flow.frame.size());
    const Path path = walker_.walk(flow.frame, std::max(stored, flow.frame_bytes), flow.sender);
    if (path.end == PathEnd::kHost) {
      ++out_.arrived;
    } else {
      ++out_.lost[end_in_words(path.end, path.reason)];
    }
    FlowChoices::Sample sample{.flow = out_.bytes.size(), .keys = {}};
    std::vector<uint64_t> way;  // functions and shapes
    const auto meet = [&](uint32_t index, control::LinkEnd link, const dp::HashKey& key, uint64_t digest) {
      const LinkGroup& group = out_.groups[index];
      if (group.links.size() < 2) return;
      out_.met.push_back({index, place_of(group, link), digest});
      sample.keys.push_back(key);
      way.push_back(uint64_t{group.function} << 32 | group.shape);
    };
    for (const Hop& hop : path.hops) {
      if (hop.choice) meet(group_of(hop), way_of(hop), hop.choice->key, key_of(*hop.choice, hop.in_port));
      if (!hop.choice && hop.is_pinned && leads_up(hop.node, hop.out_port)) meet(group_of(hop), way_of(hop), {}, 0);
      if (!hop.lag) continue;
      const Choice& choice = hop.lag->choice;
      meet(lag_group_of(hop), {hop.node, hop.out_port}, choice.key, key_of(choice, hop.in_port));
    }
    if (!sample.keys.empty()) samples_.add(way, std::move(sample));
    out_.begins.push_back(out_.met.size());
    out_.bytes.push_back(flow.bytes);
  }

  static uint32_t place_of(const LinkGroup& group, control::LinkEnd link) {
    const auto found = std::ranges::find(group.links, link);
    SOFTSPINE_CHECK(found != group.links.end(), link.node, link.port);
    return static_cast<uint32_t>(found - group.links.begin());
  }
  // The port that stands for the LAG, or the port itself.
  control::LinkEnd way_of(const Hop& hop) const {
    return {hop.node, hop.lag ? fabric_.lags[hop.lag->lag].ports_at(hop.node).front() : hop.out_port};
  }

  uint32_t tier_for(const Hop& hop, bool is_of_lags) {
    const control::FabricNode& node = fabric_.nodes[hop.node];
    const bool up = leads_up(hop.node, hop.out_port);
    const TierPlace place{!up, up ? tier_of(node.role) : -tier_of(node.role), node.role, is_of_lags};
    const auto [found, is_new] = tiers_.emplace(place, static_cast<uint32_t>(out_.tiers.size()));
    if (is_new)
      out_.tiers.push_back({.name = name_of(node.role) + (up ? " up" : " down") + (is_of_lags ? " lags" : ""),
                            .role = node.role,
                            .up = up,
                            .is_of_lags = is_of_lags});
    return found->second;
  }

  void describe(LinkGroup& group, const Hop& hop, const std::optional<Choice>& choice) {
    const control::FabricNode& node = fabric_.nodes[hop.node];
    group.tier = tier_for(hop, group.is_lag);
    group.function = functions_.of(hash_of(walker_, group), node.profile, node.role, group.is_lag);
    group.is_hashed = choice && !choice->is_drawn && choice->mode != dp::EcmpGroupMode::kInPort;
    const auto shape = std::pair{group.tier, group.by_bucket};
    group.shape = shapes_.emplace(shape, static_cast<uint32_t>(shapes_.size())).first->second;
  }

  // The group by which the flow's destination is reached; all groups with the same links and shares are one.
  uint32_t group_of(const Hop& hop) {
    const uint64_t live_only = hop.choice && hop.choice->falls_back ? uint64_t{1} << 63 : 0;
    const uint64_t name = live_only | uint64_t{hop.node} << 32 | (hop.choice ? hop.choice->group : UINT32_MAX);
    const auto known = known_.find(name);
    if (known != known_.end()) return known->second;
    LinkGroup made = hop.choice ? hashed_group(hop) : pinned_group(hop);
    if (made.links.size() > 1) describe(made, hop, hop.choice);
    return known_[name] = number_of(std::move(made));
  }
  // The same of the members of the hop's LAG.
  uint32_t lag_group_of(const Hop& hop) {
    const uint64_t name = uint64_t{hop.node} << 32 | hop.lag->lag;
    const auto known = known_lags_.find(name);
    if (known != known_lags_.end()) return known->second;
    const dp::LagTable& lags = *walker_.state(hop.node).lags;
    LinkGroup made{.node = hop.node, .is_lag = true, .links = {}, .weights = {}, .by_bucket = {}};
    for (const dp::LagTable::Lag& lag : lags.lags) {
      if (lag.way != way_of(hop).port) continue;
      for (const uint16_t port : std::span{lags.members.data() + lag.first, lag.count}) {
        made.by_bucket.push_back(static_cast<uint16_t>(made.links.size()));
        made.links.push_back({hop.node, port});
      }
    }
    made.weights.assign(made.links.size(), 1.0 / static_cast<double>(made.links.size()));
    if (made.links.size() > 1) describe(made, hop, hop.lag->choice);
    return known_lags_[name] = number_of(std::move(made));
  }
  uint32_t number_of(LinkGroup&& made) {
    std::vector<uint16_t> ports;
    for (const control::LinkEnd& link : made.links) ports.push_back(link.port);
    const auto [same, is_new] =
        same_.emplace(std::tuple{made.node, made.is_hashed, made.is_lag, std::move(ports), made.by_bucket},
                      static_cast<uint32_t>(out_.groups.size()));
    if (is_new) out_.groups.push_back(std::move(made));
    return same->second;
  }
  LinkGroup hashed_group(const Hop& hop) {
    const dp::ForwardingState& state = walker_.state(hop.node);
    const dp::EcmpGroup group = hop.choice->group_in(state);
    std::map<uint16_t, uint32_t> buckets;  // by port
    std::vector<uint16_t> ports;
    for (uint32_t b = 0; b < group.count; ++b) {
      const uint32_t member = state.members[group.first + b];
      if (member == dp::kDeadMember) continue;
      ports.push_back(way_at(state, member));
      ++buckets[ports.back()];
    }
    LinkGroup out{.node = hop.node, .links = {}, .weights = {}, .by_bucket = {}};
    for (const auto& [port, count] : buckets) {
      out.links.push_back({hop.node, port});
      out.weights.push_back(static_cast<double>(count) / static_cast<double>(ports.size()));
    }
    for (const uint16_t port : ports)
      out.by_bucket.push_back(static_cast<uint16_t>(std::distance(buckets.begin(), buckets.find(port))));
    return out;
  }
  // A pinned flow's links are those that lead up; an override may choose among others, and then has no group.
  LinkGroup pinned_group(const Hop& hop) const {
    LinkGroup out{.node = hop.node, .links = {}, .weights = {}, .by_bucket = {}};
    for (uint16_t p = 0; p < fabric_.nodes[hop.node].ports.size(); ++p) {
      if (leads_up(hop.node, p) && fabric_.is_way({hop.node, p})) out.links.push_back({hop.node, p});
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
  const control::Fabric& fabric_;
  FlowChoices out_;
  std::map<TierPlace, uint32_t> tiers_;
  std::map<std::pair<uint32_t, std::vector<uint16_t>>, uint32_t> shapes_;  // by tier and links by bucket
  Functions functions_;
  Samples samples_;
  std::unordered_map<uint64_t, uint32_t> known_;       // (live only?, node, the state's group) → group
  std::unordered_map<uint64_t, uint32_t> known_lags_;  // (node, LAG) → group
  std::map<std::tuple<uint32_t, bool, bool, std::vector<uint16_t>, std::vector<uint16_t>>, uint32_t> same_;
};

}  // namespace

const dp::EcmpHash& hash_of(Walker& walker, const LinkGroup& group) {
  const dp::ForwardingState& state = walker.state(group.node);
  return group.is_lag ? state.lags->hash : state.hash;
}

FlowChoices choices_of(Walker& walker, const std::vector<FlowProbe>& flows) {
  return Walk(walker, flows).take();
}

}  // namespace softspine::analysis
