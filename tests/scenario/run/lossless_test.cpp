// SPDX-License-Identifier: Apache-2.0
// The shipped testbeds of the shared buffer and its pauses: each is as it expects itself to be, and what a capture of
// it says about pauses, read by the storm analysis, is what was done to it.
#include <cstring>

#include "analysis/storm/pause_log.hpp"
#include "analysis/storm/pause_recorder.hpp"
#include "analysis/storm/storm_analysis.hpp"
#include "control/expect/judge.hpp"
#include "control/telemetry/totals.hpp"
#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

namespace storm = analysis::storm;

struct Seen {
  Outcome out;
  storm::PauseLog log;
  storm::Analysis analysis;

  std::string root() const { return analysis.storms.empty() ? "" : log.nodes[analysis.storms[0].root].name; }
  bool is_victim(const std::string& name) const {
    return std::ranges::any_of(analysis.storms[0].victims, [&](uint32_t node) { return log.nodes[node].name == name; });
  }
};

storm::PauseLog pauses_in(const std::string& capture) {
  size_t offset = 0;
  storm::CaptureReader reader{[&](std::span<uint8_t> into) {
    const size_t n = std::min(into.size(), capture.size() - offset);
    std::memcpy(into.data(), capture.data() + offset, n);
    offset += n;
    return n;
  }};
  storm::PauseRecorder recorder;
  storm::CapturedFrame frame;
  for (;;) {
    const auto got = reader.next(frame);
    EXPECT_TRUE(got) << got.error().message;
    if (!got || !*got) break;
    recorder.take(frame, reader.interfaces());
  }
  recorder.finish(reader.interfaces());
  return storm::assemble_log(recorder);
}

Seen run_shipped(const std::string& name) {
  const auto testbed = control::load_testbed(tests::source_root() / "testbeds" / (name + ".yaml"));
  if (!testbed) {
    for (const auto& error : testbed.error()) ADD_FAILURE() << to_string(error);
    return {};
  }
  Seen seen{.out = run_whole(*testbed, true), .log = {}, .analysis = {}};
  EXPECT_FALSE(testbed->expectations.empty());
  for (const control::Verdict& verdict : control::judge(testbed->expectations, seen.out.report)) {
    EXPECT_TRUE(verdict.held) << verdict.text;
  }
  seen.log = pauses_in(seen.out.capture);
  seen.analysis = storm::analyse(seen.log);
  return seen;
}

TEST(LosslessTestbeds, IncastPausesItsSendersAndLosesNothingAndIsNoStorm) {
  const Seen seen = run_shipped("incast");
  EXPECT_TRUE(seen.analysis.storms.empty());
  EXPECT_TRUE(seen.analysis.deadlocks.empty());
  ASSERT_FALSE(seen.analysis.origins.empty());
  EXPECT_EQ(seen.log.nodes[seen.analysis.origins[0].node].name, "tor1") << "where the receiver is";
}

TEST(LosslessTestbeds, AStormSpreadsOverTwoTiersAndItsRootIsNamed) {
  const Seen seen = run_shipped("pfc-storm");
  EXPECT_EQ(seen.root(), "h1");
  ASSERT_EQ(seen.analysis.storms.size(), 1U);
  for (const char* victim : {"tor1", "spine1", "tor2", "h12"}) EXPECT_TRUE(seen.is_victim(victim)) << victim;
}

TEST(LosslessTestbeds, TheWatchdogFreesTheVictimsOfAStorm) {
  run_shipped("pfc-storm-watchdog");
}

TEST(LosslessTestbeds, ASlowReceiverIsSentWhatItTakesAndLosesNothing) {
  run_shipped("slow-receiver");
}

TEST(LosslessTestbeds, ARingOfSwitchesDeadlocksAndTheCircleIsNamed) {
  const Seen seen = run_shipped("deadlock");
  ASSERT_EQ(seen.out.snapshot.deadlocks.size(), 1U);
  EXPECT_EQ(seen.out.snapshot.deadlocks[0].circle,
            "s1:Ethernet0 → s2:Ethernet4 → s3:Ethernet4 → s4:Ethernet4 → s5:Ethernet4 → s1, priority 3");
  EXPECT_EQ(seen.analysis.deadlocks.size(), 1U) << "and by its capture alone";
}

TEST(LosslessTestbeds, TheWatchdogOpensTheCircle) {
  run_shipped("deadlock-watchdog");
}

// Two senders that fill every buffer on their ways: the fabric's memory holds what its switches' memory holds.
TEST(LosslessTestbeds, HaveThePacketsThatTheirBuffersHold) {
  const Outcome out = run_text(
      "name: full\n"
      "run: {duration: 14ms}\n"
      "fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 100Gbps}, "
      "fabric_link: {rate: 100Gbps}}\n"
      "roles: {tor: lossless, aggregation: lossless}\n"
      "workload: [{name: w, pattern: incast, from: [h3, h4], to: h1, message: 1GiB, mtu: 4096, dscp: 3}]\n");
  EXPECT_EQ(out.report["totals"]["dropped_packets"], 0);
  uint64_t held = 0;
  for (const auto& node : out.snapshot.switches) held += control::totals_of(node).held_packets;
  EXPECT_GT(held, 16'384u);
}

}  // namespace
}  // namespace softspine::testbeds
