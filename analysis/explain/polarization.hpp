// SPDX-License-Identifier: Apache-2.0
// Polarization: how a fabric spreads its flows, tier by tier, and what is wrong with that; nothing is run.
//
// Judged are, at each switch and each group of links (flow_choices.hpp), the flows that came there. Which flows
// come is demand; that they share a link more often than an ideal hash would have it is the hash's doing. A tier is
//
//   POLARIZED    the link depends on an earlier tier's choice: flows that shared a link there share one here again
//                (dependence.hpp), by link, or, where links have few flows each, by the place of links in their groups;
//                and links are unevenly loaded
//   DEPENDENT    the same, and yet links are loaded as by chance: what comes from several earlier links adds up. With
//                parallel links A and B up and down, all that came by A goes on by A, and B has the other half
//   UNEVEN       flows, their keys or their bytes share links more often than by chance (evenness.hpp), by itself
//   MORE EVEN    less often: what a linear hash makes of consecutive keys
//   AS CHANCE    else
//
// Each group and each pair of hash functions is tested by itself, too, so that a single bad switch is found and named.
// All tests together raise a false alarm on a fabric of ideal hashes at most once in a thousand times (Bonferroni): an
// ideal hash draws a link for each key, and switches with one function have its draws in common. Deviations of the
// links' shares by less than a tenth from what they should be are not reported.
// A tier is tested against an earlier one within flows that agree in all choices before that one, so one cause is
// reported once.
// For causes see causes.hpp. Groups that draw for each packet or flowlet, choose by ingress port or are pinned are not
// judged; a tier with some such groups is judged by its other groups.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/explain/causes.hpp"
#include "analysis/explain/evenness.hpp"
#include "analysis/explain/flow_choices.hpp"

namespace softspine::analysis {

inline constexpr double kFalseAlarms = 1e-3;     // of a fabric, all its tests together
inline constexpr double kOfConcern = 0.1 * 0.1;  // deviation² of the links' shares
// A tier whose links are as even as by chance is called dependent if flows that shared a link share one again at least
// a quarter more often: any common factor makes it twice as often.
inline constexpr double kOfConcernAlone = 0.25;
// That its links are even is not believed, once it depends, if chance seldom leaves them so uneven: few flows load
// links unevenly long before they prove it. In 300 generated fabrics 35 were called dependent without harm, and with
// more flows 2 of these were uneven; with this it is 1 of 33.
inline constexpr double kHarmUnlikely = 0.1;
inline constexpr double kHarmOfFew = 0.1;  // deviation²

enum class TierVerdict : uint8_t { kAsChance, kMoreEven, kUneven, kPolarized, kDependent, kNotHashed };
std::string word_of(TierVerdict verdict);  // "as even as chance"

// The load of each link of a group.
struct EcmpGroupLoad {
  uint32_t group = 0;
  std::vector<uint64_t> flows;
  std::vector<uint64_t> bytes;
};

// The load of a tier's groups, each weighted by its flows.
struct Load {
  double max_over_mean = 1;  // of the fullest link, over what it should have
  double by_chance = 1;      // the same for an ideal hash, on average
};

struct TierShare {
  ChoiceTier tier;
  TierVerdict verdict = TierVerdict::kAsChance;
  std::vector<EcmpGroupLoad> groups;
  // The uneven ones among `groups`, if they are few: indices of FlowChoices::groups.
  std::vector<uint32_t> uneven_groups;
  uint64_t flows = 0;
  uint64_t flows_not_judged = 0;  // at switches of the tier that do not hash, while others do: in none of the figures
  uint64_t keys = 0;              // distinct ones
  uint32_t links = 0;
  uint32_t idle = 0;
  double idle_by_chance = 0;
  Load by_flows;
  std::optional<Load> by_bytes;  // where flows are of different sizes
  Evenness evenness;             // of flows
  std::optional<Cause> cause;    // if it is uneven by itself

  bool is_unbalanced() const { return verdict == TierVerdict::kUneven || verdict == TierVerdict::kPolarized; }
};

// Two tiers of which the later one's choice depends on the earlier one's.
struct Polarized {
  uint32_t earlier = 0;
  uint32_t later = 0;
  std::vector<uint32_t> later_groups;  // that are concerned, if not all are: indices of FlowChoices::groups
  double strength = 1;                 // how much more often than by chance flows that shared a link share one again
  double used = 1;                     // links that the flows of one earlier link use, over what chance would use
  bool does_harm = true;               // the later tier is unevenly loaded
  Cause cause;
};

struct Polarization {
  uint64_t flows = 0;
  uint64_t arrived = 0;
  FlowChoices choices;
  std::vector<TierShare> tiers;  // in the order in which flows meet them
  std::vector<Polarized> pairs;

  bool is_unbalanced() const;
  // At least one tier's flows were looked at.
  bool is_judged() const;
  bool is(TierVerdict verdict) const;
  // Max over mean of the worst tier; 1 if nothing was chosen.
  double worst() const;
};

Polarization polarization_of(Walker& walker, const std::vector<FlowProbe>& flows);

}  // namespace softspine::analysis
