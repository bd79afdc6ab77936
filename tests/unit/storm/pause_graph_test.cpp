// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/pause_graph.hpp"

#include <gtest/gtest.h>

#include "tests/unit/storm/made_log.hpp"

namespace softspine::analysis::storm {
namespace {

using tests::MadeLog;

// Three switches in a ring, each stops the next one.
MadeLog ring() {
  MadeLog it;
  for (const auto& [a, b] : {std::pair{"s1", "s2"}, {"s2", "s3"}, {"s3", "s1"}}) it.link(a, b);
  for (const auto& [a, b] : {std::pair{"s1", "s2"}, {"s2", "s3"}, {"s3", "s1"}}) it.stop(a, b, 0);
  return it;
}

TEST(PauseGraph, APauseCausesOnlyWhatTheNodeThatItStopsAsksFor) {
  const MadeLog it = ring();
  const auto& pauses = it.log.pauses;
  EXPECT_TRUE(may_cause(it.log, pauses[0], pauses[1], Turns::kAny)) << "s1 stops s2, which stops s3";
  EXPECT_FALSE(may_cause(it.log, pauses[1], pauses[0], Turns::kAny)) << "s2 stops s3; s1 is not s3";
  EXPECT_FALSE(may_cause(it.log, pauses[0], pauses[0], Turns::kAny));
}

TEST(PauseGraph, ACycleIsOfThePlacesThatAreWanted) {
  const MadeLog it = ring();
  PauseGraph graph{it.log};
  graph.set(std::vector<uint32_t>{0, 1, 2});
  ASSERT_EQ(graph.cycles(Turns::kAny, {}).size(), 1u);
  EXPECT_EQ(graph.cycles(Turns::kAny, {true, true, true}).size(), 1u);
  EXPECT_TRUE(graph.cycles(Turns::kAny, {true, true, false}).empty());
}

// h1 says its pause again 4 us too late, and tor1 has stopped spine1 meanwhile: that follows from what h1 says then.
TEST(Attribution, NothingFollowsBeforeItsCauseBegan) {
  MadeLog it;
  it.link("h1", "tor1");
  it.link("tor1", "spine1");
  it.pause("h1", "tor1", 1'000, 1'336, PauseEnd::kLapsed);
  it.stop("h1", "tor1", 1'340);
  it.stop("tor1", "spine1", 1'338);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  ASSERT_EQ(found.storms[0].spread.size(), 2u);
  EXPECT_EQ(found.storms[0].spread[0].first, MadeLog::us(1'000));
  EXPECT_EQ(found.storms[0].spread[1].first, MadeLog::us(1'340));
}

}  // namespace
}  // namespace softspine::analysis::storm
