// SPDX-License-Identifier: Apache-2.0
// What is printed for switches, line by line, as the vendors' documentation has it.
#include "analysis/explain/vendor_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/load/load.hpp"

namespace softspine::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<VendorLines>& vendors) {
  std::vector<std::string> out;
  for (const VendorLines& vendor : vendors) out.push_back(vendor.vendor);
  return out;
}

TEST(VendorLines, OfASeedAreEveryVendorsThatHasOne) {
  const auto vendors =
      vendor_lines_of({{control::Role::kAggregation, {.seed = 10}}, {control::Role::kCore, {.seed = 25}}});
  ASSERT_THAT(names_of(vendors), ElementsAre("SONiC", "Enterprise SONiC", "Cumulus Linux (NVUE)",
                                             "Cumulus Linux (files)", "Junos (QFX10000)", "Arista EOS (FM6000)"));
  EXPECT_THAT(
      vendors[0].lines,
      ElementsAre(R"(aggregation: echo '[{"SWITCH_TABLE:switch": {"ecmp_hash_seed": "10"}, "OP": "SET"}]' > hash.json)",
                  "aggregation: docker cp hash.json swss:/tmp/hash.json",
                  "aggregation: docker exec -i swss swssconfig /tmp/hash.json",
                  R"(core: echo '[{"SWITCH_TABLE:switch": {"ecmp_hash_seed": "25"}, "OP": "SET"}]' > hash.json)",
                  "core: docker cp hash.json swss:/tmp/hash.json",
                  "core: docker exec -i swss swssconfig /tmp/hash.json"));
  EXPECT_THAT(vendors[0].notes, ElementsAre(HasSubstr("gone when swss restarts"), HasSubstr("DEVICE_METADATA")));
  EXPECT_THAT(vendors[1].lines,
              ElementsAre("aggregation: ip load-share hash seed 10", "core: ip load-share hash seed 25"));
  EXPECT_THAT(vendors[2].lines,
              ElementsAre("aggregation: nv set system forwarding hash-seed 10", "aggregation: nv config apply",
                          "core: nv set system forwarding hash-seed 25", "core: nv config apply"));
  EXPECT_THAT(vendors[2].notes, ElementsAre(HasSubstr("at random")));
  EXPECT_THAT(vendors[3].lines, ElementsAre("aggregation: ecmp_hash_seed = 10 in /etc/cumulus/datapath/traffic.conf",
                                            "aggregation: systemctl restart switchd.service",
                                            "core: ecmp_hash_seed = 25 in /etc/cumulus/datapath/traffic.conf",
                                            "core: systemctl restart switchd.service"));
  EXPECT_THAT(vendors[3].notes, ElementsAre(HasSubstr("traffic stops"), HasSubstr("nvue_traffic.conf")));
  EXPECT_THAT(vendors[4].lines, ElementsAre("aggregation: set forwarding-options enhanced-hash-key hash-seed 10",
                                            "core: set forwarding-options enhanced-hash-key hash-seed 25"));
  EXPECT_THAT(vendors[5].lines,
              ElementsAre("aggregation: ip load-sharing fm6000 10", "core: ip load-sharing fm6000 25"));
  EXPECT_THAT(vendors[5].notes, ElementsAre(HasSubstr("`ip load-sharing trident` 0 to 5")));
}

TEST(VendorLines, OfAnOffsetAreSonicsUpToFifteen) {
  const auto vendors = vendor_lines_of({{control::Role::kCore, {.seed = 25, .offset = 15}}});
  ASSERT_THAT(names_of(vendors), ElementsAre("SONiC"));
  EXPECT_EQ(
      vendors[0].lines[0],
      R"(core: echo '[{"SWITCH_TABLE:switch": {"ecmp_hash_seed": "25", "ecmp_hash_offset": "15"}, "OP": "SET"}]' > hash.json)");
  EXPECT_THAT(vendors[0].notes, testing::Contains(HasSubstr("chassis-packet is given none")));
  EXPECT_THAT(vendor_lines_of({{control::Role::kCore, {.offset = 16}}}), IsEmpty());
  EXPECT_THAT(vendor_lines_of({{control::Role::kAggregation, {.offset = 5}}, {control::Role::kCore, {.offset = 20}}}),
              IsEmpty());
}

TEST(VendorLines, OfAnAlgorithmAreSonicsIfSaiNamesIt) {
  const auto vendors = vendor_lines_of({{control::Role::kCore, {.algorithm = control::HashAlgorithm::kCrcCcitt}}});
  ASSERT_THAT(names_of(vendors), ElementsAre("SONiC", "Enterprise SONiC"));
  EXPECT_THAT(vendors[0].lines, ElementsAre("core: config switch-hash global ecmp-hash-algorithm CRC_CCITT"));
  EXPECT_THAT(vendors[0].notes, IsEmpty());
  EXPECT_THAT(vendor_lines_of({{control::Role::kCore, {.algorithm = control::HashAlgorithm::kXxh3}}}), IsEmpty());
}

// Two ToRs and a spine with LAGs between them; `tor` and `spine` are their profiles.
control::Testbed with_lags(const std::string& tor, const std::string& spine) {
  const auto out = control::parse_testbed(
      "name: t\nfabric: {kind: leaf-spine, tors: 2, spines: 1, links_per_spine: 2, hosts_per_tor: 1, host_link: {rate: "
      "1Gbps}, fabric_link: {rate: 1Gbps}}\ntopology: {lags: [{name: a, between: [tor1, spine1]}, {name: b, between: "
      "[tor2, spine1]}]}\nprofiles: {t: " +
          tor + ", s: " + spine + "}\nroles: {tor: t, aggregation: s}\n",
      "t.yaml");
  EXPECT_TRUE(out) << to_string(out.error().front());
  return out ? *out : control::Testbed{};
}

