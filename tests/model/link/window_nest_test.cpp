// SPDX-License-Identifier: Apache-2.0
// How windows nest: known fabrics, and random ones, whose nests are checked link by link.
#include "dataplane/engine/window_nest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;
using testing::ElementsAre;

constexpr Duration kShort = Duration::ns(22);
constexpr Duration kMiddle = Duration::ns(255);
constexpr Duration kLong = Duration::us(5);

WindowNest nest_on_one_worker(uint32_t nodes, const std::vector<NestLink>& links) {
  return nest_windows(std::vector<uint32_t>(nodes, 0), links);
}

TEST(WindowNest, ARackIsAGroupInItsFabric) {
  // Nodes 0 … 5: tor, host, host, of two racks; 6: the spine.
  const WindowNest nest = nest_on_one_worker(
      7, {{0, 1, kShort}, {0, 2, kShort}, {3, 4, kShort}, {3, 5, kShort}, {0, 6, kMiddle}, {3, 6, kMiddle}});
  EXPECT_EQ(nest.lookahead, kMiddle);
  EXPECT_THAT(nest.nodes, ElementsAre(6));
  ASSERT_EQ(nest.groups.size(), 2u);
  EXPECT_EQ(nest.groups[0].lookahead, kShort);
  EXPECT_THAT(nest.groups[0].nodes, ElementsAre(0, 1, 2));
  EXPECT_THAT(nest.groups[1].nodes, ElementsAre(3, 4, 5));
}

TEST(WindowNest, AHostOnTwoTorsMakesThemOneGroup) {
  const WindowNest nest =
      nest_on_one_worker(5, {{0, 2, kShort}, {1, 2, kShort}, {0, 3, kMiddle}, {1, 4, kMiddle}, {3, 4, kMiddle}});
  ASSERT_EQ(nest.groups.size(), 1u);
  EXPECT_THAT(nest.groups[0].nodes, ElementsAre(0, 1, 2));
  EXPECT_THAT(nest.nodes, ElementsAre(3, 4));
}

TEST(WindowNest, RacksAreInPodsInTheFabric) {
  std::vector<NestLink> links;
  for (uint32_t pod = 0; pod < 2; ++pod) {
    for (uint32_t rack = 0; rack < 2; ++rack) {
      links.push_back({pod * 5 + rack * 2, pod * 5 + rack * 2 + 1, kShort});
      links.push_back({pod * 5 + rack * 2, pod * 5 + 4, kMiddle});
    }
    links.push_back({pod * 5 + 4, 10, kLong});
  }
  const WindowNest nest = nest_on_one_worker(11, links);
  EXPECT_EQ(nest.lookahead, kLong);
  EXPECT_THAT(nest.nodes, ElementsAre(10));
  ASSERT_EQ(nest.groups.size(), 2u);
  EXPECT_EQ(nest.groups[1].lookahead, kMiddle);
  EXPECT_THAT(nest.groups[1].nodes, ElementsAre(9));
  ASSERT_EQ(nest.groups[1].groups.size(), 2u);
  EXPECT_EQ(nest.groups[1].groups[1].lookahead, kShort);
  EXPECT_THAT(nest.groups[1].groups[1].nodes, ElementsAre(7, 8));
}

TEST(WindowNest, CablesOfAboutOneLengthAreOneLevel) {
  const WindowNest nest =
      nest_on_one_worker(4, {{0, 1, Duration::ns(50)}, {1, 2, Duration::ns(70)}, {2, 3, Duration::ns(99)}});
  EXPECT_EQ(nest.lookahead, Duration::ns(50));
  EXPECT_TRUE(nest.groups.empty());
}

TEST(WindowNest, ACableBetweenWorkersIsInNoGroup) {
  const std::vector<NestLink> links{{0, 1, kShort}, {1, 2, kMiddle}, {2, 3, kShort}};
  EXPECT_EQ(nest_windows(std::vector<uint32_t>{0, 0, 1, 1}, links).groups.size(), 2u);
  const WindowNest cut = nest_windows(std::vector<uint32_t>{0, 1, 1, 1}, links);
  EXPECT_TRUE(cut.groups.empty());
  EXPECT_EQ(cut.lookahead, kShort);
}

TEST(WindowNest, NodesWithoutLinksWaitForNothing) {
  EXPECT_EQ(nest_on_one_worker(3, {}).lookahead, Duration::max());
  EXPECT_THAT(nest_on_one_worker(3, {}).nodes, ElementsAre(0, 1, 2));
  // Two pairs that have nothing to do with each other, on cables of different lengths.
  const WindowNest pairs = nest_on_one_worker(4, {{0, 1, kShort}, {2, 3, kLong}});
  EXPECT_EQ(pairs.lookahead, kLong);
  EXPECT_EQ(pairs.groups.size(), 1u);
}

// By node: the parts that hold it, from the outermost inwards, each named by its group and its place in it.
using Places = std::map<uint32_t, std::vector<std::pair<const WindowNest*, size_t>>>;
void add_places(const WindowNest& nest, std::vector<std::pair<const WindowNest*, size_t>> around, Places& out) {
  for (size_t i = 0; i < nest.nodes.size(); ++i) {
    auto place = around;
    place.emplace_back(&nest, i);
    EXPECT_TRUE(out.emplace(nest.nodes[i], place).second) << "node " << nest.nodes[i] << " is in two groups";
  }
  for (size_t g = 0; g < nest.groups.size(); ++g) {
    EXPECT_LT(nest.groups[g].lookahead, nest.lookahead) << "what nests has shorter windows";
    auto place = around;
    place.emplace_back(&nest, nest.nodes.size() + g);
    add_places(nest.groups[g], place, out);
  }
}

// Every link is heard of after the window that its ends share, and some link needs just that window.
TEST(WindowNest, NoLinkIsShorterThanTheWindowThatItsEndsShare) {
  Rng rng{seed(), 301};
  for (int round = 0; round < 2'000; ++round) {
    const auto nodes = static_cast<uint32_t>(2 + rng.below(30));
    std::vector<uint32_t> workers(nodes);
    const uint64_t workers_wanted = 1 + rng.below(3);
    for (uint32_t& worker : workers) worker = static_cast<uint32_t>(rng.below(workers_wanted));
    std::vector<NestLink> links(rng.below(60));
    for (NestLink& link : links) {
      link.a = static_cast<uint32_t>(rng.below(nodes));
      link.b = static_cast<uint32_t>((link.a + 1 + rng.below(nodes - 1)) % nodes);
      link.latency = Duration::ns(int64_t{1} << rng.below(14)) + Duration::ps(static_cast<int64_t>(rng.below(400)));
    }
    const WindowNest nest = nest_windows(workers, links);
    Places places;
    add_places(nest, {}, places);
    ASSERT_EQ(places.size(), nodes);
    std::map<const WindowNest*, Duration> shortest;
    for (const NestLink& link : links) {
      const auto [at_a, at_b] = std::ranges::mismatch(places[link.a], places[link.b]);
      ASSERT_EQ(at_a->first, at_b->first);
      ASSERT_GE(link.latency, at_a->first->lookahead);
      const auto [found, is_new] = shortest.emplace(at_a->first, link.latency);
      if (!is_new) found->second = std::min(found->second, link.latency);
      if (workers[link.a] != workers[link.b]) {
        EXPECT_EQ(at_a->first, &nest) << "workers meet between outermost windows only";
      }
    }
    for (const auto& [group, least] : shortest) EXPECT_EQ(group->lookahead, least) << "no shorter than it must be";
  }
}

}  // namespace
}  // namespace softspine::tests
