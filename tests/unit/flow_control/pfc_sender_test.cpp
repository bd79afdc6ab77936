// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flow_control/pfc_sender.hpp"

#include <gtest/gtest.h>

#include <array>

#include "dataplane/units/rng.hpp"
#include "tests/unit/flow_control/priority_three.hpp"

namespace softspine::dataplane {
namespace {

using tests::kQuantum;
using tests::kStart;

TEST(PfcSender, OwesNothingUntilAnXoffIsRaised) {
  const PfcSender sender;
  EXPECT_TRUE(sender.due().is_never());
  EXPECT_EQ(sender.raised(), 0);
}

TEST(PfcSender, NamesWhatIsRaisedWithTheLongestTimeAndRepeatsItAtHalfOfThat) {
  PfcSender sender;
  sender.raise_xoff(0x18, kStart);
  EXPECT_EQ(sender.due(), kStart);
  EXPECT_EQ(sender.remark(), Remark::kXoff);
  const Instant sent = kStart + Duration::ns(100);
  EXPECT_EQ(sender.make(sent, kQuantum), PfcFrame::of(0x18, 0xffff));
  EXPECT_EQ(sender.due(), sent + kQuantum * 32767);
  EXPECT_EQ(sender.remark(), Remark::kXoffAgain);
  EXPECT_EQ(sender.make(sender.due(), kQuantum), PfcFrame::of(0x18, 0xffff));
  EXPECT_EQ(sender.frames(Priority{3}), 2u);
  EXPECT_EQ(sender.frames(Priority{5}), 0u);
}

TEST(PfcSender, NamesWhatWasClearedWithTimeZeroOnce) {
  PfcSender sender;
  sender.raise_xoff(0x18, kStart);
  (void)sender.make(kStart, kQuantum);
  sender.clear_xoff(0x08, kStart + kQuantum);
  EXPECT_EQ(sender.due(), kStart + kQuantum);
  EXPECT_EQ(sender.remark(), Remark::kXon);
  const PfcFrame frame = sender.make(kStart + kQuantum, kQuantum);
  EXPECT_EQ(frame.enable, 0x18);
  EXPECT_EQ(frame.quanta[3], 0);
  EXPECT_EQ(frame.quanta[4], 0xffff);
  EXPECT_EQ(sender.make(kStart + kQuantum, kQuantum).enable, 0x10);
}

TEST(PfcSender, AnXoffThatIsClearedBeforeAFrameAnnouncedItIsOwedToNobody) {
  PfcSender sender;
  sender.raise_xoff(0x08, kStart);
  sender.clear_xoff(0x08, kStart);
  EXPECT_TRUE(sender.due().is_never());
  sender.raise_xoff(0x18, kStart);
  sender.clear_xoff(0x08, kStart);
  EXPECT_EQ(sender.make(kStart, kQuantum), PfcFrame::of(0x10, 0xffff)) << "priority 3 is not named";
}

TEST(PfcSender, OwesNothingMoreOnceItFellSilent) {
  PfcSender sender;
  sender.raise_xoff(0x08, kStart);
  (void)sender.make(kStart, kQuantum);
  sender.forget();
  EXPECT_TRUE(sender.due().is_never()) << "not even an XON";
  sender.raise_xoff(0x08, kStart);
  sender.clear_xoff(0x08, kStart);
  EXPECT_TRUE(sender.due().is_never());
}

TEST(PfcSender, OwesNothingWhileTheLinkIsDownAndAnnouncesAnewWhenItIsBack) {
  PfcSender sender;
  sender.raise_xoff(0x18, kStart);
  (void)sender.make(kStart, kQuantum);
  sender.restart(false, kStart);
  EXPECT_TRUE(sender.due().is_never());
  sender.clear_xoff(0x08, kStart + kQuantum);
  EXPECT_TRUE(sender.due().is_never());
  const Instant back = kStart + kQuantum * 2;
  sender.restart(true, back);
  EXPECT_EQ(sender.due(), back);
  EXPECT_EQ(sender.make(back, kQuantum), PfcFrame::of(0x10, 0xffff)) << "the neighbour has forgotten priority 3 itself";
}

// The reference keeps what the neighbour believes, by 802.1Qbb, and compares whenever no frame is owed.
TEST(PfcSender, TheNeighbourAlwaysEndsUpWithWhatIsRaised) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng{seed, 0};
    PfcSender sender;
    std::array<Instant, kPriorities> believed{};  // paused until
    uint8_t raised = 0;
    Instant now = kStart;
    for (int step = 0; step < 2'000; ++step) {
      now = now + kQuantum * static_cast<int64_t>(1 + rng.below(20'000));
      while (sender.due() <= now) {
        const Instant at = std::max(sender.due(), kStart);
        const PfcFrame frame = sender.make(at, kQuantum);
        ASSERT_NE(frame.enable, 0) << "a frame names somebody, seed " << seed;
        for (size_t p = 0; p < kPriorities; ++p) {
          if ((frame.enable >> p & 1) != 0) believed[p] = at + kQuantum * frame.quanta[p];
        }
      }
      for (size_t p = 0; p < kPriorities; ++p) ASSERT_EQ(believed[p] > now, (raised >> p & 1) != 0) << "seed " << seed;
      const auto some = static_cast<uint8_t>(rng.below(256));
      if (rng.below(2) == 0) {
        sender.raise_xoff(some, now);
        raised |= some;
      } else {
        sender.clear_xoff(some, now);
        raised &= static_cast<uint8_t>(~some);
      }
      ASSERT_EQ(sender.raised(), raised);
    }
  }
}

}  // namespace
}  // namespace softspine::dataplane
