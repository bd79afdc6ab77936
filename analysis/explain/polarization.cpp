// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/polarization.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "analysis/explain/tier_loads.hpp"
#include "analysis/explain/tier_tests.hpp"

namespace softspine::analysis {

namespace {

bool is_in(const std::vector<UnevenEcmpGroup>& groups, uint32_t group) {
  return std::ranges::find(groups, group, &UnevenEcmpGroup::group) != groups.end();
}

class Judgement {
 public:
  Judgement(Walker& walker, Polarization& out) : walker_(walker), out_(out), choices_(out.choices) {
    for (const LinkGroup& group : choices_.groups) {
      if (group.links.size() > 1 && group.is_hashed) hashed_.insert(group.tier);
    }
    uint32_t tests = 0;
    uint32_t before = 0;
    constexpr uint32_t kOfOneTier = 5;  // flows, keys, bytes; each group; and flows again, for more even
    constexpr uint32_t kOfTwoTiers = 2 * kSharings.size();  // all functions together, and each pair of them
    for ([[maybe_unused]] const uint32_t tier : hashed_) tests += kOfOneTier + kOfTwoTiers * before++;
    finest_ = kFalseAlarms / std::max(1U, tests);
    for (uint32_t t = 0; t < out.tiers.size(); ++t) judge(t);
  }

 private:
  bool is_uneven(const Evenness& found) const { return found.more < finest_ && found.deviation2 > kOfConcern; }

  void judge(uint32_t t) {
    TierShare& tier = out_.tiers[t];
    tier.verdict = TierVerdict::kNotHashed;
    if (!hashed_.contains(t)) return;
    tier.verdict = TierVerdict::kAsChance;
    const TierEvenness found = evenness_of(choices_, t, finest_, kOfConcern);
    tier.evenness = found.flows;
    tier.keys = found.distinct_keys;
    if (std::max(found.flows.less, found.keys.less) < finest_ && found.flows.relative < 0.5)
      tier.verdict = TierVerdict::kMoreEven;
    const bool is_uneven_itself = is_uneven(found.flows) || is_uneven(found.keys);
    for (uint32_t earlier = 0; earlier < t; ++earlier) relate(earlier, t, found);
    if (tier.verdict == TierVerdict::kPolarized) return;
    for (uint32_t earlier = 0; earlier < t; ++earlier) relate_by_selection(earlier, t, found.groups);
    if (tier.verdict == TierVerdict::kPolarized) return;
    if (is_uneven_itself) return call_uneven(tier, t, found.groups, !is_uneven(found.keys));
    if (!found.groups.empty()) {
      const bool are_spread = std::ranges::all_of(found.groups, &UnevenEcmpGroup::are_keys_spread);
      return call_uneven(tier, t, found.groups, are_spread);
    }
    if (!is_uneven(found.bytes)) return;
    tier.verdict = TierVerdict::kUneven;
    tier.cause = Cause{CauseKind::kKeyPattern, "flows are spread by chance, but those with the most bytes share links"};
  }

  void call_uneven(TierShare& tier, uint32_t t, const std::vector<UnevenEcmpGroup>& groups, bool are_spread) {
    tier.verdict = TierVerdict::kUneven;
    TierKeys keys{.flows = tier.flows, .keys = tier.keys, .are_spread = are_spread, .groups = {}};
    if (2 * groups.size() < tier.groups.size()) {
      keys.groups = groups;
      for (const UnevenEcmpGroup& group : groups) {
        if (group.are_keys_spread == are_spread) tier.uneven_groups.push_back(group.group);
      }
    }
    if (!keys.groups.empty()) count_keys(t, keys);
    tier.cause = cause_of_unevenness(walker_, choices_, t, keys);
  }
  void count_keys(uint32_t t, TierKeys& keys) const {
    std::set<uint64_t> distinct;
    keys.flows = 0;
    for (uint64_t flow = 0; flow < choices_.flows(); ++flow) {
      const MetChoice* met = choice_at(choices_, flow, t).met;
      if (met == nullptr || !is_in(keys.groups, met->group)) continue;
      ++keys.flows;
      distinct.insert(met->key);
    }
    keys.keys = distinct.size();
  }

  void relate(uint32_t earlier, uint32_t later, const TierEvenness& seen) {
    if (!hashed_.contains(earlier)) return;
    Polarized pair{.earlier = earlier, .later = later, .later_groups = {}, .cause = {}};
    const double least = is_uneven(seen.flows) || is_uneven(seen.keys) ? kOfConcern : kOfConcernAlone;
    const auto depends = [&](const Dependence& found) {
      return found.likely < finest_ && found.strength() - 1 >= least;
    };
    bool do_all = false;
    std::set<FunctionPair> guilty;
    for (const SharedBy by : kSharings) {
      const TierDependence found = dependence_of(choices_, earlier, later, by, finest_);
      for (const PairDependence& one : found.pairs) {
        if (!depends(one.found)) continue;
        guilty.insert(one.functions);
        pair.strength = std::max(pair.strength, one.found.strength());
      }
      if (!depends(found.all)) continue;
      do_all = true;
      pair.strength = std::max(pair.strength, found.all.strength());
    }
    if (!do_all && guilty.empty()) return;
    std::vector<FunctionPair> functions(guilty.begin(), guilty.end());
    if (functions.empty()) functions = those_by_hashes(earlier, later, functions_met(earlier, later));
    pair.later_groups = groups_of(earlier, later, functions);
    for (const UnevenEcmpGroup& group : seen.groups) {
      const bool is_concerned = std::ranges::find(pair.later_groups, group.group) != pair.later_groups.end();
      if (is_concerned) pair.strength = std::max(pair.strength, 1 + group.deviation2);
    }
    pair.does_harm = does_harm(pair.later_groups, seen);
    TierVerdict& verdict = out_.tiers[later].verdict;
    if (verdict != TierVerdict::kPolarized)
      verdict = pair.does_harm ? TierVerdict::kPolarized : TierVerdict::kDependent;
    pair.used = used_of_chance(choices_, earlier, later, functions);
    pair.cause = cause_of_dependence(walker_, choices_, earlier, later, functions);
    out_.pairs.push_back(std::move(pair));
  }

