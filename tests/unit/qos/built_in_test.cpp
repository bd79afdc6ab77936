// SPDX-License-Identifier: Apache-2.0
// The profiles that ship, to the cell. Numbers: bytes as SONiC publishes them, divided by the cell.
#include <gtest/gtest.h>

#include "control/format/quantity.hpp"
#include "control/rows/built_in_profiles.hpp"
#include "dataplane/buffer/headroom.hpp"
#include "dataplane/flow_control/pause_timing.hpp"
#include "tests/unit/qos/plans.hpp"

namespace softspine::control {
namespace {

using dataplane::SharedLimit;
using tests::plan_of;
using tests::Planned;
using tests::with_fabric;

Planned with_profile(std::string_view name) {
  return plan_of(with_fabric("roles: {tor: " + std::string(name) + "}\n"));
}

// Three ports, two lossless groups each, eight queues.
constexpr uint32_t kPorts = 3;

TEST(BuiltInProfile, EveryOneOfThemIsWhole) {
  for (const BuiltInProfile& profile : built_in_profiles()) {
    SCOPED_TRACE(profile.name);
    const Planned planned = with_profile(profile.name);
    const bool says_only_how_to_hash = profile.text.starts_with("hash:");
    ASSERT_EQ(planned.plan == nullptr, says_only_how_to_hash);
    if (says_only_how_to_hash) continue;
    ASSERT_EQ(planned.plan->ports.size(), kPorts);
    for (const auto& port : planned.plan->ports) EXPECT_EQ(port.pfc_enabled, 0b11000);
  }
}

TEST(BuiltInProfile, TomahawksAreThePublishedCells) {
  struct Row {
    std::string_view name;
    uint32_t xoff_bytes;
  };
  for (const auto& [name, xoff] : {Row{"sonic-tomahawk-100g-5m", 165'568}, Row{"sonic-tomahawk-100g-40m", 177'632},
                                   Row{"sonic-tomahawk-100g-300m", 268'736}}) {
    SCOPED_TRACE(name);
    const Planned planned = with_profile(name);
    const dataplane::BufferPlan& buffer = planned.plan->buffer;
    EXPECT_EQ(buffer.cell.bytes(), 208u);
    for (const size_t g : {3, 4}) {
      const dataplane::PriorityGroupPlan& group = planned.group(0, g);
      EXPECT_TRUE(group.lossless);
      EXPECT_EQ(group.reserved_cells, 6u);  // 1,248 B
      EXPECT_EQ(group.xon_cells, 11u);      // 2,288 B
      EXPECT_EQ(group.headroom_cells * 208, xoff);
      EXPECT_EQ(group.limit, SharedLimit::dynamic(0));
    }
    EXPECT_FALSE(planned.group(0, 0).lossless);
    EXPECT_EQ(planned.group(0, 0).limit, SharedLimit::dynamic(3));
    EXPECT_EQ(planned.group(0, 1).limit, SharedLimit{});  // no row, nothing leads there
    // 10,875,072 B and 4,194,112 B of headroom in four slices.
    ASSERT_EQ(buffer.slices, 4u);
    ASSERT_EQ(buffer.ingress_pools.size(), 4u);
    EXPECT_EQ(buffer.ingress_pools.at(3).shared_cells, 52'284u / 4);
    EXPECT_EQ(buffer.ingress_pools.at(3).headroom_cells, 20'164u / 4);
    // 15,982,720 B.
    EXPECT_EQ(buffer.egress_pools.at(0).shared_cells, 76'840u / 4 + 1);
    EXPECT_EQ(planned.queue(1, 3).limit, SharedLimit::fixed(76'840));
    EXPECT_EQ(planned.queue(1, 3).reserved_cells, 8u);  // 1,518 B
    EXPECT_EQ(planned.queue(1, 3).pool, 0u);
    EXPECT_EQ(planned.queue(1, 0).pool, 4u);
    for (const size_t port : {0, 1, 2}) EXPECT_EQ(planned.group(port, 3).pool, port);  // 3 ports: slices 0, 1, 2
  }
}

TEST(BuiltInProfile, TomahawkFivesAreThePublishedCells) {
  const Planned slow = with_profile("sonic-tomahawk5-100g");
  EXPECT_EQ(slow.plan->buffer.cell.bytes(), 254u);
  EXPECT_EQ(slow.group(0, 3).reserved_cells, 74u);                                     // 18,796 B
  EXPECT_EQ(slow.group(0, 3).headroom_cells, 1'185u);                                  // 300,990 B
  EXPECT_EQ(slow.group(0, 3).xon_offset_cells, 14u);                                   // 3,556 B
  EXPECT_EQ(slow.plan->buffer.ingress_pools.at(1).shared_cells, 480'174u / 2);         // 121,964,196 B
  EXPECT_EQ(slow.plan->buffer.ingress_pools.at(1).headroom_cells, 116'224u / 2);       // 29,520,896 B
  EXPECT_EQ(with_profile("sonic-tomahawk5-800g").group(2, 4).headroom_cells, 2'853u);  // 724,662 B
}

TEST(BuiltInProfile, Sn4700sHeadroomIsInsideTheSize) {
  for (const auto& [name, size] :
       {std::pair("sonic-sn4700-100g-5m", 53'248u), std::pair("sonic-sn4700-100g-40m", 63'488u),
        std::pair("sonic-sn4700-100g-300m", 137'216u)}) {
    SCOPED_TRACE(name);
    const Planned planned = with_profile(name);
    const dataplane::PriorityGroupPlan& group = planned.group(0, 3);
    EXPECT_EQ(group.reserved_cells, 19'456u / 144 + 1);
    EXPECT_EQ(group.xon_cells, 19'456u / 144 + 1);
    EXPECT_EQ(group.reserved_cells + group.headroom_cells, (size + 143) / 144);
    EXPECT_EQ(planned.plan->buffer.ingress_pools.at(0).shared_cells, 20'627'456u / 144);
    EXPECT_EQ(planned.plan->buffer.ingress_pools.at(0).headroom_cells, 0u);
  }
}

TEST(BuiltInProfile, LosslessHasTheHeadroomThatEachPortNeeds) {
  using dataplane::Rate;
  const Planned planned = with_profile("lossless");
  // Ethernet0 and 4: hosts, 100G, 5 m; Ethernet8: the spine, 400G, 40 m.
  const auto needed = [](Rate rate, int64_t metres) {
    return dataplane::headroom_cells({.rate = rate,
                                      .propagation = propagation_of(Length::metres(static_cast<uint64_t>(metres))),
                                      .largest_frame = 9'118,
                                      .cell = dataplane::CellSize(256),
                                      .response = dataplane::PauseTiming::of(rate).response,
                                      .clock_ppm = dataplane::kMaxClockPpm});
  };
  EXPECT_EQ(planned.group(0, 3).headroom_cells, needed(Rate::gbps(100), 5));
  EXPECT_EQ(planned.group(2, 4).headroom_cells, needed(Rate::gbps(400), 40));
  EXPECT_GT(planned.group(2, 4).headroom_cells, 2 * planned.group(0, 3).headroom_cells);
  EXPECT_EQ(planned.plan->buffer.ingress_pools.at(0).shared_cells, (32u << 20) / 256);
}

TEST(BuiltInProfile, AzureMarksAndSharesAsSonicDoes) {
  const Planned planned = with_profile("azure");
  const dataplane::PortQosPlan& port = planned.plan->ports.at(0);
  const dataplane::WredLine& mark = planned.plan->wred.at(port.queues[3].wred).mark;
  EXPECT_EQ(mark.min_bytes, 1'048'576u);
  EXPECT_EQ(mark.max_bytes, 2'097'152u);
  EXPECT_EQ(mark.max_probability, dataplane::WredLine::kCertain / 20);
  EXPECT_EQ(planned.plan->wred.at(port.queues[3].wred).drop.min_bytes, 1'048'576u);
  EXPECT_EQ(port.queues[0].wred, 0u);
  EXPECT_FALSE(port.queues[0].strict);
  EXPECT_EQ(port.queues[0].weight, 14u);
  EXPECT_EQ(port.queues[4].weight, 15u);
  EXPECT_TRUE(port.queues[7].strict);
  EXPECT_EQ(port.priorities_of_pg, (std::array<uint8_t, 8>{0, 0, 0, 8, 16, 0, 0, 0}));
  EXPECT_EQ(port.queues_of_priority, (std::array<uint8_t, 8>{1, 2, 4, 8, 16, 32, 64, 128}));
  // Without BUFFER_* tables the queues have a limit each, and nothing is lossless.
  EXPECT_EQ(planned.queue(0, 3).limit, SharedLimit::fixed(1 << 20));
  EXPECT_FALSE(planned.group(0, 3).lossless);
}

TEST(BuiltInProfile, CanBeChangedInPart) {
  const Planned planned =
      plan_of(with_fabric("profiles:\n"
                          "  default: {base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: -2}},\n"
                          "    PORT_QOS_MAP: {global: {pfc_enable: [3]}}}\n"));
  EXPECT_EQ(planned.group(0, 3).limit, SharedLimit::dynamic(-2));
  EXPECT_GT(planned.group(0, 3).headroom_cells, 0u);
  EXPECT_EQ(planned.plan->ports.at(0).pfc_enabled, 8u);
  EXPECT_EQ(planned.plan->wred.at(planned.plan->ports.at(0).queues[3].wred).mark.min_bytes, 1'048'576u);
}

TEST(BuiltInProfile, GivesWayToAFilesOwnOfTheSameName) {
  const Testbed testbed = tests::read_well(with_fabric("profiles: {lossless: {mtu: 4000}}\nroles: {tor: lossless}\n"));
  EXPECT_EQ(testbed.profiles.at(0).name, "lossless");
  EXPECT_EQ(testbed.profiles.at(0).mtu, 4000u);
  EXPECT_EQ(testbed.profiles.at(0).qos, nullptr);
}

TEST(BuiltInProfile, IsGuessedWhenItIsMisspelt) {
  EXPECT_EQ(tests::complaints_about(with_fabric("profiles: {default: {base: sonic-tomahawk-100g-4m}}\n")),
            (tests::Complaints{"4 profiles.default.base: there is no profile 'sonic-tomahawk-100g-4m': did you mean "
                               "'sonic-tomahawk-100g-5m'?"}));
}

}  // namespace
}  // namespace softspine::control
