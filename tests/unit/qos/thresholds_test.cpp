// SPDX-License-Identifier: Apache-2.0
// Where buffers trigger, against what sonic-mgmt's parameters for its QoS tests publish of real chips, each within that
// project's own margin. The pools are SONiC's for the platform. Tomahawk 2's xoff is what its two figures leave.
#include "control/compile/thresholds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "control/compile/switch_qos.hpp"
#include "control/rows/built_in_profiles.hpp"
#include "dataplane/buffer/mmu.hpp"
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
  expect_near(found(testbed, false, 1).first_drop, 9'887, 0);
}

// Of a switch that trusts PCP, the queues to which only PCPs lead are told, too.
TEST(Thresholds, AreToldOfQueuesThatTagsAloneLeadTo) {
  const std::string buffers =
      "    BUFFER_POOL: {in: {type: ingress, size: 1MiB}, out: {type: egress, size: 1MiB}}\n"
      "    BUFFER_PROFILE: {g: {pool: in, size: 0B, dynamic_th: 0}, q: {pool: out, size: 0B, dynamic_th: 0}}\n"
      "    BUFFER_PG: {0-7: {profile: g}}\n    BUFFER_QUEUE: {0-7: {profile: q}}\n"
      "    TC_TO_QUEUE_MAP: {Q: {0: 0, 1: 1, 6: 6, 7: 7}}\n    DOT1P_TO_TC_MAP: {P: {0: 0, 5: 6}}\n";
  const std::string dscp = "    DSCP_TO_TC_MAP: {D: {0: 0, 8: 1}}\n";
  const auto tells_of = [&](const std::string& maps, const std::string& by, uint8_t queue) {
    const Testbed testbed = with(buffers + maps + "    PORT_QOS_MAP: {global: {tc_to_queue_map: Q, " + by + "}}\n", 2);
    return found(testbed, false, queue).first_drop.has_value();
  };
  EXPECT_TRUE(tells_of("", "dot1p_to_tc_map: P", 6));
  EXPECT_FALSE(tells_of("", "dot1p_to_tc_map: P", 7)) << "nothing leads there";
  EXPECT_FALSE(tells_of(dscp, "dot1p_to_tc_map: P, dscp_to_tc_map: D", 6)) << "DSCP goes first";
  EXPECT_TRUE(tells_of(dscp, "dot1p_to_tc_map: P, dscp_to_tc_map: D", 1));
}

constexpr std::string_view kTomahawk2 =
    "    base: azure\n    platform: tomahawk2\n"
    "    BUFFER_POOL: {ingress_lossless_pool: {type: ingress, size: %, xoff: 7827456B},\n"
    "      egress_lossless_pool: {type: egress, size: 42349632B}, egress_lossy_pool: {type: egress, size: 26663272B}}\n"
    "    BUFFER_PROFILE:\n"
    "      ingress_lossy_profile: {pool: ingress_lossless_pool, size: 0B, static_th: 44302336B}\n"
    "      egress_lossless_profile: {pool: egress_lossless_pool, size: 0B, static_th: 42349632B}\n"
    "      egress_lossy_profile: {pool: egress_lossy_pool, size: 1664B, dynamic_th: -1}\n"
    "      pg: {pool: ingress_lossless_pool, size: 1248B, xon: 2288B, xon_offset: 2288B, xoff: @, dynamic_th: "
    "#}\n"
    "    BUFFER_PG: {0: {profile: ingress_lossy_profile}, 3-4: {profile: pg}}\n"
    "    BUFFER_QUEUE: {0-2: {profile: egress_lossy_profile}, 3-4: {profile: egress_lossless_profile},\n"
    "      5-6: {profile: egress_lossy_profile}}\n";

Testbed tomahawk2(std::string_view pool, std::string_view xoff = "100880B", std::string_view dynamic_th = "0") {
  std::string text{kTomahawk2};
  text.replace(text.find('%'), 1, pool);
  text.replace(text.find('@'), 1, xoff);
  text.replace(text.find('#'), 1, dynamic_th);
  return with(text, 64);
}

