// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/deadlock.hpp"

#include <gtest/gtest.h>

namespace softspine::control {
namespace {

using dataplane::Instant;
using dataplane::PortNo;
using dataplane::Priority;
using dataplane::StuckQueue;

// Switches s0 … s(n−1) in a ring: port 0 of each leads to port 1 of the next.
Fabric ring_of(uint32_t n) {
  Fabric fabric;
  for (uint32_t i = 0; i < n; ++i) {
    FabricNode node{.name = "s" + std::to_string(i), .kind = NodeKind::kSwitch};
    node.ports = {{.name = "Ethernet0", .link = i}, {.name = "Ethernet4", .link = (i + n - 1) % n}};
    fabric.nodes.push_back(node);
    fabric.links.push_back({.a = {i, 0}, .b = {(i + 1) % n, 1}});
  }
  return fabric;
}
StuckQueue stuck(uint64_t sent, uint8_t priority = 3) {
  return {.port = PortNo{0}, .priority = Priority{priority}, .sent_packets = sent};
}
using Stuck = std::vector<DeadlockWatch::StuckSwitch>;

// What waits has come in from the switch behind.
std::vector<PortNo> from_behind(const WaitingQueue&) {
  return {PortNo{1}};
}

TEST(DeadlockWatch, NamesTheCircleOnceItHasNotMovedBetweenTwoLooks) {
  const Fabric fabric = ring_of(3);
  DeadlockWatch watch{fabric};
  const Stuck all{{0, {stuck(5)}}, {1, {stuck(7)}}, {2, {stuck(9)}}};
  EXPECT_TRUE(watch.look(all, from_behind, Instant::at_ps(1)).empty());
  const auto found = watch.look(all, from_behind, Instant::at_ps(2));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].found, Instant::at_ps(2));
  EXPECT_EQ(found[0].text(fabric), "s0:Ethernet0 → s1:Ethernet0 → s2:Ethernet0 → s0, priority 3");
  EXPECT_TRUE(watch.look(all, from_behind, Instant::at_ps(3)).empty()) << "told once";
  EXPECT_TRUE(watch.look({}, from_behind, Instant::at_ps(4)).empty());
  EXPECT_TRUE(watch.look(all, from_behind, Instant::at_ps(5)).empty());
  EXPECT_EQ(watch.look(all, from_behind, Instant::at_ps(6)).size(), 1u) << "again when it is back";
}

TEST(DeadlockWatch, AQueueThatMovesBreaksTheCircle) {
  const Fabric fabric = ring_of(3);
  DeadlockWatch watch{fabric};
  for (uint64_t i = 0; i < 5; ++i) {
    const Stuck all{{0, {stuck(5)}}, {1, {stuck(i)}}, {2, {stuck(9)}}};
    EXPECT_TRUE(watch.look(all, from_behind, Instant::at_ps(1)).empty());
  }
}

TEST(DeadlockWatch, WhatCameInElsewhereOrOfAnotherPriorityMakesNoCircle) {
  const Fabric fabric = ring_of(3);
  DeadlockWatch watch{fabric};
  const Stuck elsewhere{{0, {stuck(5)}}, {1, {stuck(7)}}, {2, {stuck(9)}}};
  const Stuck priority{{0, {stuck(5)}}, {1, {stuck(7, 4)}}, {2, {stuck(9)}}};
  const auto by_another = [](const WaitingQueue& queue) {
    return std::vector<PortNo>{PortNo{queue.port.node == 1 ? uint16_t{5} : uint16_t{1}}};
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(watch.look(elsewhere, by_another, Instant::at_ps(1)).empty());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(watch.look(priority, from_behind, Instant::at_ps(1)).empty());
}

TEST(DeadlockWatch, AChainOfPausesIsNoDeadlock) {
  const Fabric fabric = ring_of(4);
  DeadlockWatch watch{fabric};
  const Stuck chain{{0, {stuck(5)}}, {1, {stuck(7)}}, {2, {stuck(9)}}};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(watch.look(chain, from_behind, Instant::at_ps(1)).empty());
}

// A storm holds thousands of packets in queues that do not move: they are not looked through for nothing.
TEST(DeadlockWatch, AsksForSourcesOnlyWhereACircleCouldBe) {
  const Fabric fabric = ring_of(4);
  int asked = 0;
  const auto counted = [&](const WaitingQueue& queue) {
    ++asked;
    return from_behind(queue);
  };
  DeadlockWatch watch{fabric};
  const Stuck chain{{0, {stuck(5)}}, {1, {stuck(7)}}, {2, {stuck(9)}}};
  for (int i = 0; i < 3; ++i) watch.look(chain, counted, Instant::at_ps(1));
  EXPECT_EQ(asked, 0) << "the last waits for nobody, so no one does in a circle";
  const Stuck ring{{0, {stuck(5)}}, {1, {stuck(7)}}, {2, {stuck(9)}}, {3, {stuck(11)}}};
  watch.look(ring, counted, Instant::at_ps(2));
  EXPECT_EQ(asked, 0) << "the fourth was not stuck before";
  EXPECT_EQ(watch.look(ring, counted, Instant::at_ps(3)).size(), 1u);
  EXPECT_EQ(asked, 4);
}

}  // namespace
}  // namespace softspine::control
