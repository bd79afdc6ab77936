// SPDX-License-Identifier: Apache-2.0
// Held against the streams that it is made of.
#include "control/collectives/sequence.hpp"

#include <gtest/gtest.h>

#include "control/collectives/collective_work.hpp"

namespace softspine::control {
namespace {

using Numbers = std::vector<uint64_t>;

CollectiveRun two_sizes() {
  CollectiveRun run{.traffic = {.hosts = {0, 1, 2}},
                    .iterations = 2,
                    .start = dataplane::Instant::at_ps(77),
                    .compute = dataplane::Duration::ps(5)};
  for (const uint64_t bytes : {30'000u, 3'000'000u}) run.shapes.push_back({.ranks = 3, .bytes = bytes, .channels = 2});
  return run;
}

Numbers needs_of(const Operation& operation) {
  return {operation.needs.begin(), operation.needs.end()};
}

TEST(CollectiveSequence, PutsJointsBetweenCollectivesWhoseOperationsNeedTheirOwn) {
  const CollectiveRun run = two_sizes();
  for (uint32_t rank = 0; rank < 3; ++rank) {
    CollectiveSequence sequence(run, rank);
    Operation joined;
    uint64_t number = 0;
    for (uint32_t i = 0; i < 5; ++i) {
      ASSERT_TRUE(sequence.next(joined));
      EXPECT_TRUE(joined.after_all);
      EXPECT_EQ(joined.kind, OperationKind::kCompute);
      EXPECT_EQ(joined.time, dataplane::Duration::ps(i == 0 ? 82 : i == 4 ? 0 : 5));
      const uint64_t joint = number++;
      if (i == 4) break;
      const auto alone = stream_of(run.shapes[i / 2], rank);
      for (Operation expected; alone->next(expected); ++number) {
        Numbers needs = needs_of(expected);
        for (uint64_t& need : needs) need += joint + 1;
        if (needs.empty()) needs = {joint};
        ASSERT_TRUE(sequence.next(joined));
        EXPECT_EQ(needs_of(joined), needs) << number;
        EXPECT_EQ(joined.kind, expected.kind);
        EXPECT_EQ(joined.peer, expected.peer);
        EXPECT_EQ(joined.bytes, expected.bytes);
        EXPECT_FALSE(joined.after_all);
      }
    }
    EXPECT_FALSE(sequence.next(joined));
  }
}

}  // namespace
}  // namespace softspine::control
