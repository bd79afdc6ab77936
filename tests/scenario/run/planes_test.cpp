// SPDX-License-Identifier: Apache-2.0
// One plane against two (HPN, SIGCOMM 2024): queues before a NIC's two ports, and rings over two segments.
#include <fmt/format.h>

#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

control::Testbed shipped(const std::string& name) {
  auto testbed = control::load_testbed(tests::source_root() / "testbeds" / (name + ".yaml"));
  if (testbed) return *testbed;
  for (const auto& error : testbed.error()) ADD_FAILURE() << to_string(error);
  return {};
}

// Each shipped testbed about planes and ports is as it says, with the numbers that its comment derives.
class ShippedPlanes : public testing::TestWithParam<const char*> {};

TEST_P(ShippedPlanes, AreAsTheyExpectThemselvesToBe) {
  const control::Testbed testbed = shipped(GetParam());
  ASSERT_FALSE(testbed.expectations.empty());
  const Outcome out = run_whole(testbed);
  for (const control::Verdict& verdict : control::judge(testbed.expectations, out.report)) {
    EXPECT_TRUE(verdict.held) << verdict.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Testbeds, ShippedPlanes,
                         testing::Values("dual-plane", "single-plane", "dual-tor-failure", "single-tor-failure",
                                         "plane-failure"));

// By Little's law the bytes that wait on their way to a host are its rate times the time that its packets wait, which
// is their latency above the least.
double waiting_bytes(const Outcome& out, const std::string& host) {
  const control::Json& found = out.report["hosts"][host];
  const double waited = found["latency_mean_ps"].get<double>() - found["latency_min_ps"].get<double>();
  return found["rate_bps"].get<double>() / 8 * waited * 1e-12;
}

// Figure 13. The paper: ports 3 : 1, and queues 91.8 % shorter with two planes.
TEST(Planes, TwoLeaveNoQueueBeforeANicWhereOneHasThreeToOne) {
  const Outcome one = run_whole(shipped("single-plane"));
  const Outcome two = run_whole(shipped("dual-plane"));
  const auto port = [](const Outcome& out, const char* name) -> const control::Json& {
    return out.report["hosts"]["s2-h1-nic1"]["ports"][name];
  };
  const auto bytes = [&](const Outcome& out, const char* name) {
    return port(out, name)["switch_tx_bytes"].get<uint64_t>();
  };
  EXPECT_EQ(bytes(one, "eth0"), 3 * bytes(one, "eth1"));
  EXPECT_EQ(bytes(two, "eth0"), bytes(two, "eth1"));
  double with_one = 0;
  double with_two = 0;
  for (const char* host : {"s2-h1-nic1", "s2-h2-nic1", "s2-h3-nic1", "s2-h4-nic1"}) {
    with_one += waiting_bytes(one, host);
    with_two += waiting_bytes(two, host);
  }
  EXPECT_LE(with_two, 0.15 * with_one);
  const auto most = [&](const Outcome& out) { return port(out, "eth0")["queue_max_bytes"].get<double>(); };
  EXPECT_LE(most(two), 0.15 * most(one));
}

// One ring for each rail, as NCCL lays them: through a segment, then over to the other one, and back.
std::string rings(uint32_t planes, uint32_t servers) {
  constexpr uint32_t kRails = 8;
  std::string out = fmt::format(
      "name: rings\nrun: {{duration: 100ms, seed: 1}}\nfabric: {{kind: hpn, segments: 2, servers_per_segment: {}, "
      "rails: {}, planes: {}, aggregations_per_plane: {}, host_link: {{rate: 200Gbps, length: 3m}}, fabric_link: "
      "{{rate: 400Gbps, length: 40m}}}}\nprofiles: {{default: {{base: lossless}}}}\nworkload:\n",
      servers / 2, kRails, planes, planes == 1 ? 8 : 4);
  for (uint32_t rail = 1; rail <= kRails; ++rail) {
    std::string hosts;
    for (uint32_t i = 0; i < servers; ++i) {
      const uint32_t half = servers / 2;
      hosts += fmt::format("{}s{}-h{}-nic{}", hosts.empty() ? "" : ", ", i / half + 1, i % half + 1, rail);
    }
    out += fmt::format(
        "  - {{name: rail{}, pattern: ring, hosts: [{}], message: 256KiB, messages: 4, qps: 8, qp_numbers: random, "
        "mtu: 4096, transport: rc, dscp: 3}}\n",
        rail, hosts);
  }
  return out;
}

// A collective is as fast as its slowest step.
double slowest_ps(const Outcome& out) {
  double slowest = 0;
  for (const auto& [name, flows] : out.report["flows"].items()) {
    slowest = std::max(slowest, flows["fct_max_ps"].get<double>());
  }
  EXPECT_EQ(out.report["totals"]["completed"], out.report["totals"]["flows"]);
  return slowest;
}

class Rings : public testing::TestWithParam<uint32_t> {};

// Figure 19: +50.1 % to +63.7 %. In two planes each port sends four of eight queue pairs and receives four; in one
// plane the busiest of 16 links that come from the other segment has six or more.
TEST_P(Rings, OverTwoSegmentsRunFasterInTwoPlanes) {
  const double one = slowest_ps(run_text(rings(1, GetParam())));
  const double two = slowest_ps(run_text(rings(2, GetParam())));
  EXPECT_GE(one / two, 1.4);
  EXPECT_LE(one / two, 2.0) << "all eight by one port";
}

INSTANTIATE_TEST_SUITE_P(Planes, Rings, testing::Values(4, 8, 16, 32));

}  // namespace
}  // namespace softspine::testbeds
