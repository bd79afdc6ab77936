// SPDX-License-Identifier: Apache-2.0
// `hash` and `groups` of a profile: what they mean, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "control/model/profile.hpp"
#include "control/rows/row_formats.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

Profile default_with(std::string_view tables) {
  return read_well(with_fabric("profiles:\n  default:\n    " + std::string(tables) + "\n")).profiles.front();
}
Complaints about_default_with(std::string_view tables) {
  return complaints_about(with_fabric("profiles:\n  default:\n    " + std::string(tables) + "\n"));
}

TEST(Hash, EveryTierHashesAlikeUnlessTold) {
  const Testbed testbed = read_well(tests::kSmallFabric);
  for (const FabricNode& node : testbed.fabric.nodes) {
    if (node.kind != NodeKind::kSwitch) continue;
    const HashConfig& hash = testbed.profiles[node.profile].hash;
    EXPECT_EQ(hash.algorithm, HashAlgorithm::kCrc);
    EXPECT_EQ(hash.seed, 0u);
    EXPECT_EQ(hash.offset, 0u);
    EXPECT_TRUE(hash.udfs.empty());
  }
}

TEST(Hash, ReadsEachAlgorithmByItsWord) {
  for (const dataplane::HashAlgorithmRow& row : dataplane::kHashAlgorithms) {
    const std::string model = row.is_in(HashModel::kSai)     ? "SAI"
                              : row.is_in(HashModel::kRtag7) ? "RTAG7"
                              : row.is_in(HashModel::kLinux) ? "LINUX"
                                                             : "OVS";
    EXPECT_EQ(
        default_with("hash: {model: " + model + ", seed: 1, algorithm: " + std::string(row.word) + "}").hash.algorithm,
        row.algorithm);
  }
}

// The bits of a result bound its rotation, and a key goes with those that take one.
TEST(Hash, HoldsEachAlgorithmToItsRow) {
  for (const dataplane::HashAlgorithmRow& row : dataplane::kHashAlgorithms) {
    const std::string word(row.word);
    for (const auto& [name, model] : Words<HashModel>::all) {
      SCOPED_TRACE(word + " of " + std::string(name));
      const std::string hash = "hash: {model: " + std::string(name) + ", seed: 1, algorithm: " + word;
      if (!row.is_in(model)) {
        EXPECT_EQ(about_default_with(hash + "}"),
                  (Complaints{"6 profiles.default.hash.algorithm: " + std::string(name) + " has no " + word}));
        continue;
      }
      EXPECT_EQ(about_default_with(hash + ", key: 0102}").empty(), row.takes_key);
      if (row.is_of_hosts()) continue;  // no result of theirs is rotated
      const uint32_t bits = row.bits_in(model);
      EXPECT_EQ(about_default_with(hash + ", offset: " + std::to_string(bits - 1) + "}"), Complaints{});
      EXPECT_EQ(about_default_with(hash + ", offset: " + std::to_string(bits) + "}").size(), 1u);
    }
  }
}

TEST(Hash, ReadsEEcmpsUdf) {
  const Profile profile = default_with("hash: {udf: [{base: L4, offset: 13, length: 3, match: {l4_dst_port: 4791}}]}");
  ASSERT_EQ(profile.hash.udfs.size(), 1u);
  EXPECT_EQ(profile.hash.udfs[0], dataplane::destination_qp_udf());
}

TEST(Hash, ReadsAUdfWithAllItsKeys) {
  const Profile profile = default_with(
      "hash: {fields: [SRC_IP], udf: [{base: L3, offset: 4, length: 2, mask: 0fFF, match: {l2_type: 0x0800, "
      "l3_protocol: 17}}]}");
  ASSERT_EQ(profile.hash.udfs.size(), 1u);
  const dataplane::Udf& udf = profile.hash.udfs[0];
  EXPECT_EQ(udf.base, UdfBase::kL3);
  EXPECT_EQ(udf.mask, (std::vector<uint8_t>{0x0f, 0xff}));
  EXPECT_EQ(udf.l2_type, 0x0800);
  EXPECT_EQ(udf.l3_protocol, 17);
  EXPECT_FALSE(udf.l4_dst_port);
}

