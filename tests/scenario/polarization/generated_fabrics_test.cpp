// SPDX-License-Identifier: Apache-2.0
// Two thousand generated fabrics: what `polarization` says of each, against what was put into it, and against a slow
// reference that knows nothing of its statistics. What the reference is sure of must be found. An alarm that it does
// not share is false, unless it shares it with more flows of the same kind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <future>
#include <numeric>
#include <thread>

#include "analysis/explain/cure_text.hpp"
#include "analysis/explain/cures.hpp"
#include "analysis/explain/polarization_report.hpp"
#include "control/load/load.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/polarization/generated_fabric.hpp"
#include "tests/scenario/polarization/merged_text.hpp"
#include "tests/scenario/polarization/slow_reference.hpp"

namespace softspine::tests {
namespace {

using analysis::CauseKind;
using analysis::Polarization;
using analysis::TierVerdict;
using analysis::Walker;
using control::Testbed;

constexpr uint32_t kFabrics = 2'000;
constexpr uint32_t kThrows = 25;
constexpr uint32_t kMaxToCure = 500;  // flows; of those with more, up to kMaxToCureSometimes, one fabric in kLargeOneIn
constexpr uint32_t kMaxToCureSometimes = 5'000;
constexpr uint32_t kLargeOneIn = 16;

// Of few flows chi-square is skewed: then further throws must agree.
bool is_surely_amiss(const SlowVerdict& slow) {
  const auto is_beyond = [](const Seen& seen, double deviations, double effect) {
    return seen.deviations > deviations && seen.effect > effect && seen.reached == 0;
  };
  return is_beyond(slow.links, 9, 0.02) || is_beyond(slow.given, 12, 0.5) || slow.one_group < 1e-9;
}
// Enough to say so, if somebody else has said it before.
bool is_amiss_too(const SlowVerdict& slow) {
  return slow.links.deviations > 6 || slow.given.deviations > 6 || slow.one_group < 1e-5;
}

uint32_t buckets_of(const Polarization& found, uint32_t tier) {
  return static_cast<uint32_t>(found.choices.groups[found.tiers[tier].groups.front().group].by_bucket.size());
}

// From what was put in: which causes a pair of tiers may have.
std::vector<CauseKind> causes_of_roles(const GeneratedFabric& drawn, const Polarization& found,
                                       const analysis::Polarized& pair) {
  const RoleHash& first = drawn.hashes.at(found.tiers[pair.earlier].tier.role);
  const RoleHash& second = drawn.hashes.at(found.tiers[pair.later].tier.role);
  if (first.algorithm != second.algorithm) return {CauseKind::kSharedBits};
  if (first.offset == second.offset) return {first.seed == second.seed ? CauseKind::kAlike : CauseKind::kSeeds};
  const uint64_t buckets = std::gcd(buckets_of(found, pair.earlier), buckets_of(found, pair.later));
  if (std::gcd(buckets, (uint64_t{1} << first.width) - 1) == 1) return {CauseKind::kSharedBits};
  if (first.seed == second.seed) return {CauseKind::kRotation};
  return {CauseKind::kRotation, CauseKind::kSharedBits};
}
std::vector<CauseKind> expected_causes(const GeneratedFabric& drawn, const Polarization& found,
                                       const analysis::Polarized& pair) {
  std::vector<CauseKind> out = causes_of_roles(drawn, found, pair);
  if (drawn.has_odd_switch) out.push_back(CauseKind::kAlike);
  // Few addresses or few ports are few keys, or regular ones.
  if (drawn.has_few_fields) out.insert(out.end(), {CauseKind::kFewKeys, CauseKind::kKeyPattern});
  return out;
}

struct Tally {
  uint32_t well = 0;
  uint32_t false_alarms = 0;
  uint32_t amiss = 0;
  uint32_t missed = 0;
  uint32_t causes = 0;
  uint32_t wrong_causes = 0;
  uint32_t to_cure = 0;
  uint32_t cured = 0;
  uint32_t not_cured = 0;
  uint32_t no_cure = 0;
  uint32_t no_reason = 0;  // for that
  uint32_t harmless = 0;   // dependences that are said to do no harm
  uint32_t harmful = 0;    // of these

