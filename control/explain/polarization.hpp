// SPDX-License-Identifier: Apache-2.0
// Polarization: where a fabric's flows go, tier by tier, by walking each of them; nothing is run.
//
// A tier is the switches of one role that chose among links in one direction: "tor up", "aggregation up", "core down".
// A tier is uneven when its max over mean is above what a thousand ideal hashes gave (spread.hpp), and has too little
// to hash when its flows have fewer keys than links.
//
// Two tiers go together when the flows that share a link of the first use fewer links of the second than chance would:
// polarization proper. `reuse` is used links / links that an ideal hash would have used, over all links of the first.
// Why, is read from their hashes: the same function, or one that is linear and differs in its seed only.
#pragma once

#include <string>
#include <vector>

#include "control/explain/spread.hpp"
#include "control/explain/walker.hpp"

namespace softspine::control {

// A packet of a flow and the port that it comes from.
struct FlowProbe {
  std::vector<uint8_t> frame;
  LinkEnd sender;
};

struct SwitchShare {
  uint32_t node = 0;
  std::vector<LinkEnd> links;   // that it chose among
  std::vector<uint32_t> flows;  // by link
};

struct TierShare {
  std::string name;  // "aggregation up"
  Role role = Role::kTor;
  bool up = true;
  std::vector<SwitchShare> switches;  // by node
  Spread spread;
  Ideal ideal;
  uint64_t distinct_keys = 0;
  bool is_drawn = false;  // flowlets, sprayed: no flow has one link
  bool is_uneven() const { return !is_drawn && spread.max_over_mean > ideal.largest; }
};

struct Correlation {
  uint32_t first = 0;  // of the tiers
  uint32_t second = 0;
  double reuse = 1;
  bool is_polarized = false;
  std::string why;
};

struct Polarization {
  uint64_t flows = 0;
  uint64_t arrived = 0;
  std::vector<TierShare> tiers;  // in the order in which flows meet them
  std::vector<Correlation> correlations;

  // Of the worst tier; 1 if nothing was chosen.
  double worst() const;
};

Polarization polarization_of(Walker& walker, const std::vector<FlowProbe>& flows);

// Why two hashes go together, in words.
std::string reason_for(const HashConfig& first, const HashConfig& second, uint32_t first_buckets,
                       uint32_t second_buckets);

}  // namespace softspine::control