TEST(Hash, KnowsSonicsShippedSeedsByRole) {
  const Testbed testbed = read_well(with_fabric("roles: {tor: sonic-tor, aggregation: sonic-leaf}\n"));
  for (const FabricNode& node : testbed.fabric.nodes) {
    if (node.kind != NodeKind::kSwitch) continue;
    const HashConfig& hash = testbed.profiles[node.profile].hash;
    EXPECT_EQ(hash.model, HashModel::kRtag7);
    EXPECT_EQ(hash.seed, node.role == Role::kTor ? 0u : 10u);
    EXPECT_EQ(hash.offset, node.role == Role::kTor ? 0u : 10u);
  }
  const Testbed changed = read_well(with_fabric("profiles: {default: {base: sonic-spine, mtu: 2000}}\n"));
  EXPECT_EQ(changed.profiles.front().hash.seed, 25u);
  EXPECT_EQ(changed.profiles.front().mtu, 2000u);
}

TEST(Hash, ReadsAConfigDbsSwitchHashWithItsLags) {
  const Profile profile = default_with(
      R"({"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["SRC_IP", "DST_IP"], "ecmp_hash_algorithm": "CRC_CCITT",
          "lag_hash": ["SRC_MAC"], "lag_hash_algorithm": "XOR"}}})");
  EXPECT_EQ(profile.hash.algorithm, HashAlgorithm::kCrcCcitt);
  EXPECT_EQ(profile.hash.fields, (std::vector{HashField::kSrcIp, HashField::kDstIp}));
}

// SONiC's template for switch.json: the first word that is a part of the type.
TEST(Hash, OfAConfigDbHasTheSeedAndOffsetThatSonicGivesItsDevice) {
  struct Case {
    const char* localhost;
    uint32_t seed;
    uint8_t offset;
  };
  for (const Case& it : {Case{R"("type": "ToRRouter")", 0, 0}, Case{R"("type": "BackEndToRRouter")", 0, 0},
                         Case{R"("type": "LeafRouter", "hwsku": "Arista-7060CX-32S-C32")", 10, 10},
                         Case{R"("type": "BackEndLeafRouter")", 10, 10}, Case{R"("type": "SpineRouter")", 25, 0},
                         Case{R"("type": "FabricSpineRouter")", 25, 0}, Case{R"("type": "UpperSpineRouter")", 25, 0},
                         Case{R"("type": "LowerRegionalHub")", 60, 0}, Case{R"("type": "FabricRegionalHub")", 70, 0},
                         Case{R"("type": "UpperRegionalHub")", 80, 0}, Case{R"("type": "EPMS")", 0, 0},
                         Case{R"("hostname": "x")", 0, 0}, Case{R"("type": "LeafRouter", "ecmp_hash_seed": "4")", 4, 0},
                         Case{R"("type": "LeafRouter", "ecmp_hash_seed": "0")", 0, 0},
                         Case{R"("type": "LeafRouter", "namespace_id": "2")", 12, 10},
                         Case{R"("type": "LeafRouter", "switch_type": "chassis-packet")", 10, 7},
                         Case{R"("type": "LeafRouter", "switch_type": "dpu")", 5, 7}}) {
    const HashConfig hash =
        read_well(with_fabric("profiles:\n  under: {hash: {seed: 5, offset: 7}}\n  default: {base: under, "
                              "DEVICE_METADATA: {localhost: {" +
                              std::string(it.localhost) + "}}}\n"))
            .profiles.at(1)
            .hash;
    EXPECT_EQ(hash.seed, it.seed) << it.localhost;
    EXPECT_EQ(hash.offset, it.offset) << it.localhost;
  }
}

TEST(Hash, OfAConfigDbIsUnderWhatTheProfileSaysItself) {
  const HashConfig hash = default_with("{DEVICE_METADATA: {localhost: {type: LeafRouter}}, hash: {seed: 3}}").hash;
  EXPECT_EQ(hash.seed, 3u);
  EXPECT_EQ(hash.offset, 10u);
}

TEST(Hash, OfSonicHasNoSeedInSwitchHash) {
  const Complaints found = about_default_with("SWITCH_HASH: {GLOBAL: {ecmp_hash: [SRC_IP], ecmp_hash_seed: 10}}");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(
      found[0].starts_with("6 profiles.default.SWITCH_HASH.GLOBAL.ecmp_hash_seed: unknown key 'ecmp_hash_seed'"))
      << found[0];
}

