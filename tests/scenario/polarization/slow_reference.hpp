// SPDX-License-Identifier: Apache-2.0
// What flows did at each hop, judged the slow way: Pearson's chi-square as the textbook has it, compared with what it
// is when each flow is thrown anew on its group's links by a generator of the standard library, again and again.
#pragma once

#include <map>
#include <tuple>

#include "control/explain/flow_choices.hpp"
#include "control/explain/walker.hpp"

namespace softspine::tests {

struct Seen {
  double deviations = 0;  // of chi-square from what chance has
  double effect = 0;      // (deviation / mean)² of the links' shares beyond chance
};

struct SlowVerdict {
  Seen links;  // the worst tier's: flows of a group, over its links
  Seen given;  // the worst pair's: flows of a group that shared an earlier hop's link
};

SlowVerdict slow_verdict(control::Walker& walker, const std::vector<control::FlowProbe>& flows, uint32_t throws);

}  // namespace softspine::tests
