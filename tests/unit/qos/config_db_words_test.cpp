// SPDX-License-Identifier: Apache-2.0
// Words of a config_db.json: what is not known is said, what SONiC has and nothing here needs is counted.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "control/rows/sonic_names.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::read_well;
using tests::with_fabric;
using Fields = std::vector<HashField>;
using enum HashField;

class ConfigDbWords : public testing::Test {
 protected:
  ConfigDbWords()
      : path_(std::filesystem::path(testing::TempDir()) /
              (std::string("softspine-words-") + testing::UnitTest::GetInstance()->current_test_info()->name() +
               ".json")) {}
  ~ConfigDbWords() override { std::filesystem::remove(path_); }

  Testbed read(std::string_view tables, std::string_view more = "") const {
    std::ofstream(path_) << tables;
    return read_well(with_fabric("profiles: {tor: {config_db: \"" + path_.string() + "\"" + std::string(more) +
                                 "}}\nroles: {tor: tor}\n"));
  }
  // Of the file itself: "LINE PATH: MESSAGE".
  Complaints warnings(std::string_view tables) const {
    Complaints out;
    for (const Error& each : read(tables).warnings) {
      if (each.file == path_.string()) out.push_back(std::to_string(each.line) + " " + each.path + ": " + each.message);
    }
    return out;
  }

  std::filesystem::path path_;
};

TEST_F(ConfigDbWords, WhatIsNotKnownIsSaidWithTheNearestNameOnceForATable) {
  EXPECT_EQ(warnings(R"({
  "PORT_QOS_MAP": {"Ethernet0": {"pfc_enabled": "3,4"}, "Ethernet4": {"pfc_enabled": "3"},
                   "Ethernet8": {"pfc_enable": "3", "tc_to_dscp_map": "AZURE"}},
  "WRED_PROFILE": {"AZURE": {"green_ect_min_threshold": "1000", "ecn_yellow_min_threshold": "5"}},
  "SCHEDULR": {"scheduler.0": {"type": "DWRR"}},
  "PORT": {"Ethernet0": {"speed": "100000", "lanes": "1,2", "alias": "etp1", "fec": "rs", "admin_statsu": "up"}},
  "DEVICE_METADATA": {"localhost": {"hwsku": "x", "typ": "LeafRouter"}},
  "SWITCH_HASH": {"GLOBAL": {"ecmp_hash_ipv4_rmda": ["SRC_IP"]}},
  "TC_TO_DSCP_MAP": {"AZURE": {"0": "8"}}, "qqqqqqqq": {}
})"),
            (Complaints{
                "2 PORT_QOS_MAP.Ethernet0.pfc_enabled: 'pfc_enabled' is not known here, and not read: did you mean "
                "'pfc_enable'? (2 times in this table)",
                "4 WRED_PROFILE.AZURE.green_ect_min_threshold: 'green_ect_min_threshold' is not known here, and not "
                "read: did you mean 'green_min_threshold'?",
                "5 SCHEDULR: 'SCHEDULR' is not known here, and not read: did you mean 'SCHEDULER'?",
                "6 PORT.Ethernet0.admin_statsu: 'admin_statsu' is not known here, and not read: did you mean "
                "'admin_status'?",
                "7 DEVICE_METADATA.localhost.typ: 'typ' is not known here, and not read: did you mean 'type'?",
                "8 SWITCH_HASH.GLOBAL.ecmp_hash_ipv4_rmda: 'ecmp_hash_ipv4_rmda' is not known here, and not read: did "
                "you mean 'ecmp_hash_ipv4_rdma'?",
                "9 qqqqqqqq: 'qqqqqqqq' is not known here, and not read"}));
}

// Whatever a file claims, a list of warnings ends.
TEST_F(ConfigDbWords, OfManyThatAreNotKnownTheLastAreCounted) {
  std::string tables = "{";
  for (size_t i = 0; i < kMaxIgnoredParts + 7; ++i) tables += "\"zz" + std::to_string(i) + "\": {}, ";
  const Testbed found = read(tables + "\"PORT\": {}}");
  EXPECT_EQ(found.warnings.size(), kMaxIgnoredParts + 1);
  EXPECT_TRUE(std::ranges::any_of(
      found.warnings, [](const Error& each) { return each.message == "and 7 more that is not known here"; }));
}

// DEVICE_METADATA of a testbed itself, too, whose other keys are passed over.
TEST_F(ConfigDbWords, InATestbedAreNotReadOverEither) {
  const Testbed found = read_well(
      with_fabric("profiles: {tor: {DEVICE_METADATA: {localhost: {type: LeafRouter, hwsku: x, ecmp_hash_sed: 3}}}}\n"));
  const auto is_it = [](const Error& each) { return each.message.find("'ecmp_hash_seed'") != std::string::npos; };
  ASSERT_EQ(std::ranges::count_if(found.warnings, is_it), 1);
  EXPECT_EQ(std::ranges::find_if(found.warnings, is_it)->path, "profiles.tor.DEVICE_METADATA.localhost.ecmp_hash_sed");
}

TEST_F(ConfigDbWords, NumbersMayHaveBlanksAroundThem) {
  const Testbed found = read(R"({"WRED_PROFILE": {"AZURE_LOSSLESS": {
    "ecn": "ecn_all", "wred_green_enable": "true", "green_min_threshold": " 166912", "green_max_threshold": "282624 ",
    "green_drop_probability": "\t5"}}})");
  ASSERT_NE(found.profiles.at(0).qos, nullptr);
  ASSERT_EQ(found.profiles.at(0).qos->wreds.size(), 1U);
}

