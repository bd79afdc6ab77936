// SPDX-License-Identifier: Apache-2.0
// What twice the uplinks does for pinned flows (Meta, SIGCOMM 2024): two flows of a slice meet on one of its two
// uplinks half of the time, instead of always.
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// pinned-fragmented's, with these uplinks and queue pairs: the share of packets that are lost.
double lost(const std::string& uplinks, uint32_t first_qp) {
  const std::string numbers = ", mtu: 4096, message: 8MiB, first_qp: " + std::to_string(first_qp);
  const Outcome out = run_text(R"(
name: pinned
run: {duration: 5ms}
fabric: {kind: ai-zone, racks: 3, servers_per_rack: 1, nics_per_server: 8, uplinks: ")" +
                               uplinks +
                               R"(", host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: {hash: {algorithm: XXH3}, groups: {mode: pinned}}}
workload:
  - {name: near, pattern: pairs, from: [z1-h1-nic1..z1-h1-nic4], to: [z1-h2-nic1..z1-h2-nic4])" +
                               numbers +
                               R"(}
  - {name: far, pattern: pairs, from: [z1-h1-nic5..z1-h1-nic8], to: [z1-h3-nic1..z1-h3-nic4])" +
                               numbers + "}\n");
  const double sent = out.report["totals"]["sent_packets"].get<double>();
  return out.report["totals"]["missing_packets"].get<double>() / sent;
}

// 16 draws of four pairs of flows: half of 64 meet, give or take 4 (a standard deviation), where all of them did.
TEST(PinnedSlices, LoseHalfAsMuchWithTwiceTheUplinks) {
  constexpr uint32_t kDraws = 16;
  double doubled = 0;
  for (uint32_t i = 0; i < kDraws; ++i) doubled += lost("1:2", 1'000 + 97 * i) / kDraws;
  const double single = lost("1:1", 1'000);
  EXPECT_GT(single, 0.30);
  EXPECT_NEAR(doubled, single / 2, single * 3 * 4 / 64);
}

}  // namespace
}  // namespace softspine::testbeds
