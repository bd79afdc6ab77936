// SPDX-License-Identifier: Apache-2.0
#include "control/explain/polarization.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "control/explain/tier_tests.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::control {

namespace {

// The fullest link of a group over what it should have, times the group's flows.
template <typename Count>
double fullest(const LinkGroup& group, const std::vector<Count>& counts) {
  double most = 0;
  for (size_t i = 0; i < counts.size(); ++i) most = std::max(most, static_cast<double>(counts[i]) / group.weights[i]);
  return most;
}

uint32_t link_by(const LinkGroup& group, double at) {
  uint32_t link = 0;
  while (link + 1 < group.weights.size() && at >= group.weights[link]) at -= group.weights[link++];
  return link;
}

// Fills in what lies where, and what chance would have laid there.
class Loads {
 public:
  Loads(const FlowChoices& choices, std::vector<TierShare>& tiers) : choices_(choices), tiers_(tiers) {
    place_.assign(choices.groups.size(), UINT32_MAX);
    sizes_.resize(choices.groups.size());
    for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
      for (const MetChoice& met : choices.of(flow)) add(met, choices.bytes[flow]);
    }
    for (TierShare& tier : tiers_) finish(tier);
  }

 private:
  void add(const MetChoice& met, uint64_t bytes) {
    const LinkGroup& group = choices_.groups[met.group];
    TierShare& tier = tiers_[group.tier];
    uint32_t& place = place_[met.group];
    if (place == UINT32_MAX) {
      place = static_cast<uint32_t>(tier.groups.size());
      const std::vector<uint64_t> none(group.links.size(), 0);
      tier.groups.push_back({met.group, none, none});
    }
    ++tier.groups[place].flows[met.link];
    tier.groups[place].bytes[met.link] += bytes;
    sizes_[met.group].push_back(bytes);
    ++tier.flows;
  }

  void finish(TierShare& tier) {
    std::ranges::sort(tier.groups, {}, [this](const GroupLoad& load) {
      return std::pair{choices_.groups[load.group].node, choices_.groups[load.group].links};
    });
    std::set<LinkEnd> links;
    std::set<LinkEnd> used;
    std::map<LinkEnd, double> unused;  // how likely chance is to leave it so
    double by_flows = 0;
    double by_bytes = 0;
    uint64_t bytes = 0;
    for (const GroupLoad& load : tier.groups) {
      const LinkGroup& group = choices_.groups[load.group];
      const auto n = static_cast<double>(sizes_[load.group].size());
      by_flows += fullest(group, load.flows);
      by_bytes += fullest(group, load.bytes);
      bytes += std::accumulate(load.bytes.begin(), load.bytes.end(), uint64_t{0});
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
    if (has_sizes(tier)) tier.by_bytes = Load{by_bytes / static_cast<double>(bytes), 1};
    throw_by_chance(tier, bytes);
  }

  // Whether flows are of known sizes, and not all of one.
  bool has_sizes(const TierShare& tier) const {
    if (tier.groups.empty()) return false;
    const uint64_t first = sizes_[tier.groups.front().group].front();
    bool differ = false;
    for (const GroupLoad& load : tier.groups) {
      for (const uint64_t size : sizes_[load.group]) {
        if (size == 0) return false;
        differ = differ || size != first;
      }
    }
    return differ;
  }

  void throw_by_chance(TierShare& tier, uint64_t bytes) {
    constexpr uint64_t kThrows = 500'000;
    const uint64_t rounds = std::clamp<uint64_t>(kThrows / std::max<uint64_t>(tier.flows, 1), 2, 100);
    dataplane::Rng rng{1, 3};
    double by_flows = 0;
    double by_bytes = 0;
    std::vector<uint64_t> flows;
    std::vector<uint64_t> sizes;
    for (uint64_t round = 0; round < rounds; ++round) {
      for (const GroupLoad& load : tier.groups) {
        const LinkGroup& group = choices_.groups[load.group];
        flows.assign(group.links.size(), 0);
        sizes.assign(group.links.size(), 0);
        for (const uint64_t size : sizes_[load.group]) {
          const uint32_t link = link_by(group, rng.unit());
          ++flows[link];
          sizes[link] += size;
        }
        by_flows += fullest(group, flows);
        by_bytes += fullest(group, sizes);
      }
    }
    if (tier.flows > 0) tier.by_flows.by_chance = by_flows / static_cast<double>(rounds * tier.flows);
    if (tier.by_bytes) tier.by_bytes->by_chance = by_bytes / static_cast<double>(rounds) / static_cast<double>(bytes);
  }

  const FlowChoices& choices_;
  std::vector<TierShare>& tiers_;
  std::vector<uint32_t> place_;               // of a group in its tier
  std::vector<std::vector<uint64_t>> sizes_;  // of each group's flows
};

class Judgement {
 public:
  Judgement(Walker& walker, Polarization& out) : walker_(walker), out_(out), choices_(out.choices) {
    uint32_t tests = 0;
    uint32_t hashed = 0;
    constexpr uint32_t kOfOneTier = 4;  // flows, keys, bytes; and flows again, for more even
    for (const TierShare& tier : out.tiers) {
      if (tier.tier.mode != TierMode::kHashed) continue;
      tests += kOfOneTier + static_cast<uint32_t>(kSharings.size()) * hashed++;
    }
    finest_ = kFalseAlarms / std::max(1U, tests);
    for (uint32_t t = 0; t < out.tiers.size(); ++t) judge(t);
  }

