// SPDX-License-Identifier: Apache-2.0
// Testbeds of the whole format: every key of every table in some of them. Each is run in ways that must not differ
// (run_variants.hpp), and counted again from its capture (recount.hpp).
//
// Testbed i is drawn from the seed SOFTSPINE_SEED + i. SOFTSPINE_TESTBEDS says how many; one alone:
//   SOFTSPINE_SEED=… SOFTSPINE_TESTBEDS=1 build/tests/scenario/scenario_random --gtest_filter='DrawnTestbeds.Run*'
// With SOFTSPINE_KEEP=FOLDER, a testbed that fails is left there as a file.
// Seeds 1 to 1,000 were run on 2026-11-27: none differed, and no number was another one than its capture has.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>

#include "control/load/load.hpp"
#include "control/telemetry/steps_snapshot.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/random/captured_frames.hpp"
#include "tests/scenario/random/drawn_files.hpp"
#include "tests/scenario/random/drawn_testbed.hpp"
#include "tests/scenario/random/recount.hpp"
#include "tests/scenario/random/recount_ways.hpp"
#include "tests/scenario/random/run_variants.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::Duration;
using tests::DrawnTestbed;
using tests::SchemaKey;

constexpr uint32_t kDrawnInCi = 32;
constexpr uint32_t kTries = 40;  // testbeds in which a key may be refused before it counts as never drawn

// A check that does not hold ends the program: this says which testbed it was.
std::array<char, 200> last_words{};
void say_last_words(int) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, last_words.data(), std::strlen(last_words.data()));
}

class NamesTheTestbed {
 public:
  explicit NamesTheTestbed(const std::string& what) {
    last_words.fill(0);
    what.copy(last_words.data(), last_words.size() - 1);
    before_ = std::signal(SIGABRT, say_last_words);
  }
  ~NamesTheTestbed() { std::signal(SIGABRT, before_); }
  NamesTheTestbed(const NamesTheTestbed&) = delete;
  NamesTheTestbed& operator=(const NamesTheTestbed&) = delete;

 private:
  void (*before_)(int) = nullptr;
};

std::string how_to_repeat(uint64_t seed) {
  return fmt::format("again: SOFTSPINE_SEED={} SOFTSPINE_TESTBEDS=1 … --gtest_filter='DrawnTestbeds.Run*'\n", seed);
}

void keep(uint64_t seed, const std::string& text) {
  const char* folder = std::getenv("SOFTSPINE_KEEP");
  if (folder != nullptr) std::ofstream(fmt::format("{}/drawn-{}.yaml", folder, seed)) << text;
}

