// SPDX-License-Identifier: Apache-2.0
// Tables as switches have them: by hand, in the shapes of SONiC's own renderings, and those themselves where they are.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "control/compile/dynamic_pools.hpp"
#include "control/compile/headroom_list.hpp"
#include "control/document/text_file.hpp"
#include "tests/harness/samples.hpp"
#include "tests/unit/qos/plans.hpp"

namespace softspine::control {
namespace {

using nlohmann::json;
using tests::Complaints;
using tests::plan_of;
using tests::Planned;
using tests::read_well;
using tests::with_fabric;

Complaints whole_complaints(std::string_view text) {
  Complaints out;
  const auto read = parse_testbed(text, "t.yaml");
  if (read) return out;
  for (const Error& error : read.error()) out.push_back(to_string(error));
  return out;
}

// A config_db.json of the small fabric's first ToR: Ethernet0 and Ethernet4 to hosts (100 Gb/s, 5 m), Ethernet8 to the
// spine (400 Gb/s, 40 m).
class Tables : public testing::Test {
 protected:
  Tables()
      : path_(std::filesystem::path(testing::TempDir()) /
              (std::string("softspine-tables-") + testing::UnitTest::GetInstance()->current_test_info()->name() +
               ".json")) {}
  ~Tables() override { std::filesystem::remove(path_); }

  std::string testbed(const json& tables, std::string_view more = "") const {
    std::ofstream(path_) << tables.dump(1);
    return with_fabric("profiles: {tor: {config_db: \"" + path_.string() + "\"" + std::string(more) +
                       "}}\nroles: {tor: tor}\n");
  }
  static json buffers() {
    return json::parse(R"({
      "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "8000000"},
                      "egress_lossless_pool": {"type": "egress", "mode": "dynamic", "size": "13945824"}},
      "BUFFER_PROFILE": {
        "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"},
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"}},
      "BUFFER_PG": {"Ethernet0,Ethernet4,Ethernet8|0": {"profile": "ingress_lossy_profile"}},
      "BUFFER_QUEUE": {"Ethernet0,Ethernet4,Ethernet8|0-7": {"profile": "egress_lossless_profile"}},
      "PORT_QOS_MAP": {"Ethernet0,Ethernet4,Ethernet8": {"pfc_enable": "3,4"}},
      "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "5m", "Ethernet8": "40m"}}})");
  }
  static const IgnoredPart* ignored(const Testbed& testbed, std::string_view table, std::string_view what) {
    for (const IgnoredPart& part : testbed.ignored) {
      if (part.table == table && part.what == what) return &part;
    }
    return nullptr;
  }
  static SonicHeadroom sonic(const Planned& planned, size_t port) {
    const Profile& profile = planned.testbed.profiles.at(0);
    return sonic_headroom(*profile.qos, port_shapes(planned.testbed.fabric, planned.testbed.profiles, 0).at(port));
  }

  std::filesystem::path path_;
};

TEST_F(Tables, PortsMayHaveMapsOfTheirOwn) {
  json tables = buffers();
  tables["DSCP_TO_TC_MAP"] =
      json::parse(R"({"AZURE": {"3": "3", "10": "1", "33": "8"}, "AZURE_UPLINK": {"3": "3", "10": "2"}})");
  tables["TC_TO_QUEUE_MAP"] = json::parse(R"({"AZURE": {"1": "1", "2": "1", "3": "3"},
    "AZURE_UPLINK": {"1": "1", "2": "2", "3": "3"}, "AZURE_TUNNEL": {"2": "6", "8": "1"}})");
  tables["PORT_QOS_MAP"] = json::parse(R"({"global": {"dscp_to_tc_map": "AZURE"},
    "Ethernet0": {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "pfc_enable": "3,4"},
    "Ethernet4": {"tc_to_queue_map": "AZURE"},
    "Ethernet8": {"dscp_to_tc_map": "AZURE_UPLINK", "tc_to_queue_map": "AZURE_UPLINK",
                  "tc_to_dscp_map": "AZURE_TUNNEL"}})");
  const Testbed found = read_well(testbed(tables));
  const Profile& profile = found.profiles.at(0);
  EXPECT_EQ(profile.dscp_to_tc[10], 1U);
  EXPECT_EQ(profile.maps_at("Ethernet4"), static_cast<const PortMaps&>(profile));
  EXPECT_EQ(profile.maps_at("Ethernet0").tc_to_queue[2], 1U);
  EXPECT_EQ(profile.maps_at("Ethernet8").dscp_to_tc[10], 2U);
  EXPECT_EQ(profile.maps_at("Ethernet8").tc_to_queue[2], 2U);
  ASSERT_NE(ignored(found, "TC_TO_QUEUE_MAP", "entries of 8"), nullptr) << "a traffic class that is not here";
  ASSERT_NE(ignored(found, "DSCP_TO_TC_MAP", "entries to 8"), nullptr);
  ASSERT_NE(ignored(found, "PORT_QOS_MAP", "tc_to_dscp_map"), nullptr);
}

