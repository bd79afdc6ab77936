// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/tier_loads.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

namespace {

// The fullest link of a group over what it should have, times the group's flows.
template <typename Count>
double fullest(const LinkGroup& group, const std::vector<Count>& counts) {
  double most = 0;
  for (size_t i = 0; i < counts.size(); ++i) most = std::max(most, static_cast<double>(counts[i]) / group.weights[i]);
  return most;
}

// The largest number instead of more than that.
uint64_t added(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint32_t link_by(const LinkGroup& group, double at) {
  uint32_t link = 0;
  while (link + 1 < group.weights.size() && at >= group.weights[link]) at -= group.weights[link++];
  return link;
}

class Loads {
 public:
  Loads(const FlowChoices& choices, std::vector<TierShare>& tiers) : choices_(choices), tiers_(tiers) {
    place_.assign(choices.groups.size(), UINT32_MAX);
    sizes_.resize(choices.groups.size());
    bytes_.resize(choices.groups.size());
    is_hashed_.assign(tiers.size(), false);
    for (const LinkGroup& group : choices.groups) {
      if (group.links.size() > 1 && group.is_hashed) is_hashed_[group.tier] = true;
    }
    for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
      for (const MetChoice& met : choices.of(flow)) add(met, choices.bytes[flow]);
    }
    for (TierShare& tier : tiers_) finish(tier);
  }

 private:
  void add(const MetChoice& met, uint64_t bytes) {
    const LinkGroup& group = choices_.groups[met.group];
    TierShare& tier = tiers_[group.tier];
    ++(is_counted(group) ? tier.flows : tier.flows_not_judged);
    uint32_t& place = place_[met.group];
    if (place == UINT32_MAX) {
      place = static_cast<uint32_t>(tier.groups.size());
      const std::vector<uint64_t> none(group.links.size(), 0);
      tier.groups.push_back({met.group, none, none});
      bytes_[met.group].assign(group.links.size(), 0);
    }
    ++tier.groups[place].flows[met.link];
    tier.groups[place].bytes[met.link] = added(tier.groups[place].bytes[met.link], bytes);
    bytes_[met.group][met.link] += static_cast<double>(bytes);
    sizes_[met.group].push_back(bytes);
  }
  // Where some switches of a tier hash and others don't, only the former are in the figures.
  bool is_counted(const LinkGroup& group) const { return group.is_hashed || !is_hashed_[group.tier]; }

  void finish(TierShare& tier) {
    std::ranges::sort(tier.groups, {}, [this](const EcmpGroupLoad& load) {
      return std::pair{choices_.groups[load.group].node, choices_.groups[load.group].links};
    });
    std::set<control::LinkEnd> links;
    std::set<control::LinkEnd> used;
    std::map<control::LinkEnd, double> unused;  // how likely chance is to leave it so
    double by_flows = 0;
    double by_bytes = 0;
    double bytes = 0;
    for (const EcmpGroupLoad& load : tier.groups) {
      const LinkGroup& group = choices_.groups[load.group];
      if (!is_counted(group)) continue;
      const auto n = static_cast<double>(sizes_[load.group].size());
      by_flows += fullest(group, load.flows);
      by_bytes += fullest(group, bytes_[load.group]);
      for (const double on_link : bytes_[load.group]) bytes += on_link;
      for (size_t i = 0; i < group.links.size(); ++i) {
        links.insert(group.links[i]);
        if (load.flows[i] > 0) used.insert(group.links[i]);
        unused.emplace(group.links[i], 1).first->second *= std::pow(1 - group.weights[i], n);
      }
    }
    tier.links = static_cast<uint32_t>(links.size());
    tier.idle = static_cast<uint32_t>(links.size() - used.size());
    for (const auto& [link, chance] : unused) tier.idle_by_chance += chance;
    if (tier.flows > 0) tier.by_flows.max_over_mean = by_flows / static_cast<double>(tier.flows);
    if (has_sizes(tier)) tier.by_bytes = Load{by_bytes / bytes, 1};
    draw_by_chance(tier, bytes);
  }

  // Whether flows are of known sizes, and not all of one.
  bool has_sizes(const TierShare& tier) const {
    std::optional<uint64_t> first;
    bool differ = false;
    for (const EcmpGroupLoad& load : tier.groups) {
      if (!is_counted(choices_.groups[load.group])) continue;
      for (const uint64_t size : sizes_[load.group]) {
        if (size == 0) return false;
        if (!first) first = size;
        differ = differ || size != *first;
      }
    }
    return differ;
  }

  void draw_by_chance(TierShare& tier, double bytes) {
    constexpr uint64_t kThrows = 500'000;
    const uint64_t rounds = std::clamp<uint64_t>(kThrows / std::max<uint64_t>(tier.flows, 1), 2, 100);
    dataplane::Rng rng{1, 3};
    double by_flows = 0;
    double by_bytes = 0;
    std::vector<uint64_t> flows;
    std::vector<double> sizes;
    for (uint64_t round = 0; round < rounds; ++round) {
      for (const EcmpGroupLoad& load : tier.groups) {
        const LinkGroup& group = choices_.groups[load.group];
        if (!is_counted(group)) continue;
        flows.assign(group.links.size(), 0);
        sizes.assign(group.links.size(), 0);
        for (const uint64_t size : sizes_[load.group]) {
          const uint32_t link = link_by(group, rng.unit());
          ++flows[link];
          sizes[link] += static_cast<double>(size);
        }
        by_flows += fullest(group, flows);
        by_bytes += fullest(group, sizes);
      }
    }
    if (tier.flows > 0) tier.by_flows.by_chance = by_flows / static_cast<double>(rounds * tier.flows);
    if (tier.by_bytes) tier.by_bytes->by_chance = by_bytes / static_cast<double>(rounds) / bytes;
  }

  const FlowChoices& choices_;
  std::vector<TierShare>& tiers_;
  std::vector<uint32_t> place_;               // of a group in its tier
  std::vector<std::vector<double>> bytes_;    // of each group's links, which may be more than an integer holds
  std::vector<std::vector<uint64_t>> sizes_;  // of each group's flows
  std::vector<bool> is_hashed_;               // of each tier, in part
};

}  // namespace

void add_loads(const FlowChoices& choices, std::vector<TierShare>& tiers) {
  Loads(choices, tiers);
}

}  // namespace softspine::analysis
