// SPDX-License-Identifier: Apache-2.0
// Bytes that two parts of a key have in common, and models that a switch's links refuse.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;

Complaints about_hash(const std::string& keys) {
  return complaints_about(tests::with_fabric("profiles:\n  default:\n    hash: {" + keys + "}\n"));
}

// The same bytes twice are no mistake if no packet can have both: of two types, of two protocols, of two ports.
TEST(HashCheck, TakesUdfsOfTheSameBytesIfNoPacketMatchesBoth) {
  const auto pair = [](const std::string& one, const std::string& other) {
    return about_hash("fields: [SRC_MAC], udf: [{base: L3, offset: 40, length: 2, match: {" + one +
                      "}}, {base: L3, offset: 41, length: 2, match: {" + other + "}}]");
  };
  const Complaints twice{"6 profiles.default.hash.udf[1]: overlaps udf[0]: its bytes would be hashed twice"};
  for (const auto& [key, a, b] :
       {std::tuple{"l2_type", "0x0800", "0x86dd"}, {"l3_protocol", "6", "17"}, {"l4_dst_port", "4789", "4791"}}) {
    const auto match = [key](const char* value) { return std::string(key) + ": " + value; };
    EXPECT_EQ(pair(match(a), match(b)), Complaints{}) << key;
    EXPECT_EQ(pair(match(a), match(a)), twice) << key;
    EXPECT_EQ(pair(match(a), ""), twice) << key << ": the other takes all packets";
    EXPECT_EQ(pair("", match(b)), twice) << key;
  }
  EXPECT_EQ(pair("l3_protocol: 6, l4_dst_port: 80", "l3_protocol: 17, l4_dst_port: 80"), Complaints{});
}

// A field lies where its header has it: the type at byte 12 of Ethernet, the protocol at byte 9 of IPv4 and at byte 6
// of IPv6, IPv6's flow label at bytes 1 to 3, the destination QP of RoCE at bytes 5 to 7 behind UDP's header of 8.
TEST(HashCheck, KnowsWhereItsFieldsLie) {
  const auto said = [](const std::string& field, const std::string& base, int offset, const std::string& match) {
    const Complaints out = about_hash("fields: [" + field + "], udf: [{base: " + base +
                                      ", offset: " + std::to_string(offset) + ", length: 1, match: {" + match + "}}]");
    return !out.empty();
  };
  const auto expect_at = [&](const std::string& field, const std::string& base, int first, int last,
                             const std::string& match) {
    for (int at = std::max(0, first - 2); at <= last + 2; ++at)
      EXPECT_EQ(said(field, base, at, match), at >= first && at <= last) << field << " of " << match << " at " << at;
  };
  const std::string ipv4 = "l2_type: 0x0800";
  const std::string ipv6 = "l2_type: 0x86dd";
  expect_at("ETHERTYPE", "L2", 12, 13, ipv4);
  expect_at("SRC_MAC", "L2", 6, 11, ipv4);
  expect_at("IP_PROTOCOL", "L3", 9, 9, ipv4);
  expect_at("IP_PROTOCOL", "L3", 6, 6, ipv6);
  expect_at("IPV6_FLOW_LABEL", "L3", 1, 3, ipv6);
  expect_at("SRC_IP", "L3", 12, 15, ipv4);
  expect_at("SRC_IP", "L3", 8, 23, ipv6);
  expect_at("L4_SRC_PORT", "L4", 0, 1, "");
  expect_at("RDMA_BTH_DEST_QP", "L4", 13, 15, "l4_dst_port: 4791");
  EXPECT_FALSE(said("RDMA_BTH_DEST_QP", "L4", 13, "l4_dst_port: 4789")) << "no RoCE has that port";
  EXPECT_FALSE(said("IPV6_FLOW_LABEL", "L3", 2, ipv4)) << "IPv4 has none";
  EXPECT_FALSE(said("IP_PROTOCOL", "L4", 9, ipv4)) << "behind another header";
}

// OVS moves a bond's flows by their load. That is no matter where a switch of it has no LAG.
TEST(HashCheck, OfOvsIsRefusedForASwitchWithALag) {
  const auto about = [](const std::string& ovs, const std::string& more = "") {
    std::string text =
        "name: t\n"
        "profiles: {ovs: {hash: {model: OVS}" +
        more +
        "}}\n"
        "topology:\n"
        "  nodes: {a: {kind: switch}, b: {kind: switch, role: aggregation}, c: {kind: switch}, h1: {kind: host}}\n"
        "  links:\n"
        "    - {endpoints: [\"a:Ethernet0\", \"b:Ethernet0\"], rate: 100Gbps}\n"
        "    - {endpoints: [\"a:Ethernet4\", \"b:Ethernet4\"], rate: 100Gbps}\n"
        "    - {endpoints: [\"c:Ethernet0\", \"b:Ethernet8\"], rate: 100Gbps}\n"
        "    - {endpoints: [a, h1], rate: 100Gbps}\n"
        "  lags: [{name: l, between: [a, b]}]\n";
    text.replace(text.find(ovs + ": {kind: switch"), ovs.size() + 15, ovs + ": {profile: ovs, kind: switch");
    return complaints_about(text);
  };
  const Complaints refused{
      "2 profiles.ovs: 'model: OVS' has no hash of LAGs: OVS moves a bond's flows by their load; say 'lag_hash'"};
  EXPECT_EQ(about("a"), refused);
  EXPECT_EQ(about("b"), refused) << "the LAG's other end";
  EXPECT_EQ(about("c"), Complaints{}) << "which has no LAG";
  EXPECT_EQ(about("a", ", lag_hash: {model: SAI, algorithm: CRC}"), Complaints{});
}

}  // namespace
}  // namespace softspine::control
