// SPDX-License-Identifier: Apache-2.0
// The testbeds that we ship, those of the virtual clock: each is as it expects itself to be.
#include <map>

#include "control/expect/judge.hpp"
#include "dataplane/edge/pcap_reader.hpp"
#include "testbeds/run/workload_flows.hpp"
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

void expect_as_it_says(const control::Testbed& testbed, const Outcome& out) {
  ASSERT_FALSE(testbed.expectations.empty());
  control::Json report = out.report;
  if (expects_polarization(testbed)) report[kPolarizationSection] = polarization_section(testbed);
  for (const control::Verdict& verdict : control::judge(testbed.expectations, report)) {
    EXPECT_TRUE(verdict.held) << verdict.text;
  }
}

class Shipped : public testing::TestWithParam<const char*> {};

TEST_P(Shipped, IsAsItExpectsItselfToBe) {
  const control::Testbed testbed = shipped(GetParam());
  expect_as_it_says(testbed, run_whole(testbed));
}

INSTANTIATE_TEST_SUITE_P(
    Testbeds, Shipped,
    testing::Values("two-tier", "ring-allreduce", "straggler", "rail-allreduce", "moe-alltoall", "pxn-alltoall",
                    "disjoint-paths", "training-step", "msccl-plan", "chakra-trace", "goal-trace", "admission-open",
                    "admission-receiver", "polarized", "cured-offset", "cured-seed-only", "e-ecmp", "link-flap",
                    "pinned-fragmented", "pinned-doubled", "resilient", "flowlet", "spray", "alpha", "wred-before-pfc",
                    "arp-mac-deadlock", "arp-mac-mended", "watchdog-flapping", "pauses-despite-watchdog",
                    "trident3-speed-mismatch", "nic-watchdog", "fat-tree", "clos-3-stage", "ai-zone-atsw",
                    "hpn-segment", "hpn-pod-core", "rail-only", "frontend-backend", "min-cut", "websearch",
                    "hpcc-incast", "dctcp-convergence", "swift-incast", "traffic-engineering", "pinned-failure", "lag",
                    "search-space-4096", "search-space-2048", "loss-sharing", "asked/pfcwd-xon", "asked/pfcwd-choppy",
                    "asked/lag-affinity", "asked/one-source-port", "asked/three-jobs", "asked/marks-without-dcqcn",
                    "asked/two-classes"));

TEST(ShippedTestbeds, IdleFabricIsAsExpectedAndRunsOnlyTheNodesInUse) {
  const control::Testbed testbed = shipped("idle-fabric");
  const Outcome out = run_whole(testbed);
  expect_as_it_says(testbed, out);
  // Two hosts, three switches: however many others there are, at most five nodes run in a window.
  EXPECT_LE(out.snapshot.engine.node_runs, 5 * out.snapshot.engine.windows);
  EXPECT_EQ(out.snapshot.switches.size(), 300U);
}

// What comes out is what went in, three hops later: TTL and checksum are the routers', the rest is the sender's.
TEST(ShippedTestbeds, ReplayBringsTheCaptureThroughTheFabric) {
  const control::Testbed testbed = shipped("replay");
  const auto folder = tests::source_root() / "testbeds/replay";
  const Outcome out = run_whole(testbed, false, std::filesystem::path(testing::TempDir()) / "softspine-replay");
  expect_as_it_says(testbed, out);
  auto sent = dataplane::PcapReader::open(folder / "in.pcap");
  auto received = dataplane::PcapReader::open(folder / "out.pcap");
  ASSERT_TRUE(sent && received);
  // Frames of different spines may overtake each other by less than a frame: compared by queue pair and PSN.
  std::map<std::string, std::string> by_key;
  dataplane::RecordedFrame frame;
  constexpr size_t kUdp = 34;
  constexpr size_t kBth = 42;
  const auto key_of = [&] { return std::string(reinterpret_cast<const char*>(frame.bytes) + kBth + 5, 7); };
  const auto rest_of = [&] {
    return std::string(reinterpret_cast<const char*>(frame.bytes) + kUdp, frame.captured - kUdp);
  };
  while (sent->next(frame)) by_key[key_of()] = rest_of();
  size_t count = 0;
  while (received->next(frame)) {
    ++count;
    EXPECT_EQ(by_key[key_of()], rest_of());
    EXPECT_EQ(frame.bytes[22], 64 - 3) << "three routers";
  }
  EXPECT_EQ(count, 256U);
  std::filesystem::remove(folder / "out.pcap");
}

}  // namespace
}  // namespace softspine::testbeds
