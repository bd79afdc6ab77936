// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/show_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "control/report/nic_ports.hpp"
#include "control/telemetry/live_table.hpp"
#include "control/telemetry/text_table.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using tests::small_fabric;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Its cells, without the space between them.
std::vector<std::string> cells(const std::string& line) {
  std::istringstream in{line};
  return {std::istream_iterator<std::string>{in}, {}};
}
using Cells = std::vector<std::string>;

TEST(TextTable, AlignsWordsLeftAndNumbersRight) {
  TextTable table{{"<NAME", "PKTS"}};
  table.add({"a", "1,234,567"});
  table.add({"longer", "1"});
  EXPECT_EQ(table.text(),
            "NAME         PKTS\n"
            "------  ---------\n"
            "a       1,234,567\n"
            "longer          1\n");
  EXPECT_EQ(table.text(8), "NAME\n------\na\nlonger\n") << "cut at the eighth character";
}

TEST(TextTable, GroupsDigitsByThree) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(18446744073709551615u), "18,446,744,073,709,551,615");
}

// h2's second port is at tor1, which sent 20 frames of 1,000 bytes there; tor2 sent 80.
TEST(Tables, ShowBothPortsOfANic) {
  FabricSnapshot fabric = small_fabric();
  EXPECT_EQ(lines_of(nic_ports_table(fabric)).size(), 2u) << "no NIC has two";
  fabric.switches[0].ports.push_back(tests::small_port("Ethernet12", 0, 20));
  fabric.switches[0].ports.back().counters.queues[3].watermark_bytes = 5'000;
  fabric.hosts[1].ports.push_back({.name = "eth1", .up = false, .link = {4, 4'000}, .rx_packets = 20});
  fabric.links.push_back({.a = "h2:eth1", .b = "tor1:Ethernet12"});
  const auto lines = lines_of(nic_ports_table(fabric));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(cells(lines[2]), (Cells{"h2", "eth0", "tor2:Ethernet0", "U", "180", "80,000", "80.00", "0"}));
  EXPECT_EQ(cells(lines[3]), (Cells{"h2", "eth1", "tor1:Ethernet12", "D", "4,000", "20,000", "20.00", "5,000"}));
}

TEST(Tables, ShowTheNicsOfOutsideHosts) {
  FabricSnapshot fabric = small_fabric();
  ASSERT_FALSE(fabric.edges.empty());
  EdgeSnapshot& edge = fabric.edges[0];
  edge.port = "eth0";
  edge.waiting_packets = 7;
  edge.pause[3] = {.rx_frames = 5, .tx_frames = 2, .paused = dataplane::Duration::us(3)};
  edge.pause[4] = {.rx_frames = 6, .tx_frames = 0, .paused = dataplane::Duration::us(1)};
  edge.nic.np_ecn_marked_roce_packets = 90;
  edge.nic.np_cnp_sent = 8;
  edge.nic.rp_cnp_handled = 41;
  const auto lines = lines_of(nics_table(fabric));
  ASSERT_EQ(lines.size(), 2 + fabric.edges.size());
  const Cells row = cells(lines[2]);
  ASSERT_EQ(row.size(), 13u);
  EXPECT_EQ(Cells(row.begin(), row.begin() + 2), (Cells{edge.name, "eth0"}));
  EXPECT_EQ(Cells(row.begin() + 5, row.end()), (Cells{"7", "11", "2", "4.000", "90", "8", "41", "0"}));
}

TEST(Tables, ShowWhatHashingHasCounted) {
  const auto lines = lines_of(hash_table(small_fabric()));
  ASSERT_EQ(lines.size(), 2 + 4u);
  EXPECT_EQ(cells(lines[0]),
            (Cells{"SWITCH", "ROLE", "FLOWLETS", "SHORT_KEYS(pkts)", "OVERRIDDEN(pkts)", "FELL_BACK(pkts)"}));
  EXPECT_EQ(cells(lines[2]), (Cells{"tor1", "tor", "12", "3", "70", "5"}));
  EXPECT_EQ(lines_of(hash_table(small_fabric(), "tor2")).size(), 2 + 1u);
}

TEST(Tables, ShowInterfaces) {
  const auto lines = lines_of(interfaces_table(small_fabric()));
  ASSERT_EQ(lines.size(), 2 + 3 + 3 + 2 + 2u);
  EXPECT_EQ(cells(lines[0])[4], "RX_OK(pkts)");
  EXPECT_EQ(cells(lines[2]), (Cells{"tor1", "Ethernet0", "U", "100", "101", "101,000", "0", "1", "1", "1,000", "0"}));
  EXPECT_EQ(cells(lines[3]), (Cells{"tor1", "Ethernet4", "U", "100", "0", "0", "0", "0", "60", "60,000", "15"}));
  EXPECT_EQ(lines_of(interfaces_table(small_fabric(), "core2")).size(), 2 + 2u);
  EXPECT_EQ(lines_of(interfaces_table(small_fabric(), "core3")).size(), 2u);
}

TEST(Tables, ShowQueuesThatHaveSeenAFrame) {
  const auto lines = lines_of(queues_table(small_fabric(), "tor1"));
  ASSERT_EQ(lines.size(), 2 + 3u);
  EXPECT_EQ(cells(lines[3]),
            (Cells{"tor1", "Ethernet4", "UC3", "60", "60,000", "15", "15,000", "0", "4,000", "9,000"}));
}

TEST(Tables, ShowDropsAndWhichOfThemWereLosses) {
  const auto lines = lines_of(drops_table(small_fabric()));
  ASSERT_EQ(lines.size(), 2 + 5u);
  EXPECT_EQ(cells(lines[2]), (Cells{"tor1", "Ethernet0", "pfc_consumed", "no", "1"}));
  EXPECT_EQ(cells(lines[3]), (Cells{"tor1", "Ethernet0", "no_route", "yes", "1"}));
  EXPECT_EQ(cells(lines[4]), (Cells{"tor1", "Ethernet0", "queue_full", "yes", "15"}));
  EXPECT_EQ(cells(lines[5]), (Cells{"h2", "-", "bad_icrc", "yes", "1"}));
  EXPECT_EQ(cells(lines[6]), (Cells{"vm1", "out", "edge_full", "yes", "2"}));
}

TEST(Tables, ShowFlows) {
  const auto lines = lines_of(flows_table(small_fabric()));
  ASSERT_EQ(lines.size(), 2 + 2u);
  EXPECT_EQ(cells(lines[2]), (Cells{"perm", "0", "h1", "h2", "117", "50", "0", "40", "4", "6", "1", "36.00", "2.000",
                                    "3.000", "8.000", "-"}));
  EXPECT_EQ(cells(lines[3]).back(), "-") << "not completed";
}

TEST(Tables, ShowLinks) {
  const auto lines = lines_of(links_table(small_fabric()));
  ASSERT_EQ(lines.size(), 2 + 12u);
  EXPECT_EQ(cells(lines[4]),
            (Cells{"tor1:Ethernet4", "core1:Ethernet0", "U", "60", "60,000", "49.15", "75.00", "60", "0", "0", "0"}));
  EXPECT_EQ(cells(lines[7]),
            (Cells{"core2:Ethernet0", "tor1:Ethernet8", "D", "0", "0", "0.00", "-", "0", "0", "0", "0"}));
  EXPECT_EQ(cells(lines[8]), (Cells{"h2:eth0", "tor2:Ethernet0", "U", "3", "180", "0.20", "-", "0", "3", "0", "0"}));
}

// The small fabric from its beginning, when nothing had happened.
FabricSnapshot beginning() {
  FabricSnapshot empty = small_fabric();
  empty.instant = {};
  for (SwitchSnapshot& node : empty.switches) {
    for (PortSnapshot& port : node.ports) port.counters = {};
  }
  for (HostSnapshot& host : empty.hosts) {
    host.counters.received_bytes = 0;
    host.counters.dropped = {};
    host.ports[0].link = {};
  }
  return empty;
}

TEST(LiveTable, ShowsRatesBusiestFirst) {
  const auto rates = rates_between(beginning(), small_fabric());
  ASSERT_EQ(rates.size(), 5u);
  EXPECT_EQ(rates[0].name, "tor1");
  EXPECT_DOUBLE_EQ(rates[0].tx_bps, 81'000 * 8 / 10e-6);
  EXPECT_DOUBLE_EQ(rates[0].rx_bps, 101'000 * 8 / 10e-6);
  EXPECT_DOUBLE_EQ(rates[0].tx_pps, 81 / 10e-6);
  EXPECT_EQ(rates[0].drops, 16u);
  EXPECT_EQ(rates[0].queue_bytes, 4'000u);
  EXPECT_EQ(rates[0].queue_peak_bytes, 9'000u);
  EXPECT_EQ(rates[1].name, "tor2");
  EXPECT_EQ(rates[3].name, "core2");
  EXPECT_EQ(rates[4].name, "h*") << "h1 and h2, after the switches";
  EXPECT_DOUBLE_EQ(rates[4].rx_bps, 81'000 * 8 / 10e-6);
  EXPECT_DOUBLE_EQ(rates[4].tx_bps, 101'180 * 8 / 10e-6);
  EXPECT_EQ(rates[4].drops, 1u);
}

TEST(LiveTable, CountsOnlyWhatIsNew) {
  FabricSnapshot later = small_fabric();
  later.instant = later.instant + Duration::us(5);
  later.switches[2].ports[1].counters.tx_bytes += 5'000;
  const auto rates = rates_between(small_fabric(), later);
  EXPECT_EQ(rates[0].name, "core1");
  EXPECT_DOUBLE_EQ(rates[0].tx_bps, 8e9);
  EXPECT_EQ(rates[1].tx_bps, 0);
  EXPECT_EQ(rates_between(later, small_fabric())[0].tx_bps, 0) << "time and counters ran backwards";
}

TEST(LiveTable, FitsItsTerminal) {
  const auto whole = lines_of(live_table(beginning(), small_fabric(), Duration::us(20), {.rows = 24, .columns = 120}));
  ASSERT_EQ(whole.size(), 3 + 5u);
  EXPECT_EQ(cells(whole[3]), (Cells{"tor1", "80.80", "64.80", "8.100", "16", "4.0", "9.0"}));
  const auto cut = lines_of(live_table(beginning(), small_fabric(), Duration::us(20), {.rows = 7, .columns = 30}));
  ASSERT_EQ(cut.size(), 6u) << "one less than the terminal has";
  EXPECT_EQ(cells(cut[4])[0], "tor2");
  EXPECT_EQ(cut[5], "and 3 more");
  for (const std::string& line : cut) EXPECT_LE(line.size(), 30u) << line;
  EXPECT_EQ(lines_of(live_table(beginning(), small_fabric(), Duration::us(20), {.rows = 9, .columns = 80})).size(), 8u)
      << "what just fits is not cut";
  EXPECT_FALSE(live_table({}, {}, {}, {.rows = 0, .columns = 0}).empty());
}

TEST(LiveTable, NamesTheSlowestRank) {
  FabricSnapshot now = small_fabric();
  EXPECT_EQ(progress_line(beginning(), now, Duration::us(20)).find("rank"), std::string::npos);
  now.engine.pace = {.slowest = 2, .ranks = 4, .others_wait = 0.256};
  EXPECT_TRUE(progress_line(beginning(), now, Duration::us(20)).ends_with("  slowest: rank 2 of 4, others wait 26%"));
}

TEST(LiveTable, IsRedrawnOverThePreviousOne) {
  EXPECT_EQ(redrawn("", "a\n"), "a\n");
  EXPECT_EQ(redrawn("a\nb\nc\n", "d\n"), "\x1b[3A\r\x1b[Jd\n");
}

TEST(ProgressLine, SaysHowFarAndHowFast) {
  // The switches' 241,000 bytes and 241 frames in 10 µs; 16 dropped.
  EXPECT_EQ(progress_line(beginning(), small_fabric(), Duration::us(20)),
            "0.010 of 0.020 ms (50%)  flows 1/2  switched 192.80 Gb/s 24.100 Mpps  dropped 16");
  EXPECT_TRUE(progress_line(beginning(), small_fabric(), Duration::max()).starts_with("0.010 ms  flows 1/2"))
      << "of a run without an end";
}

}  // namespace
}  // namespace softspine::control
