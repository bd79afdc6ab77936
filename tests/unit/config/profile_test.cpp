// SPDX-License-Identifier: Apache-2.0
#include "control/model/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

const Profile& profile_of(const Testbed& testbed, std::string_view node) {
  const auto found = std::ranges::find(testbed.fabric.nodes, node, &FabricNode::name);
  return testbed.profiles.at(found->profile);
}

TEST(Profile, TheDefaultIsAzuresMapsAndTheFiveTuple) {
  const Testbed testbed = read_well(tests::kSmallFabric);
  const Profile& profile = profile_of(testbed, "tor1");
  EXPECT_EQ(profile.name, "default");
  for (int dscp = 0; dscp < 64; ++dscp) {
    const int tc = dscp == 3 ? 3 : dscp == 4 ? 4 : dscp == 5 ? 2 : dscp == 46 ? 5 : dscp == 48 ? 6 : dscp == 8 ? 0 : 1;
    EXPECT_EQ(profile.dscp_to_tc[static_cast<size_t>(dscp)], tc) << dscp;
  }
  EXPECT_EQ(profile.hash.algorithm, HashAlgorithm::kCrc);
  EXPECT_EQ(profile.hash.fields.size(), 5u);
  EXPECT_EQ(profile.mtu, 9100u);
}

// The maps stand in the built-in profile's text once more, as SONiC's files have them.
TEST(Profile, AzureAsAFileSaysItIsWhatTheDefaultHas) {
  const Testbed testbed = read_well(with_fabric("roles: {tor: azure}\n"));
  const Profile& azure = profile_of(testbed, "tor1");
  ASSERT_EQ(azure.name, "azure");
  EXPECT_EQ(azure.unmapped_dscps, 0u);
  EXPECT_EQ(azure.dscp_to_tc, dataplane::kAzureDscpToTc);
  EXPECT_EQ(azure.tc_to_queue, dataplane::kAzureTcToQueue);
  EXPECT_EQ(azure.tc_to_pg, dataplane::kAzureTcToPg);
  const Profile& plain = profile_of(testbed, "spine1");
  EXPECT_EQ(plain.dscp_to_tc, azure.dscp_to_tc);
  EXPECT_EQ(plain.dot1p_to_tc, azure.dot1p_to_tc);
  EXPECT_EQ(plain.tc_to_queue, azure.tc_to_queue);
  EXPECT_EQ(plain.tc_to_pg, azure.tc_to_pg);
}

