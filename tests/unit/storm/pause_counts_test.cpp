// SPDX-License-Identifier: Apache-2.0
// Counters of pauses as SONiC and mlx5 print them, and what two readings differ by.
#include "analysis/storm/pause_counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/storm/scratch_text.hpp"

namespace softspine::analysis::storm {
namespace {

using testing::HasSubstr;

constexpr const char* kSonic =
    "admin@tor1:~$ show pfc counters\n"
    "   Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
    "-----------  ------  ------  ------  ------  ------  ------  ------  ------\n"
    "  Ethernet0       1       2       3   4,000       5       6       7       8\n"
    "   Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
    "-----------  ------  ------  ------  ------  ------  ------  ------  ------\n"
    "  Ethernet0      10     N/A      30      40      50      60      70      80\n"
    "\n"
    "    QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP\n"
    "-----------  ---------  -------------------------  ------------  ------------\n"
    "Ethernet0:3    stormed                        7/6           0/0           0/0\n"
    "Ethernet0:4  operational                      2/2           0/0           0/0\n";

std::expected<CountReading, std::string> read(const std::string& text) {
  return read_counts(tests::TextFile{text}.path, "eth7");
}
std::string error_of(const std::string& text) {
  const auto found = read(text);
  return found ? "" : found.error();
}

TEST(PauseCounts, OfSonicsTablesAreBothWaysAndTheWatchdogs) {
  const auto found = read(kSonic);
  ASSERT_TRUE(found) << found.error();
  ASSERT_EQ(found->ports.size(), 1u);
  const PortCounts& port = found->ports.at("Ethernet0");
  EXPECT_EQ(port[3].tx_frames, 4'000u);
  EXPECT_EQ(port[7].tx_frames, 8u);
  EXPECT_EQ(port[0].rx_frames, 10u);
  EXPECT_EQ(port[1].rx_frames, std::nullopt) << "N/A";
  EXPECT_EQ(port[7].rx_frames, 80u);
  EXPECT_EQ(port[3].tx_us, std::nullopt);
  EXPECT_TRUE(found->watchdog.at({"Ethernet0", 3}).is_stormed);
  EXPECT_EQ(found->watchdog.at({"Ethernet0", 3}).detected, 7u);
  EXPECT_FALSE(found->watchdog.at({"Ethernet0", 4}).is_stormed);
}

// A header that a narrow terminal has broken.
TEST(PauseCounts, NeedNoMoreOfAHeaderThanItsBegin) {
  const auto found = read("Port Tx PFC0\nEthernet0 1 2 3 4 5 6 7 8\n");
  ASSERT_TRUE(found) << found.error();
  ASSERT_TRUE(found->ports.contains("Ethernet0"));
  EXPECT_EQ(found->ports.at("Ethernet0")[7].tx_frames, 8u);
}

TEST(PauseCounts, OfEthtoolAreOfThePortThatWasNamed) {
  const auto found = read(
      "NIC statistics:\n     rx_packets: 1234\n     rx_prio3_bytes: 99\n     rx_prio3_pause: 5\n"
      "     rx_prio3_pause_duration: 61\n     tx_prio3_pause: 6\n     tx_prio3_pause_duration: 62\n"
      "     rx_prio3_pause_transition: 7\n     rx_prio9_pause: 8\n");
  ASSERT_TRUE(found) << found.error();
  ASSERT_EQ(found->ports.size(), 1u);
  const PauseCounts& counts = found->ports.at("eth7")[3];
  EXPECT_EQ(counts.rx_frames, 5u);
  EXPECT_EQ(counts.rx_us, 61u);
  EXPECT_EQ(counts.tx_frames, 6u);
  EXPECT_EQ(counts.tx_us, 62u);
}

// Link-level PAUSE stops all priorities: a class of its own. mlx5 counts it by two names, ice by its two kinds.
TEST(PauseCounts, OfLinkLevelPauseAreOfTheWholeLink) {
  for (const char* text : {"rx_pause_ctrl_phy: 9\nrx_global_pause: 7\ntx_pause_ctrl_phy: 3\n",
                           "rx_global_pause: 7\nrx_pause_ctrl_phy: 9\ntx_pause_ctrl_phy: 3\n",
                           "     link_xoff_rx.nic: 5\n     link_xon_rx.nic: 2\n     link_xoff_tx.nic: 3\n",
                           "     port.link_xoff_rx: 5\n     port.link_xon_rx: 2\n     port.link_xon_tx: 3\n",
                           "  rx_pause_frames: 7\n  tx_pause_frames: 3\n"}) {
    const auto found = read(text);
    ASSERT_TRUE(found) << found.error();
    const PortCounts& port = found->ports.at("eth7");
    EXPECT_EQ(port[kWholeLink].rx_frames, 7u) << text;
    EXPECT_EQ(port[kWholeLink].tx_frames, 3u) << text;
    for (size_t i = 0; i < kCountedPriorities; ++i) EXPECT_FALSE(port[i].rx_frames || port[i].tx_frames) << text;
  }
  const auto times =
      read("rx_global_pause_duration: 11\ntx_global_pause_duration: 12\nrx_global_pause_transition: 1\n");
  ASSERT_TRUE(times) << times.error();
  EXPECT_EQ(times->ports.at("eth7")[kWholeLink].rx_us, 11u);
  EXPECT_EQ(times->ports.at("eth7")[kWholeLink].tx_us, 12u);
}

TEST(PauseCounts, OfIceAndBnxtAreByPriority) {
  for (const char* text : {"rx_priority_3_xoff.nic: 4\nrx_priority_3_xon.nic: 2\ntx_priority_3_xoff.nic: "
                           "8\ntx_priority_3_xon_2_xoff.nic: 9\n",
                           "port.rx_priority_3_xoff: 6\nport.tx_priority_3_xon: 8\n",
                           "rx_pfc_ena_frames_pri3: 6\ntx_pfc_ena_frames_pri3: 8\nrx_pfc_ena_frames_pri8: 9\n"}) {
    const auto found = read(text);
    ASSERT_TRUE(found) << found.error();
    EXPECT_EQ(found->ports.at("eth7")[3].rx_frames, 6u) << text;
    EXPECT_EQ(found->ports.at("eth7")[3].tx_frames, 8u) << text;
    EXPECT_FALSE(found->ports.at("eth7")[kWholeLink].rx_frames) << text;
  }
  const auto ends = read("rx_pfc_ena_frames_pri0: 1\nrx_pfc_ena_frames_pri7: 2\nrx_pfc_ena_frames_pri8: 9\n");
  ASSERT_TRUE(ends) << ends.error();
  EXPECT_EQ(ends->ports.at("eth7")[0].rx_frames, 1u);
  EXPECT_EQ(ends->ports.at("eth7")[7].rx_frames, 2u);
  const auto times = read("pfc_pri4_rx_duration_us: 21\npfc_pri4_rx_transitions: 3\npfc_pri4_tx_duration_us: 22\n");
  ASSERT_TRUE(times) << times.error();
  EXPECT_EQ(times->ports.at("eth7")[4].rx_us, 21u);
  EXPECT_EQ(times->ports.at("eth7")[4].rx_times, 3u);
  EXPECT_EQ(times->ports.at("eth7")[4].tx_us, 22u);
}

// pfcstat --history; its times were milliseconds once.
TEST(PauseCounts, OfAHistoryAreHowOftenAndHowLong) {
  const std::string head =
      "     Port    Priority    RX Pause Transitions    Total RX Pause Time US    Recent RX Pause Time US    "
      "Recent RX Pause Timestamp\n---------  ----------  ----\n";
  const std::string rows =
      "Ethernet0        PFC2                     N/A                       N/A                        N/A   N/A\n"
      "Ethernet0        PFC3                       6                 1,430,570                    527,739   "
      "03/25/2025, "
      "17:22:37.982800\n";
  std::string in_ms = head;
  for (size_t at = in_ms.find(" US "); at != std::string::npos; at = in_ms.find(" US ")) in_ms.replace(at, 4, " MS ");
  for (const auto& [text, us] : {std::pair(head + rows, 1'430'570u), {in_ms + rows, 1'430'570'000u}}) {
    const auto found = read(text);
    ASSERT_TRUE(found) << found.error();
    ASSERT_EQ(found->ports.size(), 1u);
    const PortCounts& port = found->ports.at("Ethernet0");
    EXPECT_EQ(port[3].rx_times, 6u);
    EXPECT_EQ(port[3].rx_us, us);
    EXPECT_FALSE(port[3].rx_frames);
    EXPECT_FALSE(port[2].rx_times);
  }
  EXPECT_THAT(error_of(head + "Ethernet0 PFC3 six 1 1 N/A\n"), HasSubstr(":3: 'six' is no number"));
}

TEST(PauseCounts, ThatAreNoneAreRefusedWithTheirLine) {
  EXPECT_THAT(error_of("nothing\n"), HasSubstr("no pause counters"));
  EXPECT_THAT(error_of("     rx_prio3_pause: many\n"), HasSubstr(":1: 'many' is no number"));
  std::string table{kSonic};
  table.replace(table.find("4,000"), 5, "4 apr");
  EXPECT_EQ(error_of(table), "") << "another command's line, and the table is over";
  table = kSonic;
  table.replace(table.find("4,000"), 5, "4.000");
  EXPECT_THAT(error_of(table), HasSubstr(":4: '4.000' is no number"));
  EXPECT_THAT(error_of("     rx_prio3_pause: 1\n" + std::string(1 << 20, 'x') + "\n"), HasSubstr(":2: is too long"));
}

TEST(PauseCounts, OfTheWholeLinkDifferLikeOthers) {
  const auto before = read("rx_global_pause: 1000\ntx_global_pause: 50\nrx_global_pause_duration: 10\n");
  const auto after = read("rx_global_pause: 401000\ntx_global_pause: 50\nrx_global_pause_duration: 2170010\n");
  ASSERT_TRUE(before && after);
  const auto found = difference(*before, *after);
  ASSERT_TRUE(found) << found.error();
  const PauseCounts& counts = found->ports.at("eth7")[kWholeLink];
  EXPECT_EQ(counts.rx_frames, 400'000u);
  EXPECT_EQ(counts.tx_frames, 0u);
  EXPECT_EQ(counts.rx_us, 2'170'000u);
  const auto backwards = difference(*after, *before);
  ASSERT_FALSE(backwards);
  EXPECT_THAT(backwards.error(), HasSubstr("counters of eth7, link-level PAUSE, went backwards"));
}

// Each counter of its own; what one of the two readings does not have is not known.
TEST(PauseCounts, DifferByWhatWasAdded) {
  const auto counts = [](uint64_t tx, uint64_t rx, uint64_t tx_us, uint64_t rx_us) {
    CountReading out;
    out.ports["p"][3] = {.tx_frames = tx, .rx_frames = rx, .tx_us = tx_us, .rx_us = rx_us};
    return out;
  };
  const auto found = difference(counts(1, 2, 3, 4), counts(11, 22, 33, 4));
  ASSERT_TRUE(found) << found.error();
  const PauseCounts& added = found->ports.at("p")[3];
  EXPECT_EQ(added.tx_frames, 10u);
  EXPECT_EQ(added.rx_frames, 20u);
  EXPECT_EQ(added.tx_us, 30u);
  EXPECT_EQ(added.rx_us, 0u);
  EXPECT_EQ(found->ports.at("p")[0].tx_frames, std::nullopt);
  for (const CountReading& back : {counts(0, 2, 3, 4), counts(1, 1, 3, 4), counts(1, 2, 2, 4), counts(1, 2, 3, 3)}) {
    const auto wrong = difference(counts(1, 2, 3, 4), back);
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error(), HasSubstr("counters of p, priority 3, went backwards"));
  }
  CountReading half = counts(11, 22, 33, 44);
  half.ports["p"][3].rx_frames.reset();
  EXPECT_EQ(difference(half, counts(11, 22, 33, 44))->ports.at("p")[3].rx_frames, std::nullopt);
  EXPECT_EQ(difference(counts(11, 22, 33, 44), half)->ports.at("p")[3].rx_frames, std::nullopt);
}

TEST(PauseCounts, AreOfTheSamePortsAndOfStormsThatOnlyGrow) {
  CountReading one;
  one.ports["a"] = {};
  one.watchdog[{"a", 3}] = {.is_stormed = false, .detected = 2};
  CountReading other = one;
  other.watchdog[{"a", 3}].detected = 5;
  other.watchdog[{"a", 4}].detected = 1;
  const auto found = difference(one, other);
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found->watchdog.at({"a", 3}).detected, 3u);
  EXPECT_EQ(found->watchdog.at({"a", 4}).detected, 1u);
  EXPECT_THAT(difference(other, one).error(), HasSubstr("storms of a:3 went backwards"));
  other.ports["b"] = {};
  EXPECT_THAT(difference(one, other).error(), HasSubstr("b is in the second reading only"));
  EXPECT_THAT(difference(other, one).error(), HasSubstr("b is in the first reading only"));
}

}  // namespace
}  // namespace softspine::analysis::storm
