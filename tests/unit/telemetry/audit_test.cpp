// SPDX-License-Identifier: Apache-2.0
// A snapshot that adds up is wrong as soon as one packet of either side of any sum is gone, and the place is named.
#include "control/telemetry/audit.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "control/report/report.hpp"
#include "control/telemetry/json.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using dataplane::DropReason;
using tests::small_fabric;

std::vector<std::string> after(const std::function<void(FabricSnapshot&)>& change) {
  FabricSnapshot fabric = small_fabric();
  change(fabric);
  return audit(fabric);
}

TEST(Audit, FindsNothingWhereAllAddsUp) {
  EXPECT_EQ(audit(small_fabric()), std::vector<std::string>{});
  EXPECT_EQ(audit(FabricSnapshot{}), std::vector<std::string>{});
}

TEST(Audit, SaysBothSidesOfASumThatDoesNotHold) {
  EXPECT_EQ(
      after([](FabricSnapshot& f) { ++f.links[1].under_way_to_b; }),
      (std::vector<std::string>{"tor1:Ethernet4 → core1:Ethernet0: sent 60 + injected 0 is not arrived 60 + lost 0 + "
                                "cut 0 + vanished 0 + damaged 0 + under way 1"}));
}

struct Slip {
  const char* what;
  const char* place;  // of the first sentence
  std::function<void(FabricSnapshot&)> change;
};

uint64_t& dropped(FabricSnapshot& f, DropReason reason) {
  return f.switches[0].ports[0].counters.drops[static_cast<size_t>(reason)];
}

const std::vector<Slip>& slips() {
  static const std::vector<Slip> all = {
      {"a switch has made one more",
       "tor1: ", [](FabricSnapshot& f) { ++f.switches[0].ports[0].counters.made_packets; }},
      {"a switch has ended one more", "tor1: ", [](FabricSnapshot& f) { ++dropped(f, DropReason::kNoRoute); }},
      {"a queue has refused one more",
       "tor1: ", [](FabricSnapshot& f) { ++f.switches[0].ports[1].counters.queues[3].dropped_packets; }},
      {"the MMU is wrong", "tor1: ", [](FabricSnapshot& f) { f.switches[0].buffer_imbalances = "a cell is missing"; }},
      {"a frame is on the wire", "tor1:Ethernet4: ", [](FabricSnapshot& f) { f.switches[0].ports[1].sends = true; }},
      {"a queue's list has one less",
       "tor1:Ethernet4: ", [](FabricSnapshot& f) { --f.switches[0].ports[1].waiting_packets; }},
      {"a host has answered one more", "h1: ", [](FabricSnapshot& f) { ++f.hosts[0].counters.answers_sent; }},
      {"a host has sent one pause less", "h1: ", [](FabricSnapshot& f) { --f.hosts[0].counters.pauses_sent; }},
      {"a flow has sent one more", "h1: ", [](FabricSnapshot& f) { ++f.flows[0].sent_packets; }},
      {"a flow has received one more", "h2: ", [](FabricSnapshot& f) { ++f.flows[0].received_packets; }},
      {"a host has received one more", "h2: ", [](FabricSnapshot& f) { ++f.hosts[1].counters.received_packets; }},
      {"a host holds one", "h2: ", [](FabricSnapshot& f) { ++f.hosts[1].counters.buffered; }},
      {"an edge has let one more in", "vm1:eth0: ", [](FabricSnapshot& f) { ++f.edges[0].counters.in_packets; }},
      {"an edge has let one more out", "vm1:eth0: ", [](FabricSnapshot& f) { ++f.edges[0].counters.out_packets; }},
      {"an edge holds one", "vm1:eth0: ", [](FabricSnapshot& f) { ++f.edges[0].waiting_for_outside; }},
      {"a link has lost one more",
       "h2:eth0 → tor2:Ethernet0: ", [](FabricSnapshot& f) { ++f.hosts[1].ports[0].link.lost_packets; }},
      {"a link was cut",
       "h1:eth0 → tor1:Ethernet0: ", [](FabricSnapshot& f) { ++f.hosts[0].ports[0].link.cut_packets; }},
      {"a frame was injected",
       "tor1:Ethernet8 → core2:Ethernet0: ", [](FabricSnapshot& f) { ++f.switches[0].ports[2].link.injected_packets; }},
      {"a pause frame did not arrive", "h1:eth0 → tor1:Ethernet0, priority 3: ",
       [](FabricSnapshot& f) { --f.switches[0].ports[0].pauses[3].rx_frames; }},
      {"a pause was asked for a picosecond longer", "h1:eth0 → tor1:Ethernet0, priority 3: ",
       [](FabricSnapshot& f) { f.hosts[0].ports[0].pause[3].tx_requested += dataplane::Duration::ps(1); }},
      {"a pause arrived a picosecond shorter", "h1:eth0 → tor1:Ethernet0, priority 3: ",
       [](FabricSnapshot& f) { f.switches[0].ports[0].pauses[3].rx_requested -= dataplane::Duration::ps(1); }},
      {"a flow's packet ended nowhere",
       "all flows: ", [](FabricSnapshot& f) { --f.switches[0].ports[0].counters.ended_flow_packets; }},
      {"a flow's packet was flooded twice",
       "all flows: ", [](FabricSnapshot& f) { ++f.switches[0].ports[0].counters.copied_flow_packets; }},
      {"a flow's packet is not found", "all flows: ", [](FabricSnapshot& f) { --f.flows[0].under_way; }},
      {"a flow has got what was not sent", "all flows: ", [](FabricSnapshot& f) { ++f.flows[0].foreign; }},
      {"a link has lost a flow's packet",
       "all flows: ", [](FabricSnapshot& f) { ++f.hosts[1].ports[0].link.lost_flow_packets; }},
      {"an edge has taken a flow's packet",
       "all flows: ", [](FabricSnapshot& f) { ++f.edges[0].counters.arrived_flow_packets; }},
      {"a host has ended a flow's packet",
       "all flows: ", [](FabricSnapshot& f) { ++f.hosts[1].counters.ended_flow_packets; }},
  };
  return all;
}

TEST(Audit, FindsASinglePacketOnEitherSideOfEverySum) {
  for (const Slip& slip : slips()) {
    const auto found = after(slip.change);
    ASSERT_FALSE(found.empty()) << slip.what;
    EXPECT_TRUE(found[0].starts_with(slip.place)) << slip.what << ": " << found[0];
  }
}

TEST(Audit, IsWhatTheReportCallsBalanced) {
  FabricSnapshot fabric = small_fabric();
  EXPECT_EQ(report_json(fabric, {})["totals"]["balanced"], true);
  EXPECT_EQ(report_json(fabric, {})["totals"]["imbalances"], Json::array());
  ++fabric.edges[0].counters.out_packets;
  EXPECT_EQ(report_json(fabric, {})["totals"]["balanced"], false);
  EXPECT_EQ(report_json(fabric, {})["totals"]["imbalances"].size(), 1u);
}

}  // namespace
}  // namespace softspine::control