TEST(Thresholds, Tomahawk2TriggersWhereSonicMgmtSaysItDoes) {
  constexpr uint64_t kMargin = 4;  // pkts_num_margin of that file
  expect_near(found(tomahawk2("33169344B"), true, 3).xoff, 19'939, kMargin);
  expect_near(found(tomahawk2("33169344B"), true, 3).first_drop, 20'425, kMargin);
  expect_near(found(tomahawk2("33262528B"), true, 3).xoff, 19'994, kMargin);
  expect_near(found(tomahawk2("33329088B"), true, 4).xoff, 20'034, kMargin);
  expect_near(found(tomahawk2("33329088B"), false, 1).first_drop, 10'692, 2);
}

// BufferPoolWatermarkTest of that file: 16 frames leave the pool alone but for two cells; all that are accepted, and
// more that are not, are 10,692 less those 16, less one at most and eight more at most.
TEST(Thresholds, Tomahawk2sEgressPoolCountsAQueueFromItsSeventeenthCellOn) {
  const Testbed testbed = tomahawk2("33329088B", "141856B", "-3");
  const auto plan = compile_qos(testbed.profiles[0], port_shapes(testbed.fabric, testbed.profiles, 0));
  dataplane::Mmu mmu{static_cast<uint32_t>(plan->buffer.ports.size() - 1)};
  mmu.apply(plan->buffer);
  const dataplane::Mmu::Account way{dataplane::Mmu::number_of_pg(20, 0), dataplane::Mmu::number_of_queue(24, 0)};
  const auto& use = mmu.egress_pools()[mmu.of_pool(mmu.queue(24, 0, 1))];
  for (uint32_t i = 0; i < 16; ++i) ASSERT_NE(mmu.admit(way, 1), 0U);
  EXPECT_LE(use.watermark(), 2U);
  while (mmu.admit(way, 1) != 0) {
  }
  EXPECT_GE(use.watermark(), 10'692U - 16 - 1);
  EXPECT_LE(use.watermark(), 10'692U - 16 + 8);
}

// Groups that sonic-mgmt's HdrmPoolSizeTest fills one after the other, by its published numbers.
struct HeadroomPool {
  std::vector<dataplane::Mmu::Account> groups;
  uint32_t almost;   // frames that raise no XOFF
  uint32_t full;     // frames of headroom of all groups but the last
  uint32_t partial;  // of the last one
};

void expect_headroom_begins_after_xoff(const Testbed& testbed, const HeadroomPool& published) {
  const auto plan = compile_qos(testbed.profiles[0], port_shapes(testbed.fabric, testbed.profiles, 0));
  dataplane::Mmu mmu{static_cast<uint32_t>(plan->buffer.ports.size() - 1)};
  mmu.apply(plan->buffer);
  for (const auto& group : published.groups) {
    for (uint32_t i = 0; i < published.almost; ++i) ASSERT_NE(mmu.admit(group, 1), 0U);
    ASSERT_FALSE(mmu.must_raise_xoff());
  }
  for (const auto& group : published.groups) {
    uint32_t sent = 0;
    do {
      ASSERT_LT(++sent, 10U);
      ASSERT_NE(mmu.admit(group, 1), 0U);
    } while (!mmu.must_raise_xoff());
  }
  const auto& pool = mmu.ingress_pools()[plan->buffer.ports[published.groups[0].group / 8].groups[3].pool];
  EXPECT_LE(pool.headroom, 1U);  // 2 × margin + 1, and no margin is given
  for (const auto& group : published.groups) {
    const uint32_t frames = &group == &published.groups.back() ? published.partial : published.full;
    for (uint32_t i = 0; i < frames; ++i) ASSERT_NE(mmu.admit(group, 1), 0U);
  }
  EXPECT_EQ(mmu.admit(published.groups.back(), 1), 0U);
  EXPECT_EQ(pool.headroom, (published.groups.size() - 1) * published.full + published.partial);
}

std::vector<dataplane::Mmu::Account> lossless_groups(uint32_t first_port, uint32_t count, uint32_t to) {
  std::vector<dataplane::Mmu::Account> out;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t priority = 3 + i % 2;
    out.push_back(
        {dataplane::Mmu::number_of_pg(first_port + i / 2, priority), dataplane::Mmu::number_of_queue(to, priority)});
  }
  return out;
}

TEST(Thresholds, HeadroomBeginsWithTheFrameAfterXoffHoweverManyGroupsWait) {
  expect_headroom_begins_after_xoff(with("    base: sonic-tomahawk-100g-300m\n", 64),
                                    {lossless_groups(17, 4, 16), 2'620, 1'292, 1'165});
  expect_headroom_begins_after_xoff(tomahawk2("33329088B", "141856B", "-3"),
                                    {lossless_groups(1, 14, 0), 1'826, 682, 542});
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
  expect_near(found(testbed, false, 1).first_drop, 31'322, 0);
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