TEST_F(Tables, WhatIsReadOverIsCounted) {
  json tables = buffers();
  tables["TC_TO_DSCP_MAP"] = json::parse(R"({"AZURE_TUNNEL": {"0": "8", "1": "0"}})");
  tables["DEVICE_NEIGHBOR"] = json::parse(R"({"Ethernet0": {"name": "a"}, "Ethernet4": {"name": "b"}})");
  tables["PORT"] = json::parse(R"({"Ethernet0": {"speed": "100000", "lanes": "1,2,3,4", "alias": "etp1"},
    "Ethernet4": {"speed": "100000", "lanes": "5,6,7,8", "alias": "etp2"}})");
  const Testbed found = read_well(testbed(tables));
  const IgnoredPart* neighbours = ignored(found, "DEVICE_NEIGHBOR", "");
  ASSERT_NE(neighbours, nullptr);
  EXPECT_EQ(neighbours->count, 2U);
  EXPECT_GT(neighbours->line, 1);
  EXPECT_EQ(neighbours->file, path_.string());
  ASSERT_NE(ignored(found, "PORT", "alias"), nullptr);
  EXPECT_EQ(ignored(found, "PORT", "alias")->count, 2U);
  ASSERT_NE(ignored(found, "TC_TO_DSCP_MAP", ""), nullptr);
  EXPECT_EQ(ignored(found, "PORT", "speed"), nullptr);
}

TEST_F(Tables, AChassisHasItsOwnRowsOnly) {
  json tables = buffers();
  tables["BUFFER_QUEUE"] = json::parse(R"({
    "lc3|Asic0|Ethernet0,Ethernet4,Ethernet8|0-7": {"profile": "egress_lossless_profile"},
    "lc4|Asic0|Ethernet0,Ethernet4|0-7": {"profile": "nobody"}, "lc3|Asic1|Ethernet0|0-7": {"profile": "nobody"}})");
  for (const bool named : {false, true}) {
    if (named) tables["DEVICE_METADATA"]["localhost"] = {{"hostname", "lc3"}, {"asic_name", "Asic0"}};
    const Planned planned = plan_of(testbed(tables));
    EXPECT_EQ(planned.queue(0, 3).limit, dataplane::SharedLimit::dynamic(7));
    EXPECT_EQ(ignored(planned.testbed, "BUFFER_QUEUE", "rows of lc4|Asic0")->count, 1U);
    EXPECT_EQ(ignored(planned.testbed, "BUFFER_QUEUE", "rows of lc3|Asic1")->count, 1U);
  }
  tables["DEVICE_METADATA"]["localhost"] = {{"hostname", "lc4"}, {"asic_name", "Asic0"}};
  EXPECT_EQ(whole_complaints(testbed(tables)).size(), 1U) << "a profile that is not there";
}