TEST(Hash, OfAConfigDbHasSonicsFieldsOfTunnelledPackets) {
  const Profile profile = default_with(
      R"({"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["INNER_SRC_MAC", "INNER_DST_MAC", "INNER_ETHERTYPE", "SRC_IP",
          "INNER_SRC_IP", "INNER_DST_IP", "INNER_IP_PROTOCOL", "INNER_L4_SRC_PORT", "INNER_L4_DST_PORT", "DST_IP"],
          "lag_hash": ["INNER_SRC_IP"]}}})");
  using enum HashField;
  EXPECT_EQ(profile.hash.fields,
            (std::vector{kInnerSrcMac, kInnerDstMac, kInnerEthertype, kSrcIp, kInnerSrcIp, kInnerDstIp,
                         kInnerIpProtocol, kInnerL4SrcPort, kInnerL4DstPort, kDstIp}));
}

TEST(Hash, ReadsFineGrainedFieldsAndHashObjects) {
  const HashConfig hash =
      default_with(
          "hash: {symmetric: true, fine_grained: [{field: SRC_IPV4, mask: 255.255.0.0, sequence: 1}, {field: "
          "DST_IPV6, mask: 'ffff::'}], ipv4_rdma: {fields: [RDMA_BTH_DEST_QP], udf: [{base: L3, offset: 8, length: "
          "1}]}, ipv6: {fine_grained: [{field: L4_SRC_PORT}]}}")
          .hash;
  EXPECT_TRUE(hash.symmetric);
  ASSERT_EQ(hash.fine_grained.size(), 2u);
  EXPECT_EQ(hash.fine_grained[0].field, HashField::kSrcIpv4);
  EXPECT_EQ(hash.fine_grained[0].mask, (std::vector<uint8_t>{255, 255, 0, 0}));
  EXPECT_EQ(hash.fine_grained[0].sequence, 1u);
  EXPECT_EQ(hash.fine_grained[1].mask.size(), 16u);
  EXPECT_EQ(hash.fine_grained[1].mask[1], 255u);
  using enum dataplane::HashObjectOf;
  const auto& rdma = hash.objects[static_cast<size_t>(kIpv4Rdma)];
  ASSERT_TRUE(rdma);
  EXPECT_EQ(rdma->fields, std::vector{HashField::kRdmaBthDestQp});
  EXPECT_EQ(rdma->udfs.size(), 1u);
  const auto& ipv6 = hash.objects[static_cast<size_t>(kIpv6)];
  ASSERT_TRUE(ipv6);
  EXPECT_EQ(ipv6->fine_grained.size(), 1u);
  EXPECT_FALSE(hash.objects[static_cast<size_t>(kIpv4)]);
}

TEST(Hash, OfLinuxIsItsPolicyAndSeed) {
  const HashConfig hash = default_with("hash: {model: LINUX, policy: 1, seed: 5}").hash;
  EXPECT_EQ(hash.algorithm, HashAlgorithm::kSiphash);
  EXPECT_EQ(hash.linux_policy, 1u);
  EXPECT_EQ(about_default_with("hash: {model: LINUX}"),
            (Complaints{"6 profiles.default.hash: LINUX needs a seed: with fib_multipath_hash_seed 0 each kernel draws "
                        "its own"}));
  EXPECT_EQ(about_default_with("hash: {model: LINUX, seed: 1, policy: 3, offset: 2, fields: [SRC_IP, VLAN_ID], udf: "
                               "[{base: L3, offset: 0, length: 1}]}"),
            (Complaints{"6 profiles.default.hash.offset: LINUX has none",
                        "6 profiles.default.hash.fields: fib_multipath_hash_fields has no VLAN_ID here",
                        "6 profiles.default.hash.udf: LINUX has none"}));
  EXPECT_EQ(about_default_with("hash: {policy: 1}"),
            (Complaints{"6 profiles.default.hash.policy: goes with 'model: LINUX' only"}));
  EXPECT_EQ(about_default_with("hash: {model: LINUX, seed: 1, algorithm: CRC}"),
            (Complaints{"6 profiles.default.hash.algorithm: LINUX has no CRC"}));
}

