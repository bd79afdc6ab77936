// SPDX-License-Identifier: Apache-2.0
// Paced flows of one host that are due at one instant, some of which may not send then: the others leave when they are
// due, and nothing leaves before.
#include <algorithm>
#include <map>
#include <set>

#include "dataplane/congestion/algorithms.hpp"
#include "dataplane/flow_control/pause_timing.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/hosts/reliable_frames.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint32_t kPacedFrame = 1082;
constexpr uint8_t kPacedLossy = 26;  // priority 1

FlowConfig paced(uint32_t id, uint8_t dscp, Rate rate) {
  FlowConfig flow = flow_config(id);
  flow.verb = Verb::kSend;
  flow.mtu = 1024;
  flow.messages = 0;
  flow.dscp = dscp;
  flow.rate = rate;
  return flow;
}
std::vector<Instant> starts_of(const Puppet& puppet, uint32_t flow) {
  std::vector<Instant> starts;
  for (const Heard& heard : puppet.heard()) {
    if (load24(heard.bth() + bth::kDestinationQp) == flow_config(flow).destination_qp) starts.push_back(heard.started);
  }
  return starts;
}

TEST(HostPacing, WhereTheFirstOfTwoIsPausedTheOtherLeavesWhenItIsDue) {
  constexpr Rate kPace = Rate::gbps(20);
  HostAndPuppet pair;
  pair.host().add_flow(paced(0, kLossless, kPace));
  pair.host().add_flow(paced(1, kPacedLossy, kPace));
  pair.puppet().say(us(20), pfc_frame(0x08, 0xffff));
  pair.run(us(100));
  const Duration frame = Rate::gbps(100).time_of_frame(kPacedFrame);
  const Duration interval = kPace.time_of_frame(kPacedFrame);
  const auto paused = static_cast<int64_t>(starts_of(pair.puppet(), 0).size());
  const auto starts = starts_of(pair.puppet(), 1);
  EXPECT_GE(starts.size() + 2, static_cast<size_t>(Duration::us(100) / interval)) << "some are still on the wire";
  for (int64_t i = 0; i < static_cast<int64_t>(starts.size()); ++i) {
    // Behind the other's frame as long as there is one.
    ASSERT_EQ(starts[static_cast<size_t>(i)], Instant{} + interval * i + (i < paused ? frame : Duration{})) << i;
  }
}

// Both are due every 1770 ns. The third notification holds the first at 3.125 Gb/s, when it waits for its turn.
TEST(HostPacing, WhereTheRateOfTheFirstIsCutTheOtherLeavesWhenItIsDue) {
  constexpr Rate kPace = Rate::gbps(5);
  HostAndPuppet pair{host_config(1), Rate::gbps(25)};
  FlowConfig first = paced(0, kPacedLossy, kPace);
  first.transport = TransportKind::kReliable;
  first.reliable.congestion_control = ReactionParameters::paper();
  pair.host().add_flow(first);
  pair.host().add_flow(paced(1, kPacedLossy, kPace));
  for (const int64_t at : {20, 40, 60}) pair.puppet().say(us(at), cnp());
  pair.run(us(100));
  const Duration frame = Rate::gbps(25).time_of_frame(kPacedFrame);
  const Duration interval = kPace.time_of_frame(kPacedFrame);
  const auto starts = starts_of(pair.puppet(), 1);
  EXPECT_GE(starts.size() + 2, static_cast<size_t>(Duration::us(100) / interval)) << "some are still on the wire";
  for (int64_t i = 0; i < static_cast<int64_t>(starts.size()); ++i) {
    const Instant due = Instant{} + interval * i;
    ASSERT_GE(starts[static_cast<size_t>(i)], due);
    ASSERT_LE(starts[static_cast<size_t>(i)], due + frame) << "behind the frame on the wire at most";
    if (due < us(60)) {
      ASSERT_EQ(starts[static_cast<size_t>(i)], due + frame);
    }
  }
  EXPECT_EQ(pair.host().sent(0).reliable.rp_cnp_handled, 3u);
  EXPECT_LT(starts_of(pair.puppet(), 0).size(), starts.size() - 5);
}

// A frame begins at an instant at which something has changed for it, and at no other: it is due, the wire is free of
// the frame before, or a pause of its priority ends.
TEST(HostPacing, AFrameLeavesWhenItIsDueOrTheWireIsFreeOrAPauseEnds) {
  constexpr uint8_t kDscps[] = {3, 4, kPacedLossy};
  for (uint64_t round = 0; round < tests::to_repeat(50); ++round) {
    SCOPED_TRACE(tests::seed() * 1000 + round);
    Rng rng{tests::seed() * 1000 + round, 0};
    HostAndPuppet pair;
    std::vector<FlowConfig> flows;
    for (uint32_t id = 0; id < 6; ++id) {
      flows.push_back(paced(id, kDscps[rng.below(3)], Rate::gbps(5 << rng.below(3))));
      pair.host().add_flow(flows.back());
    }
    std::map<uint8_t, std::set<Instant>> ends;  // of pauses, by DSCP
    Instant at;
    for (int i = 0; i < 10; ++i) {
      at = at + Duration::ns(1 + static_cast<int64_t>(rng.below(20'000)));
      const auto mask = static_cast<uint8_t>((1 + rng.below(3)) << 3);
      const auto quanta = static_cast<uint16_t>(rng.below(3) * rng.below(2'000));
      pair.puppet().say(at, pfc_frame(mask, quanta));
      const Instant told = pair.arrival(at, mac_control::kFrameBytes);
      const Instant end = told + PauseTiming::of(Rate::gbps(100)).quantum * quanta;
      for (const uint8_t dscp : {uint8_t{3}, uint8_t{4}}) ends[dscp].insert(end);
    }
    pair.run(us(300));
    const Duration frame = Rate::gbps(100).time_of_frame(kPacedFrame);
    std::map<uint32_t, Instant> due;
    Instant free_at;
    for (const Heard& heard : pair.puppet().heard()) {
      const FlowConfig& flow = flows[load24(heard.bth() + bth::kDestinationQp) - flows[0].destination_qp];
      Instant& its = due[flow.id];
      const Duration interval = flow.rate.time_of_frame(kPacedFrame);
      const Instant start = heard.started;
      ASSERT_GE(start, std::max(its, free_at));
      ASSERT_TRUE(start == its || start == free_at || ends[flow.dscp].contains(start)) << start.count_ps();
      its = std::max(its, start - interval * 16) + interval;
      free_at = start + frame;
    }
    ASSERT_EQ(due.size(), flows.size());
  }
}

}  // namespace
}  // namespace softspine::testbeds
