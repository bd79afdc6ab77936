// SPDX-License-Identifier: Apache-2.0
// What flows did at each hop, judged the slow way: Pearson's chi-square as the textbook has it, compared with what it
// is when everything is thrown anew on its group's links by a generator of the standard library, again and again.
//
// Thrown are keys: each key of each profile once, whatever switches and groups it comes to. Beside that flows are
// thrown one by one, since flows that share a key are worse off than an ideal hash of all that tells flows apart could
// have it; of that only so much counts as the throws of keys have on average.
#pragma once

#include <map>
#include <tuple>

#include "analysis/explain/flow_choices.hpp"
#include "analysis/explain/walker.hpp"

namespace softspine::tests {

struct Seen {
  double deviations = 0;  // of chi-square from what chance has
  double effect = 0;      // (deviation / mean)² of the links' shares beyond chance
  // How likely chance makes as much, where few flows make a deviation a guess; 0: hardly ever.
  double reached = 1;
};

struct SlowVerdict {
  Seen links;            // the worst tier's: flows of a group, over its links
  Seen given;            // the worst pair's: flows of a group that shared an earlier hop's link
  double one_group = 1;  // the probability that so much of any one group's keys or flows shares a link, times all links
};

SlowVerdict slow_verdict(analysis::Walker& walker, const std::vector<analysis::FlowProbe>& flows, uint32_t throws);

}  // namespace softspine::tests