TEST(Hash, OfOvsIsSymmetricUnlessItIsSaid) {
  EXPECT_EQ(default_with("hash: {model: OVS}").hash.algorithm, HashAlgorithm::kOvsSymL4);
  const HashConfig hash = default_with("hash: {model: OVS, algorithm: L4_CRC32C, seed: 5}").hash;
  EXPECT_EQ(hash.algorithm, HashAlgorithm::kOvsL4Crc32c);
  EXPECT_EQ(hash.seed, 5u);
  EXPECT_EQ(about_default_with("hash: {model: OVS, offset: 2, fields: [SRC_IP], udf: [{base: L3, offset: 0, length: "
                               "1}], policy: 1, symmetric: true}"),
            (Complaints{"6 profiles.default.hash.offset: OVS has none",
                        "6 profiles.default.hash.fields: OVS has none for dp_hash: its algorithm says what is hashed",
                        "6 profiles.default.hash.udf: OVS has none",
                        "6 profiles.default.hash.policy: goes with 'model: LINUX' only",
                        "6 profiles.default.hash.symmetric: goes with 'model: SAI' only"}));
  EXPECT_EQ(about_default_with("hash: {model: OVS}\n    groups: {mode: flowlet}"),
            (Complaints{"7 profiles.default.groups: 'model: OVS' has no groups of mode flowlet"}));
  EXPECT_EQ(about_default_with("hash: {model: OVS}\n    groups: {mode: pinned}"), Complaints{});
}

TEST(Hash, RefusesWhatNoHashObjectCanHave) {
  EXPECT_EQ(
      about_default_with("hash: {fine_grained: [{field: SRC_IP, mask: 255.0.0.0}, {field: DST_IPV6, mask: "
                         "255.0.0.0}]}"),
      (Complaints{"6 profiles.default.hash.fine_grained[0]: SRC_IP stands in 'fields', too: its bytes would be "
                  "hashed twice",
                  "6 profiles.default.hash.fine_grained[0].mask: goes with addresses of one version only, such as "
                  "SRC_IPV4",
                  "6 profiles.default.hash.fine_grained[1].mask: DST_IPV6 is an IPv6 address"}));
  EXPECT_EQ(about_default_with("hash: {fields: [INNER_SRC_IP, INNER_SRC_IPV6]}"),
            (Complaints{"6 profiles.default.hash.fields: INNER_SRC_IPV6 is a part of INNER_SRC_IP: its bytes would be "
                        "hashed twice"}));
  EXPECT_EQ(about_default_with("hash: {model: RTAG7, symmetric: true, ipv4: {fields: [SRC_IP]}}"),
            (Complaints{"6 profiles.default.hash.symmetric: goes with 'model: SAI' only",
                        "6 profiles.default.hash.ipv4: goes with 'model: SAI' only"}));
  EXPECT_EQ(about_default_with("hash: {ipv6_rdma: {}}"),
            (Complaints{"6 profiles.default.hash.ipv6_rdma: leaves nothing to hash"}));
  EXPECT_EQ(about_default_with("hash: {ipv4: {fields: [INNER_SRC_IP, INNER_DST_IP, INNER_SRC_MAC, INNER_DST_MAC], udf: "
                               "[{base: L3, offset: 0, length: 16}, {base: L3, offset: 20, length: 16}, {base: L3, "
                               "offset: 40, length: 16}, {base: L3, offset: 60, length: 16}]}}"),
            (Complaints{}));
  EXPECT_EQ(
      about_default_with("hash: {ipv4: {fields: [INNER_SRC_IP, INNER_DST_IP, INNER_SRC_MAC, INNER_DST_MAC, "
                         "SRC_IP, DST_IP], udf: [{base: L3, offset: 40, length: 16}, {base: L3, offset: 56, "
                         "length: 16}, {base: L3, offset: 72, length: 16}, {base: L3, offset: 88, length: 16}]}}"),
      (Complaints{"6 profiles.default.hash.ipv4: the key would have 140 bytes: at most 128"}));
}

class SwitchJson : public testing::Test {
 protected:
  SwitchJson()
      : path_(std::filesystem::path(testing::TempDir()) /
              (std::string("softspine-") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".json")) {}
  ~SwitchJson() override { std::filesystem::remove(path_); }
  std::string testbed(std::string_view text, std::string_view more = "") {
    std::ofstream(path_) << text;
    return with_fabric("profiles:\n  default: {switch_json: \"" + path_.string() + "\"" + std::string(more) + "}\n");
  }
  std::filesystem::path path_;
};

