// SPDX-License-Identifier: Apache-2.0
// 200 random storms and 200 fabrics without one, simulated without our code, written as captures, and read back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "analysis/storm/storm_report.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/storm/simulated_capture.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Rng;
using tests::PauseSimulator;
using tests::SimFabric;
using tests::Telling;

constexpr uint32_t kFabrics = 200;

struct Case {
  bool storms = false;
  uint64_t number = 0;
  Telling telling = Telling::kDescribed;
  SimFabric fabric;
  tests::SimTraffic traffic;

  std::string root() const { return fabric.nodes[fabric.links[traffic.storm_link].to].name; }
};

// A link whose receiver may storm: of a host, or, one time in five, of a switch.
uint32_t random_storm_link(const SimFabric& fabric, Rng& rng) {
  const bool host = rng.below(5) != 0;
  for (;;) {
    const auto link = static_cast<uint32_t>(rng.below(fabric.links.size()));
    const auto& [from, to, port] = fabric.links[link];
    if (fabric.nodes[to].is_host == host && !fabric.nodes[from].is_host) return link;
  }
}

Case random_case(bool storms, uint64_t number, Rng& rng) {
  Case out{
      .storms = storms, .number = number, .telling = static_cast<Telling>(number % 3), .fabric = {}, .traffic = {}};
  const bool plain_names = rng.below(2) == 0;
  out.fabric =
      rng.below(2) == 0 ? tests::random_leaf_spine(rng, plain_names) : tests::random_fat_tree(rng, plain_names);
  if (!storms) return out;
  out.traffic.storms = true;
  out.traffic.storm_link = random_storm_link(out.fabric, rng);
  out.traffic.storm_step = static_cast<uint32_t>(PauseSimulator::kSteps / 10 + rng.below(PauseSimulator::kSteps / 2));
  // Some storming NICs refresh late: 380 us, when the timer has run out after 335.
  out.traffic.storm_refresh_steps = rng.below(5) == 0 ? 76 : 20;
  return out;
}

PauseLog log_of(const std::vector<uint8_t>& capture) {
  size_t at = 0;
  CaptureReader reader{[&](std::span<uint8_t> into) {
    const size_t n = std::min(into.size(), capture.size() - at);
    std::memcpy(into.data(), capture.data() + at, n);
    at += n;
    return n;
  }};
  PauseRecorder recorder;
  CapturedFrame frame;
  for (;;) {
    const auto got = reader.next(frame);
    EXPECT_TRUE(got.has_value()) << got.error().message;
    if (!got || !*got) break;
    recorder.take(frame, reader.interfaces());
  }
  recorder.finish(reader.interfaces());
  return assemble_log(recorder);
}

std::string told(const PauseLog& log, const Analysis& analysis) {
  return text_report(
      {.file = "simulated", .tally = {}, .ports = log.ports.size(), .began_unix_seconds = {}, .notes = {}}, log,
      analysis, 30);
}

// What the report says of each link, against what the simulator knows of it.
void expect_paused_times(const PauseSimulator& simulated, const Case& it, const PauseLog& log,
                         const Analysis& analysis) {
  std::map<std::string, int64_t> found;
  for (const LinkPauses& link : analysis.links) found[log.name(link.from)] += link.total.count_ps();
  for (uint32_t link = 0; link < it.fabric.links.size(); ++link) {
    if (it.storms && link == it.traffic.storm_link && it.traffic.storm_refresh_steps > 20) continue;  // lapses
    const std::string& asker = it.fabric.links[SimFabric::back(link)].port;
    EXPECT_EQ(found[asker], simulated.asked_ps()[link]) << "asked by " << asker;
  }
}

struct Judged {
  Case it;
  PauseLog log;
  Analysis analysis;
};

Judged judge(bool storms, uint64_t number) {
  Rng rng{tests::seed() + number, storms ? 1U : 2U};
  Judged out{.it = random_case(storms, number, rng), .log = {}, .analysis = {}};
  PauseSimulator simulated{out.it.fabric, out.it.traffic, rng};
  simulated.run();
  out.log = log_of(tests::capture_of(simulated, out.it.telling));
  out.analysis = analyse(out.log);
  expect_paused_times(simulated, out.it, out.log, out.analysis);
  return out;
}

TEST(StormAnalysis, NamesTheRootOfEachOfManyRandomStorms) {
  uint64_t steps = 0;
  const uint32_t fabrics = tests::to_draw(kFabrics);
  for (uint64_t number = 0; number < fabrics; ++number) {
    SCOPED_TRACE(testing::Message() << "storm " << number);
    const auto [it, log, analysis] = judge(true, number);
    ASSERT_EQ(analysis.storms.size(), 1u) << "root " << it.root() << "\n" << told(log, analysis);
    EXPECT_EQ(log.nodes[analysis.storms[0].root].name, it.root()) << told(log, analysis);
    EXPECT_EQ(verdict_of(analysis), Verdict::kStorm);
    steps += analysis.storms[0].spread.size();
  }
  EXPECT_GT(steps, fabrics * 4) << "the storms hardly spread: this tests little";
}

TEST(StormAnalysis, SaysNoStormOfManyFabricsWithoutOne) {
  size_t with_pauses = 0;
  const uint32_t fabrics = tests::to_draw(kFabrics);
  for (uint64_t number = 0; number < fabrics; ++number) {
    SCOPED_TRACE(testing::Message() << "no storm " << number);
    const auto [it, log, analysis] = judge(false, number);
    EXPECT_TRUE(analysis.storms.empty() && analysis.deadlocks.empty()) << told(log, analysis);
    with_pauses += analysis.links.empty() ? 0 : 1;
  }
  EXPECT_GT(with_pauses, fabrics * 9 / 10) << "hardly a pause: this tests little";
}

}  // namespace
}  // namespace softspine::analysis::storm
