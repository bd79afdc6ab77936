// SPDX-License-Identifier: Apache-2.0
#include "control/explain/polarization.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace softspine::control {

namespace dp = dataplane;

namespace {

struct TierKey {
  Role role;
  bool up;
  friend auto operator<=>(const TierKey&, const TierKey&) = default;
};

std::string name_of(TierKey key) {
  return control::name_of(key.role) + (key.up ? " up" : " down");
}

// A choice that a flow met.
struct Met {
  uint32_t tier;
  uint32_t place;  // of the switch in its tier
  uint32_t link;   // of that switch's
};

class Count {
 public:
  Count(Walker& walker, const std::vector<FlowProbe>& flows) : walker_(walker), fabric_(walker.testbed().fabric) {
    out_.flows = flows.size();
    for (const FlowProbe& flow : flows) add(flow);
    finish();
  }
  Polarization take() && { return std::move(out_); }

 private:
  // What two tiers have in common is looked for link by link of the first.
  struct Pair {
    std::map<std::pair<uint64_t, uint32_t>, std::vector<uint32_t>>
        by_link;                        // (first's link, second's place) → flows by link
    const HashConfig* first = nullptr;  // of the walker's states
    const HashConfig* second = nullptr;
    uint32_t first_buckets = 0;
    uint32_t second_buckets = 0;
  };

  bool leads_up(uint32_t node, uint16_t port) const {
    const FabricNode& peer = fabric_.nodes[fabric_.peer_of({node, port}).node];
    return peer.kind == NodeKind::kSwitch && tier_of(peer.role) > tier_of(fabric_.nodes[node].role);
  }

  void add(const FlowProbe& flow) {
    const Path path = walker_.walk(flow.frame, static_cast<uint32_t>(flow.frame.size()), flow.sender);
    out_.arrived += path.end == PathEnd::kHost;
    std::vector<Met> met;
    std::vector<const Hop*> hops;
    for (const Hop& hop : path.hops) {
      if (!hop.choice && !hop.is_pinned) continue;
      met.push_back(meet(hop));
      hops.push_back(&hop);
    }
    for (size_t second = 1; second < met.size(); ++second) {
      for (size_t first = 0; first < second; ++first) pair_up(met[first], met[second], *hops[first], *hops[second]);
    }
  }

  Met meet(const Hop& hop) {
    const TierKey key{fabric_.nodes[hop.node].role, leads_up(hop.node, hop.out_port)};
    const auto [found, is_new] = tier_of_.emplace(key, static_cast<uint32_t>(out_.tiers.size()));
    if (is_new) {
      out_.tiers.push_back({.name = name_of(key), .role = key.role, .up = key.up});
      keys_.emplace_back();
    }
    TierShare& tier = out_.tiers[found->second];
    const auto [place, is_first] = place_of_.emplace(std::pair{found->second, hop.node}, tier.switches.size());
    if (is_first) tier.switches.push_back({.node = hop.node});
    SwitchShare& share = tier.switches[place->second];
    tier.is_drawn = tier.is_drawn || hop.candidates.size() > 1;
    const uint32_t link = link_of(share, hop);
    ++share.flows[link];
    if (hop.choice) keys_[found->second].insert(key_of(*hop.choice));
    return {found->second, static_cast<uint32_t>(place->second), link};
  }

  // The switch's links: of every group that it chose by, or of its tier.
  uint32_t link_of(SwitchShare& share, const Hop& hop) {
    const LinkEnd end{hop.node, hop.out_port};
    if (share.links.empty() || std::ranges::find(share.links, end) == share.links.end()) add_links(share, hop);
    return static_cast<uint32_t>(std::ranges::find(share.links, end) - share.links.begin());
  }
  void add_links(SwitchShare& share, const Hop& hop) {
    const bool up = leads_up(hop.node, hop.out_port);
    const FabricNode& node = fabric_.nodes[hop.node];
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const LinkEnd end{hop.node, p};
      const bool is_known = std::ranges::find(share.links, end) != share.links.end();
      const bool belongs = up ? leads_up(hop.node, p) : is_beside(hop, p);
      if (is_known || (!belongs && p != hop.out_port)) continue;
      share.links.push_back(end);
      share.flows.push_back(0);
    }
  }
  // Downwards a switch has a group for each destination: the links that this packet could have taken.
  bool is_beside(const Hop& hop, uint16_t port) {
    const dp::ForwardingState& state = walker_.state(hop.node);
    for (const dp::EcmpGroup& group : state.groups) {
      bool has_this = false;
      bool has_that = false;
      for (uint32_t b = 0; b < group.count; ++b) {
        const uint16_t at = state.adjacencies[state.members[group.first + b]].port;
        has_this = has_this || at == hop.out_port;
        has_that = has_that || at == port;
      }
      if (has_this && has_that) return true;
    }
    return false;
  }

  static uint64_t key_of(const Choice& choice) {
    return dp::Xxh3::of(choice.key.words.data(), std::max(1U, choice.key.count), 1);
  }

