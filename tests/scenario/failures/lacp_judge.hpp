// SPDX-License-Identifier: Apache-2.0
// A sequence of failures (lacp_sequence.hpp), judged by what was seen on the wire.
//
//   links     neither end of a LAG's member sends flows' packets that one of them must not (lacp_end.hpp), nor fewer
//             members than min_links; of a bond's port each end is judged by itself, and none sends without a carrier
//   agreed    once nothing has changed for as long as all timers take: a link that works both ways is used by both
//             ends, another one by none; after the repair all are
//   flows     each packet arrives once at most, and in its order; those sent before the first failure, and after all
//             links are used again, do arrive
#pragma once

#include <string>
#include <vector>

#include "tests/scenario/failures/lacp_end.hpp"
#include "tests/scenario/failures/lacp_sequence.hpp"

namespace softspine::tests {

class LacpJudge {
 public:
  // After the run. All outlive this.
  LacpJudge(const control::Testbed& testbed, const LacpWire& wire, const LacpSequence& sequence);

  // Sentences, the first of each place.
  std::vector<std::string> complaints(const std::vector<testbeds::PlannedFlow>& flows);

 private:
  struct Pair {
    const WireLink* link;
    LacpEndView a;
    LacpEndView b;
  };
  void judge_use(const Pair& pair, const LacpEndView& end, const LacpEndView& partner);
  std::string why_not(const Pair& pair, const LacpEndView& end, const LacpEndView& partner,
                      const SentData& packet) const;
  bool has_min_links(const control::Lag& lag, dataplane::Instant t) const;
  void judge_agreement(const Pair& pair);
  void judge_flow(uint32_t flow, uint32_t source, uint32_t destination);
  void complain(const LacpEndView& end, dataplane::Instant at, const std::string& what);

  const control::Testbed& testbed_;
  const LacpWire& wire_;
  const LacpSequence& sequence_;
  std::vector<Pair> pairs_;
  std::vector<std::string> complaints_;
};

}  // namespace softspine::tests
