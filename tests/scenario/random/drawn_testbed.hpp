// SPDX-License-Identifier: Apache-2.0
// A testbed of the whole format: a small fabric of any kind with workloads and faults, whose sizes and names are chosen
// here, and keys of any table beside them, drawn by the schema (schema_values.hpp, testbed_growth.hpp).
//
// Testbed i holds the keys i, i + 1, … of the schema (kGoals of them, with kAtRandom others), so as many testbeds as
// there are keys hold each of them kGoals times. Four moods: short runs of fast links; long runs of slow ones (what
// only time brings about: aging, stalls, looks); paced flows that meet pauses (paced_incast.hpp); and a rare one whose
// losses at one instant exceed any buffer.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/scenario/random/schema_values.hpp"

namespace softspine::tests {

struct Refusal {
  SchemaKey key;
  std::string why;  // what load said last
};

struct DrawnTestbed {
  std::string text;          // a testbed file, as JSON, which is YAML
  std::set<SchemaKey> keys;  // that it holds
  std::vector<SchemaKey> goals;
  std::vector<Refusal> refused;  // goals that could not be added
  uint64_t loads = 0;            // that it took
  bool floods = false;           // too many frames for a capture
};

DrawnTestbed drawn_testbed(uint64_t seed);
// One with this key and no others at random.
DrawnTestbed drawn_testbed_with(const SchemaKey& goal, uint64_t seed);

}  // namespace softspine::tests