  // Whether the links of these groups, or of all if there are none, are loaded otherwise than by chance. Where only
  // flows are uneven, since they share keys, it is these that do it.
  bool does_harm(const std::vector<uint32_t>& groups, const TierEvenness& seen) const {
    if (is_uneven(seen.keys) || is_uneven(seen.bytes)) return true;
    if (seen.keys.more < kHarmUnlikely && seen.keys.deviation2 > kHarmOfFew) return true;
    return std::ranges::any_of(seen.groups, [&groups](const UnevenEcmpGroup& one) {
      return !one.are_keys_spread && (groups.empty() || std::ranges::find(groups, one.group) != groups.end());
    });
  }

  // The earlier tier has selected the flows that come to a switch. Where all of it took the same place there, nothing
  // is left to compare with, but a switch that chooses by what it was selected by is uneven, and the hashes show why.
  void relate_by_selection(uint32_t earlier, uint32_t later, const std::vector<UnevenEcmpGroup>& groups) {
    std::set<FunctionPair> functions;
    std::set<uint32_t> concerned;
    visit_both(earlier, later, [&](const FunctionPair& pair, uint32_t group) {
      const auto found = std::ranges::find(groups, group, &UnevenEcmpGroup::group);
      if (found == groups.end() || found->are_keys_spread) return;
      functions.insert(pair);
      concerned.insert(group);
    });
    if (functions.empty()) return;
    const std::vector<FunctionPair> pairs(functions.begin(), functions.end());
    const auto cause = cause_by_hashes(walker_, choices_, earlier, later, pairs);
    if (!cause) return;
    out_.tiers[later].verdict = TierVerdict::kPolarized;
    Polarized pair{.earlier = earlier, .later = later, .later_groups = {}, .cause = *cause};
    pair.later_groups = groups_of(earlier, later, pairs);
    for (const UnevenEcmpGroup& group : groups) {
      if (concerned.contains(group.group)) pair.strength = std::max(pair.strength, 1 + group.deviation2);
    }
    pair.used = used_of_chance(choices_, earlier, later, pairs);
    out_.pairs.push_back(std::move(pair));
  }

  std::vector<FunctionPair> functions_met(uint32_t earlier, uint32_t later) const {
    std::set<FunctionPair> out;
    visit_both(earlier, later, [&out](const FunctionPair& functions, uint32_t) { out.insert(functions); });
    return {out.begin(), out.end()};
  }
  // Those that go together by their hashes, if only some do.
  std::vector<FunctionPair> those_by_hashes(uint32_t earlier, uint32_t later,
                                            const std::vector<FunctionPair>& met) const {
    constexpr size_t kMaxTried = 64;
    if (met.size() < 2 || met.size() > kMaxTried) return met;
    std::vector<FunctionPair> out;
    for (const FunctionPair& pair : met) {
      if (cause_by_hashes(walker_, choices_, earlier, later, {pair})) out.push_back(pair);
    }
    return out.empty() ? met : out;
  }
  // The later groups that flows with these functions came to; none if these are all.
  std::vector<uint32_t> groups_of(uint32_t earlier, uint32_t later, const std::vector<FunctionPair>& wanted) const {
    std::set<uint32_t> all;
    std::set<uint32_t> out;
    visit_both(earlier, later, [&](const FunctionPair& functions, uint32_t group) {
      all.insert(group);
      if (std::ranges::find(wanted, functions) != wanted.end()) out.insert(group);
    });
    if (out == all) return {};
    return {out.begin(), out.end()};
  }
  template <typename Visit>
  void visit_both(uint32_t earlier, uint32_t later, Visit&& visit) const {
    for (uint64_t flow = 0; flow < choices_.flows(); ++flow) {
      const MetChoice* first = choice_at(choices_, flow, earlier).met;
      const MetChoice* second = choice_at(choices_, flow, later).met;
      if (first == nullptr || second == nullptr) continue;
      visit(FunctionPair{choices_.groups[first->group].function, choices_.groups[second->group].function},
            second->group);
    }
  }

  Walker& walker_;
  Polarization& out_;
  const FlowChoices& choices_;
  std::set<uint32_t> hashed_;  // tiers of which some switches hash
  double finest_ = kFalseAlarms;
};

}  // namespace

std::string word_of(TierVerdict verdict) {
  static constexpr std::array kWords{"as even as chance", "more even than chance",    "UNEVEN",
                                     "POLARIZED",         "evenly loaded, dependent", "not hashed"};
  return kWords[static_cast<size_t>(verdict)];
}

bool Polarization::is(TierVerdict verdict) const {
  return std::ranges::any_of(tiers, [verdict](const TierShare& tier) { return tier.verdict == verdict; });
}
bool Polarization::is_judged() const {
  return std::ranges::any_of(tiers, [](const TierShare& tier) { return tier.verdict != TierVerdict::kNotHashed; });
}
bool Polarization::is_unbalanced() const {
  return std::ranges::any_of(tiers, &TierShare::is_unbalanced);
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
    out.tiers.push_back({.tier = tier, .groups = {}, .uneven_groups = {}, .by_bytes = {}, .cause = {}});
  add_loads(out.choices, out.tiers);
  Judgement(walker, out);
  return out;
}

}  // namespace softspine::analysis