  Tally& operator+=(const Tally& other) {
    well += other.well;
    false_alarms += other.false_alarms;
    amiss += other.amiss;
    missed += other.missed;
    causes += other.causes;
    wrong_causes += other.wrong_causes;
    to_cure += other.to_cure;
    cured += other.cured;
    not_cured += other.not_cured;
    no_cure += other.no_cure;
    no_reason += other.no_reason;
    harmless += other.harmless;
    harmful += other.harmful;
    return *this;
  }
};

class Trial {
 public:
  Trial(uint64_t seed, Tally& tally)
      : seed_(seed),
        tally_(tally),
        drawn_(generated_fabric(seed)),
        testbed_(parsed(drawn_.text)),
        walker_(walker_of(testbed_)),
        flows_(generated_flows(walker_, drawn_, seed)) {}

  void run() {
    const Polarization found = polarization_of(walker_, flows_);
    EXPECT_EQ(found.arrived, flows_.size()) << again();
    const SlowVerdict slow = slow_verdict(walker_, flows_, kThrows);
    count(found, slow);
    check_causes(found);
    check_harm(found, slow);
    if (found.is_unbalanced()) {
      if (is_to_cure()) check_cure(found);
    } else {
      EXPECT_TRUE(find_cures(walker_, flows_, found).empty()) << again();
    }
  }

 private:
  bool is_to_cure() {
    if (flows_.size() <= kMaxToCure) return true;
    return flows_.size() <= kMaxToCureSometimes && seed_ % kLargeOneIn == 0;
  }
  std::string again() const { return fmt::format("drawn from {}:\n{}", seed_, drawn_.text); }
  void tell(const char* what, const Polarization& found, const SlowVerdict& slow) const {
    fmt::print("{}: {} flows, demand {}, slow: links {:.1f} {:.3f}, given {:.1f} {:.3f}\n{}", what, drawn_.flows,
               drawn_.demand, slow.links.deviations, slow.links.effect, slow.given.deviations, slow.given.effect,
               again());
    for (const analysis::TierShare& tier : found.tiers)
      fmt::print("  {} {} more {:.2g} effect {:.4f}\n", tier.tier.name, word_of(tier.verdict), tier.evenness.more,
                 tier.evenness.deviation2);
    for (const analysis::Polarized& pair : found.pairs)
      fmt::print("  {} → {} strength {:.2f} {}\n", pair.earlier, pair.later, pair.strength, pair.cause.text);
  }

  void count(const Polarization& found, const SlowVerdict& slow) {
    if (is_surely_amiss(slow)) {
      ++tally_.amiss;
      const bool is_uneven = is_surely_amiss({.links = slow.links, .given = {}, .one_group = slow.one_group});
      const bool is_told = found.is_unbalanced() || (!is_uneven && found.is(TierVerdict::kDependent));
      tally_.missed += is_told ? 0 : 1;
      if (!is_told) tell("missed", found, slow);
      return;
    }
    ++tally_.well;
    const bool is_false =
        found.is_unbalanced() && !is_amiss_too(slow) && !is_amiss_too(verdict_with_more_flows(walker_));
    tally_.false_alarms += is_false ? 1 : 0;
    if (is_false) tell("false alarm", found, slow);
  }

  // Where a dependence is said to do no harm, more flows of the same kind must do none either.
  void check_harm(const Polarization& found, const SlowVerdict& slow) {
    if (found.is_unbalanced() || !found.is(TierVerdict::kDependent)) return;
    ++tally_.harmless;
    const SlowVerdict more = verdict_with_more_flows(walker_);
    const bool is_wrong = is_surely_amiss({.links = more.links, .given = {}, .one_group = more.one_group});
    tally_.harmful += is_wrong ? 1 : 0;
    if (is_wrong) tell("harm that was denied", found, slow);
  }
  // The slow reference may need more flows of the same kind to be sure.
  SlowVerdict verdict_with_more_flows(Walker& walker) const {
    GeneratedFabric more = drawn_;
    more.flows = 20'000;
    return slow_verdict(walker, generated_flows(walker, more, ~seed_), kThrows);
  }

  void check_causes(const Polarization& found) {
    for (const analysis::Polarized& pair : found.pairs) {
      if (drawn_.difference == Difference::kFewKeys) continue;
      const auto expected = expected_causes(drawn_, found, pair);
      const bool is_right = std::ranges::find(expected, pair.cause.kind) != expected.end();
      ++tally_.causes;
      tally_.wrong_causes += is_right ? 0 : 1;
      if (!is_right) tell("wrong cause", found, {});
    }
    for (const analysis::TierShare& tier : found.tiers) {
      if (!tier.cause || drawn_.difference != Difference::kFewKeys) continue;
      ++tally_.causes;
      tally_.wrong_causes += tier.cause->kind == CauseKind::kFewKeys ? 0 : 1;
      if (tier.cause->kind != CauseKind::kFewKeys) tell("wrong cause", found, {});
    }
  }