TEST_F(Tables, APoolOfBothDirectionsMayBeLargerThan4GiB) {
  json tables = buffers();
  tables["BUFFER_POOL"] = json::parse(
      R"({"ingress_lossless_pool": {"type": "both", "mode": "dynamic", "size": "6441610000", "xoff": "1056256819"}})");
  tables["BUFFER_PROFILE"]["egress_lossless_profile"] = {
      {"pool", "ingress_lossless_pool"}, {"size", "0"}, {"dynamic_th", "-1"}};
  const Planned planned = plan_of(testbed(tables));
  ASSERT_EQ(planned.plan->buffer.ingress_pools.size(), 1U);
  ASSERT_EQ(planned.plan->buffer.egress_pools.size(), 1U);
  EXPECT_EQ(planned.plan->buffer.ingress_pools[0].shared_cells, 6'441'610'000 / 256);
  EXPECT_EQ(planned.plan->buffer.ingress_pools[0].headroom_cells, 1'056'256'819 / 256);
  EXPECT_EQ(planned.plan->buffer.egress_pools[0].shared_cells, 6'441'610'000 / 256);
  EXPECT_EQ(planned.plan->buffer.egress_pools[0].headroom_cells, 0U);
  EXPECT_EQ(planned.queue(1, 3).pool, 0U);
  EXPECT_EQ(planned.queue(1, 3).limit, dataplane::SharedLimit::dynamic(-1));
}

TEST_F(Tables, LosslessGroupsAreAddedAsBuffermgrdDoes) {
  json tables = buffers();
  tables["PORT"] = json::parse(R"({"Ethernet0": {"speed": "100000"}, "Ethernet8": {"speed": "400000"}})");
  tables["CABLE_LENGTH"]["AZURE"]["Ethernet4"] = "0m";
  tables["BUFFER_PROFILE"]["pg_lossless_100000_5m_profile"] = {
      {"pool", "ingress_lossless_pool"}, {"size", "1248"}, {"xon", "2288"}, {"xoff", "165568"}, {"dynamic_th", "-3"}};
  const Planned planned = plan_of(testbed(tables));
  EXPECT_TRUE(planned.group(0, 3).lossless);
  EXPECT_EQ(planned.group(0, 3).limit, dataplane::SharedLimit::dynamic(-3));
  EXPECT_EQ(planned.group(0, 4).headroom_cells, (165'568U + 255) / 256);
  EXPECT_FALSE(planned.group(1, 3).lossless) << "0m: none";
  EXPECT_TRUE(planned.group(2, 4).lossless);
  const auto shapes = port_shapes(planned.testbed.fabric, planned.testbed.profiles, 0);
  EXPECT_EQ(planned.group(2, 4).headroom_cells, headroom_needed(shapes.at(2), 256, dataplane::kMinFrameBytes));
  const auto rows = headrooms_of(planned.testbed);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].buffer_profile, "pg_lossless_100000_5m_profile");
  EXPECT_EQ(rows[1].buffer_profile, "pg_lossless_400000_40m_profile");
  EXPECT_EQ(rows[1].groups, (std::vector<std::string>{"Ethernet8|3", "Ethernet8|4"}));
  EXPECT_TRUE(rows[0].added && rows[1].added);
}

TEST_F(Tables, AddNoLosslessGroupsToPortsThatAreDownOrHaveARow) {
  json tables = buffers();
  tables["PORT"] = json::parse(R"({"Ethernet0": {"admin_status": "down"}})");
  tables["BUFFER_PG"]["Ethernet4|3-4"] = {{"profile", "ingress_lossy_profile"}};
  const Planned planned = plan_of(testbed(tables));
  EXPECT_FALSE(planned.group(0, 3).lossless);
  EXPECT_FALSE(planned.group(1, 3).lossless);
  EXPECT_TRUE(planned.group(2, 3).lossless);
}

// Worked by hand: 9,100 bytes of MTU, and of cable 631.3 at 100 Gb/s over 5 m (20,202.0 at 400 Gb/s over 40 m),
// 819.2 of MAC and PHY, 394 × 64 = 25,216 (905 × 64 = 57,920) of response: 35,766.5 (88,041.2). Cells of 96: worst 2.
// Half of the packets small, mtu 1,024: 11.76 %. 1,024 + 35,766.5 × 1.1176 = 40,998.3: 41 KiB (99,423.0: 98 KiB).
TEST_F(Tables, SonicsCalculatorIsWorkedByHand) {
  json tables = buffers();
  tables["DEVICE_METADATA"]["localhost"]["platform"] = "x86_64-mlnx_msn2700-r0";
  tables["LOSSLESS_TRAFFIC_PATTERN"]["AZURE"] = {{"mtu", "1024"}, {"small_packet_percentage", "50"}};
  const Planned own = plan_of(testbed(tables));
  // Small packets only: 1,024 + 35,766.5 × 2 = 72,557.0, 71 KiB. More than 2 KiB above: 2 KiB more.
  EXPECT_EQ(sonic(own, 0), (SonicHeadroom{.size = 63'488, .xon = 19'456, .xoff = 44'032}));
  EXPECT_EQ(sonic(own, 2), (SonicHeadroom{.size = 121'856, .xon = 19'456, .xoff = 102'400}));
  EXPECT_EQ(own.group(0, 3).reserved_cells, (63'488U + 95) / 96 - own.group(0, 3).headroom_cells);
  EXPECT_NEAR(own.group(0, 3).headroom_cells, 44'032.0 / 96, 1);
  tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]["AZURE"] = {{"over_subscribe_ratio", "2"}};
  const Planned shared = plan_of(testbed(tables));
  EXPECT_EQ(sonic(shared, 0), (SonicHeadroom{.size = 19'456, .xon = 19'456, .xoff = 41'984}));
  tables["LOSSLESS_TRAFFIC_PATTERN"]["AZURE"]["small_packet_percentage"] = "100";
  EXPECT_EQ(sonic(plan_of(testbed(tables)), 0), (SonicHeadroom{.size = 19'456, .xon = 19'456, .xoff = 72'704}));
  // Cells of 144: worst 3, 1,024 + 35,766.5 × 1.2353 = 45,206.2: 45 KiB.
  tables["DEVICE_METADATA"]["localhost"]["platform"] = "x86_64-mlnx_msn4700-r0";
  tables["LOSSLESS_TRAFFIC_PATTERN"]["AZURE"]["small_packet_percentage"] = "50";
  EXPECT_EQ(sonic(plan_of(testbed(tables)), 0), (SonicHeadroom{.size = 19'456, .xon = 19'456, .xoff = 46'080}));
}

json dynamic_tables(json tables) {
  tables["DEVICE_METADATA"]["localhost"]["platform"] = "x86_64-mlnx_msn2700-r0";
  tables["LOSSLESS_TRAFFIC_PATTERN"]["AZURE"] = {{"mtu", "1024"}, {"small_packet_percentage", "50"}};
  tables["BUFFER_POOL"]["ingress_lossless_pool"] = {{"type", "ingress"}, {"mode", "dynamic"}};
  tables["BUFFER_POOL"]["ingress_lossy_pool"] = {{"type", "ingress"}, {"mode", "dynamic"}};
  tables["BUFFER_POOL"]["egress_lossy_pool"] = {{"type", "egress"}, {"mode", "dynamic"}};
  tables["BUFFER_PROFILE"]["ingress_lossy_profile"]["pool"] = "ingress_lossy_pool";
  tables["BUFFER_PROFILE"]["egress_lossy_profile"] = {
      {"pool", "egress_lossy_pool"}, {"size", "9216"}, {"dynamic_th", "7"}};
  tables["BUFFER_PG"]["Ethernet0,Ethernet4,Ethernet8|3-4"] = {{"profile", "NULL"}};
  tables["BUFFER_PORT_EGRESS_PROFILE_LIST"]["Ethernet0,Ethernet4,Ethernet8"] = {
      {"profile_list", "egress_lossless_profile,egress_lossy_profile"}};
  return tables;
}

std::vector<PoolSizes> sizes_of(const Planned& planned) {
  return pool_sizes(*planned.testbed.profiles.at(0).qos,
                    port_shapes(planned.testbed.fabric, planned.testbed.profiles, 0));
}

// Worked by hand. Ports to hosts: two groups of 63,488, a lossy one of 19,456, 9,216 of the port's profile, 19,456 of
// control traffic, 10,240 of mirrors: 185,344 each; to the spine with groups of 121,856: 302,080. The processor:
// 262,144. Of 13,945,824 are left 13,010,912: half of it for each ingress pool.
TEST_F(Tables, PoolsWithoutSizeGetWhatThePortsLeave) {
  const Planned planned = plan_of(testbed(dynamic_tables(buffers())));
  const std::vector<PoolSizes> sizes = sizes_of(planned);
  const auto& pools = planned.testbed.profiles.at(0).qos->pools;
  ASSERT_EQ(sizes.size(), 4U);
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(sizes[i].size, pools[i].name == "egress_lossless_pool" ? 13'945'824U : 6'505'456U) << pools[i].name;
    EXPECT_EQ(sizes[i].xoff, 0U);
  }
  EXPECT_EQ(planned.plan->buffer.ingress_pools.at(0).shared_cells, 6'505'456U / 96);
}

// Groups of 19,456 then; 41,984 (100,352 to the spine) of each lie in the headroom pool: 368,640 for six groups, less
// 3 × 10,240 that ports keep, halved: 168,960. 262,144 + 3 × 97,280 + 30,720 + 168,960 are taken.
TEST_F(Tables, AndASharedHeadroomPoolIfItIsOverSubscribed) {
  json tables = dynamic_tables(buffers());
  tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]["AZURE"] = {{"over_subscribe_ratio", "2"}};
  const Planned planned = plan_of(testbed(tables));
  const auto& pools = planned.testbed.profiles.at(0).qos->pools;
  const std::vector<PoolSizes> sizes = sizes_of(planned);
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(sizes[i].size, pools[i].computed ? 6'596'080U : 13'945'824U) << pools[i].name;
    EXPECT_EQ(sizes[i].xoff, pools[i].name == "ingress_lossless_pool" ? 168'960U : 0U) << pools[i].name;
  }
  EXPECT_EQ(planned.plan->buffer.ingress_pools.at(0).headroom_cells, 168'960U / 96);
}

TEST_F(Tables, PoolsThatNothingIsLeftForAreRefused) {
  json tables = dynamic_tables(buffers());
  tables["BUFFER_POOL"]["egress_lossless_pool"]["size"] = "500000";
  const Complaints said = whole_complaints(testbed(tables));
  ASSERT_FALSE(said.empty());
  EXPECT_NE(said.front().find("nothing is left for it"), std::string::npos) << said.front();
  tables["BUFFER_POOL"]["egress_lossless_pool"].erase("size");
  EXPECT_EQ(whole_complaints(testbed(tables)).size(), 4U);
}

// The folder with SONiC's renderings, and which of them belong to one switch.
constexpr std::pair<const char*, const char*> kSwitches[] = {
    {"buffer-arista7260-dualtor", "qos-arista7260-dualtor"},
    {"buffer-arista7260-t0", "qos-arista7260-t0"},
    {"buffer-arista7260-t1", "qos-arista7260-t1"},
    {"buffer-arista7800r3-48cq2-lc", "qos-arista7800r3-48cq2-lc"},
    {"buffers-dell6100", "qos-dell6100"},
    {"buffers-mellanox4600c-t0", "qos-mellanox4600c-d48c40-t0"},
    {"buffers-mellanox4600c-t0-dynamic", "qos-mellanox4600c-d48c40-t0"}};

class Samples : public testing::Test {
 protected:
  void SetUp() override {
    const tests::Samples samples =
        tests::samples_of("SOFTSPINE_SONIC_SAMPLES", "sonic-buildimage/sample_output",
                          "SONiC's sample outputs (sonic-buildimage, src/sonic-config-engine/tests/sample_output)");
    if (!samples.missing.empty()) GTEST_SKIP() << samples.missing;
    folder_ = samples.folder;
  }
  // Every port that has a row has a host.
  std::string testbed(const std::vector<std::string>& files) const {
    std::set<std::string> ports;
    std::string profiles = "profiles:\n";
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string path = (folder_ / (files[i] + ".json")).string();
      const json tables = json::parse(read_text_file(path, true).value());
      for (const char* table : {"BUFFER_PG", "PORT_QOS_MAP"}) {
        if (!tables.contains(table)) continue;
        for (const auto& [key, row] : tables[table].items()) {
          if (key != "global") ports.insert(key.substr(0, key.find('|')));
        }
      }
      const std::string platform = files[i].find("mellanox2") != std::string::npos   ? ", platform: spectrum"
                                   : files[i].find("mellanox4") != std::string::npos ? ", platform: spectrum3"
                                                                                     : "";
      profiles += "  p" + std::to_string(i) + ": {config_db: \"" + path + "\"" + platform +
                  (i == 0 ? "" : ", base: p" + std::to_string(i - 1)) + "}\n";
    }
    std::string nodes;
    std::string links;
    for (const std::string& port : ports) {
      const std::string host = "h" + std::to_string(nodes.size());
      nodes += "    " + host + ": {kind: host}\n";
      links += "    - {endpoints: [\"tor1:" + port + "\", " + host + "], rate: 100Gbps, length: 5m}\n";
    }
    return "name: sample\ntopology:\n  nodes:\n    tor1: {kind: switch, role: tor, subnet: 10.0.0.0/24, profile: p" +
           std::to_string(files.size() - 1) + "}\n" + nodes + "  links:\n" + links + profiles;
  }
  std::filesystem::path folder_;
};

TEST_F(Samples, EachIsASwitchsConfiguration) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const std::string text = testbed({entry.path().stem().string()});
    ASSERT_EQ(whole_complaints(text), Complaints{});
    for (const Error& warning : read_well(text).warnings)
      EXPECT_EQ(warning.message.find("is not known here"), std::string::npos) << to_string(warning);
    ++count;
  }
  EXPECT_GE(count, 16U);
}

// "3,4" of a port's row, as bits; a port without a row has none.
uint8_t pfc_enable_of(const json& rows, const std::string& port) {
  if (!rows.contains(port) || !rows[port].contains("pfc_enable")) return 0;
  uint8_t out = 0;
  for (const char digit : rows[port]["pfc_enable"].get<std::string>()) {
    if (digit != ',') out = static_cast<uint8_t>(out | 1U << (digit - '0'));
  }
  return out;
}

TEST_F(Samples, OfASwitchGoTogetherAndItsPortsAreLossless) {
  for (const auto& [buffers, qos] : kSwitches) {
    SCOPED_TRACE(buffers);
    const Planned planned = plan_of(testbed({buffers, qos}));
    ASSERT_NE(planned.plan, nullptr);
    const json maps = json::parse(read_text_file((folder_ / (std::string(qos) + ".json")).string(), true).value());
    const auto& ports = tests::node_of(planned.testbed, "tor1").ports;
    uint32_t lossless = 0;
    uint32_t enabled = 0;
    for (uint32_t p = 0; p < planned.plan->ports.size(); ++p) {
      const uint8_t mask = pfc_enable_of(maps["PORT_QOS_MAP"], ports[p].name);
      EXPECT_EQ(planned.plan->ports[p].pfc_enabled, mask) << ports[p].name;
      for (uint8_t group = 0; group < 8; ++group) {
        lossless += planned.group(p, group).lossless ? 1 : 0;
        if ((mask >> group & 1) == 0) continue;
        ++enabled;
        EXPECT_TRUE(planned.group(p, group).lossless) << ports[p].name << " " << int{group};
      }
    }
    EXPECT_GE(enabled, 40U) << "twenty ports and more, of two priorities at least";
    size_t listed = 0;
    for (const HeadroomRow& row : headrooms_of(planned.testbed)) listed += row.groups.size();
    EXPECT_EQ(listed, lossless) << "each has its headroom";
  }
}

}  // namespace
}  // namespace softspine::control
