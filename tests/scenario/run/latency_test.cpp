// SPDX-License-Identifier: Apache-2.0
// Percentiles of latencies where the latencies themselves are known by arithmetic.
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// Two thirds of w's packets cross two cables of 86.4 m and are stored once, one third four cables and three switches.
// A frame of 1,082 bytes (1,098 with RETH) at 100 Gb/s: 88.48 ns (89.76) with all that is around it.
TEST(Latency, PercentilesAreThoseOfThePackets) {
  const Outcome out = run_text(R"(
name: p50
run: {clock: virtual, duration: 1ms, seed: 1}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 86.4m}, fabric_link: {rate: 100Gbps, length: 40m}}
workload:
  - {name: w, pattern: pairs, from: [h1, h3, h2], to: [h2, h4, h6], message: 64KiB, messages: 100, mtu: 1024, rate: 10Gbps}
)");
  const control::Json& w = out.report["flows"]["w"];
  const auto least = w["latency_min_ps"].get<double>();
  EXPECT_NEAR(least, 1'049'687, 1'300) << "2 x 88.48 ns + 2 x 86.4 m / (0.66 c)";
  EXPECT_NEAR(w["latency_p50_ps"].get<double>(), least, least / 256) << "by nearest rank it is the least";
  const auto most = w["latency_max_ps"].get<double>();
  EXPECT_NEAR(w["latency_p99_ps"].get<double>(), most, most / 256) << "a third of the packets take about that long";
  EXPECT_LE(w["latency_p99_ps"].get<double>(), most);
}

}  // namespace
}  // namespace softspine::testbeds