TEST(Profile, WhatAToRKnowsOfItsHostsAgesOnlyIfItIsSaid) {
  EXPECT_FALSE(profile_of(read_well(tests::kSmallFabric), "tor1").ages);
  const Testbed defaults = read_well(with_fabric("profiles: {default: {neighbours: {}}}\n"));
  const auto usual = profile_of(defaults, "tor1").ages.value();
  EXPECT_EQ(usual.arp_timeout, dataplane::Duration::s(14'400));
  EXPECT_EQ(usual.fdb_aging_time, dataplane::Duration::s(300));
  EXPECT_EQ(usual.fdb_unicast_miss, dataplane::UnicastMiss::kFlood);
  const Testbed own =
      read_well(with_fabric("profiles:\n  base: {neighbours: {arp_timeout: 10s, fdb_unicast_miss: flood_all}}\n"
                            "  default: {base: base, neighbours: {fdb_aging_time: 1ms}}\n"));
  const auto ages = profile_of(own, "tor1").ages.value();
  EXPECT_EQ(ages.arp_timeout, dataplane::Duration::s(10));
  EXPECT_EQ(ages.fdb_aging_time, dataplane::Duration::ms(1));
  EXPECT_EQ(ages.fdb_unicast_miss, dataplane::UnicastMiss::kFloodAll);
}

TEST(Profile, TakesOverFromItsBaseWhatItDoesNotSay) {
  const Testbed testbed = read_well(with_fabric(
      "profiles:\n"
      "  leaf: {base: middle, mtu: 4000, queue_limits: {3: 2MiB}}\n"  // before its bases
      "  middle: {base: root, hash: {seed: 7}, queue_limit: 1MiB}\n"
      "  root: {mtu: 1500, hash: {algorithm: XOR, seed: 3, offset: 4, fields: [SRC_IP]}, queue_limit: 64KiB,\n"
      "    TC_TO_QUEUE_MAP: {A: {0: 7}}}\n"
      "roles: {tor: leaf, aggregation: root}\n"));
  const Profile& leaf = profile_of(testbed, "tor2");
  EXPECT_EQ(leaf.name, "leaf");
  EXPECT_EQ(leaf.mtu, 4000u);
  EXPECT_EQ(leaf.hash.algorithm, HashAlgorithm::kXor);
  EXPECT_EQ(leaf.hash.seed, 7u);
  EXPECT_EQ(leaf.hash.offset, 4u);
  EXPECT_EQ(leaf.hash.fields, std::vector{HashField::kSrcIp});
  EXPECT_EQ(leaf.tc_to_queue[0], 7u);
  for (size_t q = 0; q < 8; ++q) EXPECT_EQ(leaf.queue_limit_bytes[q], q == 3 ? 2u << 20 : 1u << 20);
  EXPECT_EQ(profile_of(testbed, "spine1").mtu, 1500u);
  EXPECT_EQ(profile_of(testbed, "spine1").hash.seed, 3u);
}

TEST(Profile, ChangesItsBaseIsAlsoWhatTheDefaultCanDo) {
  const Testbed testbed = read_well(with_fabric("profiles: {default: {base: b}, b: {mtu: 2000}}\n"));
  EXPECT_EQ(profile_of(testbed, "tor1").mtu, 2000u);
}

TEST(Profile, RefusesACycleOfBases) {
  EXPECT_EQ(complaints_about(with_fabric("profiles:\n"
                                         "  a: {base: b}\n"
                                         "  b: {base: c}\n"
                                         "  c: {base: b}\n"
                                         "  d: {base: d}\n"
                                         "  e: {base: a}\n")),
            (Complaints{"7 profiles.c.base: the profile c is, by way of its bases, its own base",
                        "8 profiles.d.base: the profile d is, by way of its bases, its own base"}));
}

TEST(Profile, RefusesABaseOrARolesProfileThatIsNotThere) {
  EXPECT_EQ(complaints_about(with_fabric("profiles: {lossless: {base: losless}}\nroles: {core: lossles}\n"
                                         "topology: {nodes: {tor1: {profile: x}}}\n")),
            (Complaints{"4 profiles.lossless.base: there is no profile 'losless': did you mean 'lossless'?",
                        "5 roles.core: there is no profile 'lossles': did you mean 'lossless'?",
                        "6 topology.nodes.tor1.profile: there is no profile 'x'"}));
}

// What switches have of which nothing is said.
TEST(Profile, MayHaveTheDefaultAsItsBaseWhereTheFileHasNone) {
  const Testbed testbed = read_well(with_fabric("profiles: {a: {base: default, hash: {seed: 5}}}\n"));
  EXPECT_EQ(testbed.profiles.at(0).hash.seed, 5U);
  EXPECT_EQ(complaints_about(with_fabric("profiles: {default: {base: default}}\n")),
            (Complaints{"4 profiles.default.base: the profile default is, by way of its bases, its own base"}));
}

TEST(Profile, ReadsTablesAsAConfigDbHasThem) {
  const Testbed testbed = read_well(with_fabric(R"(
profiles:
  default:
    {"DSCP_TO_TC_MAP": {"AZURE": {"0": "1", "3": "3", "63": "7"}, "OTHER": {"0": "2"}},
     "TC_TO_QUEUE_MAP": {"AZURE": {"0": "0", "1": "1", "7": "6"}},
     "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE"}},
     "SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["DST_IP", "RDMA_BTH_DEST_QP"], "ecmp_hash_algorithm": "CRC_32LO"}},
     "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "type": "LeafRouter"}}}
)"));
  const Profile& profile = testbed.profiles.at(0);
  EXPECT_EQ(profile.dscp_to_tc[0], 1u);
  EXPECT_EQ(profile.dscp_to_tc[3], 3u);
  EXPECT_EQ(profile.dscp_to_tc[63], 7u);
  EXPECT_EQ(profile.dscp_to_tc[46], 0u);  // unlisted: SAI's 0
  EXPECT_EQ(profile.tc_to_queue[7], 6u);
  EXPECT_EQ(profile.hash.algorithm, HashAlgorithm::kCrc32Lo);
  EXPECT_EQ(profile.hash.fields, (std::vector{HashField::kDstIp, HashField::kRdmaBthDestQp}));
  EXPECT_EQ(profile.hash.seed, 10u);
  EXPECT_EQ(profile.hash.offset, 10u);
}

TEST(Profile, ChoosesAmongTheMapsOfItsBases) {
  const Testbed testbed = read_well(
      with_fabric("profiles:\n"
                  "  maps: {DSCP_TO_TC_MAP: {A: {5: 1}, B: {5: 2}}, PORT_QOS_MAP: {global: {dscp_to_tc_map: A}}}\n"
                  "  default: {base: maps, PORT_QOS_MAP: {global: {dscp_to_tc_map: B}}}\n"));
  EXPECT_EQ(profile_of(testbed, "tor1").dscp_to_tc[5], 2u);
  EXPECT_EQ(testbed.profiles.at(0).dscp_to_tc[5], 1u);
}

TEST(Profile, RefusesMapsThatNobodyChose) {
  EXPECT_EQ(complaints_about(with_fabric("profiles:\n"
                                         "  a: {DSCP_TO_TC_MAP: {A: {5: 1}, B: {5: 2}}}\n"
                                         "  b: {PORT_QOS_MAP: {global: {tc_to_queue_map: AZURE}}}\n"
                                         "  c: {TC_TO_QUEUE_MAP: {AZURE: {}}, PORT_QOS_MAP: {global: "
                                         "{tc_to_queue_map: AZUER}}}\n")),
            (Complaints{"5 profiles.a.DSCP_TO_TC_MAP: holds 2 maps: PORT_QOS_MAP must say which is in force",
                        "6 profiles.b.PORT_QOS_MAP.global.tc_to_queue_map: there is no map 'AZURE': its table is "
                        "missing",
                        "7 profiles.c.PORT_QOS_MAP.global.tc_to_queue_map: there is no map 'AZUER': did you mean "
                        "'AZURE'?"}));
}

TEST(Profile, RefusesNumbersThatNoMapHas) {
  EXPECT_EQ(complaints_about(with_fabric("profiles:\n"
                                         "  a:\n"
                                         "    DSCP_TO_TC_MAP: {A: {64: 1, 1: 8, x: 1}}\n"
                                         "    TC_TO_QUEUE_MAP: {A: {8: 1}}\n"
                                         "    queue_limits: {9: 1MiB, 1: 10}\n")),
            (Complaints{"6 profiles.a.DSCP_TO_TC_MAP.A.64: expected a number from 0 to 63, found '64'",
                        "6 profiles.a.DSCP_TO_TC_MAP.A.1: must be from 0 to 7, not '8'",
                        "6 profiles.a.DSCP_TO_TC_MAP.A.x: expected a number from 0 to 63, found 'x'",
                        "7 profiles.a.TC_TO_QUEUE_MAP.A.8: expected a number from 0 to 7, found '8'",
                        "8 profiles.a.queue_limits.9: expected a number from 0 to 7, found '9'",
                        "8 profiles.a.queue_limits.1: '10' has no unit: expected a size such as 96KiB "
                        "(B, KB, KiB, MB, MiB, GB, GiB)"}));
}

TEST(Profile, RefusesANumberOfAMapThatIsWrittenInTwoWays) {
  EXPECT_EQ(complaints_about(with_fabric("profiles: {a: {TC_TO_QUEUE_MAP: {A: {1: 1, 01: 2}}}}\n")),
            (Complaints{"4 profiles.a.TC_TO_QUEUE_MAP.A.01: 1 stands in this map already"}));
}

TEST(Profile, SaysTheHashOnce) {
  EXPECT_EQ(complaints_about(with_fabric("profiles: {a: {hash: {seed: 1}, SWITCH_HASH: {GLOBAL: {}}}}\n")),
            (Complaints{"4 profiles.a.SWITCH_HASH: says again what 'hash' says"}));
  EXPECT_EQ(complaints_about(with_fabric("profiles: {a: {hash: {fields: [SRC_IP, SRCIP, SRC_IP]}}}\n")),
            (Complaints{"4 profiles.a.hash.fields[1]: 'SRCIP' is not one of IN_PORT, SRC_MAC, DST_MAC, ETHERTYPE, "
                        "VLAN_ID, IP_PROTOCOL, SRC_IP, DST_IP, L4_SRC_PORT, L4_DST_PORT, IPV6_FLOW_LABEL, "
                        "RDMA_BTH_OPCODE, RDMA_BTH_DEST_QP, SRC_IPV4, DST_IPV4, SRC_IPV6, DST_IPV6, INNER_SRC_MAC, "
                        "INNER_DST_MAC, INNER_ETHERTYPE, INNER_SRC_IP, INNER_DST_IP, INNER_IP_PROTOCOL, "
                        "INNER_L4_SRC_PORT, INNER_L4_DST_PORT, INNER_SRC_IPV4, INNER_DST_IPV4, INNER_SRC_IPV6, "
                        "INNER_DST_IPV6: did you mean 'SRC_IP'?"}));
}

TEST(Profile, AChainOfAHundredThousandBasesIsReadInOneGo) {
  std::string text(tests::kSmallFabric);
  text += "profiles:\n  default: {base: p0}\n";
  constexpr int kChain = 100'000;
  for (int i = 0; i < kChain; ++i) text += "  p" + std::to_string(i) + ": {base: p" + std::to_string(i + 1) + "}\n";
  text += "  p" + std::to_string(kChain) + ": {mtu: 1400}\n";
  EXPECT_EQ(read_well(text).profiles.front().mtu, 1400u);
}

}  // namespace
}  // namespace softspine::control