TEST(VendorLines, OfHostsThatForwardAreTheirOwnAndNoVendors) {
  const auto of = [](const std::string& core, const RoleChanges& changes) {
    const auto testbed = control::parse_testbed(R"(
name: hosts
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
profiles:
  default: {hash: {model: OVS}}
  of-cores: {hash: )" + core + R"(}
roles: {core: of-cores}
)",
                                                "test.yaml");
    if (!testbed) throw std::runtime_error(to_string(testbed.error().front()));
    return vendor_lines_of(*testbed, changes);
  };
  const auto of_ovs = of("{model: OVS, algorithm: L4}",
                         {{control::Role::kAggregation, {.seed = 10}}, {control::Role::kCore, {.seed = 25}}});
  ASSERT_THAT(names_of(of_ovs), ElementsAre("Open vSwitch"));
  EXPECT_THAT(of_ovs[0].lines,
              ElementsAre("aggregation: selection_method=dp_hash,selection_method_param=0x10000000a of each group",
                          "core: selection_method=dp_hash,selection_method_param=0x19 of each group"));
  const auto of_linux = of("{model: LINUX, seed: 1}", {{control::Role::kCore, {.seed = 25}}});
  ASSERT_THAT(names_of(of_linux), ElementsAre("Linux"));
  EXPECT_THAT(of_linux[0].lines, ElementsAre("core: sysctl -w net.ipv4.fib_multipath_hash_seed=25"));
  const RoleChanges both{{control::Role::kAggregation, {.seed = 10}}, {control::Role::kCore, {.seed = 25}}};
  EXPECT_THAT(of("{model: LINUX, seed: 1}", both), IsEmpty()) << "no line is for both";
  EXPECT_THAT(of("{}", both), IsEmpty());
  EXPECT_EQ(of("{}", {{control::Role::kCore, {.seed = 25}}}).size(), 6u);
}

TEST(VendorLines, OfLagsAreSonicsWhichTurnsBothHashes) {
  const control::Testbed testbed = with_lags("{}", "{lag_hash: {seed: 3}}");
  const auto lags = vendor_lines_of(testbed, {{control::Role::kTor, {.seed = 10, .offset = 5, .of_lags = true}}});
  ASSERT_THAT(names_of(lags), ElementsAre("SONiC"));
  EXPECT_EQ(
      lags[0].lines[0],
      R"(tor: echo '[{"SWITCH_TABLE:switch": {"lag_hash_seed": "10", "lag_hash_offset": "5"}, "OP": "SET"}]' > hash.json)");
  const auto both = vendor_lines_of(testbed, {{control::Role::kTor, {.seed = 10}},
                                              {control::Role::kAggregation, {.seed = 25}},
                                              {control::Role::kTor, {.seed = 42, .of_lags = true}}});
  ASSERT_THAT(names_of(both), ElementsAre("SONiC"));
  EXPECT_EQ(
      both[0].lines[0],
      R"(tor: echo '[{"SWITCH_TABLE:switch": {"ecmp_hash_seed": "10", "lag_hash_seed": "42"}, "OP": "SET"}]' > hash.json)");
  EXPECT_EQ(both[0].lines[3],
            R"(aggregation: echo '[{"SWITCH_TABLE:switch": {"ecmp_hash_seed": "25"}, "OP": "SET"}]' > hash.json)")
      << "its LAGs have a hash of their own";
  const auto shared =
      vendor_lines_of(testbed, {{control::Role::kTor, {.algorithm = control::HashAlgorithm::kCrcCcitt}}});
  ASSERT_THAT(names_of(shared), ElementsAre("SONiC"));
  EXPECT_THAT(shared[0].lines, ElementsAre("tor: config switch-hash global ecmp-hash-algorithm CRC_CCITT",
                                           "tor: config switch-hash global lag-hash-algorithm CRC_CCITT"));
}

TEST(VendorLines, OfLagsAreNoneForWhatHasNoKnob) {
  const control::Testbed testbed = with_lags("{}", "{}");
  EXPECT_THAT(vendor_lines_of(testbed, {{control::Role::kTor, {.offset = 16, .of_lags = true}}}), IsEmpty());
  EXPECT_THAT(
      vendor_lines_of(testbed, {{control::Role::kTor, {.algorithm = control::HashAlgorithm::kXxh3, .of_lags = true}}}),
      IsEmpty());
  EXPECT_THAT(vendor_lines_of(testbed, {{control::Role::kTor, {.add_qp = true}}}), IsEmpty());
}

TEST(VendorLines, AreNoneForWhatHasNoKnob) {
  EXPECT_THAT(names_of(vendor_lines_of({{control::Role::kTor, {.add_qp = true}}})), ElementsAre("Enterprise SONiC"));
  EXPECT_THAT(vendor_lines_of({{control::Role::kTor, {.offset = 3, .add_qp = true}}}), IsEmpty());
  EXPECT_THAT(vendor_lines_of({{control::Role::kCore, {.algorithm = control::HashAlgorithm::kCrcKoopmanLo}}}),
              IsEmpty());
  EXPECT_THAT(vendor_lines_of({{control::Role::kCore, {.buckets = 509}}}), IsEmpty());
}

}  // namespace
}  // namespace softspine::analysis
