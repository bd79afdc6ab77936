// SPDX-License-Identifier: Apache-2.0
// Headroom and pause times against 802.3's numbers, and against the worst that a sender may do, laid out frame by
// frame.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dataplane/buffer/headroom.hpp"
#include "dataplane/flow_control/pause_timing.hpp"
#include "dataplane/units/clock_offset.hpp"

namespace softspine::dataplane {
namespace {

HeadroomQuestion question(uint64_t gbps, uint32_t metres, uint32_t mtu, uint32_t cell) {
  const Rate rate = Rate::gbps(gbps);
  return {.rate = rate,
          .propagation = Duration::ps(int64_t{metres} * 5'050),
          .largest_frame = mtu + 18,
          .smallest_frame = 60,
          .cell = CellSize{cell},
          .response = PauseTiming::of(rate).response};
}

// A largest frame makes the group say XOFF; frames of one size follow without a gap as long as one may begin; the last
// that begins is a largest one, begun within the pause loop. All in whole cells, by division.
uint64_t worst_mix(const HeadroomQuestion& q) {
  const auto cells = [&](uint64_t bytes) { return (bytes + q.cell.bytes() - 1) / q.cell.bytes(); };
  const auto time = [&](uint64_t bytes) {  // FCS, preamble and gap
    return static_cast<double>(bytes + 24) * 8e12 / static_cast<double>(q.rate.count_bps());
  };
  const double loop =
      time(q.largest_frame) + time(60) + static_cast<double>(2 * q.propagation.count_ps() + q.response.count_ps());
  uint64_t most = 0;
  for (uint32_t bytes = 60; bytes <= q.largest_frame; ++bytes) {
    const double before_the_last = std::floor((loop - 1) / time(bytes));
    most = std::max(most, static_cast<uint64_t>(before_the_last) * cells(bytes));
  }
  return most + 2 * cells(q.largest_frame);
}

TEST(HeadroomFormula, HoldsTheWorstMixOfFramesAndHardlyMore) {
  for (const uint64_t gbps : {10, 25, 40, 100, 200, 400, 800}) {
    for (const uint32_t metres : {1U, 40U, 300U, 10'000U}) {
      for (const auto& [mtu, cell] : {std::pair{1'500U, 208U}, {9'100U, 256U}, {9'216U, 384U}}) {
        const HeadroomQuestion q = question(gbps, metres, mtu, cell);
        const uint64_t needed = worst_mix(q);
        const uint64_t found = headroom_cells(q);
        EXPECT_GE(found, needed) << gbps << "G " << metres << " m MTU " << mtu;
        EXPECT_LE(found, needed + 2 + needed / 500) << gbps << "G " << metres << " m MTU " << mtu;
      }
    }
  }
}

// Our frames take longer by our slow clock, and so the loop; the peer's take less by its fast one. At 800G over 10 km
// that is 15 KB in 104 MB.
TEST(HeadroomFormula, HoldsTheWorstMixBetweenASlowClockAndAFastOne) {
  for (const auto& [gbps, metres] : {std::pair{100U, 40U}, {100U, 10'000U}, {400U, 300U}, {800U, 10'000U}}) {
    HeadroomQuestion here = question(gbps, metres, 9'100, 256);
    HeadroomQuestion slow = here;
    slow.rate = ClockOffset::ppb(-100'000).of(here.rate);
    HeadroomQuestion fast = here;
    fast.rate = ClockOffset::ppb(100'000).of(here.rate);
    fast.response = fast.response + (pause_loop(slow) - pause_loop(fast));  // the loop lasts as long as it does here
    const uint64_t needed = worst_mix(fast);
    here.clock_ppm = 100;
    EXPECT_GE(headroom_cells(here), needed) << gbps << "G " << metres << " m";
    EXPECT_LE(headroom_cells(here), needed + 3 + needed / 500) << gbps << "G " << metres << " m";
  }
  HeadroomQuestion far = question(800, 10'000, 9'100, 256);
  const uint64_t exact = headroom_cells(far);
  far.clock_ppm = 100;
  EXPECT_NEAR(static_cast<double>(headroom_cells(far) - exact), static_cast<double>(exact) * 2e-4, 2);
}

// 512 bit times, and 31B.3.7's response: what it allows at the rate itself, and at the next higher one in between.
TEST(PauseTiming, IsThatOf8023) {
  EXPECT_EQ(pause_quantum(Rate::gbps(100)), Duration::ps(5'120));
  EXPECT_EQ(pause_quantum(Rate::gbps(400)), Duration::ps(1'280));
  EXPECT_EQ(pause_quantum(Rate::gbps(1)), Duration::ns(512));
  const std::pair<uint64_t, uint32_t> table[] = {{1, 2},     {10, 67},   {25, 80},   {40, 118}, {50, 147},
                                                 {100, 394}, {200, 453}, {400, 905}, {800, 905}};
  for (const auto& [gbps, quanta] : table) {
    EXPECT_EQ(pause_response_quanta(Rate::gbps(gbps)), quanta) << gbps;
    EXPECT_EQ(PauseTiming::of(Rate::gbps(gbps)).response, pause_quantum(Rate::gbps(gbps)) * quanta) << gbps;
  }
  EXPECT_EQ(pause_response_quanta(Rate::gbps(5)), 67u);
  EXPECT_EQ(pause_response_quanta(Rate::gbps(60)), 394u);
  EXPECT_EQ(PauseTiming::of(Rate::gbps(100)).response, Duration::ps(394 * 5'120));
}

}  // namespace
}  // namespace softspine::dataplane