constexpr const char* kLeafsSwitchJson = R"([{"SWITCH_TABLE:switch": {"ecmp_hash_seed": "10", "lag_hash_seed": "10",
  "fdb_aging_time": "600", "ecmp_hash_offset": "10", "lag_hash_offset": "10", "ordered_ecmp": "true"}, "OP": "SET"}])";

TEST_F(SwitchJson, HasTheHashsSeedAndOffset) {
  const HashConfig hash = read_well(testbed(kLeafsSwitchJson, ", hash: {model: RTAG7}")).profiles.front().hash;
  EXPECT_EQ(hash.model, HashModel::kRtag7);
  EXPECT_EQ(hash.seed, 10u);
  EXPECT_EQ(hash.offset, 10u);
}

// The algorithm stands in one file, its rotation in another: CRC_CCITT has 16 bits.
TEST_F(SwitchJson, IsCheckedWithWhatTheConfigDbSays) {
  const std::filesystem::path tables = path_.string() + ".db";
  std::ofstream(tables) << R"({"SWITCH_HASH": {"GLOBAL": {"ecmp_hash_algorithm": "CRC_CCITT"}}})";
  const auto said = [&](int offset) {
    const std::string text = R"([{"SWITCH_TABLE:switch": {"ecmp_hash_offset": ")" + std::to_string(offset) + "\"}}]";
    const auto read = parse_testbed(testbed(text, ", config_db: \"" + tables.string() + "\""), "t.yaml");
    Complaints out;
    if (read) return out;
    for (const Error& error : read.error()) out.push_back(error.file + " " + error.path + ": " + error.message);
    return out;
  };
  EXPECT_EQ(said(15), Complaints{});
  EXPECT_EQ(said(16), Complaints{path_.string() + " [0].'SWITCH_TABLE:switch': must be less than 16, "
                                                  "the bits of this algorithm's result"});
  std::filesystem::remove(tables);
}

TEST_F(SwitchJson, HasThoseOfLagsWhereTheyDiffer) {
  const auto read = [this](const char* lags, const char* more = "") {
    const std::string text =
        std::string(R"([{"SWITCH_TABLE:switch": {"ecmp_hash_seed": "10", "ecmp_hash_offset": "10", )") + lags + "}}]";
    return read_well(testbed(text, more)).profiles.front();
  };
  EXPECT_FALSE(read(R"("lag_hash_seed": "10", "lag_hash_offset": "10")").lag_hash)
      << "then it is as ECMP's, whatever that is";
  const Profile other = read(R"("lag_hash_seed": "11", "lag_hash_offset": "3")", ", hash: {algorithm: XXH3}");
  EXPECT_EQ(other.hash.seed, 10u);
  EXPECT_EQ(other.hash_of_lags().seed, 11u);
  EXPECT_EQ(other.hash_of_lags().offset, 3u);
  EXPECT_EQ(other.hash_of_lags().algorithm, HashAlgorithm::kXxh3) << "the profile's own hash is also that of LAGs";
  EXPECT_EQ(read(R"("lag_hash_seed": "11")", ", lag_hash: {seed: 12}").hash_of_lags().seed, 12u);
}

TEST_F(SwitchJson, IsRefusedWhereItIsAnythingElse) {
  const auto complaints = [this](std::string_view text) {
    Complaints out;
    const auto read = parse_testbed(testbed(text), "t.yaml");
    if (read) return out;
    for (const Error& error : read.error()) out.push_back(error.path + ": " + error.message);
    return out;
  };
  EXPECT_EQ(complaints("{}"), (Complaints{": is no switch.json: expected a list of SONiC's tables"}));
  EXPECT_EQ(complaints(R"([{"SWITCH_TABLE:switch": {"ecmp_hash_offset": "32"}}])"),
            (Complaints{"[0].'SWITCH_TABLE:switch'.ecmp_hash_offset: must be at most 31, not '32'"}));
  EXPECT_EQ(complaints("[1]").size(), 1u);
  EXPECT_EQ(complaints("").size(), 1u);
}

