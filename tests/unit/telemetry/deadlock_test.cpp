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
// Port 0, paused, holding what came in by `from`.
StuckQueue stuck(uint64_t sent, std::vector<PortNo> from, uint8_t priority = 3) {
  return {.port = PortNo{0}, .priority = Priority{priority}, .sent_packets = sent, .from = std::move(from)};
}
using Stuck = std::vector<DeadlockWatch::StuckSwitch>;

constexpr PortNo kBehind{1};

TEST(DeadlockWatch, NamesTheCircleOnceItHasNotMovedBetweenTwoLooks) {
  const Fabric fabric = ring_of(3);
  DeadlockWatch watch{fabric};
  const Stuck all{{0, {stuck(5, {kBehind})}}, {1, {stuck(7, {kBehind})}}, {2, {stuck(9, {kBehind})}}};
  EXPECT_TRUE(watch.look(all, Instant::at_ps(1)).empty());
  const auto found = watch.look(all, Instant::at_ps(2));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].found, Instant::at_ps(2));
  EXPECT_EQ(found[0].text(fabric), "s0:Ethernet0 → s1:Ethernet0 → s2:Ethernet0 → s0, priority 3");
  EXPECT_TRUE(watch.look(all, Instant::at_ps(3)).empty()) << "told once";
  EXPECT_TRUE(watch.look({}, Instant::at_ps(4)).empty());
  EXPECT_TRUE(watch.look(all, Instant::at_ps(5)).empty());
  EXPECT_EQ(watch.look(all, Instant::at_ps(6)).size(), 1u) << "again when it is back";
}

TEST(DeadlockWatch, AQueueThatMovesBreaksTheCircle) {
  const Fabric fabric = ring_of(3);
  DeadlockWatch watch{fabric};
  for (uint64_t i = 0; i < 5; ++i) {
    const Stuck all{{0, {stuck(5, {kBehind})}}, {1, {stuck(i, {kBehind})}}, {2, {stuck(9, {kBehind})}}};
    EXPECT_TRUE(watch.look(all, Instant::at_ps(1)).empty());
  }
}

TEST(DeadlockWatch, WhatCameInElsewhereOrOfAnotherPriorityMakesNoCircle) {
  const Fabric fabric = ring_of(3);
  DeadlockWatch watch{fabric};
  const Stuck elsewhere{{0, {stuck(5, {kBehind})}}, {1, {stuck(7, {PortNo{5}})}}, {2, {stuck(9, {kBehind})}}};
  const Stuck priority{{0, {stuck(5, {kBehind})}}, {1, {stuck(7, {kBehind}, 4)}}, {2, {stuck(9, {kBehind})}}};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(watch.look(elsewhere, Instant::at_ps(1)).empty());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(watch.look(priority, Instant::at_ps(1)).empty());
}

TEST(DeadlockWatch, AChainOfPausesIsNoDeadlock) {
  const Fabric fabric = ring_of(4);
  DeadlockWatch watch{fabric};
  const Stuck chain{{0, {stuck(5, {kBehind})}}, {1, {stuck(7, {kBehind})}}, {2, {stuck(9, {kBehind})}}};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(watch.look(chain, Instant::at_ps(1)).empty());
}

}  // namespace
}  // namespace softspine::control
