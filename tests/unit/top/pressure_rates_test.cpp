// SPDX-License-Identifier: Apache-2.0
// Rates and ranks of two looks at a fabric: exact values, and drawn looks beside a slow reference.
#include "control/report/pressure_rates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/harness/seed.hpp"

namespace softspine::control {
namespace {

// Port 0 and port 1 are each other's peers.
PortMap two_ports() {
  return {.testbed = "t",
          .ports = {{.name = "a:0", .peer = 1, .rate_bps = 100'000'000'000},
                    {.name = "b:0", .peer = 0, .rate_bps = 100'000'000'000}}};
}

FabricPressure look(uint64_t at_ps) {
  return {.at_ps = at_ps, .ports = std::vector<PortPressure>(2)};
}

TEST(PressureRates, AreThoseOfTheTimeBetweenTheLooks) {
  FabricPressure before = look(1'000'000'000);  // 1 ms
  FabricPressure now = look(3'000'000'000);     // 3 ms
  PortPressure& old = before.ports[0];
  PortPressure& is = now.ports[0];
  old.tx_bytes = 1'000;
  is.tx_bytes = 12'501'000;  // 12.5 MB in 2 ms: 50 Gb/s
  now.ports[1].tx_bytes = 6'250'000;
  old.rx_packets = 100;
  is.rx_packets = 300;
  old.lost = 1;
  is.lost = 51;  // a quarter of what came
  old.lanes[3] = {.paused_ps = 500'000'000, .packets = 10, .refused = 0, .marked = 2, .group_refused = 1};
  is.lanes[3] = {.paused_ps = 1'000'000'000,
                 .paused = true,
                 .packets = 40,
                 .refused = 10,
                 .marked = 6,
                 .queue_bytes = 700,
                 .queue = {.bytes = 300, .limit_bytes = 1'200},
                 .group_refused = 5};
  is.lanes[4] = {.stopping = true, .group = {.bytes = 900, .limit_bytes = 600}};
  const auto rows = port_rows_of(two_ports(), before, now);
  ASSERT_EQ(rows.size(), 2U);
  const PressureRow& row = rows[0];
  EXPECT_DOUBLE_EQ(row.paused, 0.25);
  EXPECT_EQ(row.paused_ps, 1'000'000'000U);
  EXPECT_DOUBLE_EQ(row.drops_per_s, 60 / 0.002);  // 50 came and were lost, 10 were refused
  EXPECT_DOUBLE_EQ(row.dropped, 0.25);            // 50 of 200 and 10 of 40
  EXPECT_DOUBLE_EQ(row.marks_per_s, 4 / 0.002);
  EXPECT_DOUBLE_EQ(row.out, 0.5);
  EXPECT_DOUBLE_EQ(row.in, 0.25);
  EXPECT_DOUBLE_EQ(rows[1].in, 0.5);
  EXPECT_EQ(row.queue_bytes, 700U);
  EXPECT_EQ(row.group_bytes, 900U);
  EXPECT_DOUBLE_EQ(row.queue_fill.value(), 0.25);
  EXPECT_DOUBLE_EQ(row.group_fill.value(), 1.5);
  EXPECT_TRUE(row.paused_now);
  EXPECT_TRUE(row.stopping);
  EXPECT_EQ(row.lane, 3);
  EXPECT_FALSE(rows[1].queue_fill);

  const auto lanes = lane_rows_of(two_ports(), before, now);
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(lanes[0].lane, 3);
  EXPECT_DOUBLE_EQ(lanes[0].drops_per_s, 14 / 0.002);  // 10 by the queue, 4 by the group
  EXPECT_DOUBLE_EQ(lanes[0].dropped, 0.25);
  EXPECT_FALSE(lanes[0].stopping);
  EXPECT_TRUE(lanes[1].stopping);
}

TEST(PressureRates, WithoutTimeBetweenTheLooksThereAreNone) {
  FabricPressure before = look(5);
  FabricPressure now = look(5);
  now.ports[0] = {.tx_bytes = 9, .lost = 9, .paused_ps = 9};
  for (const auto& [a, b] : {std::pair(before, now), std::pair(now, before)}) {
    for (const PressureRow& row : port_rows_of(two_ports(), a, b)) {
      EXPECT_EQ(row.paused, 0);
      EXPECT_EQ(row.drops_per_s, 0);
      EXPECT_EQ(row.out, 0);
      EXPECT_EQ(row.in, 0);
    }
  }
}

TEST(PressureRates, ACounterThatHasShrunkHasNotGrown) {
  FabricPressure before = look(1'000);
  FabricPressure now = look(2'000);
  before.ports[0] = {.tx_bytes = 9, .rx_packets = 3, .lost = 9, .paused_ps = 9};
  before.ports[0].lanes[1] = {.paused_ps = 9, .refused = 9, .marked = 9};
  const PressureRow row = port_rows_of(two_ports(), before, now)[0];
  EXPECT_EQ(row.paused + row.drops_per_s + row.dropped + row.marks_per_s + row.out, 0);
}

PressureRow paused(uint32_t port, double share, uint64_t ps) {
  return {.port = port, .paused = share, .paused_ps = ps};
}

std::vector<uint32_t> order_of(std::vector<PressureRow> rows, RankBy by) {
  rank(rows, by, rows.size());
  std::vector<uint32_t> out;
  for (const PressureRow& row : rows) out.push_back(row.port);
  return out;
}

TEST(PressureRanks, OfThoseThatHurtAlikeTheOnePausedLongestIsFirst) {
  // All are paused now, but for less than a percent: the root of a storm has been for the longest.
  EXPECT_EQ(order_of({paused(0, 1, 70), paused(1, 1, 90), paused(2, 1, 80), paused(3, 0.5, 900)}, RankBy::kHurt),
            (std::vector<uint32_t>{1, 2, 0, 3}));
  // Pauses of long ago hurt nobody: the fullest is first.
  PressureRow full{.port = 7, .queue_fill = 0.5};
  EXPECT_EQ(order_of({paused(0, 0.001, 900), full}, RankBy::kHurt), (std::vector<uint32_t>{7, 0}));
  EXPECT_EQ(order_of({full, paused(0, 0.001, 900)}, RankBy::kPaused), (std::vector<uint32_t>{0, 7}));
}

TEST(PressureRanks, DroppingHurtsAsPausingDoes) {
  const PressureRow drops{.port = 5, .drops_per_s = 10, .dropped = 0.6};
  EXPECT_EQ(order_of({paused(0, 0.5, 1), drops}, RankBy::kHurt), (std::vector<uint32_t>{5, 0}));
  EXPECT_EQ(order_of({paused(0, 0.5, 1), drops}, RankBy::kPaused), (std::vector<uint32_t>{0, 5}));
  EXPECT_EQ(order_of({paused(0, 0.9, 1), drops}, RankBy::kDropped), (std::vector<uint32_t>{5, 0}));
}

// ---- The reference: counts in long double, every pair of rows compared by the words of the header.

FabricPressure drawn(std::mt19937_64& random, size_t ports, uint64_t at_ps, const FabricPressure* since) {
  const auto some = [&random](uint64_t most) { return random() % 4 == 0 ? random() % most : 0; };
  FabricPressure out{.at_ps = at_ps, .ports = std::vector<PortPressure>(ports)};
  for (size_t i = 0; i < ports; ++i) {
    PortPressure& port = out.ports[i];
    if (since != nullptr) port = since->ports[i];
    port.up = random() % 8 != 0;
    port.tx_bytes += some(100'000);
    port.rx_packets += some(100);
    port.lost += some(20);
    port.paused_ps += some(1'000);
    for (LanePressure& lane : port.lanes) {
      lane.paused_ps += some(1'000);
      lane.packets += some(50);
      lane.refused += some(20);
      lane.marked += some(20);
      lane.group_refused += some(20);
      lane.queue_bytes = some(5'000);
      lane.queue = {.bytes = some(5'000), .limit_bytes = some(5'000)};
      lane.group = {.bytes = some(5'000), .limit_bytes = some(5'000)};
    }
  }
  return out;
}

struct Slow {
  double paused = 0, drops = 0, dropped = 0, marks = 0, out = 0, in = 0, fill = 0;
  uint64_t paused_ps = 0;
};

Slow slowly(const PortMap& map, const FabricPressure& a, const FabricPressure& b, size_t i) {
  const double seconds = static_cast<double>(b.at_ps - a.at_ps) / 1e12;
  const PortPressure& old = a.ports[i];
  const PortPressure& is = b.ports[i];
  Slow out;
  std::vector<double> pauses{static_cast<double>(is.paused_ps - old.paused_ps)};
  std::vector<uint64_t> totals{is.paused_ps};
  double refused = 0;
  double marked = 0;
  for (size_t n = 0; n < 8; ++n) {
    const LanePressure& was = old.lanes[n];
    const LanePressure& now = is.lanes[n];
    pauses.push_back(static_cast<double>(now.paused_ps - was.paused_ps));
    totals.push_back(now.paused_ps);
    const auto lane_refused = static_cast<double>(now.refused - was.refused);
    const auto sent = static_cast<double>(now.packets - was.packets);
    refused += lane_refused;
    marked += static_cast<double>(now.marked - was.marked);
    if (lane_refused + sent > 0) out.dropped = std::max(out.dropped, lane_refused / (lane_refused + sent));
    for (const Fill& fill : {now.queue, now.group}) {
      if (fill.limit_bytes > 0) {
        out.fill = std::max(out.fill, static_cast<double>(fill.bytes) / static_cast<double>(fill.limit_bytes));
      }
    }
  }
  out.paused = *std::ranges::max_element(pauses) / (seconds * 1e12);
  out.paused_ps = *std::ranges::max_element(totals);
  const auto lost = static_cast<double>(is.lost - old.lost);
  const auto received = static_cast<double>(is.rx_packets - old.rx_packets);
  if (received > 0) out.dropped = std::max(out.dropped, std::min(lost / received, 1.0));
  out.drops = (lost + refused) / seconds;
  out.marks = marked / seconds;
  const auto used = [&](size_t port) {
    return static_cast<double>(b.ports[port].tx_bytes - a.ports[port].tx_bytes) * 8 / seconds /
           static_cast<double>(map.ports[port].rate_bps);
  };
  out.out = used(i);
  out.in = used(map.ports[i].peer);
  return out;
}

TEST(PressureRates, OfDrawnLooksAreThoseOfASlowReference) {
  SCOPED_TRACE(tests::seed());
  std::mt19937_64 random(tests::seed());
  for (uint32_t round = 0; round < tests::to_repeat(200); ++round) {
    PortMap map;
    const size_t pairs = 1 + random() % 12;
    for (uint32_t i = 0; i < 2 * pairs; ++i) {
      map.ports.push_back({.name = "p" + std::to_string(i), .peer = i ^ 1U, .rate_bps = 1'000'000'000 * (1 + i / 2)});
    }
    const FabricPressure a = drawn(random, 2 * pairs, 1'000'000, nullptr);
    const FabricPressure b = drawn(random, 2 * pairs, 1'000'000 + 1'000 * (1 + random() % 9), &a);
    std::vector<Slow> slow;
    for (size_t i = 0; i < 2 * pairs; ++i) slow.push_back(slowly(map, a, b, i));
    auto rows = port_rows_of(map, a, b);
    const auto is_near = [](double x, double y) {
      return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
    };
    for (size_t i = 0; i < rows.size(); ++i) {
      ASSERT_TRUE(is_near(rows[i].paused, std::min(slow[i].paused, 1.0)) && rows[i].paused_ps == slow[i].paused_ps);
      ASSERT_TRUE(is_near(rows[i].drops_per_s, slow[i].drops)) << rows[i].drops_per_s << " " << slow[i].drops;
      ASSERT_TRUE(is_near(rows[i].dropped, slow[i].dropped)) << rows[i].dropped << " " << slow[i].dropped;
      ASSERT_TRUE(is_near(rows[i].marks_per_s, slow[i].marks));
      ASSERT_TRUE(is_near(rows[i].out, slow[i].out) && is_near(rows[i].in, slow[i].in));
      ASSERT_TRUE(is_near(rows[i].fill(), slow[i].fill));
    }
    // No row is better than one that stands behind it, and the first few are those of the whole order.
    const size_t most = 1 + random() % rows.size();
    for (const RankBy by : {RankBy::kPaused, RankBy::kDropped, RankBy::kOccupied, RankBy::kUtilised}) {
      rank(rows, by, most);
      const auto worth = [&](const PressureRow& row) {
        const Slow& it = slow[row.port];
        switch (by) {
          case RankBy::kPaused: return std::min(it.paused, 1.0);
          case RankBy::kDropped: return it.drops;
          case RankBy::kOccupied: return it.fill;
          default: return std::max(it.in, it.out);
        }
      };
      for (size_t i = 0; i < most; ++i) {
        for (size_t k = i + 1; k < rows.size(); ++k) {
          ASSERT_GE(worth(rows[i]) * (1 + 1e-9), worth(rows[k])) << "round " << round << ", " << i << " before " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace softspine::control
