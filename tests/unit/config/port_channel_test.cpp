// SPDX-License-Identifier: Apache-2.0
// PORTCHANNEL and PORTCHANNEL_MEMBER of config_db.json files become LAGs where links are.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "control/routing/routes.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;

// tor1 and spine1 have three links, Ethernet0 to Ethernet8 at both, crossed; tor1 has one to spine2 at Ethernet12, and
// h1 at Ethernet16.
class PortChannels : public testing::Test {
 protected:
  PortChannels() : folder_(std::filesystem::path(testing::TempDir()) / ("softspine-channels-" + name())) {
    std::filesystem::create_directories(folder_);
  }
  ~PortChannels() override { std::filesystem::remove_all(folder_); }
  static std::string name() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }

  // The members of the switches' config_db.json, which have a row for each PORTCHANNEL in lines of their own.
  std::string testbed(const std::string& tor, const std::string& spine, const std::string& more = "",
                      const std::string& rate = "100Gbps") {
    std::ofstream(folder_ / "tor.json") << tor;
    std::ofstream(folder_ / "spine.json") << spine;
    return R"(name: t
topology:
  nodes: {tor1: {kind: switch, profile: tor}, spine1: {kind: switch, role: aggregation, profile: spine},
          spine2: {kind: switch, role: aggregation}, h1: {kind: host}}
  links:
    - {endpoints: ["tor1:Ethernet0", "spine1:Ethernet8"], rate: 100Gbps}
    - {endpoints: ["tor1:Ethernet4", "spine1:Ethernet4"], rate: 100Gbps}
    - {endpoints: ["tor1:Ethernet8", "spine1:Ethernet0"], rate: )" +
           rate + R"(}
    - {endpoints: ["tor1:Ethernet12", "spine2:Ethernet0"], rate: 100Gbps}
    - {endpoints: ["tor1:Ethernet16", h1], rate: 100Gbps}
)" + more + "profiles:\n  tor: {config_db: \"" +
           (folder_ / "tor.json").string() + "\"}\n  spine: {" +
           (spine.empty() ? "" : "config_db: \"" + (folder_ / "spine.json").string() + "\"") + "}\n";
  }
  static std::string tables(const std::string& channels, const std::string& members) {
    std::string rows;
    for (const char c : members) {  // "101|0 101|4"
      if (rows.empty() || c == ' ') rows += rows.empty() ? "\"PortChannel" : "\": {}, \"PortChannel";
      if (c == '|') rows += "|Ethernet";
      if (c != ' ' && c != '|') rows += c;
    }
    return "{\n\"PORTCHANNEL\": {" + channels + "},\n\"PORTCHANNEL_MEMBER\": {" + rows +
           (rows.empty() ? "" : "\": {}") + "}\n}\n";
  }
  // "2 at tor1 PortChannel1 is no LAG: …", without the folder.
  static Complaints warnings_of(const Testbed& testbed) {
    Complaints out;
    for (const Error& each : testbed.warnings) out.push_back(std::to_string(each.line) + " " + each.message);
    return out;
  }
  std::filesystem::path folder_;
};

constexpr const char* kTor =
    R"("PortChannel101": {"admin_status": "up", "mtu": "9100", "min_links": "2", "lacp_key": "auto", "fast_rate": "true"})";
constexpr const char* kSpine = R"("PortChannel0007": {"admin_status": "up", "min_links": "1", "lacp_key": "9"})";

