// SPDX-License-Identifier: Apache-2.0
// How long ranks take, against formulas: chains, rings, computations, reductions, admission, and what posting costs.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenario/ranks/rank_fabric.hpp"

namespace softspine::testbeds {
namespace {

using namespace dataplane;
using control::TransportKind;

// From its first bit out to its last bit in, where nobody else is: packets leave one behind the other, and go over the
// second cable once they are whole and the one before has left.
Duration time_of_message(uint64_t bytes, const RankSetup& setup) {
  Duration first;
  Duration second;
  uint64_t left = bytes;
  bool is_first = true;
  do {
    const auto payload = static_cast<uint32_t>(std::min<uint64_t>(left, setup.mtu));
    const Duration frame = setup.rate.time_of_frame(RankFabric::frame_bytes(payload, is_first));
    first += frame;
    second = std::max(first, second) + frame;
    left -= payload;
    is_first = false;
  } while (left > 0);
  return second + setup.propagation * 2;
}

// To and fro `hops` times.
std::vector<Script> chain(uint32_t hops, uint64_t bytes) {
  std::vector<Script> scripts(2);
  for (uint32_t hop = 0; hop < hops; ++hop) {
    Script& from = scripts[hop % 2];
    Script& to = scripts[1 - hop % 2];
    from.push_back(from.empty() ? send(1, bytes) : send(1 - hop % 2, bytes, {from.size() - 1}));
    to.push_back(receive(hop % 2, bytes));
  }
  return scripts;
}

TEST(RankTimes, OfAChainAreThoseOfItsMessages) {
  for (const uint64_t bytes : {0U, 1U, 4096U, 4097U, 1'000'000U}) {
    RankFabric ranks{chain(6, bytes), {}};
    ranks.run_to_the_end();
    EXPECT_EQ(ranks.done(0).of(5).done, Instant::at(6 * time_of_message(bytes, {}))) << bytes;
  }
}

// Every rank hands on what it gets, 2(n − 1) times: an AllReduce's ring, without its reductions.
std::vector<Script> ring(uint32_t n, uint64_t chunk_bytes) {
  std::vector<Script> scripts(n);
  for (uint32_t r = 0; r < n; ++r) {
    for (uint64_t step = 0; step < 2 * (n - 1); ++step) {
      std::vector<uint64_t> needs;
      if (step > 0) needs.push_back(2 * step - 1);
      scripts[r].push_back(send((r + 1) % n, chunk_bytes, needs));
      scripts[r].push_back(receive((r + n - 1) % n, chunk_bytes));
    }
  }
  return scripts;
}

TEST(RankTimes, OfARingAreTwiceNMinusOneMessages) {
  for (const uint32_t n : {2U, 3U, 8U, 64U}) {
    RankFabric ranks{ring(n, 64 << 10), {}};
    ranks.run_to_the_end();
    EXPECT_EQ(ranks.end(), Instant::at(2 * (n - 1) * time_of_message(64 << 10, {}))) << n;
  }
}

// Acknowledgements share the wires with the next message: half a percent. The last one has to come back.
TEST(RankTimes, OfARingAreTheSameOnReliableConnectionsToHalfAPercent) {
  RankSetup setup;
  setup.transport = TransportKind::kReliable;
  for (const uint32_t n : {2U, 8U, 32U}) {
    RankFabric ranks{ring(n, 512 << 10), setup};
    ranks.run_to_the_end();
    const double formula = (2 * (n - 1) * time_of_message(512 << 10, setup) + setup.propagation * 2).seconds();
    EXPECT_NEAR(ranks.end().seconds(), formula, formula / 200) << n;
  }
}

// LogGOPSim 76451de1 with L = 1 us and G = 1 ns, everything else 0: 1,848,994; 8,000,992 and 4,003,996 ns. Its bytes
// have no headers: 2 % of frames here, and a store-and-forward hop for each message.
RankSetup loggops() {
  RankSetup setup;
  setup.rate = Rate::gbps(8);
  return setup;
}

TEST(RankTimes, AreThoseOfLogGopsimForARingOfEight) {
  RankFabric ranks{ring(8, 131'072), loggops()};
  ranks.run_to_the_end();
  const double without_headers = 1'848'994e-9;
  const double hop = 14 * loggops().rate.time_of_frame(RankFabric::frame_bytes(4096, false)).seconds();
  EXPECT_NEAR(ranks.end().seconds(), without_headers * 1.02 + hop, without_headers / 200);
}

TEST(RankTimes, AreThoseOfLogGopsimForAnIncastOfEight) {
  std::vector<Script> scripts(9);
  for (uint32_t r = 1; r < 9; ++r) {
    scripts[0].push_back(receive(r, 1'000'000));
    scripts[r].push_back(send(0, 1'000'000));
  }
  RankFabric ranks{scripts, loggops()};
  ranks.run_to_the_end();
  EXPECT_NEAR(ranks.end().seconds(), 8'000'992e-9 * 1.02, 8'000'992e-9 / 200);
}

TEST(RankTimes, AreThoseOfLogGopsimForABinomialBroadcast) {
  std::vector<Script> scripts(16);
  for (uint32_t reached = 1; reached < 16; reached *= 2) {
    for (uint32_t r = 0; r < reached; ++r) {
      std::vector<uint64_t> needs;
      if (!scripts[r].empty()) needs.push_back(scripts[r].size() - 1);
      scripts[r].push_back(send(r + reached, 1'000'000, needs));
      scripts[r + reached].push_back(receive(r, 1'000'000));
    }
  }
  RankSetup setup = loggops();
  RankFabric ranks{scripts, setup};
  ranks.run_to_the_end();
  const double hops = 4 * setup.rate.time_of_frame(RankFabric::frame_bytes(4096, false)).seconds();
  EXPECT_NEAR(ranks.end().seconds(), 4'003'996e-9 * 1.02 + hops, 4'003'996e-9 / 200);
}

TEST(RankTimes, OfComputationsRunBesideEachOtherAndOfReductionsOneByOne) {
  RankSetup setup;
  setup.rank.reduce_bytes_per_second = 1'000'000'000;
  const Script script{compute(Duration::us(7)),  compute(Duration::us(5)), reduce(1'000), reduce(2'000),
                      compute({}, {0, 1, 2, 3}), reduce(500, {4})};
  RankFabric ranks{{script}, setup};
  ranks.run_to_the_end();
  const int64_t us[]{7, 5, 1, 3, 7};
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(ranks.done(0).of(i).done, Instant::at(Duration::us(us[i])));
  EXPECT_EQ(ranks.end(), Instant::at(Duration::ns(7'500)));
  const OperationTimes& times = ranks.program(0).counters().times;
  EXPECT_EQ(times.of(control::OperationKind::kCompute), Duration::us(7));
  EXPECT_EQ(times.of(control::OperationKind::kReduce), Duration::ns(3'500));
}

TEST(RankTimes, OfAdmissionAreOneWayBackForTheFirstMessageAndNoneIfTheReceiveIsPostedAhead) {
  for (const bool is_ahead : {false, true}) {
    RankSetup setup;
    setup.admission = true;
    const Duration before = is_ahead ? Duration::us(10) : Duration{};
    RankFabric ranks{{{compute(before), send(1, 50'000, {0})}, {receive(0, 50'000)}}, setup};
    ranks.run_to_the_end();
    const Duration clear = is_ahead ? before : time_of_message(64, setup);
    EXPECT_EQ(ranks.done(1).of(0).done, Instant::at(clear + time_of_message(50'000, setup)));
    EXPECT_EQ(ranks.program(1).counters().clears_sent, 1U);
    EXPECT_EQ(ranks.program(0).counters().clears_received, 1U);
  }
}

// 128 KiB in 10 us are 13.1 GB/s, whatever the link could do: NVIDIA/nccl issue 2409.
TEST(RankTimes, OfSmallMessagesAreWhatPostingThemCosts) {
  RankSetup setup;
  setup.rate = Rate::gbps(400);
  setup.rank.costs.post = Duration::us(10);
  constexpr uint64_t kMessages = 40;
  std::vector<Script> scripts(2);
  for (uint64_t i = 0; i < kMessages; ++i) {
    scripts[0].push_back(send(1, 128 << 10));
    scripts[1].push_back(receive(0, 128 << 10));
  }
  RankFabric ranks{scripts, setup};
  ranks.run_to_the_end();
  EXPECT_EQ(ranks.program(1).counters().ended,
            Instant::at(kMessages * Duration::us(10) + time_of_message(128 << 10, setup)));
  EXPECT_EQ(ranks.program(0).proxy_busy(), kMessages * Duration::us(10));
}

TEST(RankTimes, OfCompletionsAreOfTheProxyAndOfStepsBesideEachOther) {
  RankSetup setup;
  setup.rank.costs.completion = Duration::us(3);
  setup.rank.costs.step = Duration::us(20);
  RankFabric ranks{{{send(1, 0), send(1, 0)}, {receive(0, 0), receive(0, 0)}}, setup};
  ranks.run_to_the_end();
  const Duration first = Duration::us(20) + time_of_message(0, setup);
  EXPECT_EQ(ranks.done(1).of(0).done, Instant::at(first + Duration::us(3)));
  EXPECT_EQ(ranks.done(1).of(1).done, Instant::at(first + Duration::us(6)));
}

}  // namespace
}  // namespace softspine::testbeds
