// SPDX-License-Identifier: Apache-2.0
// What `show` and the report say of LAGs.
#include "control/report/lag_counters.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "control/telemetry/json.hpp"

namespace softspine::control {
namespace {

// tor1's ports sent 100, 200 and 700 bytes; spine1's sent nothing. Of the three links `up` are members.
FabricSnapshot with_lag(size_t up, uint32_t min_links) {
  LagEndSnapshot tor{.node = "tor1", .members = {}};
  LagEndSnapshot spine{.node = "spine1", .members = {}};
  for (size_t i = 0; i < 3; ++i) {
    const std::string port = "Ethernet" + std::to_string(4 * i);
    const uint64_t packets = i == 2 ? 7 : i + 1;
    tor.members.push_back({.port = port, .is_member = i < up, .tx_packets = packets, .tx_bytes = 100 * packets});
    spine.members.push_back({.port = port, .is_member = i < up});
  }
  FabricSnapshot out;
  out.lags.push_back({.name = "PortChannel1", .mode = "lacp", .min_links = min_links, .ends = {tor, spine}});
  return out;
}

// A line's words, apart by one space.
std::vector<std::string> table_lines(const std::string& table) {
  std::vector<std::string> out;
  std::istringstream text(table);
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string joined;
    for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
    out.push_back(joined);
  }
  return out;
}

TEST(LagCounters, ALagIsUpWithAsManyMembersAsItNeedsAndDownWithOneLess) {
  for (const auto& [members, min_links, up] :
       {std::tuple{2U, 1U, true}, {2U, 2U, true}, {2U, 3U, false}, {0U, 1U, false}, {3U, 3U, true}}) {
    const FabricSnapshot fabric = with_lag(members, min_links);
    const Json lag = lags_json(fabric)["PortChannel1"];
    EXPECT_EQ(lag["up"], up) << members << " of " << min_links;
    EXPECT_EQ(lag["members_up"], members);
    EXPECT_EQ(lag["members"], 3);
    EXPECT_EQ(lag["min_links"], min_links);
    EXPECT_EQ(lag["mode"], "lacp");
    const std::string state = up ? "U " : "D ";
    EXPECT_NE(table_lines(lags_table(fabric, "")).at(2).find("lacp " + state + std::to_string(members)),
              std::string::npos)
        << lags_table(fabric, "");
  }
}

// 1000 bytes over three ports are 333.3 each, and the fullest has 700: 2.1 times that.
TEST(LagCounters, AnEndHasTheSumOfItsPortsAndHowUnevenTheyAre) {
  const Json ends = lags_json(with_lag(3, 1))["PortChannel1"]["ends"];
  EXPECT_EQ(ends["tor1"], Json::parse(R"({"tx_packets": 10, "tx_bytes": 1000, "max_over_mean": 2.1})"));
  EXPECT_EQ(ends["spine1"], Json::parse(R"({"tx_packets": 0, "tx_bytes": 0, "max_over_mean": 0.0})"));
}

TEST(LagCounters, AMembersShareIsThatOfItsEnd) {
  const std::vector<std::string> all = table_lines(lags_table(with_lag(2, 1), ""));
  ASSERT_EQ(all.size(), 8U) << "a head, a rule, three members of either end";
  EXPECT_EQ(all[2], "PortChannel1 lacp U 2 1 tor1 Ethernet0 yes 1 100 10.00");
  EXPECT_EQ(all[3], "PortChannel1 lacp U 2 1 tor1 Ethernet4 yes 2 200 20.00");
  EXPECT_EQ(all[4], "PortChannel1 lacp U 2 1 tor1 Ethernet8 no 7 700 70.00");
  EXPECT_EQ(all[5], "PortChannel1 lacp U 2 1 spine1 Ethernet0 yes 0 0 0.00");
  const std::vector<std::string> of_one = table_lines(lags_table(with_lag(2, 1), "spine1"));
  ASSERT_EQ(of_one.size(), 5U);
  EXPECT_EQ(of_one[2], all[5]);
}

}  // namespace
}  // namespace softspine::control