TEST_F(PortChannels, OfBothEndsAreOneLag) {
  const Testbed read = read_well(testbed(tables(kTor, "101|0 101|4 101|8"), tables(kSpine, "0007|4 0007|0 0007|8")));
  EXPECT_EQ(warnings_of(read), Complaints{});
  ASSERT_EQ(read.fabric.lags.size(), 1U);
  const Lag& lag = read.fabric.lags[0];
  EXPECT_EQ(lag.name, "tor1:PortChannel101");
  EXPECT_EQ(read.fabric.nodes[lag.nodes[0]].name, "tor1");
  EXPECT_EQ(lag.name_at(lag.nodes[0]), "PortChannel101");
  EXPECT_EQ(lag.name_at(lag.nodes[1]), "PortChannel0007");
  EXPECT_EQ(lag.links.size(), 3U);
  EXPECT_EQ(lag.ports_at(lag.nodes[0]), (std::vector<uint16_t>{0, 1, 2}));
  EXPECT_EQ(lag.ports_at(lag.nodes[1]), (std::vector<uint16_t>{0, 1, 2}));
  EXPECT_EQ(lag.min_links, 2U) << "either end takes it down";
  EXPECT_EQ(lag.mode, LagMode::kLacp);
  EXPECT_TRUE(lag.agreed);
  EXPECT_EQ(lag.fast_rate, (std::array{true, false}));
  EXPECT_EQ(lag.lacp_key[0], 1101) << "auto: 1 before the number";
  EXPECT_EQ(lag.lacp_key[1], 9);
  for (const uint32_t link : lag.links) EXPECT_EQ(read.fabric.links[link].lag, 0U);
}

TEST_F(PortChannels, OfTheOnlyProfileAreLagsToo) {
  std::string text = testbed(tables(kTor, "101|0 101|4 101|8"), "");
  text.erase(text.find("  spine: {"));
  for (const std::string_view name : {"profile: tor", ", profile: spine", "  tor: {"}) {
    const std::string_view instead = name.starts_with("  ") ? "  default: {" : name.starts_with(",") ? "" : "role: tor";
    text.replace(text.find(name), name.size(), instead);
  }
  const Testbed read = read_well(text);
  ASSERT_EQ(read.fabric.lags.size(), 1U);
  EXPECT_EQ(read.fabric.lags[0].links.size(), 3U) << "Ethernet0 to Ethernet8 of both ends";
}

TEST_F(PortChannels, AreNoPlaceOfAFaultAtEitherEnd) {
  const std::string text = testbed(tables(kTor, "101|0 101|4 101|8"), tables(kSpine, "0007|4 0007|0 0007|8"),
                                   "faults:\n  - {at: 1ms, link: \"tor1:PortChannel101\", set: down}\n"
                                   "  - {at: 1ms, link: \"spine1:PortChannel0007\", set: down}\n");
  EXPECT_EQ(complaints_about(text),
            (Complaints{"12 faults[0].link: 'PortChannel101' is a LAG: name one of its links, such as tor1:Ethernet0",
                        "13 faults[1].link: 'PortChannel0007' is a LAG: name one of its links, such as "
                        "spine1:Ethernet0"}));
}

