// SPDX-License-Identifier: Apache-2.0
// The search step by step: in which order it looks, when it looks for wrong observations, what it leaves out, which
// seed it names, and what it finds in too few flows.
#include "analysis/identify/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "analysis/identify/identify_report.hpp"
#include "analysis/identify/renaming.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/identify/switch_under_test.hpp"

namespace softspine::tests {
namespace {

using analysis::Flow;
using analysis::IdentifyVerdict;
using analysis::Sample;
using dataplane::HashAlgorithm;
using dataplane::HashField;
using dataplane::Rng;
using Words = std::vector<std::string>;

// TCP from one of so many sources, to one port.
std::vector<Flow> tcp_flows(Rng& rng, size_t count, uint32_t sources) {
  std::vector<Flow> out;
  while (out.size() < count) {
    Flow flow{.protocol = dataplane::ip::kTcp, .destination_port = 80};
    flow.source = {10, 0, 0, static_cast<uint8_t>(rng.below(sources))};
    flow.destination = {10, 1, static_cast<uint8_t>(rng.below(256)), static_cast<uint8_t>(rng.below(256))};
    flow.source_port = static_cast<uint16_t>(rng.below(65'536));
    out.push_back(flow);
  }
  return out;
}

SwitchUnderTest switch_with(const dataplane::HashConfig& hash, uint32_t members) {
  SwitchUnderTest out{.hash = hash, .order = std::vector<uint32_t>(members)};
  std::iota(out.order.begin(), out.order.end(), 0U);
  return out;
}

// What the search says that it does, each once, until it is ended by `last`.
Words steps_of(const Sample& sample, analysis::SearchOptions options, const std::string& last = "") {
  Words out;
  options.goes_on = [&](const char* what, double share) {
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
    if (out.empty() || out.back() != what) out.push_back(what);
    return what != last;
  };
  const auto found = search(sample, options);
  EXPECT_EQ(found.is_ended, !out.empty() && out.back() == last);
  return out;
}

// A linear hash of the source port alone: no usual set without the other fields, which vary, does the same.
TEST(SearchSteps, OfManyFlowsDoubtTheFlowsBeforeTheFields) {
  Rng rng{seed(), 51};
  const SwitchUnderTest it = switch_with({.fields = {HashField::kL4SrcPort}, .offset = 3}, 8);
  const auto steps_with = [&](size_t flows) {
    return steps_of(sample_of(observed(it, tcp_flows(rng, flows, 4), rng), 8), {}, "wrong observations");
  };
  const auto without_seeds = [](Words words) {
    std::erase(words, "seeds");
    words.erase(std::ranges::unique(words).begin(), words.end());
    return words;
  };
  EXPECT_EQ(without_seeds(steps_with(127)), (Words{"likely fields", "usual fields"}));
  EXPECT_EQ(without_seeds(steps_with(128)), (Words{"likely fields", "wrong observations"}));
}

// Three pairs differ in the VLAN, the port in and the opcode alone, and no set has three unusual fields: nothing
// explains all flows, which is known at once.
std::vector<Flow> inexplicable(Rng& rng, size_t count) {
  std::vector<Flow> out = analysis::first_probes(count - 3, {}, rng.next());
  const Flow first = *std::ranges::find_if(out, &Flow::is_roce);
  out.insert(out.end(), 3, first);
  out[count - 3].vlan = 7;
  out[count - 2].in_port = 8;
  out[count - 1].opcode ^= 1;
  return out;
}

Sample inexplicable_sample(Rng& rng, uint32_t count) {
  analysis::Observations seen{.links = {"a", "b", "c", "d"}, .flows = {}};
  const std::vector<Flow> flows = inexplicable(rng, count);
  for (uint32_t i = 0; i < flows.size(); ++i) seen.flows.push_back({flows[i], i % 4});
  const auto first = std::ranges::find_if(seen.flows, &Flow::is_roce, &analysis::Observation::flow);
  for (uint32_t i = 0; i < 3; ++i) seen.flows[count - 1 - i].link = (first->link + 1) % 4;
  return analysis::sample_of(seen, 4);
}

TEST(SearchSteps, DoubtThirtyTwoFlowsButNoFewer) {
  Rng rng{seed(), 52};
  EXPECT_EQ(steps_of(inexplicable_sample(rng, 31), {}), Words{});
  EXPECT_EQ(steps_of(inexplicable_sample(rng, 32), {}, "wrong observations"), Words{"wrong observations"});
}

// Four rounds of few flows, twelve of many, of which three are waited for: told as shares of the step.
TEST(SearchSteps, DoubtFlowsInRounds) {
  Rng rng{seed(), 53};
  const auto shares_of = [&rng](uint32_t flows, size_t most) {
    std::vector<double> shares;
    const auto goes_on = [&](const char*, double share) {
      if (!shares.empty() && share < shares.back()) return false;  // the next step
      if (shares.empty() || share > shares.back()) shares.push_back(share);
      return shares.size() < most;
    };
    search(inexplicable_sample(rng, flows), {.goes_on = goes_on});
    return shares;
  };
  EXPECT_EQ(shares_of(127, 5), (std::vector<double>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(shares_of(128, 3), (std::vector<double>{0, 1.0 / 12, 2.0 / 12}));
}

// All 2^32 seeds are tried on demand alone, of hashes that are not linear.
TEST(SearchSteps, TryAllSeedsOnDemand) {
  Rng rng{seed(), 54};
  const auto observations =
      observed(switch_with({}, 8), analysis::first_probes(48, {}, 1), rng, 100);  // links that were drawn
  const Sample sample = sample_of(observations, 8);
  EXPECT_EQ(steps_of(sample, {.is_linear_for_sure = true}, "seeds"),
            (Words{"likely fields", "usual fields", "further fields"}));
  EXPECT_EQ(steps_of(sample, {.all_seeds = true, .is_linear_for_sure = true}, "seeds"),
            (Words{"likely fields", "usual fields", "further fields", "seeds"}));
}

// Of each linear family one hash for each offset, and where a seed does more than rename members, for each constant:
// all but the highest bit, which stands for the complement, and the bits that only rename. Of 12 members fields that
// are further are not looked at. Each sum begins with 1.
TEST(SearchSteps, CountTheHashesThatTheyTry) {
  Rng rng{seed(), 50};
  const auto seen = observed(switch_with({}, 8), analysis::first_probes(48, {}, 1), rng, 100);
  for (const auto& [members, renaming] : {std::pair{8U, 0U}, std::pair{12U, 2U}}) {
    const Sample sample = sample_of(seen, members);
    const auto proven = proven_parts(sample, false);
    double tried = 1;
    for (const analysis::FieldTier tier : analysis::kFieldTiers) {
      if (tier == analysis::FieldTier::kFurther && members == 12) continue;
      auto sets = field_sets(tier, proven, false);
      if (sets.size() > 500) sets.resize(500);
      for (const analysis::Family& family : families_of(sample, sets, proven)) {
        const double constants = members == 8 ? 1 : std::exp2(family.width - 1 - renaming);
        tried += 1 + (family.is_linear ? family.width * constants : 0);
      }
    }
    const auto found = search(sample, {.is_linear_for_sure = true});
    EXPECT_TRUE(found.found.empty());
    EXPECT_NEAR(found.tried, std::log2(tried), 1e-9) << members;
  }
}

bool all_are_likely(const analysis::SearchResult& found) {
  const auto likely = analysis::field_sets(analysis::FieldTier::kLikely, {}, false);
  return std::ranges::all_of(found.found, [&](const analysis::Hypothesis& it) {
    return std::ranges::any_of(likely, [&](const auto& set) {
      return std::set(set.begin(), set.end()) == std::set(it.config.fields.begin(), it.config.fields.end());
    });
  });
}

// Protocol and destination port are always the same: a hash without either fits as well. From few sources more fits,
// and is looked for; else what is likely is enough.
TEST(Search, LooksFurtherThanTheLikelyFieldsWhereLittleVaries) {
  Rng rng{seed(), 55};
  const SwitchUnderTest it = switch_with({.algorithm = HashAlgorithm::kCrc32Hi, .seed = 9, .offset = 3}, 8);
  for (const uint32_t sources : {7U, 200U}) {
    const auto found = search(sample_of(observed(it, tcp_flows(rng, 100, sources), rng), 8), {});
    ASSERT_GE(found.found.size(), 2u);
    EXPECT_EQ(all_are_likely(found), sources == 200) << sources;
    for (const analysis::Hypothesis& one : found.found) EXPECT_EQ(one.fit.agreeing, 100u);
    // The most usual first; that members stand in the order of the links counts for more than a seed and an offset.
    const auto place_of = [&](const analysis::Hypothesis& one) {
      uint32_t disorder = 0;
      for (uint32_t bucket = 0; bucket < 8; ++bucket) disorder |= one.fit.of_bucket[bucket] == bucket ? 0 : 3;
      return analysis::rarity(one.config) + disorder;
    };
    EXPECT_TRUE(std::ranges::is_sorted(found.found, {}, place_of));
  }
}

// XOR is blind to where constant fields stand: with the VLAN and any of them more than 512 hashes fit, all alike.
TEST(Search, KeepsFiveHundredAndTwelveAndIsNotSureThen) {
  Rng rng{seed(), 56};
  dataplane::HashConfig hash{.algorithm = HashAlgorithm::kXor};
  hash.fields.push_back(HashField::kVlanId);
  const SwitchUnderTest it = switch_with(hash, 8);
  std::vector<Flow> flows = tcp_flows(rng, 100, 200);
  for (size_t i = 0; i < flows.size(); ++i) {
    if (i % 2 == 1) flows[i] = flows[i - 1];
    flows[i].vlan = static_cast<uint16_t>(rng.below(4'000));
  }
  const auto observations = observed(it, flows, rng);
  const auto found = identify(observations, 8, {});
  EXPECT_TRUE(found.is_cut);
  ASSERT_EQ(found.classes.size(), 1u);
  EXPECT_EQ(found.classes[0].hypotheses.size(), analysis::SearchResult::kMax);
  EXPECT_LT(found.chance, analysis::kNoChance);
  EXPECT_EQ(found.verdict, IdentifyVerdict::kIndistinguishable) << "there may be others";
}

TEST(SearchResult, HasRoomForFiveHundredAndTwelve) {
  const auto with = [](size_t count) {
    analysis::SearchResult out;
    out.found.resize(count);
    for (size_t i = 0; i < count; ++i) out.found[i].fit.agreeing = static_cast<uint32_t>(i);
    return out;
  };
  for (const auto& [first, second] : {std::pair{300u, 212u}, std::pair{300u, 213u}, std::pair{512u, 0u},
                                      std::pair{512u, 1u}, std::pair{0u, 700u}, std::pair{0u, 0u}}) {
    analysis::SearchResult all = with(first);
    all.add(with(second));
    EXPECT_EQ(all.found.size(), std::min(first + second, 512u));
    EXPECT_EQ(all.is_cut, first + second > 512) << first << " and " << second;
    if (all.found.size() > first) {
      EXPECT_EQ(all.found.back().fit.agreeing, all.found.size() - first - 1);
    }
    analysis::SearchResult cut = with(1);
    cut.is_cut = true;
    analysis::SearchResult whole = with(1);
    whole.add(cut);
    EXPECT_TRUE(whole.is_cut) << "what was left out before";
  }
}

// CRC-32C is among the first families that are tried. What is found before an end may not be all that fits.
TEST(Search, ThatWasEndedIsNotSure) {
  Rng rng{seed(), 60};
  const auto observations = observed(switch_with({.seed = 7}, 8), analysis::first_probes(64, {}, 1), rng);
  EXPECT_EQ(identify(observations, 8, {}).verdict, IdentifyVerdict::kIdentified);
  size_t would_be_sure = 0;
  for (const int calls : {1, 5, 20, 60}) {
    int asked = 0;
    const auto found = identify(observations, 8, {.goes_on = [&](const char*, double) { return ++asked < calls; }});
    EXPECT_TRUE(found.is_ended);
    EXPECT_EQ(asked, calls) << "nobody is asked again";
    EXPECT_NE(found.verdict, IdentifyVerdict::kIdentified);
    would_be_sure += found.classes.size() == 1 && found.chance < analysis::kNoChance ? 1 : 0;
  }
  EXPECT_GT(would_be_sure, 0u);
}

// Of 2^k members a seed only renames: whatever the order is that links have, one of 2^k seeds puts them into it.
TEST(Seeds, PutMembersIntoTheOrderOfTheLinks) {
  const dataplane::HashConfig config{.algorithm = HashAlgorithm::kCrcCcitt};
  std::vector<analysis::FlowFrame> frames;
  Sample sample{.link_count = 8, .members = 8};
  for (const Flow& flow : analysis::first_probes(64, {}, 1)) {
    sample.flows.push_back(flow);
    sample.frames.emplace_back(flow);
  }
  const auto buckets = buckets_of(config, sample.frames, 8);
  const analysis::SeedEffects effects{config, sample.frames.front()};
  const analysis::ConstantSearch constants{16, 8};
  const auto seed_with = [&] { return seed_of(effects, {.width = 16}, constants, sample, fit_of(sample, buckets)); };
  for (uint32_t flips = 0; flips < 8; ++flips) {
    sample.links.clear();
    for (const uint32_t bucket : buckets) sample.links.push_back(bucket ^ flips);
    const auto seed = seed_with();
    ASSERT_TRUE(seed);
    dataplane::HashConfig seeded = config;
    seeded.seed = *seed;
    EXPECT_EQ(buckets_of(seeded, sample.frames, 8), sample.links) << flips;
  }
  // No seed adds one to each number.
  for (size_t i = 0; i < buckets.size(); ++i) sample.links[i] = (buckets[i] + 1) % 8;
  EXPECT_EQ(seed_with(), 0u) << "the smallest, since all do as well";
}

// Twelve members in an order that no seed makes: of all seeds by which flows share links as they do, the smallest.
TEST(Seeds, AreTheSmallestThatShareLinksAlike) {
  Rng rng{seed(), 57};
  SwitchUnderTest it = switch_with({.algorithm = HashAlgorithm::kCrcCcitt, .seed = 43'210, .offset = 2}, 12);
  std::swap(it.order[0], it.order[5]);
  std::swap(it.order[3], it.order[10]);
  const Sample sample = sample_of(observed(it, analysis::first_probes(64, {}, 1), rng), 12);
  const auto explains_with = [&](uint32_t seed) {
    dataplane::HashConfig tried = it.hash;
    tried.seed = seed;
    return explains_all(sample, buckets_of(tried, sample.frames, 12));
  };
  uint32_t smallest = 0;
  while (!explains_with(smallest)) ++smallest;
  EXPECT_LT(smallest, 43'210u) << "the complement and the lowest two bits only rename";
  const auto found = search(sample, {});
  const auto same = std::ranges::find_if(found.found, [&](const analysis::Hypothesis& one) {
    return one.config.algorithm == it.hash.algorithm && one.config.offset == 2 && !one.config.symmetric &&
           one.config.model == it.hash.model &&
           std::set(one.config.fields.begin(), one.config.fields.end()) ==
               std::set(it.hash.fields.begin(), it.hash.fields.end());
  });
  ASSERT_NE(same, found.found.end());
  EXPECT_EQ(same->config.seed, smallest);
}

// 0 to 65,535, each bit above by itself, and twelve that people write down.
TEST(Seeds, ThatAreLikelyAreSmallOrKnown) {
  const auto seeds = analysis::likely_seeds();
  const std::set<uint32_t> all(seeds.begin(), seeds.end());
  EXPECT_EQ(all.size(), seeds.size()) << "none twice";
  EXPECT_EQ(seeds.size(), 65'536u + 16 + 12);
  for (uint32_t seed = 0; seed < 65'536; ++seed) EXPECT_EQ(seeds[seed], seed);
  for (uint32_t bit = 16; bit < 32; ++bit) EXPECT_TRUE(all.contains(1U << bit));
  for (const uint32_t known : {0xdeadbeefU, 0xffffffffU, 0x12345678U, 0xcafebabeU}) EXPECT_TRUE(all.contains(known));
}

// Chance: 4! names of four members times 4^-8 is once in 2,731, and there are more CRCs than that. So one fits.
TEST(Crcs, AreNotFoundInTooFewFlows) {
  Rng rng{seed(), 58};
  const auto drawn = [&](size_t flows) {
    analysis::Observations out{.links = {"a", "b", "c", "d"}, .flows = {}};
    for (const Flow& flow : tcp_flows(rng, flows, 200))
      out.flows.push_back({flow, static_cast<uint32_t>(rng.below(4))});
    return analysis::sample_of(out, 4);
  };
  for (const size_t flows : {1u, 8u}) EXPECT_FALSE(analysis::find_crc(drawn(flows))) << flows;
}

// Two sums choose among four members, and among four of eight; a group of twelve has no such sums.
TEST(LinearHashes, AreOfGroupsOfAPowerOfTwo) {
  Rng rng{seed(), 59};
  analysis::Observations seen{.links = {"a", "b", "c", "d"}, .flows = {}};
  for (const Flow& flow : tcp_flows(rng, 200, 200))
    seen.flows.push_back({flow, (flow.source_port ^ flow.destination[3]) & 3U});
  for (const uint32_t members : {4U, 8U}) {
    const auto found = solve_linear(analysis::sample_of(seen, members));
    ASSERT_TRUE(found) << members;
    EXPECT_EQ(found->sums.size(), 2u);
    EXPECT_EQ(found->agreeing, 200u);
  }
  EXPECT_FALSE(solve_linear(analysis::sample_of(seen, 2))) << "one sum cannot tell four links";
  EXPECT_FALSE(solve_linear(analysis::sample_of(seen, 12)));
  for (analysis::Observation& it : seen.flows) it.link = 0;
  EXPECT_FALSE(solve_linear(analysis::sample_of(seen, 4))) << "one link tells nothing";
}

}  // namespace
}  // namespace softspine::tests
