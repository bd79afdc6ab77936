// SPDX-License-Identifier: Apache-2.0
// The verdict of `identify`: its odds as a sum of three logarithms, and what an early end makes of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "tests/harness/seed.hpp"
#include "tests/model/identify/switch_under_test.hpp"

namespace softspine::tests {
namespace {

using analysis::Identification;
using analysis::IdentifyVerdict;
using analysis::Sample;
using dataplane::Rng;

SwitchUnderTest linear_switch(uint32_t members, uint32_t seed) {
  SwitchUnderTest out{.hash = {.algorithm = dataplane::HashAlgorithm::kCrc, .seed = seed, .offset = 5},
                      .order = std::vector<uint32_t>(members)};
  std::iota(out.order.begin(), out.order.end(), 0U);
  return out;
}

// log2 of the hashes that the likely fields make, of a group of 2^k members: of each linear family an offset a hash,
// since a seed only renames. And the same with one more for each family, as a sum may begin with 1.
std::pair<double, double> linear_hashes_of(const Sample& sample) {
  const auto proven = proven_parts(sample, false);
  double least = 0;
  double most = 1;
  for (const analysis::Family& family :
       families_of(sample, field_sets(analysis::FieldTier::kLikely, proven, sample.is_ipv6), proven)) {
    most += 1;
    if (!family.is_linear) continue;
    least += family.width;
    most += family.width;
  }
  return {std::log2(least), std::log2(most)};
}

// All of n flows agree with probability 4^-n (or as often as two of them share a link), for each of the 4! ways to name
// four members, and for each hash that was tried.
TEST(Odds, CountTheHashesThatWereTriedAndTheWaysToNameTheMembers) {
  Rng rng{seed(), 71};
  for (const size_t flows : {16u, 24u, 40u, 64u}) {
    const SwitchUnderTest it = linear_switch(4, static_cast<uint32_t>(rng.next()));
    const auto observations = observed(it, analysis::first_probes(flows, {}, flows), rng);
    const Sample sample = analysis::sample_of(observations, 4);
    const Identification found = identify(observations, 4, {});
    ASSERT_GE(sample.links_seen(), 3u) << "whose names leave the fourth's";
    std::vector<double> on_link(4, 0);
    for (const uint32_t link : sample.links) ++on_link[link];
    double pairs = 0;
    for (const double n : on_link) pairs += n * (n - 1);
    const auto n = static_cast<double>(sample.size());
    const double shared = std::max(0.25, pairs / (n * (n - 1)));
    const double of_one = std::log2(24) + n * std::log2(shared);
    EXPECT_NEAR(chance_of(sample, static_cast<uint32_t>(n), 0), std::min(0.0, of_one), 1e-9);
    const auto [least, most] = linear_hashes_of(sample);
    EXPECT_GE(least, std::log2(100)) << "too few to tell";
    EXPECT_GE(found.chance, std::min(0.0, of_one + least) - 1e-9) << flows;
    EXPECT_LE(found.chance, of_one + most + 0.1) << flows << ": seven in a hundred hashes more at most";
    const bool may_be_chance = of_one + least >= analysis::kNoChance;
    EXPECT_TRUE(!may_be_chance || found.verdict != IdentifyVerdict::kIdentified) << flows;
    EXPECT_TRUE(flows < 64 || found.verdict == IdentifyVerdict::kIdentified);
  }
}

// Two flows of which `agreeing` are right: P(X ≥ k), X binomial with what two flows share by chance.
TEST(Odds, OfSomeThatAgreeAreThoseOfAsManyOrMore) {
  Sample sample;
  sample.flows.resize(12);
  sample.links = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  sample.link_count = 4;
  sample.members = 8;  // four of which no flow has met
  double tail = 0;
  for (uint32_t k = 12; k > 0; --k) {
    // Chance shares a link once in max(1 / 8, 4 · 3 · 2 / (12 · 11)) = 2 / 11.
    const double ways = std::exp(std::lgamma(13.0) - std::lgamma(k + 1.0) - std::lgamma(13.0 - k));
    tail += ways * std::pow(2.0 / 11, k) * std::pow(9.0 / 11, 12 - k);
    const double expected = std::log2(8.0 * 7 * 6 * 5) + std::log2(tail);
    EXPECT_NEAR(chance_of(sample, k, 0), std::min(0.0, expected), 1e-9) << k;
    EXPECT_NEAR(chance_of(sample, k, 10), std::min(0.0, expected + 10), 1e-9) << "of 1,024 hashes, " << k;
  }
}

TEST(Odds, AddUpWhatWasTriedIn) {
  analysis::SearchResult one;
  one.count_tried(3);
  EXPECT_NEAR(one.tried, std::log2(1 + 8), 1e-12) << "the one that is there to begin with";
  one.count_tried(40);
  EXPECT_NEAR(one.tried, std::log2(std::exp2(40) + 9), 1e-12);
  analysis::SearchResult other;
  other.count_tried(40);
  one.add(other);
  EXPECT_NEAR(one.tried, std::log2(2 * std::exp2(40) + 10), 1e-12);
}

// Whenever the search is ended, what it has found by then may not be all that fits.
TEST(Verdict, OfASearchThatWasEndedIsNeverIdentified) {
  Rng rng{seed(), 72};
  const SwitchUnderTest it = linear_switch(8, 25);
  const auto observations = observed(it, analysis::first_probes(64, {}, 3), rng);
  std::atomic<uint32_t> asked = 0;
  const auto ended_at = [&](uint32_t call) {
    asked = 0;
    return identify(observations, 8, {.goes_on = [&asked, call](const char*, double) { return ++asked < call; }});
  };
  const Identification whole = ended_at(UINT32_MAX);
  ASSERT_EQ(whole.verdict, IdentifyVerdict::kIdentified);
  EXPECT_FALSE(whole.is_ended);
  const uint32_t calls = asked;
  uint32_t would_be_sure = 0;
  for (const uint32_t call : {1u, calls / 2, calls - 1, calls}) {
    const Identification found = ended_at(call);
    EXPECT_TRUE(found.is_ended) << call;
    EXPECT_NE(found.verdict, IdentifyVerdict::kIdentified) << call;
    would_be_sure += found.classes.size() == 1 && found.chance < analysis::kNoChance ? 1 : 0;
  }
  EXPECT_GT(would_be_sure, 0u) << "the end comes behind the find";
}

}  // namespace
}  // namespace softspine::tests
