// SPDX-License-Identifier: Apache-2.0
// Cures for a fabric that is polarized or uneven, ordered by how little has to change. Each candidate is tried: the
// same flows are walked through the changed fabric and judged by the same tests. The choices of no
// two of its tiers may depend on each other, for these flows or for others with keys of their kind (causes.hpp). A
// candidate that fails is not offered, and a fabric that needs no cure is offered none.
//
//   seed          another seed in the later tiers, if their hash mixes (in a linear one it only renames the members)
//   offset        another rotation in the later tiers, so that other bits choose
//   seed_offset   both
//   algorithm     another polynomial in the later tiers
//   buckets       resilient groups of 509 buckets, a prime, in the later tiers
//   qp            the destination QP in the key of every tier (E-ECMP), where flows share their keys
//   qp_offset     both
//   mixing        XXH3 in every tier, each with a seed of its own
//   mixing_qp     and the destination QP in its key
//   ports         in every tier, with seeds of their own, the hash that takes ports where the present one leaves them
//                 out: Linux's policy 1, Open vSwitch's L4
//
// All but a seed are tried only where a role's switches are all of one model: other models lack the same settings.
// A cure is a change of roles' profiles: a piece of YAML that is put into the testbed's file, and the lines of those
// vendors that have the knob.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/explain/polarization.hpp"

namespace softspine::analysis {

// The changes to a role's profile.
struct HashChange {
  std::optional<control::HashAlgorithm> algorithm;
  std::optional<uint32_t> seed;
  std::optional<uint8_t> offset;
  std::optional<uint8_t> linux_policy;
  bool add_qp = false;
  uint32_t buckets = 0;  // of resilient groups; 0: unchanged
  bool of_lags = false;  // of the LAGs' hash; else of that of ECMP groups, and of LAGs that have none of their own
};
using RoleChanges = std::vector<std::pair<control::Role, HashChange>>;  // by tier; a role may be there twice

struct Cure {
  std::string name;
  RoleChanges changes;
  double worst = 1;      // largest over mean load in the worst tier, once cured
  double by_chance = 1;  // the same ratio, if the hash were ideal
};

inline constexpr size_t kMaxCures = 4;

// The first cures that work, in the order above.
std::vector<Cure> find_cures(Walker& walker, const std::vector<FlowProbe>& flows, const Polarization& found);

// A Walker through the changed fabric; `walker` must outlive it.
Walker changed_by(Walker& walker, const RoleChanges& changes);

}  // namespace softspine::analysis