TEST(Hash, RefusesUdfsThatReachTooFarOrMaskOtherBytes) {
  EXPECT_EQ(
      about_default_with(
          "hash: {fields: [SRC_IP], udf: [{base: L4, offset: 126, length: 3}, {base: L4, offset: 4, length: 17},\n"
          "      {base: L2, offset: 14, length: 2, mask: ff}, {base: L5, offset: 1, length: 1, mask: xx}]}"),
      (Complaints{"6 profiles.default.hash.udf[0].offset: reaches past byte 128 behind its base, which is as far "
                  "as a parser looks",
                  "6 profiles.default.hash.udf[1].length: must be at most 16, not '17'",
                  "7 profiles.default.hash.udf[2].mask: has 1 bytes for a length of 2",
                  "7 profiles.default.hash.udf[3].base: 'L5' is not one of L2, L3, L4: did you mean 'L2'?",
                  "7 profiles.default.hash.udf[3].mask: expected bytes in hexadecimal such as ffff0f, found 'xx'"}));
}

TEST(Hash, RefusesBytesThatWouldBeHashedTwice) {
  EXPECT_EQ(
      about_default_with("hash: {udf: [{base: L4, offset: 3, length: 2}]}"),
      (Complaints{"6 profiles.default.hash.udf[0]: overlaps the field L4_DST_PORT: its bytes would be hashed twice"}));
  EXPECT_EQ(about_default_with(
                "hash: {fields: [SRC_IP], udf: [{base: L3, offset: 15, length: 4, match: {l2_type: 0x0800}}]}"),
            (Complaints{"6 profiles.default.hash.udf[0]: overlaps the field SRC_IP: its bytes would be hashed twice"}));
  EXPECT_EQ(
      about_default_with("hash: {fields: [RDMA_BTH_DEST_QP], udf: [{base: L4, offset: 13, length: 3}]}"),
      (Complaints{
          "6 profiles.default.hash.udf[0]: overlaps the field RDMA_BTH_DEST_QP: its bytes would be hashed twice"}));
  EXPECT_EQ(about_default_with("hash: {udf: [{base: L4, offset: 13, length: 3}, {base: L4, offset: 15, length: 1}]}"),
            (Complaints{"6 profiles.default.hash.udf[1]: overlaps udf[0]: its bytes would be hashed twice"}));
  EXPECT_EQ(about_default_with("hash: {fields: [SRC_IP, DST_IP, SRC_IP]}"),
            (Complaints{"6 profiles.default.hash.fields: SRC_IP stands here twice"}));
  // IPv6's source lies elsewhere, and no packet has two destination ports.
  default_with("hash: {fields: [SRC_IP], udf: [{base: L3, offset: 24, length: 4, match: {l2_type: 0x86dd}}]}");
  default_with(
      "hash: {udf: [{base: L4, offset: 13, length: 3, match: {l4_dst_port: 4791}}, {base: L4, offset: 13, length: 3, "
      "match: {l4_dst_port: 4789}}]}");
}

TEST(Hash, RefusesWhatTheAlgorithmOrTheModelDoesNotHave) {
  EXPECT_EQ(about_default_with("hash: {algorithm: CRC_CCITT, offset: 16}"),
            (Complaints{"6 profiles.default.hash.offset: must be less than 16, the bits of this algorithm's result"}));
  EXPECT_EQ(about_default_with("hash: {model: RTAG7, algorithm: XXH3}"),
            (Complaints{"6 profiles.default.hash.algorithm: RTAG7 has no XXH3"}));
  EXPECT_EQ(about_default_with("hash: {key: 6d5a}"),
            (Complaints{"6 profiles.default.hash.key: goes with the algorithm TOEPLITZ only"}));
  EXPECT_EQ(about_default_with("hash: {fields: []}"),
            (Complaints{"6 profiles.default.hash.fields: leaves nothing to hash"}));
  EXPECT_EQ(about_default_with("hash: {fields: [SRC_IP], udf: [" + std::string("{base: L2, offset: 0, length: 1}, ") +
                               "{base: L2, offset: 1, length: 1}, {base: L2, offset: 2, length: 1}, "
                               "{base: L2, offset: 3, length: 1}, {base: L2, offset: 4, length: 1}]}"),
            (Complaints{"6 profiles.default.hash.udf: there are 5: a switch has 4"}));
}