  // The first cure's keys are put into the file, and everything is done anew.
  void check_cure(const Polarization& found) {
    const auto cures = find_cures(walker_, flows_, found);
    ++tally_.to_cure;
    if (cures.empty()) {
      // Of tiers that are the same switches, or keys that no function parts, nothing is said but why.
      ++tally_.no_cure;
      const std::string text = cures_text(testbed_, found, cures);
      const bool says_why = text.find("the same switches") != text.npos || text.find("flows of one key") != text.npos;
      tally_.no_reason += says_why ? 0 : 1;
      if (!says_why) tell("no cure", found, {});
      return;
    }
    const std::string text = merged(drawn_.text, yaml_of(testbed_, cures.front().changes));
    const Testbed cured = parsed(text);
    Walker walker = walker_of(cured);
    const Polarization after = polarization_of(walker, flows_);
    const bool looks_amiss = is_surely_amiss(slow_verdict(walker, flows_, kThrows));
    const bool is_well = !after.is_unbalanced() && (!looks_amiss || !is_surely_amiss(verdict_with_more_flows(walker)));
    ++(is_well ? tally_.cured : tally_.not_cured);
    if (!is_well)
      tell(("cure does not cure: " + cures.front().name).c_str(), after, slow_verdict(walker, flows_, kThrows));
  }

  uint64_t seed_;
  Tally& tally_;
  GeneratedFabric drawn_;
  Testbed testbed_;
  Walker walker_;
  std::vector<analysis::FlowProbe> flows_;
};

// On all cores: each takes the next that nobody has.
Tally tried(uint32_t wanted) {
  std::atomic<uint32_t> next = 0;
  std::vector<std::future<Tally>> workers;
  for (uint32_t worker = 0; worker < std::max(std::thread::hardware_concurrency(), 1u); ++worker)
    workers.push_back(std::async(std::launch::async, [&next, wanted] {
      Tally tally;
      for (uint32_t i = next++; i < wanted; i = next++) Trial(seed() * kFabrics + i, tally).run();
      return tally;
    }));
  Tally all;
  for (std::future<Tally>& worker : workers) all += worker.get();
  return all;
}

// So many of `drawn` at least, if each is one with this probability: less four deviations, of which a run in thirty
// thousand has fewer. Of few that is none.
uint32_t least_of(uint32_t drawn, double share) {
  const double mean = drawn * share;
  return static_cast<uint32_t>(std::max(0.0, mean - 4 * std::sqrt(mean * (1 - share))));
}

TEST(GeneratedFabrics, AreJudgedAsTheSlowReferenceDoesAndCuredByTheFirstCure) {
  const uint32_t wanted = to_draw(kFabrics);
  const Tally tally = tried(wanted);
  fmt::print(
      "well {}, of them {} false alarms; amiss {}, of them {} missed; causes {}, of them {} wrong; to cure {}: cured "
      "{}, not {}, without a cure {}, of them {} without a reason; dependent without harm {}, of them {} with\n",
      tally.well, tally.false_alarms, tally.amiss, tally.missed, tally.causes, tally.wrong_causes, tally.to_cure,
      tally.cured, tally.not_cured, tally.no_cure, tally.no_reason, tally.harmless, tally.harmful);
  EXPECT_GE(tally.well, least_of(wanted, 0.25));
  EXPECT_GE(tally.amiss, least_of(wanted, 0.2));
  const uint32_t few = wanted < kFabrics ? 1 : 0;  // of which one is more than a per cent
  EXPECT_LE(tally.false_alarms * 100, tally.well + 100 * few);
  EXPECT_LE(tally.missed * 100, tally.amiss + 100 * few);
  EXPECT_GE(tally.causes, least_of(wanted, 0.2));
  EXPECT_LE(tally.wrong_causes * 100, tally.causes + 100 * few);
  EXPECT_EQ(tally.not_cured, 0u);
  EXPECT_GE(tally.cured, least_of(tally.to_cure, 0.5));
  EXPECT_LE(tally.no_reason * 20, tally.to_cure + 20 * few);
  EXPECT_LE(tally.harmful * 10, tally.harmless + 10 * few) << "of few flows links do not tell yet";
}

}  // namespace
}  // namespace softspine::tests
