// SPDX-License-Identifier: Apache-2.0
// Windows that nest against one flat window: the same report, but for what it says of the engine.
#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// Racks in windows of their own, by host cables of a few metres: with overrides, a controller and failed links; with
// PFC and storms; with dual ToRs, two planes and a core.
class NestedWindows : public testing::TestWithParam<const char*> {};

Outcome run_shipped(const std::string& name, uint32_t workers, bool flat) {
  const auto testbed =
      control::load_testbed(tests::source_root() / "testbeds" / (name + ".yaml"), {.workers = workers});
  if (!testbed) {
    ADD_FAILURE() << to_string(testbed.error().front());
    return {};
  }
  return run_whole(*testbed, false, {}, flat);
}

TEST_P(NestedWindows, GiveTheReportOfAFlatOneForAnyNumberOfWorkers) {
  const Outcome flat = run_shipped(GetParam(), 1, true);
  const std::string expected = without_engine(flat.report);
  EXPECT_GT(flat.report["totals"]["switched_packets"], 1'000u) << "the case is too easy";
  for (const uint32_t workers : {1U, 2U, 3U}) {
    const Outcome nested = run_shipped(GetParam(), workers, false);
    EXPECT_EQ(without_engine(nested.report), expected) << workers << " workers, nested";
    EXPECT_LT(nested.snapshot.engine.windows * 3, flat.snapshot.engine.windows * 2) << "it does not nest";
    if (workers > 1) {
      EXPECT_EQ(without_engine(run_shipped(GetParam(), workers, true).report), expected) << workers << " workers, flat";
    }
  }
}

// What comes together at a switch depends on the windows. Here MACs are forgotten while packets for them are under way.
constexpr const char* kForgetful = R"(
name: forgetful
run: {seed: 1}
fabric: {kind: 2-ary-fat-tree, levels: 2, host_link: {rate: 200Gbps, length: 5m}, fabric_link: {rate: 200Gbps, length: 40m}}
profiles: {default: {neighbours: {arp_timeout: 1ms, fdb_aging_time: 20us, fdb_unicast_miss: drop}}}
workload:
  - {name: w1, pattern: incast, from: [h2, h1, h4], to: h3, qps: 2, message: 64KiB, messages: 40, mtu: 256, dscp: 26, verb: send}
faults:
  - {at: 29092529ps, link: "tor1:Ethernet12", set: one_way, direction: in, carrier: goes}
)";
// Here a ToR tells senders that it has no route, over LAGs whose hash has the MACs.
constexpr const char* kTold = R"(
name: told
run: {seed: 1}
fabric: {kind: leaf-spine, tors: 3, spines: 1, hosts_per_tor: 4, links_per_spine: 3, host_link: {rate: 200Gbps, length: 1m, pfc_response_time: 0ps}, fabric_link: {rate: 1Gbps, length: 1m}}
topology: {lags: [{name: PC0, between: [tor1, spine1], min_links: 1}]}
profiles: {default: {lag_hash: {algorithm: CRC_32HI, seed: 62072, offset: 8, fields: [SRC_MAC, DST_IP, VLAN_ID]}}}
workload:
  - {name: w1, pattern: incast, from: [h11, h1, h8, h6, h4, h5], to: h12, message: 64KiB, messages: 59, mtu: 512, dscp: 0, verb: send, transport: rc, window: 64, ack_every: 2, ack_timeout: 4, retries: 0}
overrides: [{at: tor2, from: Ethernet12, to: h9, via: Ethernet20}]
faults: [{at: 20us, node: tor3, set: down}]
)";

class SmallNestedWindows : public testing::TestWithParam<const char*> {};

TEST_P(SmallNestedWindows, GiveTheReportAndTheCaptureOfAFlatOne) {
  const control::Testbed testbed = testbed_of(GetParam());
  const Outcome nested = run_whole(testbed, true, {}, false);
  const Outcome flat = run_whole(testbed, true, {}, true);
  EXPECT_EQ(without_engine(flat.report), without_engine(nested.report));
  EXPECT_TRUE(flat.capture == nested.capture);
  EXPECT_GT(nested.capture.size(), 10'000u);
  EXPECT_LT(nested.snapshot.engine.windows * 3, flat.snapshot.engine.windows * 2) << "it does not nest";
}

INSTANTIATE_TEST_SUITE_P(Bursts, SmallNestedWindows, testing::Values(kForgetful, kTold));
INSTANTIATE_TEST_SUITE_P(Shipped, NestedWindows,
                         testing::Values("pinned-failure", "pfc-storm-watchdog", "hpn-pod-core"));

}  // namespace
}  // namespace softspine::testbeds
