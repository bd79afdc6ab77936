// SPDX-License-Identifier: Apache-2.0
// Makes the tests of polarization.hpp from the choices of a fabric's flows: which items are in a group or a stratum,
// which of them are one draw of an ideal hash, and what is tested.
//
// An ideal hash draws one link for each key: all switches with the same function give a key the same link (in groups of
// one shape). So keys are the items. Flows that share a key share the link under every hash; how much unevenness this
// causes follows from the keys alone, and the test of flows counts no more than that.
#pragma once

#include <array>

#include "analysis/explain/dependence.hpp"
#include "analysis/explain/evenness.hpp"
#include "analysis/explain/flow_choices.hpp"

namespace softspine::analysis {

// A group that is less even than an ideal hash would leave it.
struct UnevenEcmpGroup {
  uint32_t group = 0;
  bool are_keys_spread = false;  // its keys are spread evenly; the flows are not, as they have few keys
  double deviation2 = 0;         // as in Evenness
};

// The tests of one tier. Items are keys, each as large as its number of flows; keys, each as large as its flows' bytes;
// or flows.
struct TierEvenness {
  Evenness keys;
  Evenness flows;
  Evenness bytes;  // as chance has it, unless has_bytes
  uint64_t distinct_keys = 0;
  bool has_bytes = false;  // flows have bytes, and not all the same
  // Each group is tested by itself; all these tests together give a false alarm with a probability of `finest` at most.
  std::vector<UnevenEcmpGroup> groups;
};
// `of_concern`: a deviation² below which a group is let pass.
TierEvenness evenness_of(const FlowChoices& choices, uint32_t tier, double finest, double of_concern);

// The dependence of a later tier's link on an earlier tier's, given all choices before. Two ways to see it: flows that
// shared the link itself, and flows that took the same place among the links of any switch of the earlier tier.
enum class SharedBy : uint8_t { kLink, kPlace };
inline constexpr std::array kSharings{SharedBy::kLink, SharedBy::kPlace};

// The functions of the earlier and the later choice.
struct FunctionPair {
  uint32_t earlier = 0;
  uint32_t later = 0;
  friend auto operator<=>(const FunctionPair&, const FunctionPair&) = default;
};
struct PairDependence {
  FunctionPair functions;
  Dependence found;
};
struct TierDependence {
  Dependence all;
  // Each pair is tested by itself, its probability times the number of pairs; pairs with too few flows are left out.
  std::vector<PairDependence> pairs;
};
TierDependence dependence_of(const FlowChoices& choices, uint32_t earlier, uint32_t later, SharedBy by, double finest);

// How many links of the later tier the flows of one earlier link use, over how many they would use by chance; only for
// switches with these functions.
double used_of_chance(const FlowChoices& choices, uint32_t earlier, uint32_t later,
                      const std::vector<FunctionPair>& functions);

// The flow's choice at a tier if a hash made it, else null; and the flow's choices before.
struct ChoiceAt {
  const MetChoice* met = nullptr;
  std::span<const MetChoice> before;
};
ChoiceAt choice_at(const FlowChoices& choices, uint64_t flow, uint32_t tier);

}  // namespace softspine::analysis
