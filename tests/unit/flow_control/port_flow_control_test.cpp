// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flow_control/port_flow_control.hpp"

#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "tests/unit/flow_control/priority_three.hpp"

namespace softspine::dataplane {
namespace {

using tests::kStart;
using tests::kThree;

constexpr Rate kLine = Rate::gbps(100);
constexpr Duration kPropagation = Duration::ns(15);
constexpr MacAddress kMac{2, 0, 0, 0, 0, 1};
constexpr PfcFrame kXoff = PfcFrame::of(1 << 3, 0xffff);

PortFlowControl obeying(uint8_t priorities) {
  PortFlowControl port;
  port.plan(
      {.link = {.flow_control = LinkMode::kPfc, .pfc_response = Duration{}}, .pfc_enabled = priorities, .credit = {}},
      Instant{});
  return port;
}

TEST(PortFlowControl, BlocksEnabledPrioritiesAndOnlyCountsOthers) {
  PortFlowControl port = obeying(1 << 3);
  port.receive(PfcFrame::of(0x18, 0xffff), kLine, kStart);
  EXPECT_EQ(port.advance(kStart), 1 << 3);
  EXPECT_EQ(port.pfc_rx_frames(Priority{4}), 1u);
  EXPECT_EQ(port.pauses().paused_time(Priority{4}, kStart + Duration::us(9)), Duration{});
}

TEST(PortFlowControl, StopsAfterTheConfiguredResponseOrTheStandards) {
  PortFlowControl standard;
  standard.plan({.link = {.flow_control = LinkMode::kPfc, .pfc_response = {}}, .pfc_enabled = 0xff, .credit = {}},
                Instant{});
  standard.receive(kXoff, kLine, kStart);
  EXPECT_EQ(standard.next_change(), kStart + Duration::ps(2'017'280));  // 394 quanta of 5.12 ns: 802.3 at 100G
  PortFlowControl configured;
  configured.plan({.link = {.flow_control = LinkMode::kPfc, .pfc_response = Duration::ps(51'200)},
                   .pfc_enabled = 0xff,
                   .credit = {}},
                  Instant{});
  configured.receive(kXoff, kLine, kStart);
  EXPECT_EQ(configured.next_change(), kStart + Duration::ps(51'200));
}

TEST(PortFlowControl, IgnoredPausesBlockNothingAndAreStillInEffect) {
  PortFlowControl port = obeying(0xff);
  port.receive(kXoff, kLine, kStart);
  port.ignore(1 << 3, kStart + Duration::us(2));
  const Instant later = kStart + Duration::us(9);
  EXPECT_EQ(port.advance(later), 0);
  EXPECT_EQ(port.pauses().paused_time(kThree, later), Duration::us(9));
  EXPECT_EQ(port.pauses().stopped_time(kThree, later), Duration::us(2)) << "until they were ignored";
  port.ignore(0, later);
  EXPECT_EQ(port.advance(later), 1 << 3);
  EXPECT_EQ(port.pauses().stopped_time(kThree, later + Duration::us(1)), Duration::us(3));
}

// By PFC priority 3 stands still while one of priority 0 leaves; a link that is paused as a whole does not.
TEST(PortFlowControl, AFrameThatLeavesIsOfItsPriorityOrOfTheWholeLink) {
  PfcFrame pause = PfcFrame::of(0xff, 0xffff);
  pause.is_pause = true;
  for (const auto& [mode, frame, stands] :
       {std::tuple(LinkMode::kPfc, kXoff, Duration::us(9)), {LinkMode::kPause, pause, Duration::us(8)}}) {
    PortFlowControl port;
    port.plan({.link = {.flow_control = mode, .pfc_response = Duration{}}, .pfc_enabled = 0xff, .credit = {}},
              Instant{});
    port.leaves(1 << 0, kStart + Duration::us(1));
    port.receive(frame, kLine, kStart);
    EXPECT_EQ(port.pauses().stopped_time(kThree, kStart + Duration::us(9)), stands);
  }
}

TEST(PortFlowControl, WhatADeafPortReceivesIsCountedAndNotInEffect) {
  PortFlowControl port = obeying(0xff);
  port.receive(kXoff, kLine, kStart);
  ASSERT_EQ(port.advance(kStart), 1 << 3);
  const Instant deaf = kStart + Duration::us(1);
  port.make_deaf(1 << 3, deaf);
  EXPECT_EQ(port.blocked(), 0);
  port.receive(kXoff, kLine, deaf + Duration::us(1));
  EXPECT_EQ(port.advance(deaf + Duration::us(2)), 0);
  EXPECT_EQ(port.pauses().paused_time(kThree, deaf + Duration::us(9)), Duration::us(1)) << "until it turned deaf";
  EXPECT_EQ(port.pfc_rx_frames(kThree), 2u);
}

TEST(PortFlowControl, APortThatHearsAgainObeysWhatIsLeftOfAPause) {
  PortFlowControl port = obeying(0xff);
  port.make_deaf(0x18, kStart);
  port.receive(PfcFrame::of(0x18, 0xffff), kLine, kStart);
  port.receive(PfcFrame::of(1 << 4, 0), kLine, kStart + Duration::us(1));
  const Instant again = kStart + Duration::us(10);
  port.make_deaf(0, again);
  EXPECT_EQ(port.advance(again), 1 << 3) << "priority 4 was let go in the meantime";
  const Instant end = kStart + Duration::ps(65'535 * 5'120);  // quanta of 512 bits at 100G
  EXPECT_EQ(port.next_change(), end);
  EXPECT_EQ(port.advance(end), 0);
  EXPECT_EQ(port.pauses().paused_time(kThree, end), end - again);
}

TEST(PortFlowControl, APortThatHearsAgainObeysOnlyEnabledPriorities) {
  PortFlowControl port = obeying(1 << 3);
  port.make_deaf(0x18, kStart);
  port.receive(PfcFrame::of(0x18, 0xffff), kLine, kStart);
  const Instant again = kStart + Duration::us(10);
  port.make_deaf(0, again);
  EXPECT_EQ(port.advance(again), 1 << 3) << "priority 4 only counts";
}

TEST(PortFlowControl, ALinkThatGoesDownEndsPausesAndOwesNothing) {
  PortFlowControl port = obeying(0xff);
  port.receive(kXoff, kLine, kStart);
  port.raise_xoff(1 << 4, kStart);
  const Instant down = kStart + Duration::us(1);
  port.link_changed(false, down);
  EXPECT_EQ(port.blocked(), 0);
  EXPECT_TRUE(port.next_frame().is_never());
  const Instant up = down + Duration::us(1);
  port.link_changed(true, up);
  EXPECT_EQ(port.next_frame(), up);
}

TEST(PortFlowControl, WritesPfcBeforeCreditAndEachOnce) {
  PortFlowControl port;
  CreditPlan credit{.priorities = 1 << 4, .largest_frame = 1'500, .cell = CellSize{256}};
  credit.room[4] = 100;
  port.plan({.link = {.flow_control = LinkMode::kCredit, .pfc_response = {}}, .pfc_enabled = 0, .credit = credit},
            kStart);
  port.raise_xoff(1 << 3, kStart);
  std::array<uint8_t, mac_control::kFrameBytes> frame{};
  const FlowControlFrame first = port.make_frame(frame.data(), kMac, kLine, kPropagation, kStart);
  EXPECT_EQ(first.kind, FlowControlFrame::Kind::kPfc);
  EXPECT_EQ(first.remark, Remark::kXoff);
  EXPECT_EQ(read_pfc(frame.data(), frame.size()), kXoff);
  EXPECT_EQ(port.next_frame(), kStart) << "credit is owed, too";
  EXPECT_EQ(port.make_frame(frame.data(), kMac, kLine, kPropagation, kStart).kind, FlowControlFrame::Kind::kCredit);
  EXPECT_EQ(read_credit(frame.data(), frame.size())->limit[4], 100);
  EXPECT_EQ(port.next_frame(), kStart + CreditLink::kAskAfter) << "it has no credit itself yet, and asks";
  EXPECT_EQ(port.blocked(), 1 << 4);
}

TEST(PortFlowControl, PlansCreditOnlyWhereItsLinkGoesByCredit) {
  CreditPlan credit{.priorities = 1 << 4, .largest_frame = 1'500, .cell = CellSize{256}};
  credit.room[4] = 100;
  PortFlowControl port;
  port.plan({.link = {.flow_control = LinkMode::kPfc, .pfc_response = {}}, .pfc_enabled = 0xff, .credit = credit},
            kStart);
  EXPECT_FALSE(port.goes_by_credit());
  EXPECT_EQ(port.blocked(), 0) << "nothing waits for credit";
  EXPECT_TRUE(port.next_frame().is_never());
  port.plan({.link = {.flow_control = LinkMode::kCredit, .pfc_response = {}}, .pfc_enabled = 0, .credit = credit},
            kStart);
  EXPECT_TRUE(port.goes_by_credit());
  EXPECT_EQ(port.next_frame(), kStart);
}

TEST(PortFlowControl, AFrameThatCouldNotBeMadeIsDueAgainLater) {
  PortFlowControl port = obeying(0xff);
  port.raise_xoff(1 << 3, kStart);
  port.defer_frames(kStart + Duration::us(1));
  EXPECT_EQ(port.next_frame(), kStart + Duration::us(1));
}

TEST(PortFlowControl, SetXoffRaisesAndClearsToExactlyThat) {
  PortFlowControl port = obeying(0xff);
  port.set_xoff(0x18, kStart);
  std::array<uint8_t, mac_control::kFrameBytes> frame{};
  (void)port.make_frame(frame.data(), kMac, kLine, kPropagation, kStart);
  port.set_xoff(0x30, kStart);
  EXPECT_EQ(port.raised_xoff(), 0x30);
  (void)port.make_frame(frame.data(), kMac, kLine, kPropagation, kStart);
  EXPECT_EQ(read_pfc(frame.data(), frame.size())->enable, 0x38) << "XOFF for 4 and 5, XON for 3";
  port.set_xoff(0x30, kStart);
  EXPECT_GT(port.next_frame(), kStart) << "nothing has changed";
}

PortFlowControl of_whole_link() {
  PortFlowControl port;
  port.plan({.link = {.flow_control = LinkMode::kPause, .pfc_response = Duration{}}, .pfc_enabled = 0xff, .credit = {}},
            kStart);
  return port;
}

TEST(PortFlowControl, StopsTheWholeLinkOnceWhileAnyPrioritysXoffIsRaised) {
  PortFlowControl port = of_whole_link();
  std::array<uint8_t, mac_control::kFrameBytes> frame{};
  const auto made = [&] {
    EXPECT_EQ(port.make_frame(frame.data(), kMac, kLine, kPropagation, kStart).kind, FlowControlFrame::Kind::kPfc);
    const auto read = read_pfc(frame.data(), frame.size());
    EXPECT_TRUE(read->is_pause);
    return read->quanta[0];
  };
  port.raise_xoff(1 << 3, kStart);
  EXPECT_EQ(made(), 0xffff);
  port.raise_xoff(1 << 4, kStart);
  port.clear_xoff(1 << 3, kStart);
  EXPECT_GT(port.next_frame(), kStart) << "it stands still already, and for 4 it must";
  port.set_xoff(1 << 5, kStart);
  EXPECT_GT(port.next_frame(), kStart);
  EXPECT_EQ(port.raised_xoff(), 1 << 5);
  port.clear_xoff(1 << 5, kStart);
  EXPECT_EQ(made(), 0);
  EXPECT_EQ(port.pause_tx_frames(), 2u);
  EXPECT_EQ(port.pfc_tx_frames(Priority{3}), 0u) << "a PAUSE names no priority";
}

TEST(PortFlowControl, ObeysPauseForAllPrioritiesAndOnlyCountsPfcWhereTheLinkIsPaused) {
  PortFlowControl port = of_whole_link();
  port.receive(kXoff, kLine, kStart);
  EXPECT_EQ(port.advance(kStart), 0);
  EXPECT_EQ(port.pfc_rx_frames(kThree), 1u);
  PfcFrame pause = PfcFrame::of(0xff, 0xffff);
  pause.is_pause = true;
  port.receive(pause, kLine, kStart);
  EXPECT_EQ(port.advance(kStart), 0xff);
  EXPECT_EQ(port.pause_rx_frames(), 1u);
  EXPECT_EQ(port.pfc_rx_frames(kThree), 1u);
}

}  // namespace
}  // namespace softspine::dataplane