// An interval that divides nothing that happens in the fabric.
Duration odd_interval(uint64_t seed) {
  return Duration::ps(static_cast<int64_t>(700'001 + seed * 7919 % 9'000'000));
}

// Which one of the differences between two variants makes their outcomes differ.
std::string one_that_matters(const std::string& text, const Variant& all, const VariantOutcome& plain) {
  std::string out;
  const auto attempt = [&](Variant one) {
    const VariantOutcome outcome = run_variant(text, one);
    if (!difference(outcome, plain).empty()) out += " [" + one.text() + "]";
  };
  attempt({.workers = all.workers});
  if (all.records_steps) attempt({.records_steps = true});
  if (all.flat) attempt({.flat = true});
  if (all.samples) attempt({.samples = all.samples});
  if (all.captures) attempt({.captures = true, .watched = all.watched});
  if (all.logs_events) attempt({.logs_events = true});
  if (all.records) attempt({.records = true});
  if (all.writes_ns3) attempt({.writes_ns3 = true});
  if (all.traces) attempt({.traces = true});
  if (all.poisons) attempt({.poisons = true});
  return out;
}

struct Tally {
  uint64_t ran = 0;
  uint64_t refused = 0;
  uint64_t goals = 0;
  uint64_t goals_refused = 0;
  std::map<std::string, uint64_t> compared;
};

// Every frame that a switch's port counted as received is in the capture of what is received.
uint64_t count_received(const VariantOutcome& outcome) {
  const tests::Captured captured = tests::read_capture(outcome.received);
  std::map<std::string, uint64_t> frames;
  for (const tests::CapturedFrame& frame : captured.frames) ++frames[captured.interfaces[frame.interface]];
  for (const auto& node : outcome.snapshot.switches) {
    for (const auto& port : node.ports) {
      const std::string name = node.name + ":" + port.name;
      EXPECT_EQ(frames[name], port.counters.rx_packets) << "received at " << name;
      frames.erase(name);
    }
  }
  EXPECT_TRUE(frames.empty()) << "received at " << frames.begin()->first << ", which is no switch's port";
  return captured.frames.size();
}

void try_one(uint64_t seed, const DrawnTestbed& drawn, Tally& tally) {
  const VariantOutcome first =
      run_variant(drawn.text, {.captures = !drawn.floods, .logs_events = true, .writes_ns3 = true});
  tally.goals += drawn.goals.size();
  tally.goals_refused += drawn.refused.size();
  if (!first.refused.empty()) {
    ++tally.refused;
    return;
  }
  ++tally.ran;
  for (const auto& each : first.snapshot.switches) tally.compared["floods"] += each.unknown_mac_floods;
  for (const auto& each : first.snapshot.flows) tally.compared["copies under way"] += each.copies;
  const Duration odd = odd_interval(seed);
  VariantOutcome with_steps;
  RecordedTables recording;
  for (const Variant& variant : {Variant{.workers = 2,
                                         .captures = !drawn.floods,
                                         .watched = Watched::kReceived,
                                         .logs_events = true,
                                         .samples = odd,
                                         .records_steps = true,
                                         .writes_ns3 = true,
                                         .traces = true},
                                 Variant{.workers = 3,
                                         .flat = true,
                                         .captures = !drawn.floods,
                                         .records = true,
                                         .records_steps = true,
                                         .writes_ns3 = true,
                                         .traces = true},
                                 Variant{.captures = !drawn.floods, .watched = Watched::kSent, .poisons = true}}) {
    const VariantOutcome other = run_variant(drawn.text, variant);
    if (!other.recording.empty()) recording = other.recording;
    if (!other.received.empty()) tally.compared["frames received"] += count_received(other);
    const std::string differs = difference(other, first);
    if (variant.records_steps) {
      for (const auto& job : other.snapshot.steps->jobs) tally.compared["ranks' steps"] += job.ranks.size();
      if (!with_steps.steps.empty()) {
        EXPECT_EQ(difference(other, with_steps), "") << "with steps";
      }
      with_steps = other;
    }
    if (!differs.empty())
      ADD_FAILURE() << variant.text() << ": " << differs << "\nby" << one_that_matters(drawn.text, variant, first);
  }
  if (drawn.floods) return;
  const auto testbed = control::parse_testbed(drawn.text, tests::drawn_testbed_file(), {});
  tests::Recount recount = tests::recount(*testbed, first.snapshot, first.capture, first.pauses);
  tests::recount_ways(tests::CapturedRun{*testbed, first.snapshot, first.capture}, recording, recount);
  for (const std::string& finding : recount.findings) ADD_FAILURE() << finding;
  for (const auto& [what, count] : recount.compared) tally.compared[what] += count;
}

TEST(DrawnTestbeds, HoldEveryKeyOfTheSchemaThatARunCanHave) {
  uint64_t loads = 0;
  std::vector<std::string> never;
  for (const SchemaKey& key : tests::schema().keys()) {
    std::string why = "no try";
    for (uint32_t i = 0; i < kTries && !why.empty(); ++i) {
      const DrawnTestbed drawn = tests::drawn_testbed_with(key, tests::seed() + i);
      loads += drawn.loads;
      why = drawn.refused.empty() ? "" : drawn.refused.front().why;
    }
    if (!why.empty()) never.push_back(fmt::format("{} ({})", key.text(), why));
  }
  std::cout << fmt::format("{} keys, {} loads\n", tests::schema().keys().size(), loads);
  EXPECT_TRUE(never.empty()) << never.size() << " never in a testbed that loads:\n"
                             << fmt::format("{}", fmt::join(never, "\n"));
}

TEST(DrawnTestbeds, RunAlikeInEveryWayAndAsTheirCapturesHaveIt) {
  Tally tally;
  for (uint64_t i = 0, n = tests::to_draw(kDrawnInCi); i < n; ++i) {
    const uint64_t seed = tests::seed() + i;
    const NamesTheTestbed named(how_to_repeat(seed));
    const DrawnTestbed drawn = tests::drawn_testbed(seed);
    try_one(seed, drawn, tally);
    if (!HasFailure()) continue;
    keep(seed, drawn.text);
    FAIL() << how_to_repeat(seed) << drawn.text;
  }
  std::cout << fmt::format("{} testbeds ran, {} were refused; of {} keys {} were refused; compared:", tally.ran,
                           tally.refused, tally.goals, tally.goals_refused);
  for (const auto& [what, count] : tally.compared) std::cout << " " << what << " " << count;
  std::cout << "\n";
}

}  // namespace
}  // namespace softspine::testbeds
