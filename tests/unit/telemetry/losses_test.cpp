// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/losses.hpp"

#include <gtest/gtest.h>

#include "control/report/report.hpp"
#include "control/telemetry/json.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using dataplane::DropReason;
using tests::small_fabric;

std::vector<std::string> lines_of(const FabricSnapshot& fabric) {
  std::vector<std::string> out;
  for (const Loss& loss : losses_of(fabric)) {
    out.push_back(std::to_string(loss.packets) + " " + loss.place + " " + loss.reason);
  }
  return out;
}

TEST(Losses, AreNamedByPlaceAndReasonTheLargestFirst) {
  EXPECT_EQ(lines_of(small_fabric()),
            (std::vector<std::string>{"15 tor1:Ethernet4 queue 3 queue_full", "3 h2:eth0 → tor2:Ethernet0 link_down",
                                      "2 vm1:eth0 out edge_full", "1 h2 bad_icrc", "1 tor1:Ethernet0 no_route"}))
      << "a PFC frame that has arrived is none";
}

TEST(Losses, OfNodesAddUpToWhatWasDropped) {
  const FabricSnapshot fabric = small_fabric();
  uint64_t of_nodes = 0;
  for (const Loss& loss : losses_of(fabric)) {
    if (!loss.place.contains("→")) of_nodes += loss.packets;
  }
  EXPECT_EQ(of_nodes, report_json(fabric, {})["totals"]["dropped_packets"]);
}

TEST(Losses, OfAQueueNameEachReasonThatItsSwitchHas) {
  FabricSnapshot fabric = small_fabric();
  fabric.switches[0].ports[0].counters.drops[static_cast<size_t>(DropReason::kWredDropped)] = 1;
  EXPECT_EQ(lines_of(fabric)[0], "15 tor1:Ethernet4 queue 3 queue_full or wred_dropped");
}

TEST(Losses, OfACableSayWhatItDid) {
  FabricSnapshot fabric = small_fabric();
  fabric.switches[0].ports[1].link.vanished_packets = 40;
  fabric.switches[0].ports[1].link.damaged_packets = 30;
  fabric.switches[0].ports[1].link.cut_packets = 20;
  const auto lines = lines_of(fabric);
  EXPECT_EQ(lines[0], "40 tor1:Ethernet4 → core1:Ethernet0 vanished");
  EXPECT_EQ(lines[1], "30 tor1:Ethernet4 → core1:Ethernet0 damaged");
  EXPECT_EQ(lines[2], "20 tor1:Ethernet4 → core1:Ethernet0 link_down");
}

}  // namespace
}  // namespace softspine::control
