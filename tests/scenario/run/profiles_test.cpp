// SPDX-License-Identifier: Apache-2.0
// Testbed files that ask for PFC have it: what the tables say is what happens, seen in the report.
#include "control/telemetry/buffer_tables.hpp"
#include "control/telemetry/counters_json.hpp"
#include "testbeds/run/live_control.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// Seven hosts write 1 MiB each to an eighth, on priority 3; a group may share 256 KiB of 32 MiB before it says XOFF.
std::string incast(const std::string& tables, const std::string& more = "") {
  return R"(
name: lossless-incast
run: {duration: 3ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 5m},
  fabric_link: {rate: 400Gbps, length: 40m}}
profiles:
  other: {base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: 0}}}
  tight: {base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: -7}})" +
         tables + R"(}
roles: {tor: tight, aggregation: tight}
workload:
  - {name: w, pattern: incast, from: 7, to: h1, message: 1MiB, mtu: 4096, dscp: 3}
)" + more;
}

uint64_t total(const Outcome& out, const char* key) {
  return out.report["totals"][key].get<uint64_t>();
}
uint64_t of_tor1(const Outcome& out, const char* key) {
  return out.report["switches"]["tor1"][key].get<uint64_t>();
}

TEST(LosslessProfile, AnIncastIsPausedAndNothingIsDropped) {
  const Outcome out = run_text(incast(""));
  EXPECT_EQ(total(out, "dropped_packets"), 0U);
  EXPECT_EQ(total(out, "missing_packets"), 0U);
  EXPECT_EQ(total(out, "completed"), 7U);
  EXPECT_GT(of_tor1(out, "pfc_tx_packets"), 0U);
  EXPECT_GT(of_tor1(out, "headroom_watermark_bytes"), 0U);
  EXPECT_EQ(of_tor1(out, "headroom_dropped_packets"), 0U);
  EXPECT_GT(out.report["switches"]["spine1"]["pfc_rx_packets"].get<uint64_t>() +
                out.report["switches"]["spine2"]["pfc_rx_packets"].get<uint64_t>(),
            0U);
}

// Two hosts of tor1 write to one of tor2. On the link between the switches priority 2 stands for what is priority 3 at
// their other ports.
TEST(LosslessProfile, PausesGoByTheMapsOfThePort) {
  const Outcome out = run_text(R"(
name: port-maps
run: {duration: 3ms}
profiles:
  default:
    base: lossless
    BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: -7}}
    MAP_PFC_PRIORITY_TO_QUEUE: {A: {3: 3}, B: {2: 3}}
    PFC_PRIORITY_TO_PRIORITY_GROUP_MAP: {A: {3: 3}, B: {2: 3}}
    PORT_QOS_MAP:
      global: {pfc_to_queue_map: A, pfc_to_pg_map: A, pfc_enable: [3]}
      Ethernet8: {pfc_to_queue_map: B, pfc_to_pg_map: B, pfc_enable: [2]}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    tor2: {kind: switch, role: tor}
    h1: {kind: host}
    h2: {kind: host}
    h3: {kind: host}
  links:
    - {endpoints: ["tor1:Ethernet0", h1], rate: 100Gbps}
    - {endpoints: ["tor1:Ethernet4", h2], rate: 100Gbps}
    - {endpoints: ["tor1:Ethernet8", "tor2:Ethernet8"], rate: 400Gbps}
    - {endpoints: ["tor2:Ethernet0", h3], rate: 100Gbps}
workload:
  - {name: w, pattern: incast, from: [h1, h2], to: h3, message: 4MiB, mtu: 4096, dscp: 3}
)");
  EXPECT_EQ(total(out, "dropped_packets"), 0U);
  EXPECT_EQ(total(out, "completed"), 2U);
  const control::Json counters = control::counters_json(out.snapshot);
  const auto paused = [&](const char* node, const char* port, const char* priority) {
    return counters[node][port]["SAI_PORT_STAT_PFC_" + std::string(priority) + "_TX_PKTS"].get<uint64_t>();
  };
  EXPECT_GT(paused("tor2", "Ethernet8", "2"), 0U);
  EXPECT_EQ(paused("tor2", "Ethernet8", "3"), 0U);
  for (const char* port : {"Ethernet0", "Ethernet4"}) {
    EXPECT_GT(paused("tor1", port, "3"), 0U);
    EXPECT_EQ(paused("tor1", port, "2"), 0U);
  }
}

TEST(LosslessProfile, WithoutPfcTheSameIncastLosesPackets) {
  const Outcome out = run_text(incast(", PORT_QOS_MAP: {global: {pfc_enable: []}}"));
  EXPECT_GT(of_tor1(out, "headroom_dropped_packets"), 0U);
  EXPECT_EQ(of_tor1(out, "pfc_tx_packets"), 0U);
  EXPECT_GT(total(out, "missing_packets"), 0U);
}

