// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/pause_frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/storm/pause_timer.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Instant;
using dataplane::Rate;

using Frame = std::vector<uint8_t>;

Frame frame_of(const Frame& from_type_on) {
  Frame out(60);
  std::ranges::copy(std::array<uint8_t, 12>{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x00, 0x5e, 0x10, 0x20, 0x30},
                    out.begin());
  std::ranges::copy(from_type_on, out.begin() + 12);
  return out;
}

TEST(PauseFrame, ReadsPfcByteForByte) {
  const Frame frame = frame_of({0x88, 0x08, 0x01, 0x01, 0x00, 0x18, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0x12, 0x34});
  PauseFrame out;
  ASSERT_EQ(read_pause_frame(frame, out), MacControl::kPause);
  EXPECT_EQ(mac_text(out.source), "02:00:5e:10:20:30");
  EXPECT_EQ(out.enabled, 0x18);
  EXPECT_EQ(out.quanta, (std::array<uint16_t, 9>{0, 0, 0, 0xffff, 0x1234, 0, 0, 0, 0}));
}

TEST(PauseFrame, TakesPauseAsAClassOfItsOwn) {
  PauseFrame out;
  ASSERT_EQ(read_pause_frame(frame_of({0x88, 0x08, 0x00, 0x01, 0x00, 0x40}), out), MacControl::kPause);
  EXPECT_EQ(out.enabled, 1 << kAllPriorities);
  EXPECT_EQ(out.quanta[kAllPriorities], 0x40);
}

TEST(PauseFrame, LooksNotAtReservedBits) {
  PauseFrame out;
  ASSERT_EQ(read_pause_frame(frame_of({0x88, 0x08, 0x01, 0x01, 0xff, 0x01, 0, 9}), out), MacControl::kPause);
  EXPECT_EQ(out.enabled, 1);
}

TEST(PauseFrame, TellsCutFramesAndOtherOpcodesFromPauses) {
  PauseFrame out;
  const Frame pfc = frame_of({0x88, 0x08, 0x01, 0x01, 0x00, 0x08});
  const Frame pause = frame_of({0x88, 0x08, 0x00, 0x01, 0x00, 0x08});
  for (size_t bytes = 0; bytes <= pfc.size(); ++bytes) {
    const auto known = [bytes](size_t whole) {
      return bytes < 14 ? MacControl::kNone : bytes < whole ? MacControl::kCut : MacControl::kPause;
    };
    EXPECT_EQ(read_pause_frame(std::span{pfc}.first(bytes), out), known(34)) << bytes;
    EXPECT_EQ(read_pause_frame(std::span{pause}.first(bytes), out), known(18)) << bytes;
  }
  EXPECT_EQ(read_pause_frame(frame_of({0x88, 0x08, 0x00, 0x02}), out), MacControl::kOther);
  EXPECT_EQ(read_pause_frame(frame_of({0x88, 0x08, 0xff, 0xff}), out), MacControl::kOther);
  EXPECT_EQ(read_pause_frame(frame_of({0x08, 0x00, 0x88, 0x08, 0x01, 0x01}), out), MacControl::kNone);
}

// At 100G a quantum is 5.12 ns: 1000 of them are 5.12 us.
constexpr int64_t kThousandPs = 5'120'000;

Instant us(int64_t n) {
  return Instant::at_ps(n * 1'000'000);
}

TEST(PauseTimer, LastsFromXoffToXon) {
  PauseTimer timer{Rate::gbps(100)};
  EXPECT_FALSE(timer.take(us(1), 0xffff));
  EXPECT_FALSE(timer.take(us(100), 0xffff));
  const auto span = timer.take(us(150), 0);
  ASSERT_TRUE(span);
  EXPECT_EQ(span->begin, us(1));
  EXPECT_EQ(span->end, us(150));
  EXPECT_EQ(span->frames, 2u);
  EXPECT_EQ(span->how, PauseEnd::kXon);
  EXPECT_FALSE(timer.take(us(160), 0)) << "XON without a pause";
  EXPECT_FALSE(timer.finish(us(1'000)));
}

TEST(PauseTimer, LapsesWhenNoRefreshComes) {
  PauseTimer timer{Rate::gbps(100)};
  EXPECT_FALSE(timer.take(us(0), 1000));
  EXPECT_FALSE(timer.take(us(5), 1000)) << "5.12 us are not over";
  const auto first = timer.take(us(11), 1000);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->end.count_ps(), 5'000'000 + kThousandPs);
  EXPECT_EQ(first->how, PauseEnd::kLapsed);
  EXPECT_EQ(first->frames, 2u);
  const auto second = timer.take(us(30), 0);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->begin, us(11));
  EXPECT_EQ(second->end.count_ps(), 11'000'000 + kThousandPs)
      << "an XON after the end shortens nothing, lengthens nothing";
  EXPECT_EQ(second->how, PauseEnd::kLapsed);
}

TEST(PauseTimer, IsSetAnewByAShorterTime) {
  PauseTimer timer{Rate::gbps(100)};
  EXPECT_FALSE(timer.take(us(0), 0xffff));
  EXPECT_FALSE(timer.take(us(1), 1000));
  const auto span = timer.finish(us(100));
  ASSERT_TRUE(span);
  EXPECT_EQ(span->end.count_ps(), 1'000'000 + kThousandPs);
}

TEST(PauseTimer, IsOpenWhereTheCaptureEnds) {
  PauseTimer timer{Rate::gbps(100)};
  EXPECT_FALSE(timer.take(us(0), 0xffff));
  const auto span = timer.finish(us(7));
  ASSERT_TRUE(span);
  EXPECT_EQ(span->end, us(7));
  EXPECT_EQ(span->how, PauseEnd::kOpen);
}

TEST(PauseTimer, WithoutARateLastsToItsLastRefreshAtMost) {
  PauseTimer timer{Rate{}};
  EXPECT_FALSE(timer.take(us(0), 0xffff));
  EXPECT_FALSE(timer.take(us(30'000), 0xffff)) << "33.6 ms at 1 Gb/s";
  const auto lapsed = timer.take(us(90'000), 0xffff);
  ASSERT_TRUE(lapsed);
  EXPECT_EQ(lapsed->end, us(30'000));
  const auto by_xon = timer.take(us(100'000), 0);
  ASSERT_TRUE(by_xon);
  EXPECT_EQ(by_xon->end, us(100'000));
}

}  // namespace
}  // namespace softspine::analysis::storm