TEST(Hash, RefusesAnAddressThatItHasOfEitherVersionAlready) {
  EXPECT_EQ(about_default_with("hash: {fields: [SRC_IPV4, SRC_IPV6, DST_IPV6]}"), Complaints{});
  EXPECT_EQ(
      about_default_with("hash: {fields: [SRC_IP, SRC_IPV6]}"),
      (Complaints{"6 profiles.default.hash.fields: SRC_IPV6 is a part of SRC_IP: its bytes would be hashed twice"}));
}

TEST(Hash, ReadsRtag7sBlocksAndMacroFlows) {
  const HashConfig hash =
      default_with(
          "hash: {model: RTAG7, rtag7: {a: {second: CRC_KOOPMAN_HI, pre_processing: true, equal_ports: [SRC_IP]},\n"
          "      b: {first: CRC_XOR4, fields: [DST_IP], seed: 9, low_ipv6: true, symmetric: true}, output: B0,\n"
          "      macro_flow: {algorithm: XOR, upper_byte: true, table: [{output: A1, offset: 3}, {output: B1, offset: "
          "15}]}}}")
          .hash;
  ASSERT_TRUE(hash.rtag7);
  const dataplane::Rtag7Config& rtag7 = *hash.rtag7;
  EXPECT_EQ(rtag7.a.second, HashAlgorithm::kCrcKoopmanHi);
  EXPECT_TRUE(rtag7.a.pre_processing);
  EXPECT_FALSE(rtag7.a.low_ipv6);
  EXPECT_EQ(rtag7.a.equal_ports, std::vector{HashField::kSrcIp});
  EXPECT_EQ(rtag7.b_first, HashAlgorithm::kCrcXor4);
  EXPECT_EQ(rtag7.b_fields, std::vector{HashField::kDstIp});
  EXPECT_EQ(rtag7.b_seed, 9u);
  EXPECT_TRUE(rtag7.b.low_ipv6);
  EXPECT_TRUE(rtag7.b.symmetric);
  EXPECT_EQ(rtag7.output, Rtag7Output::kB0);
  ASSERT_TRUE(rtag7.macro_flow);
  EXPECT_EQ(rtag7.macro_flow->algorithm, HashAlgorithm::kXor);
  EXPECT_TRUE(rtag7.macro_flow->upper_byte);
  ASSERT_EQ(rtag7.macro_flow->table.size(), 2u);
  EXPECT_EQ(rtag7.macro_flow->table[1].output, Rtag7Output::kB1);
  EXPECT_EQ(rtag7.macro_flow->table[1].offset, 15u);
}

TEST(Hash, RefusesWhatRtag7DoesNotHave) {
  EXPECT_EQ(about_default_with("hash: {rtag7: {output: B0}}"),
            (Complaints{"6 profiles.default.hash.rtag7: goes with 'model: RTAG7' only"}));
  EXPECT_EQ(about_default_with("hash: {model: RTAG7, rtag7: {a: {second: TOEPLITZ}, b: {first: XXH3}}}"),
            (Complaints{"6 profiles.default.hash.rtag7.a.second: RTAG7 has no TOEPLITZ",
                        "6 profiles.default.hash.rtag7.b.first: RTAG7 has no XXH3"}));
  EXPECT_EQ(about_default_with("hash: {model: RTAG7, fields: [RDMA_BTH_DEST_QP, IPV6_FLOW_LABEL]}"),
            (Complaints{"6 profiles.default.hash: RTAG7 has 4 bytes for RDMA_BTH_*, IPV6_FLOW_LABEL and UDFs together, "
                        "not 6"}));
  EXPECT_EQ(about_default_with("hash: {model: RTAG7, rtag7: {macro_flow: {table: [{output: A0, offset: 0}, "
                               "{output: A0, offset: 1}, {output: A0, offset: 16}]}}}"),
            (Complaints{"6 profiles.default.hash.rtag7.macro_flow.table: has 3 entries: 256, or a number that repeated "
                        "gives 256",
                        "6 profiles.default.hash.rtag7.macro_flow.table[2].offset: must be at most 15, not '16'"}));
}