TEST_F(PortChannels, OfOneEndAreTakenByAnotherThatSaysNothing) {
  const Testbed read = read_well(testbed(tables(R"("PortChannel0002": {})", "0002|0 0002|8 0002|64"), ""));
  EXPECT_EQ(warnings_of(read), Complaints{}) << "Ethernet64 is not linked here";
  ASSERT_EQ(read.fabric.lags.size(), 1U);
  const Lag& lag = read.fabric.lags[0];
  EXPECT_EQ(lag.links.size(), 2U);
  EXPECT_EQ(lag.min_links, 1U);
  EXPECT_EQ(lag.fast_rate, (std::array{false, false}));
  EXPECT_EQ(lag.lacp_key[0], 0) << "no lacp_key: SONiC's is 0";
  EXPECT_FALSE(lag.lacp_key[1]);
  EXPECT_EQ(lag.name_at(lag.nodes[1]), "tor1:PortChannel0002");
  EXPECT_EQ(
      read_well(testbed(tables(R"("PortChannel0002": {"lacp_key": "auto"})", "0002|0"), "")).fabric.lags[0].lacp_key[0],
      10'002)
      << "PortChannel2 and PortChannel0002 differ";
}

TEST_F(PortChannels, OfABaseAreThoseOfItsHeirs) {
  const std::string text = testbed(tables(kTor, "101|0 101|4"), "");
  const std::string heir = text.substr(0, text.find("profile: tor")) + "profile: heir" +
                           text.substr(text.find("profile: tor") + 12) + "  heir: {base: tor, mtu: 1500}\n";
  EXPECT_EQ(read_well(heir).fabric.lags.size(), 1U);
}

TEST_F(PortChannels, OfABaseStayWhereAnHeirsOwnFileSaysNothingOfThem) {
  std::ofstream(folder_ / "heir.json") << R"({"DEVICE_METADATA": {"localhost": {"hostname": "x"}}})";
  const std::string text = testbed(tables(kTor, "101|0 101|4"), "");
  const std::string heir = text.substr(0, text.find("profile: tor")) + "profile: heir" +
                           text.substr(text.find("profile: tor") + 12) + "  heir: {base: tor, config_db: \"" +
                           (folder_ / "heir.json").string() + "\"}\n";
  EXPECT_EQ(read_well(heir).fabric.lags.size(), 1U);
}

TEST_F(PortChannels, AreNoLagsWhereTheirEndsDoNotFitAndThatIsSaidWithItsLine) {
  const auto said = [this](const std::string& members, const std::string& spine = "",
                           const std::string& rate = "100Gbps", const std::string& more = "") {
    const Testbed read = read_well(testbed(tables(kTor, members), spine, more, rate));
    EXPECT_EQ(read.fabric.lags.size(), more.empty() ? 0U : 1U);
    return warnings_of(read);
  };
  EXPECT_EQ(said("101|0 101|12"),
            Complaints{"2 at tor1 PortChannel101 is no LAG: its members lead to several nodes (spine1, spine2)"});
  EXPECT_EQ(said("101|16"),
            Complaints{"2 at tor1 PortChannel101 is no LAG: it leads to a host, whose bond is a 'bond' (h1)"});
  EXPECT_EQ(
      said("101|0 101|4", tables(kSpine, "0007|8")),
      (Complaints{"2 at spine1 PortChannel0007 is no LAG: the other end's port channels do not have the same links "
                  "(tor1: PortChannel101)",
                  "2 at tor1 PortChannel101 is no LAG: the other end's port channels do not have the same links "
                  "(spine1: PortChannel0007)"}));
  EXPECT_EQ(said("101|4 101|8", "", "25Gbps"),
            Complaints{"2 at tor1 PortChannel101 is no LAG: its members differ in rate, MTU or flow control (spine1)"});
  EXPECT_EQ(said("101|4 101|8", "", "100Gbps",
                 "  lags: [{name: own, between: [tor1, spine1], members: [tor1:Ethernet0, tor1:Ethernet4]}]\n"),
            Complaints{"2 at tor1 PortChannel101 is no LAG: some of its links are in a LAG of topology.lags (own)"});
}

TEST_F(PortChannels, WithoutLinksAreNoLagsAndThatIsSaidOnceForAllThatShareAProfile) {
  const auto said = [this](const std::string& members, const std::string& profile) {
    const std::string text = testbed(tables(kTor, members), "");
    const size_t at = text.find("spine2: {kind: switch");
    const Testbed read =
        read_well(text.substr(0, at) + "spine2: {kind: switch, profile: " + profile + text.substr(at + 21));
    EXPECT_EQ(read.fabric.lags.size(), 0U);
    return warnings_of(read);
  };
  const std::string none = " PortChannel101 is no LAG: PORTCHANNEL_MEMBER has no port of it";
  EXPECT_EQ(said("", "default"), Complaints{"2 at tor1" + none});
  EXPECT_EQ(said("", "tor"), Complaints{"2 at tor1 and 1 more" + none});
  EXPECT_EQ(said("101|64 101|68", "default"),
            Complaints{"2 at tor1 PortChannel101 is no LAG: none of its ports has a link here"});
}

TEST_F(PortChannels, WithTheNameOfALagOfTheFileAreToldOf) {
  const Testbed read = read_well(
      testbed(tables(kTor, "101|0 101|4 101|8"), "", "  lags: [{name: PortChannel101, between: [tor1, spine2]}]\n"));
  EXPECT_EQ(read.fabric.lags.size(), 2U);
  EXPECT_EQ(warnings_of(read), Complaints{"2 at tor1 PortChannel101 has the name of a LAG of topology.lags, which is "
                                          "what overrides mean by it"});
}

TEST_F(PortChannels, BesideLagsOfOtherNamesAreNotToldOf) {
  const Testbed read = read_well(
      testbed(tables(kTor, "101|0 101|4 101|8"), "", "  lags: [{name: PortChannel102, between: [tor1, spine2]}]\n"));
  EXPECT_EQ(read.fabric.lags.size(), 2U);
  EXPECT_EQ(warnings_of(read), Complaints{});
}

TEST_F(PortChannels, GiveWayToWhatTheFileSays) {
  const Testbed read =
      read_well(testbed(tables(kTor, "101|0 101|4 101|8"), "", "  lags: [{name: own, between: [tor1, spine1]}]\n"));
  ASSERT_EQ(read.fabric.lags.size(), 1U);
  EXPECT_EQ(read.fabric.lags[0].name, "own");
  EXPECT_EQ(read.fabric.lags[0].mode, LagMode::kStatic);
  EXPECT_EQ(warnings_of(read), Complaints{});
}

TEST_F(PortChannels, WithFewerLinksThanMinLinksAreDown) {
  const Testbed read = read_well(testbed(tables(kTor, "101|0"), ""));
  EXPECT_EQ(warnings_of(read), Complaints{"2 at tor1 PortChannel101 is down from the start: min_links is more than the "
                                          "links that it has here"});
  const Lag& lag = read.fabric.lags.at(0);
  const RouteTable table = compute_routes(read.fabric, std::vector<bool>(read.fabric.links.size(), true))[lag.nodes[0]];
  for (const auto& ports : table.groups) EXPECT_EQ(std::ranges::count(ports, lag.ports_at(lag.nodes[0])[0]), 0);
}

TEST_F(PortChannels, MayBeNamedByOverrides) {
  const auto via = [&](const std::string& at, const std::string& name) {
    return complaints_about(testbed(tables(kTor, "101|0 101|4 101|8"), tables(kSpine, "0007|4 0007|0 0007|8")) +
                            "overrides: [{at: " + at + ", to: h1, via: " + name + "}]\n");
  };
  EXPECT_EQ(via("spine1", "PortChannel0007"), Complaints{"14 overrides[0].via: is where these packets come from"});
  EXPECT_EQ(via("spine1", "tor1:PortChannel101"), via("spine1", "PortChannel0007"));
  EXPECT_EQ(via("spine1", "PortChannel101"),
            Complaints{"14 overrides[0].via: spine1 has no link at 'PortChannel101': did you mean 'PortChannel0007'?"});
}

TEST_F(PortChannels, ThatCannotBeReadAreRefused) {
  const auto about = [this](const std::string& channels, const std::string& members) {
    Complaints out;
    const auto read = parse_testbed(testbed(tables(channels, members), ""), "t.yaml");
    if (read) return out;
    for (const Error& error : read.error()) out.push_back(error.message);
    return out;
  };
  const Complaints twice = about(R"("PortChannel1": {}, "PortChannel2": {})", "1|0 2|0");
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_NE(twice[0].find("the port is in 'PortChannel1' already: a port is in one LAG"), std::string::npos)
      << twice[0];
  const Complaints key = about(R"("PortChannel1": {"lacp_key": "70000"})", "1|0");
  ASSERT_EQ(key.size(), 1U);
  EXPECT_NE(key[0].find("auto or a LACP key"), std::string::npos) << key[0];
  EXPECT_EQ(about(R"("PortChannel1": {"min_links": "2000"})", "1|0").size(), 1U);
  EXPECT_EQ(about(R"("PortChannel1": {})", "1").size(), 1U) << "no port";
}

TEST_F(PortChannels, PassOverWhatMeansNothingHereAndListIt) {
  const Testbed read = read_well(testbed(
      tables(R"("PortChannel1": {"fallback": "true", "tpid": "0x8100", "admin_status": "up"})", "1|0 1|4 9|8"), ""));
  EXPECT_EQ(read.fabric.lags.size(), 1U);
  std::vector<std::string> ignored;
  for (const IgnoredPart& part : read.ignored) ignored.push_back(part.table + " " + part.what);
  EXPECT_EQ(ignored, (std::vector<std::string>{"PORTCHANNEL fallback", "PORTCHANNEL tpid", "PORTCHANNEL admin_status",
                                               "PORTCHANNEL_MEMBER rows of PortChannel9, which PORTCHANNEL has not"}));
}

}  // namespace
}  // namespace softspine::control