  void pair_up(const Met& first, const Met& second, const Hop& first_hop, const Hop& second_hop) {
    if (!first_hop.choice || !second_hop.choice) return;
    Pair& pair = pairs_[{first.tier, second.tier}];
    if (pair.first_buckets == 0) {
      pair.first = &walker_.state(first_hop.node).hash.config();
      pair.second = &walker_.state(second_hop.node).hash.config();
      pair.first_buckets = first_hop.choice->buckets;
      pair.second_buckets = second_hop.choice->buckets;
    }
    auto& flows = pair.by_link[{uint64_t{first.place} << 32 | first.link, second.place}];
    flows.resize(out_.tiers[second.tier].switches[second.place].links.size());
    ++flows[second.link];
  }

  void finish() {
    for (size_t t = 0; t < out_.tiers.size(); ++t) {
      TierShare& tier = out_.tiers[t];
      std::vector<uint32_t> all;
      std::vector<Thrower> throwers;
      for (const SwitchShare& share : tier.switches) {
        all.insert(all.end(), share.flows.begin(), share.flows.end());
        throwers.push_back(
            {std::accumulate(share.flows.begin(), share.flows.end(), 0U), static_cast<uint32_t>(share.links.size())});
      }
      tier.spread = spread_of(all);
      tier.ideal = ideal_of(throwers, rounds_for(tier.spread.flows));
      tier.distinct_keys = keys_[t].size();
      std::ranges::sort(tier.switches, {}, &SwitchShare::node);
    }
    for (const auto& [tiers, pair] : pairs_) correlate(tiers.first, tiers.second, pair);
  }
  // A thousand, unless that would take longer than everything else.
  static uint32_t rounds_for(uint64_t flows) {
    constexpr uint64_t kDraws = 20'000'000;
    return static_cast<uint32_t>(std::clamp<uint64_t>(kDraws / std::max<uint64_t>(flows, 1), 20, 1'000));
  }

  // Links used, and those that as many flows would use by chance: m (1 − (1 − 1/m)^n).
  void correlate(uint32_t first, uint32_t second, const Pair& pair) {
    if (out_.tiers[first].is_drawn || out_.tiers[second].is_drawn) return;
    double used = 0;
    double by_chance = 0;
    for (const auto& [link, flows] : pair.by_link) {
      const double links = static_cast<double>(flows.size());
      const double n = std::accumulate(flows.begin(), flows.end(), 0U);
      if (links < 2 || n < 2) continue;
      used += static_cast<double>(flows.size() - static_cast<size_t>(std::ranges::count(flows, 0U)));
      by_chance += links * (1 - std::pow(1 - 1 / links, n));
    }
    if (by_chance == 0) return;
    constexpr double kNoAccident = 0.85;
    Correlation out{.first = first, .second = second, .reuse = used / by_chance};
    out.is_polarized = out.reuse < kNoAccident;
    if (out.is_polarized) out.why = reason_for(*pair.first, *pair.second, pair.first_buckets, pair.second_buckets);
    out_.correlations.push_back(std::move(out));
  }

  Walker& walker_;
  const Fabric& fabric_;
  Polarization out_;
  std::map<TierKey, uint32_t> tier_of_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> place_of_;
  std::vector<std::unordered_set<uint64_t>> keys_;  // by tier: what was hashed, in short
  std::map<std::pair<uint32_t, uint32_t>, Pair> pairs_;
};

bool have_the_same_key(const HashConfig& a, const HashConfig& b) {
  const std::set<HashField> first(a.fields.begin(), a.fields.end());
  const std::set<HashField> second(b.fields.begin(), b.fields.end());
  return a.model == b.model && first == second && a.udfs == b.udfs;
}

}  // namespace

double Polarization::worst() const {
  double out = 1;
  for (const TierShare& tier : tiers) {
    if (!tier.is_drawn) out = std::max(out, tier.spread.max_over_mean);
  }
  return out;
}

std::string reason_for(const HashConfig& first, const HashConfig& second, uint32_t first_buckets,
                       uint32_t second_buckets) {
  const uint32_t common = std::gcd(first_buckets, second_buckets);
  const std::string sizes = std::to_string(first_buckets) + " and " + std::to_string(second_buckets) + " buckets";
  if (!have_the_same_key(first, second) || first.algorithm != second.algorithm || first.offset != second.offset)
    return "their hashes differ, but not for these flows: too little of the key varies";
  if (first.seed == second.seed) {
    return common > 1 ? "both hash alike, and " + sizes + " have the factor " + std::to_string(common) + " in common"
                      : "both hash alike (" + sizes + ")";
  }
  if (dp::row_of(first.algorithm).seed == dp::SeedEffect::kLinear && common > 1) {
    return "only their seeds differ, and the algorithm is linear: with " + sizes +
           " another seed gives the members other names, and parts no flows";
  }
  return "too few flows, or too little of the key varies";
}

Polarization polarization_of(Walker& walker, const std::vector<FlowProbe>& flows) {
  return Count(walker, flows).take();
}

}  // namespace softspine::control
