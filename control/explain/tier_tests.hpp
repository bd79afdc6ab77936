// SPDX-License-Identifier: Apache-2.0
// The tests of polarization.hpp on the choices of a fabric's flows: what is in a group or a stratum, and what is asked.
#pragma once

#include <array>

#include "control/explain/dependence.hpp"
#include "control/explain/evenness.hpp"
#include "control/explain/flow_choices.hpp"

namespace softspine::control {

// The tests of one tier. Items are flows; keys, each as large as its number of flows; or flows, each as large as its
// bytes.
struct TierEvenness {
  Evenness flows;
  Evenness keys;
  Evenness bytes;
  uint64_t distinct_keys = 0;
  bool has_bytes = false;  // flows have bytes, and not all the same
};
TierEvenness evenness_of(const FlowChoices& choices, uint32_t tier, double finest);

// Of a later tier's link on an earlier tier's, given all choices before. Two ways to see it: flows that shared the
// link itself, and flows that took the same place among the links of any switch of the earlier tier.
enum class SharedBy : uint8_t { kLink, kPlace };
inline constexpr std::array kSharings{SharedBy::kLink, SharedBy::kPlace};
Dependence dependence_of(const FlowChoices& choices, uint32_t earlier, uint32_t later, SharedBy by, double finest);

// Links of the later tier that are used by the flows of one link of the earlier one, over those that chance would use.
double used_of_chance(const FlowChoices& choices, uint32_t earlier, uint32_t later);

}  // namespace softspine::control