TEST(LosslessProfile, OtherThresholdsWhileItRunsLoseNothingAndEndThePauses) {
  const Outcome tight = run_text(incast(""));
  const Outcome changed = run_text(incast("", "faults: [{at: 100us, node: tor1, profile: other}]\n"));
  EXPECT_EQ(total(changed, "dropped_packets"), 0U);
  EXPECT_EQ(total(changed, "completed"), 7U);
  EXPECT_GT(of_tor1(changed, "pfc_tx_packets"), 0U) << "before 100 us";
  EXPECT_LT(of_tor1(changed, "pfc_tx_packets"), of_tor1(tight, "pfc_tx_packets"));
}

TEST(LosslessProfile, WatermarksAndPausesAreShownUnderTheirNames) {
  const Outcome out = run_text(incast(""));
  const control::Json counters = control::counters_json(out.snapshot);
  // h2, h3 and h4 send into tor1:Ethernet4, 8 and 12; each may share 256 KiB, and less once others do.
  const auto& group = counters["tor1"]["Ethernet4|PG3"];
  const auto shared = group["SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES"].get<uint64_t>();
  EXPECT_GT(shared, 200'000U);
  EXPECT_LE(shared, 262'144U);
  EXPECT_GT(group["SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES"].get<uint64_t>(), 0U);
  EXPECT_EQ(group["SAI_INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES"].get<uint64_t>(), 0U) << "all has left";
  EXPECT_GT(counters["tor1"]["Ethernet4"]["SAI_PORT_STAT_PFC_3_TX_PKTS"].get<uint64_t>(), 0U);
  const auto& pool = counters["tor1"]["ingress_lossless_pool"];
  EXPECT_GE(pool["SAI_BUFFER_POOL_STAT_WATERMARK_BYTES"].get<uint64_t>(), shared);
  EXPECT_EQ(pool["SAI_BUFFER_POOL_STAT_CURR_OCCUPANCY_BYTES"].get<uint64_t>(), 0U);
  const auto& queue = counters["tor1"]["Ethernet0:3"];
  EXPECT_GT(queue["SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"].get<uint64_t>(), shared);
  uint64_t paused = 0;
  for (const char* spine : {"spine1", "spine2"}) {
    paused += counters[spine]["Ethernet0"]["SAI_PORT_STAT_PFC_3_ON2OFF_RX_PKTS"].get<uint64_t>();
  }
  EXPECT_GT(paused, 0U);
  EXPECT_NE(control::priority_group_watermark_table(out.snapshot).find("Ingress shared pool occupancy per PG:"),
            std::string::npos);
}

// All has left long before 2 ms: from then on nothing is held, so what is cleared then stays at nothing.
TEST(Watermarks, BeginAgainWhenTheyAreCleared) {
  const control::Testbed testbed = testbed_of(incast(""));
  const auto shared_after = [&](bool cleared, std::optional<uint32_t> node) {
    auto fabric = RunningFabric::make(testbed, {});
    if (cleared) {
      (*fabric)->assembly().engine->at(dataplane::Instant::at(dataplane::Duration::us(1'500)), [&](dataplane::Instant) {
        (*fabric)->part<LiveControl>().clear_watermarks(node);
      });
    }
    EXPECT_TRUE((*fabric)->run());
    const control::Json counters = control::counters_json((*fabric)->snapshot())["tor1"];
    EXPECT_EQ((*fabric)->drain(), 0u);
    return std::array{
        counters["Ethernet4|PG3"]["SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES"].get<uint64_t>(),
        counters["Ethernet4|PG3"]["SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES"].get<uint64_t>(),
        counters["Ethernet0:3"]["SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"].get<uint64_t>(),
        counters["Ethernet0:3"]["SAI_QUEUE_STAT_WATERMARK_BYTES"].get<uint64_t>(),
        counters["ingress_lossless_pool"]["SAI_BUFFER_POOL_STAT_WATERMARK_BYTES"].get<uint64_t>()};
  };
  const auto kept = shared_after(false, std::nullopt);
  for (const uint64_t bytes : kept) EXPECT_GT(bytes, 0u);
  for (const uint64_t bytes : shared_after(true, std::nullopt)) EXPECT_EQ(bytes, 0u);
  const auto tor2 = std::ranges::find(testbed.fabric.nodes, "tor2", &control::FabricNode::name);
  EXPECT_EQ(shared_after(true, static_cast<uint32_t>(tor2 - testbed.fabric.nodes.begin())), kept) << "another switch's";
}

}  // namespace
}  // namespace softspine::testbeds
