// SPDX-License-Identifier: Apache-2.0
// Roots by counters alone, against what can be reasoned of small fabrics by hand.
#include "analysis/storm/counted_roots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace softspine::analysis::storm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Of priority 3; the others were counted, and nothing was there.
PortCounts counts(uint64_t tx, uint64_t rx) {
  PortCounts out;
  out.fill({.tx_frames = 0, .rx_frames = 0, .rx_times = {}, .tx_us = {}, .rx_us = {}});
  out[3] = {.tx_frames = tx, .rx_frames = rx, .rx_times = {}, .tx_us = {}, .rx_us = {}};
  return out;
}

CountedNode switch_of(const std::string& name, uint32_t known_ports, std::map<std::string, PortCounts> ports) {
  return {.name = name, .known_ports = known_ports, .ports = std::move(ports)};
}

CountedNode host(const std::string& name, const PortCounts& eth0) {
  return {.name = name, .is_host = true, .known_ports = 1, .ports = {{"eth0", eth0}}};
}

void join(CountedFabric& fabric, const std::string& a, const std::string& b) {
  fabric.peers[a] = b;
  fabric.peers[b] = a;
}

Suspicion suspicion_of(const CountedVerdict& verdict, const std::string& node) {
  return std::ranges::find(verdict.suspects, node, &CountedSuspect::node)->suspicion;
}

TEST(CountedRoots, AreTheOneThatAskedWhereAllOthersOnlyPassedItOn) {
  CountedFabric fabric;
  fabric.nodes = {host("h1", counts(100, 0)), switch_of("tor1", 2, {{"a", counts(0, 100)}, {"b", counts(50, 0)}}),
                  host("h2", counts(0, 50))};
  join(fabric, "h1:eth0", "tor1:a");
  join(fabric, "h2:eth0", "tor1:b");
  const CountedVerdict found = judge_counts(fabric);
  EXPECT_EQ(suspicion_of(found, "h1"), Suspicion::kCan);
  EXPECT_EQ(suspicion_of(found, "tor1"), Suspicion::kUnknown) << "it may be congested besides";
  EXPECT_EQ(suspicion_of(found, "h2"), Suspicion::kCannot);
  EXPECT_THAT(found.roots, IsEmpty()) << "tor1 is not excluded";
  EXPECT_THAT(found.notes, IsEmpty());
}

// It asked its neighbour and was asked by it: no other port of it was paused.
TEST(CountedRoots, MayBePausedByWhomTheyPause) {
  CountedFabric fabric;
  fabric.nodes = {switch_of("tor1", 2, {{"a", counts(100, 7)}, {"b", counts(0, 0)}}),
                  switch_of("tor2", 1, {{"z", counts(0, 100)}})};
  const CountedVerdict found = judge_counts(fabric);
  EXPECT_EQ(suspicion_of(found, "tor1"), Suspicion::kCan);
}

TEST(CountedRoots, AreNoneWhereTheOnlySuspectIsUnknown) {
  CountedFabric fabric;
  fabric.nodes = {switch_of("tor1", 3, {{"a", counts(100, 0)}}), host("h1", counts(0, 100))};
  const CountedVerdict found = judge_counts(fabric);
  EXPECT_EQ(found.suspects.front().node, "tor1");
  EXPECT_EQ(found.suspects.front().why, "1 of its 3 ports are counted");
  EXPECT_THAT(found.roots, IsEmpty());
}

TEST(CountedRoots, AreNamedWithTheirPriority) {
  CountedFabric fabric;
  fabric.nodes = {host("h1", counts(100, 0)), switch_of("tor1", 1, {{"a", counts(0, 100)}})};
  EXPECT_THAT(judge_counts(fabric).roots, ElementsAre("h1, priority 3"));
  join(fabric, "h1:eth0", "tor1:a");
  EXPECT_THAT(judge_counts(fabric).roots, ElementsAre("h1, priority 3"));
}

