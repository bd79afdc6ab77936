// SPDX-License-Identifier: Apache-2.0
// Ranks of one server, which talk beside the fabric: times against formulas, and the same for any number of workers.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenario/ranks/rank_fabric.hpp"

namespace softspine::testbeds {
namespace {

using namespace dataplane;

constexpr uint64_t kMegabyte = 1'000'000;

RankSetup nvlink() {
  return {.scale_up = Rate::gbps(800)};  // 10 µs a megabyte
}

Duration us(int64_t n) {
  return Duration::us(n);
}

TEST(ScaleUp, AMessageTakesItsBytesAndTheLatency) {
  const Duration latency = RankSetup{}.scale_up_latency;
  for (const uint64_t bytes : {uint64_t{85}, kMegabyte, uint64_t{1} << 31}) {
    RankFabric ranks{{{send(1, bytes)}, {receive(0, bytes)}}, nvlink()};
    ranks.run_to_the_end();
    EXPECT_EQ(ranks.done(0).of(0).done, Instant::at(nvlink().scale_up.time_of_bytes(bytes))) << bytes;
    EXPECT_EQ(ranks.done(1).of(0).done, Instant::at(nvlink().scale_up.time_of_bytes(bytes) + latency)) << bytes;
  }
}

TEST(ScaleUp, AMessageOfNothingTakesANoticesTime) {
  RankFabric ranks{{{send(1, 0)}, {receive(0, 0)}}, nvlink()};
  ranks.run_to_the_end();
  EXPECT_EQ(ranks.done(1).of(0).done, Instant::at(nvlink().scale_up.time_of_frame(60) + nvlink().scale_up_latency));
}

TEST(ScaleUp, MessagesOfAGpuLeaveOneAfterTheOtherWhomeverTheyAreFor) {
  RankFabric ranks{{{send(1, kMegabyte), send(2, 2 * kMegabyte), send(1, kMegabyte)},
                    {receive(0, kMegabyte), receive(0, kMegabyte)},
                    {receive(0, 2 * kMegabyte)}},
                   nvlink()};
  ranks.run_to_the_end();
  const Duration latency = nvlink().scale_up_latency;
  EXPECT_EQ(ranks.done(1).of(0).done, Instant::at(us(10) + latency));
  EXPECT_EQ(ranks.done(2).of(0).done, Instant::at(us(30) + latency));
  EXPECT_EQ(ranks.done(1).of(1).done, Instant::at(us(40) + latency));
}

// Both last bits come at 10 µs: the GPU takes in one of them, and 10 µs later the other. Its sender does not notice.
TEST(ScaleUp, MessagesThatMeetShareTheReceiversRate) {
  RankFabric ranks{{{send(2, kMegabyte)}, {send(2, kMegabyte)}, {receive(0, kMegabyte), receive(1, kMegabyte)}},
                   nvlink()};
  ranks.run_to_the_end();
  const Duration latency = nvlink().scale_up_latency;
  EXPECT_EQ(ranks.done(2).of(0).done, Instant::at(us(10) + latency));
  EXPECT_EQ(ranks.done(2).of(1).done, Instant::at(us(20) + latency));
  EXPECT_EQ(ranks.done(1).of(0).done, Instant::at(us(10)));
}

TEST(ScaleUp, GoesWithoutTheProxy) {
  RankSetup setup = nvlink();
  setup.rank.costs = {.post = us(50), .completion = us(50)};
  RankFabric ranks{{{send(1, kMegabyte)}, {receive(0, kMegabyte)}}, setup};
  ranks.run_to_the_end();
  EXPECT_EQ(ranks.done(1).of(0).done, Instant::at(us(10) + setup.scale_up_latency));
  EXPECT_EQ(ranks.program(0).proxy_busy(), Duration{});
}

// The receiver is ready at 100 µs, and says so.
TEST(ScaleUp, WaitsForTheReceiverWhereItAdmits) {
  RankSetup setup = nvlink();
  setup.admission = true;
  RankFabric ranks{{{send(1, kMegabyte)}, {compute(us(100)), receive(0, kMegabyte, {0})}}, setup};
  ranks.run_to_the_end();
  const Duration clear = setup.scale_up.time_of_frame(60) + setup.scale_up_latency;
  EXPECT_EQ(ranks.done(1).of(1).done, Instant::at(us(110) + clear + setup.scale_up_latency));
}

TEST(ScaleUp, CountsWhatGoesBesideTheFabric) {
  RankFabric ranks{{{send(1, kMegabyte), send(1, 5)}, {receive(0, kMegabyte), receive(0, 5)}}, nvlink()};
  ranks.run_to_the_end();
  EXPECT_EQ(ranks.program(0).counters().scale_up_messages, 2u);
  EXPECT_EQ(ranks.program(0).counters().scale_up_bytes, kMegabyte + 5);
  EXPECT_EQ(ranks.program(1).counters().bytes[static_cast<size_t>(control::OperationKind::kReceive)], kMegabyte + 5);
  EXPECT_EQ(ranks.program(1).counters().scale_up_messages, 0u);
  EXPECT_EQ(ranks.host(0).counters().received_packets, 0u);
  EXPECT_EQ(ranks.host(0).transmitter(PortNo{0}).counters().packets, 0u);
}

std::vector<Script> all_to_all(uint32_t n) {
  std::vector<Script> scripts(n);
  for (uint32_t r = 0; r < n; ++r) {
    for (uint32_t round = 1; round < 3 * n; ++round) {
      if (round % n == 0) continue;
      scripts[r].push_back(send((r + round) % n, 1000 * round));
      scripts[r].push_back(receive((r + 2 * n - round % n) % n, 1000 * round));
    }
  }
  return scripts;
}

std::vector<std::vector<DoneOperation>> done_by(uint32_t workers) {
  RankSetup setup = nvlink();
  setup.admission = true;
  setup.workers = workers;
  RankFabric ranks{all_to_all(6), setup};
  ranks.run_to_the_end();
  std::vector<std::vector<DoneOperation>> out;
  for (uint32_t r = 0; r < 6; ++r) out.push_back(ranks.done(r).list());
  return out;
}

TEST(ScaleUp, IsTheSameForAnyNumberOfWorkers) {
  const auto alone = done_by(1);
  EXPECT_EQ(alone[5].size(), 30u);
  EXPECT_EQ(done_by(2), alone);
  EXPECT_EQ(done_by(3), alone);
}

}  // namespace
}  // namespace softspine::testbeds
