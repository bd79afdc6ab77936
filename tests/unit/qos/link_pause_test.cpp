// SPDX-License-Identifier: Apache-2.0
// Links with PAUSE (802.3 annex 31B): what a port's plan says, and what `check` says of its headroom.
#include <gtest/gtest.h>

#include "control/compile/headroom_check.hpp"
#include "tests/unit/qos/plans.hpp"

namespace softspine::control {
namespace {

using tests::plan_of;
using tests::read_well;

// The links of the fabric by PAUSE, those of the hosts by PFC; no priority is in pfc_enable.
std::string with_link_pause(std::string_view tables) {
  return "name: small\n"
         "fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2,\n"
         "  host_link: {rate: 100Gbps, length: 5m}, fabric_link: {rate: 400Gbps, length: 40m, flow_control: pause}}\n"
         "roles: {tor: tor, aggregation: lossless}\n"
         "profiles: {tor: {base: lossless, PORT_QOS_MAP: {global: {pfc_enable: []}}" +
         std::string(tables) + "}}\n";
}

TEST(LinkPause, StopsEveryQueueWhateverPfcEnableAndTheMapsOfPrioritiesSay) {
  const auto planned = plan_of(with_link_pause(", MAP_PFC_PRIORITY_TO_QUEUE: {AZURE: {3: 3, 4: 4}}"));
  const auto& host_port = planned.plan->ports.at(0);
  EXPECT_EQ(host_port.link.flow_control, dataplane::LinkMode::kPfc);
  EXPECT_EQ(host_port.pfc_enabled, 0);
  const auto& uplink = planned.plan->ports.at(2);
  EXPECT_EQ(uplink.link.flow_control, dataplane::LinkMode::kPause);
  EXPECT_EQ(uplink.pfc_enabled, 0xff);
  uint8_t queues = 0;
  for (const uint8_t mask : uplink.queues_of_priority) queues |= mask;
  EXPECT_EQ(queues, 0xff);
  EXPECT_EQ(uplink.watchdog.action, dataplane::WatchdogAction::kNone);
}

TEST(LinkPause, NeedsTheHeadroomThatPfcNeeds) {
  const HeadroomCheck enough = check_headroom(read_well(with_link_pause("")));
  EXPECT_TRUE(enough.too_little.empty());
  const HeadroomCheck little =
      check_headroom(read_well(with_link_pause(", BUFFER_PROFILE: {pg_lossless_auto_profile: {xoff: 9216B}}")));
  ASSERT_EQ(little.too_little.size(), 1U);
  EXPECT_EQ(little.too_little[0].ports, (std::vector<std::string>{"tor1:Ethernet8", "tor2:Ethernet8"}))
      << "its hosts' ports pause nobody";
}

}  // namespace
}  // namespace softspine::control
