// SPDX-License-Identifier: Apache-2.0
// Where buffers trigger, against what sonic-mgmt's parameters for its QoS tests publish of real chips, each within that
// project's own margin. The pools are SONiC's for the platform. Tomahawk 2's xoff is what its two figures leave.
#include "control/compile/thresholds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "control/rows/built_in_profiles.hpp"
#include "tests/unit/config/complaints.hpp"
#include "tests/unit/qos/plans.hpp"

namespace softspine::control {
namespace {

using dataplane::DropReason;

// A switch of so many ports, and one that they lead to.
std::string fabric_of(uint32_t ports, std::string_view rate, std::string_view metres) {
  return "topology:\n  nodes: {tor1: {kind: switch, role: tor, profile: it}, other: {kind: switch, role: "
         "aggregation}}\n  links:\n" +
         [&] {
           std::string out;
           for (uint32_t i = 0; i < ports; ++i) {
             out += "    - {endpoints: [tor1, other], rate: " + std::string(rate) + ", length: " + std::string(metres) +
                    "}\n";
           }
           return out;
         }();
}

Testbed with(std::string_view profile, uint32_t ports, std::string_view rate = "100Gbps", std::string_view m = "300m") {
  return tests::read_well("name: t\nprofiles:\n  it:\n" + std::string(profile) + fabric_of(ports, rate, m));
}

Thresholds found(const Testbed& testbed, bool lossless, uint8_t number) {
  for (const Thresholds& each : thresholds_of(testbed)) {
    if (each.profile == "it" && each.lossless == lossless && each.number == number) return each;
  }
  return {};
}

void expect_near(const std::optional<uint64_t>& found, uint64_t published, uint64_t margin) {
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>(*found), static_cast<double>(published), static_cast<double>(margin));
}

TEST(Thresholds, TomahawkTriggersWhereSonicMgmtSaysItDoes) {
  const Testbed testbed = with("    base: sonic-tomahawk-100g-300m\n", 64);
  const Thresholds group = found(testbed, true, 3);
  expect_near(group.xoff, 6'542, 0);
  expect_near(group.first_drop, 7'835, 0);
  EXPECT_EQ(group.reason, DropReason::kHeadroomFull);
  EXPECT_EQ(group.headroom_pool_cells, 5'041U);  // three full groups of 1,292 and one of 1,165
  EXPECT_EQ(group.xon_after, 6U) << "published: 12";
  EXPECT_EQ(group.ports.size(), 16U) << "a quarter is in each slice";
  expect_near(found(testbed, false, 1).first_drop, 9'887, 2);
}

constexpr std::string_view kTomahawk2 =
    "    base: azure\n    platform: tomahawk2\n"
    "    BUFFER_POOL: {ingress_lossless_pool: {type: ingress, size: %, xoff: 7827456B},\n"
    "      egress_lossless_pool: {type: egress, size: 42349632B}, egress_lossy_pool: {type: egress, size: 26663272B}}\n"
    "    BUFFER_PROFILE:\n"
    "      ingress_lossy_profile: {pool: ingress_lossless_pool, size: 0B, static_th: 44302336B}\n"
    "      egress_lossless_profile: {pool: egress_lossless_pool, size: 0B, static_th: 42349632B}\n"
    "      egress_lossy_profile: {pool: egress_lossy_pool, size: 1664B, dynamic_th: -1}\n"
    "      pg: {pool: ingress_lossless_pool, size: 1248B, xon: 2288B, xon_offset: 2288B, xoff: 100880B, dynamic_th: "
    "0}\n"
    "    BUFFER_PG: {0: {profile: ingress_lossy_profile}, 3-4: {profile: pg}}\n"
    "    BUFFER_QUEUE: {0-2: {profile: egress_lossy_profile}, 3-4: {profile: egress_lossless_profile},\n"
    "      5-6: {profile: egress_lossy_profile}}\n";

Testbed tomahawk2(std::string_view pool) {
  std::string text{kTomahawk2};
  text.replace(text.find('%'), 1, pool);
  return with(text, 64);
}

TEST(Thresholds, Tomahawk2TriggersWhereSonicMgmtSaysItDoes) {
  constexpr uint64_t kMargin = 4;  // pkts_num_margin of that file
  expect_near(found(tomahawk2("33169344B"), true, 3).xoff, 19'939, kMargin);
  expect_near(found(tomahawk2("33169344B"), true, 3).first_drop, 20'425, kMargin);
  expect_near(found(tomahawk2("33262528B"), true, 3).xoff, 19'994, kMargin);
  expect_near(found(tomahawk2("33329088B"), true, 4).xoff, 20'034, kMargin);
  expect_near(found(tomahawk2("33329088B"), false, 1).first_drop, 10'692, kMargin);
}

TEST(Thresholds, Tomahawk5TriggersWhereSonicMgmtSaysItDoes) {
  expect_near(found(with("    base: sonic-tomahawk5-100g\n", 64), true, 3).xoff, 120'117, 2);
}

TEST(Thresholds, Trident2TriggersWhereSonicMgmtSaysItDoes) {
  const Testbed testbed = with("    base: sonic-trident2-40g-300m\n", 32, "40Gbps");
  const Thresholds group = found(testbed, true, 3);
  expect_near(group.xoff, 4'898, 0);
  expect_near(group.first_drop, 5'164, 0);
  EXPECT_EQ(group.headroom_pool_cells, 0U);
  expect_near(found(testbed, false, 1).first_drop, 31'322, 3);
}

TEST(Thresholds, Sn2700TriggersWhereSonicMgmtsRuleSaysItDoes) {
  const Testbed testbed = with(
      "    base: azure\n    platform: spectrum\n"
      "    BUFFER_POOL: {in: {type: ingress, size: 4580864B}, out: {type: egress, size: 13945824B}}\n"
      "    BUFFER_PROFILE:\n"
      "      pg: {pool: in, size: 49152B, xon: 19456B, xoff: 29696B, dynamic_th: 0}\n"
      "      lossy: {pool: in, size: 0B, dynamic_th: 3}\n"
      "      queue: {pool: out, size: 0B, dynamic_th: 7}\n"
      "    BUFFER_PG: {0: {profile: lossy}, 3-4: {profile: pg}}\n"
      "    BUFFER_QUEUE: {0-7: {profile: queue}}\n",
      32, "100Gbps", "5m");
  expect_near(found(testbed, true, 3).xoff, 24'062, 0);
}

// min + α B / (1 + α), the closed form: B is the slice's pool.
TEST(Thresholds, AreTheClosedFormsForEveryAlphaAndAnySlices) {
  for (const uint32_t slices : {1U, 2U, 4U}) {
    for (int th = -4; th <= 3; ++th) {
      SCOPED_TRACE(std::to_string(slices) + " slices, 2^" + std::to_string(th));
      const Testbed testbed = with(
          "    base: azure\n    cell: 256B\n    slices: " + std::to_string(slices) +
              "\n    BUFFER_POOL: {in: {type: ingress, size: 25600000B, xoff: 2560000B}, out: {type: egress, size: "
              "1GiB}}\n"
              "    BUFFER_PROFILE:\n"
              "      pg: {pool: in, size: 2560B, xoff: 25600B, dynamic_th: " +
              std::to_string(th) +
              "}\n"
              "      lossy: {pool: in, dynamic_th: 3}\n"
              "      queue: {pool: out, static_th: 0B}\n"
              "    BUFFER_PG: {0-7: {profile: lossy}, \"Ethernet0,Ethernet4,Ethernet8,Ethernet12|3\": {profile: pg}}\n"
              "    BUFFER_QUEUE: {0-7: {profile: queue}}\n"
              "    PORT_QOS_MAP: {global: {pfc_enable: [3]}}\n",
          4);
      const Thresholds it = found(testbed, true, 3);
      const double alpha = std::pow(2.0, th);
      ASSERT_TRUE(it.xoff);
      EXPECT_NEAR(static_cast<double>(*it.xoff), 10 + alpha / (1 + alpha) * 100'000 / slices, 1 + alpha);
      EXPECT_EQ(it.first_drop, *it.xoff + 100 + 1);
    }
  }
}

}  // namespace
}  // namespace softspine::control
