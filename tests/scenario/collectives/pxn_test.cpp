// SPDX-License-Identifier: Apache-2.0
// PXN: what goes to another rail takes the local GPU on that rail, whole, from the file to the report.
#include <fmt/format.h>

#include <set>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// Four servers of four GPUs, a ToR a rail.
std::string rails(const std::string& collectives, const std::string& tier2 = "any-to-any", uint32_t segments = 1) {
  return fmt::format(
      "name: c\nrun: {{duration: 200ms}}\nfabric: {{kind: hpn, segments: {}, servers_per_segment: {}, rails: 4, "
      "planes: "
      "1, "
      "aggregations_per_plane: 4, tier2: {}, host_link: {{rate: 50Gbps, length: 3m}}, fabric_link: {{rate: 100Gbps, "
      "length: 3m}}}}\nroles: {{tor: lossless, aggregation: lossless}}\ncollectives:\n{}",
      segments, 4 / segments, tier2, collectives);
}

uint64_t packets_at_aggregations(const Outcome& out) {
  uint64_t sum = 0;
  for (const control::SwitchSnapshot& it : out.snapshot.switches) {
    if (it.role != "aggregation") continue;
    for (const auto& port : it.ports) sum += port.counters.rx_packets;
  }
  return sum;
}

// Each NIC carries what its GPU gets from other servers, at the rate of both its ports; a quarter of what goes to other
// servers is sent by the GPU itself.
TEST(Pxn, StaysOnTheReceiversRailAndTakesWhatTheNicsCarry) {
  constexpr const char* kText = "  - {{name: g, op: all_to_all, protocol: simple, size: 16MiB, qps: 2{}}}\n";
  const Outcome with = run_text(rails(fmt::format(fmt::runtime(kText), ", pxn: true")));
  const Outcome without = run_text(rails(fmt::format(fmt::runtime(kText), "")));
  for (const Outcome* const out : {&with, &without}) {
    EXPECT_EQ(out->report["collectives"]["g"]["ranks_done"], 16);
    EXPECT_EQ(number(out->report["flows"]["g"], "received_bytes"), 16u * 12u << 20);
    EXPECT_EQ(number(out->report["flows"]["g"], "retransmitted_bytes"), 0u);
  }
  EXPECT_EQ(number(with.report["collectives"]["g"], "scale_up_bytes"), 16u * (3u + 9u) << 20);
  EXPECT_EQ(number(without.report["collectives"]["g"], "scale_up_bytes"), 16u * 3u << 20);
  EXPECT_EQ(packets_at_aggregations(with), 0u);
  EXPECT_GT(packets_at_aggregations(without), 0u);
  const double seconds =
      static_cast<double>(number(with.report["collectives"]["g"]["sizes"]["16777216"], "time_ps")) / 1e12;
  constexpr double kNic = (12 * 256 * 4'178 + 12 * 8 * 16) / (100e9 / 8);
  EXPECT_NEAR(seconds / kNic, 1, 0.01);
}

// Between segments the aggregation layer carries what stays on its rail, and nothing else.
TEST(Pxn, SendsNothingFromRailToRail) {
  const Outcome out = run_text(rails("  - {name: g, op: all_to_all, size: 1MiB, pxn: true}\n", "any-to-any", 2));
  EXPECT_GT(packets_at_aggregations(out), 0u);
  const auto rail_of = [](const std::string& host) { return host.substr(host.rfind("-nic")); };
  for (const control::FlowSnapshot& flow : out.snapshot.flows) {
    EXPECT_EQ(rail_of(flow.source), rail_of(flow.destination));
    EXPECT_GT(flow.received_bytes, 0u);
  }
}

class PxnOf : public testing::TestWithParam<const char*> {};

TEST_P(PxnOf, EndsWithTheSameBytesForAnyNumberOfWorkersAlsoWhereRailsAreApart) {
  std::set<std::string> reports;
  for (const uint32_t workers : {1u, 2u, 3u}) {
    const Outcome out = run_text(
        rails(fmt::format("  - {{name: g, {}, pxn: true, reduce_rate: 800Gbps, post_cost: 1us}}\n", GetParam()),
              "rail-only"),
        {.workers = workers});
    EXPECT_EQ(out.report["collectives"]["g"]["ranks_done"], 16);
    EXPECT_EQ(number(out.report["collectives"]["g"], "messages_unclaimed"), 0u);
    reports.insert(without_engine(out.report));
  }
  EXPECT_EQ(reports.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Operations, PxnOf,
                         testing::Values("op: all_to_all, size: 300000B, channels: 2, qps: 2",
                                         "op: all_to_all, size: 64KiB, protocol: ll, admission: open",
                                         "op: send_recv, size: 3MiB, scaling: least_outstanding, qps: 3",
                                         "op: all_gather, algorithm: direct, size: 1MiB"));

}  // namespace
}  // namespace softspine::testbeds
