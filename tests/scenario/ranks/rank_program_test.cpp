// SPDX-License-Identifier: Apache-2.0
// One rank's program: order, windows, messages before their receives, joints, and what is told when it does not end.
#include <gtest/gtest.h>

#include "tests/scenario/ranks/rank_fabric.hpp"

namespace softspine::testbeds {
namespace {

using namespace dataplane;
using control::OperationKind;
using Reason = UnfinishedOperation::Reason;
using State = RankProgram::State;

std::vector<uint64_t> numbers_of(const DoneList& done) {
  std::vector<uint64_t> out;
  for (const DoneOperation& each : done.list()) out.push_back(each.number);
  return out;
}

TEST(RankProgram, StartsWhatIsReadyInTheOrderOfNumbers) {
  RankFabric ranks{{{compute(Duration::us(1)), compute({}, {0}), compute({}), compute({}, {0}), compute({}, {1})}}, {}};
  ranks.run_to_the_end();
  EXPECT_EQ(numbers_of(ranks.done(0)), (std::vector<uint64_t>{2, 0, 1, 3, 4}));
}

TEST(RankProgram, TakesAMessageThatCameBeforeItsReceive) {
  RankFabric ranks{{{send(1, 100), send(1, 200)}, {compute(Duration::us(50)), receive(0, 100, {0}), receive(0, 200)}},
                   {}};
  ranks.run_to_the_end();
  for (const uint64_t i : {1U, 2U}) {
    const DoneOperation expected{i, Instant::at(Duration::us(50)), Instant::at(Duration::us(50))};
    EXPECT_EQ(ranks.done(1).of(i), expected) << "the second one's turn is after the first's";
  }
}

TEST(RankProgram, PostsInTheOrderOfTheConnectionThoughTheLaterOneIsReadyFirst) {
  RankFabric ranks{{{compute(Duration::us(5)), send(1, 10, {0}), send(1, 20'000), send(1, 30, {}, 1)},
                    {receive(0, 10), receive(0, 20'000), receive(0, 30, {}, 1)}},
                   {.channels = 2}};
  ranks.run_to_the_end();
  EXPECT_EQ(numbers_of(ranks.done(1)), (std::vector<uint64_t>{2, 0, 1}));
  EXPECT_LT(ranks.done(1).of(2).done, Instant::at(Duration::us(5))) << "channels have no order";
}

TEST(RankProgram, EndsAStreamOfAnyLengthInAWindowOfOne) {
  std::vector<Script> scripts(2);
  for (uint64_t i = 0; i < 500; ++i) {
    scripts[0].push_back(send(1, i * 13 % 9'000));
    scripts[1].push_back(receive(0, i * 13 % 9'000));
  }
  RankSetup setup;
  setup.rank.window = 1;
  RankFabric ranks{scripts, setup};
  ranks.run_to_the_end();
  EXPECT_EQ(ranks.program(1).counters().done[1], 500U);
  EXPECT_EQ(ranks.program(1).counters().bytes[1], ranks.program(0).counters().bytes[0]);
  EXPECT_EQ(ranks.program(0).counters().most_open, 1U);
}

TEST(RankProgram, JoinsAllBeforeAndHoldsNothingElseBack) {
  Script script{compute(Duration::us(3)), compute(Duration::us(9)), compute({}), compute(Duration::us(1)),
                compute({}, {2})};
  script[2].after_all = true;
  RankFabric ranks{{script}, {}};
  ranks.run_to_the_end();
  EXPECT_EQ(ranks.done(0).of(2).done, Instant::at(Duration::us(9)));
  EXPECT_EQ(ranks.done(0).of(3).done, Instant::at(Duration::us(1)));
  EXPECT_EQ(ranks.done(0).of(4).done, Instant::at(Duration::us(9)));
}

TEST(RankProgram, HasRoomForNeedsOfAllThatAreOpen) {
  Script script;
  for (uint64_t i = 0; i < 60; ++i) {
    std::vector<uint64_t> needs(i);
    for (uint64_t n = 0; n < i; ++n) needs[n] = n;
    script.push_back(compute(Duration::us(1), needs));
  }
  RankSetup setup;
  setup.rank.window = 16;  // with 64 notes: the seventeenth's needs are 120
  RankFabric ranks{{script}, setup};
  ranks.run_to_the_end();
  EXPECT_EQ(ranks.end(), Instant::at(Duration::us(60)));
}

TEST(RankProgram, TellsWhoWaitsForWhom) {
  RankSetup setup;
  setup.admission = true;
  RankFabric ranks{{{receive(1, 77), compute({}, {0}), send(1, 5)}, {compute({})}}, setup};
  ranks.run();
  EXPECT_EQ(ranks.program(0).state(), State::kRunning);
  EXPECT_EQ(ranks.program(1).state(), State::kEnded);
  const std::vector<UnfinishedOperation> left = ranks.program(0).unfinished();
  ASSERT_EQ(left.size(), 3U);
  EXPECT_EQ(left[0].reason, Reason::kMessage);
  EXPECT_EQ(left[0].peer, 1U);
  EXPECT_EQ(left[0].bytes, 77U);
  EXPECT_EQ(left[1].reason, Reason::kNeeds);
  EXPECT_EQ(left[2].reason, Reason::kClear);
}

TEST(RankProgram, CountsMessagesThatNobodyAskedFor) {
  RankFabric ranks{{{send(1, 5), send(1, 5), send(1, 5)}, {receive(0, 5)}}, {}};
  ranks.run();
  EXPECT_EQ(ranks.program(1).unclaimed_messages(), 2U);
}

TEST(RankProgram, WaitsForRoomInTheQueueOfItsQueuePair) {
  RankSetup setup;
  setup.depth = 2;
  setup.transport = control::TransportKind::kReliable;
  RankFabric ranks{
      {{send(1, 9), send(1, 9), send(1, 9), send(1, 9)}, {receive(0, 9), receive(0, 9), receive(0, 9), receive(0, 9)}},
      setup};
  ranks.run(Instant::at(Duration::us(1)));
  EXPECT_EQ(ranks.program(0).unfinished()[2].reason, Reason::kRoom);
  EXPECT_EQ(ranks.program(0).unfinished()[3].reason, Reason::kOrder);
  EXPECT_EQ(ranks.program(0).unfinished()[0].reason, Reason::kAcknowledgement);
  ranks.run_to_the_end();
}

TEST(RankProgram, EndsWhenAConnectionFails) {
  RankSetup setup;
  setup.transport = control::TransportKind::kReliable;
  setup.ack_timeout = 2;
  RankFabric ranks{
      {{send(1, 9'000), receive(1, 1), compute(Duration::ms(500), {0})}, {receive(0, 9'000), send(0, 1, {0})}}, setup};
  ranks.host(0).transmitter(PortNo{0}).set_dead(true);
  ranks.run();
  EXPECT_EQ(ranks.program(0).state(), State::kFailed);
  EXPECT_EQ(ranks.program(0).unfinished()[0].reason, Reason::kAcknowledgement);
  EXPECT_NEAR(ranks.program(0).counters().ended.seconds(), 8 * 16.384e-6, 1e-6) << "eight timeouts";
  EXPECT_EQ(ranks.program(1).unfinished()[0].reason, Reason::kMessage);
}

}  // namespace
}  // namespace softspine::testbeds