TEST(Groups, AreModuloByHashUnlessTold) {
  const EcmpGroupConfig groups = read_well(tests::kSmallFabric).profiles.front().groups;
  EXPECT_EQ(groups.mode, EcmpGroupMode::kHash);
  EXPECT_EQ(groups.kind, EcmpGroupKind::kModulo);
  EXPECT_TRUE(groups.weights.empty());
}

TEST(Groups, ReadTheirModesAndWeights) {
  const EcmpGroupConfig groups = default_with("groups: {mode: flowlet, gap: 64us, flowlets: 1024}").groups;
  EXPECT_EQ(groups.mode, EcmpGroupMode::kFlowlet);
  EXPECT_EQ(groups.flowlets.gap, Duration::us(64));
  EXPECT_EQ(groups.flowlets.slots, 1024u);
  const EcmpGroupConfig weighted = default_with("groups: {weights: {spine1: 3}}").groups;
  EXPECT_EQ(weight_of(weighted, "spine1"), 3u);
  EXPECT_EQ(weight_of(weighted, "spine2"), 1u);
}

TEST(Groups, RefuseWeightsOfNothingAndOfNobody) {
  EXPECT_EQ(about_default_with("groups: {weights: {spine1: 0, spin: 2, h1: 1}}"),
            (Complaints{"6 profiles.default.groups.weights.spine1: must be from 1 to 4096, not '0'",
                        "6 profiles.default.groups.weights.spin: there is no switch 'spin'",
                        "6 profiles.default.groups.weights.h1: there is no switch 'h1'"}));
  EXPECT_EQ(about_default_with("groups: {weights: {spine1: 4097}}"),
            (Complaints{"6 profiles.default.groups: the weights of a group of tor1 sum up to 4097: at most 4096",
                        "6 profiles.default.groups.weights.spine1: must be from 1 to 4096, not '4097'"}));
  EXPECT_EQ(about_default_with("groups: {flowlets: 1000, gap: 2s, mode: sprai}"),
            (Complaints{"6 profiles.default.groups.flowlets: must be a power of two from 16 to 1048576, not '1000'",
                        "6 profiles.default.groups.gap: must be at most 1s, not '2s'",
                        "6 profiles.default.groups.mode: 'sprai' is not one of hash, pinned, in_port, flowlet, spray: "
                        "did you mean 'spray'?"}));
}

TEST(Groups, RefuseToBeTooLarge) {
  const auto wide = [](int spines, const char* groups) {
    return "name: wide\nfabric: {kind: leaf-spine, tors: 2, spines: " + std::to_string(spines) +
           ", hosts_per_tor: 1,\n  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"
           "profiles:\n  default:\n    groups: " +
           groups + "\n";
  };
  EXPECT_EQ(complaints_about(wide(513, "{}")),
            (Complaints{"6 profiles.default.groups: tor1 would have a group of 513 members: at most 512"}));
  EXPECT_EQ(complaints_about(wide(12, "{kind: resilient, buckets: 11}")),
            (Complaints{"6 profiles.default.groups: 11 buckets are too few for the 12 members of a group of tor1"}));
  EXPECT_EQ(
      complaints_about(wide(12, "{kind: resilient, buckets: 20, weights: {spine3: 10}}")),
      (Complaints{"6 profiles.default.groups: 20 buckets are too few for the 12 members of a group of tor1, whose "
                  "weights sum up to 21"}));
  EXPECT_EQ(complaints_about(wide(3, "{weights: {spine1: 254}}\n    hash: {model: OVS}")), Complaints{});
  EXPECT_EQ(complaints_about(wide(3, "{weights: {spine1: 255}}\n    hash: {model: OVS}")),
            (Complaints{"6 profiles.default.groups: OVS would not use dp_hash for a group of tor1: its 3 members and "
                        "their weights need more than 256 hash values"}));
  EXPECT_EQ(complaints_about(wide(12, "{kind: resilient, buckets: 11}\n    hash: {model: OVS}")), Complaints{});
  EXPECT_EQ(complaints_about(wide(512, "{weights: {spine1: 3585}}")), Complaints{});
  EXPECT_EQ(complaints_about(wide(512, "{weights: {spine1: 3586}}")),
            (Complaints{"6 profiles.default.groups: the weights of a group of tor1 sum up to 4097: at most 4096"}));
}

}  // namespace
}  // namespace softspine::control