// 802.3x stops all priorities: judged by itself.
TEST(CountedRoots, OfLinkLevelPauseAreNamedSo) {
  PortCounts asks;
  asks[kWholeLink] = {.tx_frames = 100, .rx_frames = 0, .rx_times = {}, .tx_us = {}, .rx_us = {}};
  PortCounts is_asked;
  is_asked[kWholeLink] = {.tx_frames = 0, .rx_frames = 100, .rx_times = {}, .tx_us = {}, .rx_us = {}};
  CountedFabric fabric;
  fabric.nodes = {host("h1", asks), switch_of("tor1", 1, {{"a", is_asked}})};
  join(fabric, "h1:eth0", "tor1:a");
  const CountedVerdict found = judge_counts(fabric);
  EXPECT_THAT(found.roots, ElementsAre("h1, link-level PAUSE"));
  ASSERT_EQ(found.suspects.size(), 2u);
  EXPECT_EQ(found.suspects.front().priority, kWholeLink);
}

// A history counts how often pauses began: as good a sign of them as frames.
TEST(CountedRoots, WhereAPauseBeganAFrameHasCome) {
  PortCounts is_asked = counts(0, 0);
  is_asked[3].rx_times = 6;
  CountedFabric fabric;
  fabric.nodes = {switch_of("tor1", 2, {{"a", counts(100, 0)}, {"b", is_asked}})};
  const CountedVerdict found = judge_counts(fabric);
  EXPECT_EQ(found.suspects.front().was_asked, 6u);
  EXPECT_THAT(found.suspects.front().why, HasSubstr("was paused at b"));
}

// tor2 may be the root of anything: neither it nor what is at the other end of its links was read.
TEST(CountedRoots, AreNoneWhileANodeWasNotRead) {
  CountedFabric fabric;
  fabric.nodes = {host("h1", counts(100, 0)), switch_of("tor1", 1, {{"a", counts(0, 100)}}), switch_of("tor2", 2, {})};
  join(fabric, "h1:eth0", "tor1:a");
  const CountedVerdict found = judge_counts(fabric);
  EXPECT_THAT(found.unread, ElementsAre("tor2"));
  EXPECT_THAT(found.roots, IsEmpty());
}

// What tor1 counted of h1 stands for h1.
TEST(CountedRoots, AreSeenFromTheOtherEndWhereTheyWereNotRead) {
  CountedFabric fabric;
  fabric.nodes = {{.name = "h1", .is_host = true, .known_ports = 1, .ports = {}, .is_read = false},
                  switch_of("tor1", 1, {{"a", counts(0, 100)}})};
  join(fabric, "h1:eth0", "tor1:a");
  const CountedVerdict found = judge_counts(fabric);
  EXPECT_THAT(found.unread, IsEmpty());
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_THAT(found.roots, ElementsAre("h1, priority 3"));
  EXPECT_EQ(found.suspects.front().why, "a host, by what its neighbour counted");
  EXPECT_EQ(found.suspects.front().asked, 100u);
}

// A tenth and 2 of 1,000 are allowed.
TEST(CountedRoots, AreNoneWhereTheEndsOfALinkDisagree) {
  for (const auto& [received, do_agree] : {std::pair{898, true}, {897, false}}) {
    CountedFabric fabric;
    fabric.nodes = {host("h1", counts(1'000, 0)),
                    switch_of("tor1", 1, {{"a", counts(0, static_cast<uint64_t>(received))}})};
    join(fabric, "h1:eth0", "tor1:a");
    const CountedVerdict found = judge_counts(fabric);
    EXPECT_EQ(found.roots.size(), do_agree ? 1u : 0u) << received;
    if (do_agree) continue;
    EXPECT_THAT(found.notes, ElementsAre(HasSubstr("h1:eth0 sent 1000 pause frames of priority 3, tor1:a received")));
  }
}

// tor1 received more than h1 sent: somebody else sends, too, and its links are not known.
TEST(CountedRoots, AreNoneWhereMoreWasReceivedThanTheyCanHaveSent) {
  CountedFabric fabric;
  fabric.nodes = {host("h1", counts(100, 0)), switch_of("tor1", 1, {{"a", counts(0, 150)}})};
  const CountedVerdict found = judge_counts(fabric);
  EXPECT_THAT(found.roots, IsEmpty());
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("100 were sent by what was read, 150 received")));
}

}  // namespace
}  // namespace softspine::analysis::storm