 private:
  bool is_uneven(const Evenness& found) const { return found.more < finest_ && found.deviation2 > kOfConcern; }

  void judge(uint32_t t) {
    TierShare& tier = out_.tiers[t];
    tier.verdict = TierVerdict::kNotHashed;
    if (tier.tier.mode != TierMode::kHashed) return;
    tier.verdict = TierVerdict::kAsChance;
    const TierEvenness found = evenness_of(choices_, t, finest_);
    tier.evenness = found.flows;
    tier.keys = found.distinct_keys;
    if (found.flows.less < finest_ && found.flows.relative < 0.5) tier.verdict = TierVerdict::kMoreEven;
    for (uint32_t earlier = 0; earlier < t; ++earlier) relate(earlier, t);
    if (tier.verdict == TierVerdict::kPolarized) return;
    if (!is_uneven(found.flows) && !(found.has_bytes && is_uneven(found.bytes))) return;
    tier.verdict = TierVerdict::kUneven;
    if (!is_uneven(found.flows)) {
      tier.cause =
          Cause{CauseKind::kKeyPattern, "flows are spread by chance, but those with the most bytes share links"};
      return;
    }
    tier.cause = cause_of_unevenness(walker_, choices_, t,
                                     {.flows = tier.flows, .keys = tier.keys, .are_spread = !is_uneven(found.keys)});
  }

  void relate(uint32_t earlier, uint32_t later) {
    if (out_.tiers[earlier].tier.mode != TierMode::kHashed) return;
    Polarized pair{.earlier = earlier, .later = later, .cause = {}};
    bool depends = false;
    for (const SharedBy by : kSharings) {
      const Dependence found = dependence_of(choices_, earlier, later, by, finest_);
      const double least = is_uneven(out_.tiers[later].evenness) ? kOfConcern : kOfConcernAlone;
      if (found.likely >= finest_ || found.strength() - 1 < least) continue;
      depends = true;
      pair.strength = std::max(pair.strength, found.strength());
    }
    if (!depends) return;
    out_.tiers[later].verdict = TierVerdict::kPolarized;
    pair.used = used_of_chance(choices_, earlier, later);
    pair.cause = cause_of_dependence(walker_, choices_, earlier, later);
    out_.pairs.push_back(std::move(pair));
  }

  Walker& walker_;
  Polarization& out_;
  const FlowChoices& choices_;
  double finest_ = kFalseAlarms;
};

}  // namespace

std::string word_of(TierVerdict verdict) {
  static constexpr std::array kWords{"as even as chance", "more even than chance", "UNEVEN", "POLARIZED", "not hashed"};
  return kWords[static_cast<size_t>(verdict)];
}

bool Polarization::is(TierVerdict verdict) const {
  return std::ranges::any_of(tiers, [verdict](const TierShare& tier) { return tier.verdict == verdict; });
}
bool Polarization::is_amiss() const {
  return std::ranges::any_of(tiers, &TierShare::is_amiss);
}

double Polarization::worst() const {
  double out = 1;
  for (const TierShare& tier : tiers) {
    if (tier.verdict != TierVerdict::kNotHashed) out = std::max(out, tier.by_flows.max_over_mean);
  }
  return out;
}

Polarization polarization_of(Walker& walker, const std::vector<FlowProbe>& flows) {
  Polarization out{.flows = flows.size(), .choices = choices_of(walker, flows), .tiers = {}, .pairs = {}};
  out.arrived = out.choices.arrived;
  for (const ChoiceTier& tier : out.choices.tiers)
    out.tiers.push_back({.tier = tier, .groups = {}, .by_bytes = {}, .cause = {}});
  Loads(out.choices, out.tiers);
  Judgement(walker, out);
  return out;
}

}  // namespace softspine::control
