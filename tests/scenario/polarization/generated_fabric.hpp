// SPDX-License-Identifier: Apache-2.0
// Fabrics and flows drawn from a seed: two to four choosing tiers, 2 to 64 members, parallel links, one and two planes,
// every algorithm of SAI, RTAG7, Linux and Open vSwitch, all fields or some, weights; in some one switch hashes as
// another tier does. Incast, permutation or random flows, 100 to 100,000.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/explain/flow_choices.hpp"
#include "control/load/load.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::tests {

// How the hashes of the tiers differ: what the causes must come from.
enum class Difference : uint8_t { kMixing, kNone, kSeed, kOffset, kSeedAndOffset, kAlgorithm, kFewKeys };

struct RoleHash {
  std::string algorithm;
  uint32_t width = 32;
  uint32_t seed = 0;
  uint32_t offset = 0;
};

struct GeneratedFabric {
  std::string text;  // the testbed
  Difference difference = Difference::kNone;
  std::map<control::Role, RoleHash> hashes;
  bool has_odd_switch = false;  // one switch of the tier above the ToRs, or a ToR, hashes as the other tier
  bool has_few_fields = false;
  uint32_t flows = 0;
  uint32_t demand = 0;  // 0 random, 1 permutation, 2 incast
};

GeneratedFabric generated_fabric(uint64_t seed);
std::vector<analysis::FlowProbe> generated_flows(analysis::Walker& walker, const GeneratedFabric& fabric,
                                                 uint64_t seed);

// The testbed of a text; fails the test, saying why, if there is none.
control::Testbed parsed(const std::string& text);

// With all links up.
analysis::Walker walker_of(const control::Testbed& testbed);

}  // namespace softspine::tests