// Of numbers that go alike: "24-31": 3.
TEST_F(ConfigDbWords, MapsMayHaveRangesOfNumbers) {
  const Profile profile = read(R"({"DSCP_TO_TC_MAP": {"AZURE": {"0-7": "1", "8": "2", "24-31": "3", "63-63": "4"}},
    "TC_TO_QUEUE_MAP": {"AZURE": {"3-4": "5"}}, "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "AZURE",
    "tc_to_queue_map": "AZURE"}}})")
                              .profiles.at(0);
  for (uint8_t dscp = 0; dscp < 64; ++dscp) {
    const uint8_t expected = dscp < 8 ? 1 : dscp == 8 ? 2 : dscp >= 24 && dscp <= 31 ? 3 : dscp == 63 ? 4 : 0;
    EXPECT_EQ(profile.dscp_to_tc[dscp], expected) << int{dscp};
  }
  EXPECT_EQ(profile.tc_to_queue[3], 5U);
  EXPECT_EQ(profile.tc_to_queue[4], 5U);
  EXPECT_EQ(profile.tc_to_queue[5], 0U);
  const auto about = [](const std::string& entries) {
    return tests::complaints_about(with_fabric("profiles: {tor: {DSCP_TO_TC_MAP: {A: {" + entries + "}}}}\n"));
  };
  EXPECT_EQ(about("7: 1, 5-9: 2"), Complaints{"4 profiles.tor.DSCP_TO_TC_MAP.A.5-9: 7 stands in this map already"});
  for (const char* wrong : {"9-5", "60-64", "-3", "3-", "a-b"})
    EXPECT_EQ(about(std::string(wrong) + ": 1").size(), 1U) << wrong;
}

// SONiC PR 2100: a hash of their own for RoCE packets, those of all others as they are.
TEST_F(ConfigDbWords, RoceHasAHashObjectOfItsOwn) {
  for (const char* fields : {R"(["SRC_IP", "DST_IP", "RDMA_BTH_DEST_QP"])", R"("SRC_IP,DST_IP,RDMA_BTH_DEST_QP")"}) {
    const Profile profile = read(R"({"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["SRC_IP", "DST_IP", "IP_PROTOCOL"],
      "ecmp_hash_ipv4_rdma": )" + std::string(fields) +
                                 R"(, "ecmp_hash_ipnip": ["INNER_SRC_IP"]}}})")
                                .profiles.at(0);
    EXPECT_EQ(profile.hash.fields, (Fields{kSrcIp, kDstIp, kIpProtocol}));
    constexpr auto kRdma = static_cast<size_t>(dataplane::HashObjectOf::kIpv4Rdma);
    constexpr auto kInIpv4 = static_cast<size_t>(dataplane::HashObjectOf::kIpv4InIpv4);
    for (size_t i = 0; i < profile.hash.objects.size(); ++i)
      EXPECT_EQ(profile.hash.objects[i].has_value(), i == kRdma || i == kInIpv4) << i;
    EXPECT_EQ(profile.hash.objects[kRdma]->fields, (Fields{kSrcIp, kDstIp, kRdmaBthDestQp}));
    EXPECT_EQ(profile.hash.objects[kInIpv4]->fields, Fields{kInnerSrcIp});
    // LAGs have attributes of their own, which the file does not set.
    ASSERT_NE(profile.lag_hash, nullptr);
    EXPECT_FALSE(profile.lag_hash->objects[kRdma]);
    EXPECT_EQ(profile.lag_hash->fields.size(), 5U);
  }
}

TEST_F(ConfigDbWords, HashObjectsOfLagsAreTheirOwn) {
  constexpr auto kRdma = static_cast<size_t>(dataplane::HashObjectOf::kIpv6Rdma);
  const auto of = [&](std::string_view global) {
    return read(R"({"SWITCH_HASH": {"GLOBAL": {)" + std::string(global) + "}}}").profiles.at(0);
  };
  const Profile lags = of(R"("lag_hash_ipv6_rdma": ["RDMA_BTH_DEST_QP"])");
  EXPECT_FALSE(lags.hash.objects[kRdma]);
  ASSERT_NE(lags.lag_hash, nullptr);
  EXPECT_EQ(lags.lag_hash->objects[kRdma]->fields, Fields{kRdmaBthDestQp});
  const Profile both = of(R"("lag_hash_ipv6_rdma": ["RDMA_BTH_DEST_QP"], "ecmp_hash_ipv6_rdma": ["RDMA_BTH_DEST_QP"])");
  EXPECT_EQ(both.hash.objects[kRdma]->fields, Fields{kRdmaBthDestQp});
  EXPECT_EQ(both.lag_hash, nullptr) << "the same";
}

// A name would be read and passed over at once.
TEST(SonicNames, StandOnceAndInOrder) {
  const auto in_order = [](std::span<const std::string_view> names) {
    return std::ranges::is_sorted(names) && std::ranges::adjacent_find(names) == names.end();
  };
  EXPECT_TRUE(in_order(sonic_tables_beside()));
  EXPECT_GT(sonic_tables_beside().size(), 100U);
  for (const char* table : {"PORT", "PORTCHANNEL", "PORT_QOS_MAP", "WRED_PROFILE", "localhost"}) {
    EXPECT_FALSE(sonic_fields_beside(table).empty()) << table;
    EXPECT_TRUE(in_order(sonic_fields_beside(table))) << table;
  }
  EXPECT_TRUE(sonic_fields_beside("QUEUE").empty());
}

}  // namespace
}  // namespace softspine::control
