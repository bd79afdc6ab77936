// SPDX-License-Identifier: Apache-2.0
// What would cure a fabric that is polarized or uneven, ordered by how little has to change. Each is tried: the same
// flows are walked through the changed fabric and judged by the same tests; and no two of its tiers may go together
// for other flows of such keys either (causes.hpp). What does not cure is not offered, nor anything to who is well.
//
//   seed          another seed in the later tiers: of a hash that mixes (a linear one only renames its members)
//   offset        a rotation there: other bits choose
//   seed_offset   both
//   algorithm     another polynomial there
//   buckets       groups there dealt over 509 buckets, a prime
//   qp            the destination QP in the key of every tier (E-ECMP), where flows share their keys
//   qp_offset     both
//   mixing        XXH3 in every tier, each with a seed of its own
//   mixing_qp     and the destination QP in its key
//
// A cure is a change of roles' profiles: a piece of YAML that is put into the testbed's file, and the lines of those
// vendors that have the knob.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/explain/polarization.hpp"

namespace softspine::control {

// What becomes different in a role's profile.
struct HashChange {
  std::optional<HashAlgorithm> algorithm;
  std::optional<uint32_t> seed;
  std::optional<uint8_t> offset;
  bool add_qp = false;
  uint32_t buckets = 0;  // resilient, so many; 0: as they are
};
using RoleChanges = std::vector<std::pair<Role, HashChange>>;  // by tier

struct Cure {
  std::string name;
  RoleChanges changes;
  double worst = 1;      // max over mean of the worst tier, with it
  double by_chance = 1;  // and what an ideal hash has there
};

inline constexpr size_t kMostCures = 4;

// The first that work, in the order above.
std::vector<Cure> find_cures(Walker& walker, const std::vector<FlowProbe>& flows, const Polarization& found);

// The same fabric, changed; `walker` outlives it.
Walker changed_by(Walker& walker, const RoleChanges& changes);

}  // namespace softspine::control
