// SPDX-License-Identifier: Apache-2.0
// The parts of the search, each against trying everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/identify/constant_search.hpp"
#include "analysis/identify/fit.hpp"
#include "analysis/identify/identify_report.hpp"
#include "analysis/identify/mixing_search.hpp"
#include "analysis/identify/probes.hpp"
#include "analysis/identify/seeds.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/identify/switch_under_test.hpp"

namespace softspine::tests {
namespace {

using analysis::ConstantSearch;
using dataplane::Rng;

// All constants of 16 bits, tried one by one. Odd parts with lanes of 4, 8 and 16 bits, and with bits that only rename.
TEST(ConstantSearch, FindsAllConstantsThatFulfilTheEquations) {
  Rng rng{seed(), 92};
  for (const uint32_t members : {3U, 7U, 9U, 12U, 40U, 63U, 127U, 129U, 1'000U, 4'095U}) {
    ConstantSearch search{16, members};
    const uint32_t low = (1U << search.renaming_bits()) - 1;
    const auto truth = static_cast<uint32_t>(rng.below(1 << 15)) & ~low;
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    while (pairs.size() < 3) {
      const auto x = static_cast<uint32_t>(rng.below(1 << 16));
      const auto y = static_cast<uint32_t>(rng.below(1 << 16));
      if ((x ^ truth) % members == (y ^ truth) % members) pairs.emplace_back(x, y);
    }
    const auto holds = [&](uint32_t c) {
      return std::ranges::all_of(pairs,
                                 [&](auto pair) { return (pair.first ^ c) % members == (pair.second ^ c) % members; });
    };
    std::set<uint32_t> all;
    for (uint32_t c = 0; c < 1 << 15; ++c) {
      if ((c & low) == 0 && holds(c)) all.insert(c);
    }
    ASSERT_TRUE(all.contains(truth));
    const auto found = search.find(pairs, 1 << 16);
    EXPECT_EQ(std::set(found.begin(), found.end()), all) << members;
    EXPECT_EQ(found.size(), all.size()) << members;
  }
}

TEST(ConstantSearch, FindsOneConstantAmongFourBillion) {
  Rng rng{seed(), 93};
  for (const uint32_t members : {9U, 24U, 37U, 63U}) {
    ConstantSearch search{32, members};
    const auto truth = static_cast<uint32_t>(rng.below(1U << 31)) & ~((1U << search.renaming_bits()) - 1);
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    while (pairs.size() < search.equations()) {
      const auto x = static_cast<uint32_t>(rng.next());
      const auto y = static_cast<uint32_t>(rng.next());
      if ((x ^ truth) % members == (y ^ truth) % members) pairs.emplace_back(x, y);
    }
    const auto found = search.find(pairs, 1 << 16);
    EXPECT_EQ(std::ranges::count(found, truth), 1) << members;
    EXPECT_LT(found.size(), 1'000u) << "2^31 constants, and each equation is fulfilled by one in the odd part";
  }
}

TEST(ConstantSearch, FindsSoManyAtMost) {
  ConstantSearch search{16, 24};
  const std::vector<std::pair<uint32_t, uint32_t>> pairs{{1, 25}, {2, 50}};
  const auto all = search.find(pairs, 1 << 16);
  ASSERT_GT(all.size(), 100u);
  for (const size_t most : {1u, 2u, 99u}) {
    const auto some = search.find(pairs, most);
    EXPECT_EQ(some, (std::vector<uint32_t>{all.begin(), all.begin() + static_cast<ptrdiff_t>(most)}));
  }
}

// Of n = 2^a m members a bits rename. Lanes hold two numbers below m: 4 bits of m up to 7, 8 up to 127, else 16.
TEST(ConstantSearch, TakesAsManyEquationsAsAWordHasLanes) {
  for (const auto& [members, renaming, equations] :
       {std::tuple{3U, 0U, 16U}, std::tuple{7U, 0U, 16U}, std::tuple{56U, 3U, 16U}, std::tuple{9U, 0U, 8U},
        std::tuple{254U, 1U, 8U}, std::tuple{129U, 0U, 4U}, std::tuple{64U, 6U, 16U}}) {
    const ConstantSearch search{32, members};
    EXPECT_EQ(search.renaming_bits(), renaming) << members;
    EXPECT_EQ(search.equations(), equations) << members;
    EXPECT_EQ(search.is_renaming_only(), members == 64);
    EXPECT_EQ(search.has_complement(), members != 64);
  }
}

// A renamed group is the same group: why the lowest bits and the complement need no search.
TEST(ConstantSearch, LeavesOutWhatOnlyRenames) {
  Rng rng{seed(), 94};
  for (const uint32_t members : {12U, 40U, 63U}) {
    const ConstantSearch search{16, members};
    for (const uint32_t change : {(1U << search.renaming_bits()) - 1, 0xffffU}) {
      std::vector<int64_t> renamed(members, -1);
      for (int i = 0; i < 10'000; ++i) {
        const auto x = static_cast<uint32_t>(rng.below(1 << 16));
        int64_t& to = renamed[x % members];
        if (to < 0) to = (x ^ change) % members;
        ASSERT_EQ(to, (x ^ change) % members);
      }
    }
  }
}

TEST(SeedEffects, FindsTheSmallestSeedThatAddsAsMuch) {
  using enum dataplane::HashAlgorithm;
  const analysis::FlowFrame frame{analysis::first_probes(1, {}, 1).front()};
  Rng rng{seed(), 95};
  for (const auto& [model, algorithm] : {std::pair{dataplane::HashModel::kSai, kCrcXor},
                                         {dataplane::HashModel::kRtag7, kCrc},
                                         {dataplane::HashModel::kRtag7, kXor},
                                         {dataplane::HashModel::kSai, kCrc32Hi}}) {
    const dataplane::HashConfig config{.model = model, .algorithm = algorithm};
    const analysis::SeedEffects effects{config, frame};
    const auto raw_with = [&](uint32_t seed) {
      dataplane::HashConfig seeded = config;
      seeded.seed = seed;
      return analysis::buckets_of(seeded, {frame}, 1U << 16).front();
    };
    const uint32_t none = raw_with(0);
    for (int i = 0; i < 50; ++i) {
      const auto seed = static_cast<uint32_t>(rng.next());
      const uint32_t adds = raw_with(seed) ^ none;
      const auto found = effects.seed_for(adds, 0xffff);
      ASSERT_TRUE(found);
      EXPECT_EQ(raw_with(*found) ^ none, adds);
      EXPECT_LE(*found, seed);
    }
    for (const uint32_t seed : {1U, 300U, 4'097U}) {
      const auto least = effects.seed_for(raw_with(seed) ^ none, 0xffff);
      uint32_t first = 0;
      while (raw_with(first) != raw_with(seed)) ++first;
      EXPECT_EQ(least, first);
    }
  }
}

TEST(SeedEffects, RefusesWhatNoSeedAdds) {
  const analysis::FlowFrame frame{analysis::first_probes(1, {}, 1).front()};
  const analysis::SeedEffects effects{
      {.model = dataplane::HashModel::kRtag7, .algorithm = dataplane::HashAlgorithm::kCrcXor1}, frame};
  EXPECT_FALSE(effects.seed_for(2, 0xffff)) << "of the lower byte only the last bit is ever set";
  EXPECT_TRUE(effects.seed_for(2, 0xff01));
}

analysis::Sample sample_with(const std::vector<uint32_t>& links, uint32_t members) {
  analysis::Sample out{.link_count = members, .members = members};
  for (const uint32_t link : links) {
    out.flows.push_back({});
    out.frames.emplace_back(analysis::Flow{});
    out.links.push_back(link);
  }
  return out;
}

// Three pairs of flows that one seed and offset send to one member, and all seeds and offsets by the twins; so many
// seeds that several threads share them, of which the first and the last are compared.
TEST(FindSeeds, FindsAllSeedsAndOffsetsThatDoAndNoOthers) {
  using enum dataplane::HashAlgorithm;
  using Found = std::set<std::pair<uint32_t, uint32_t>>;
  constexpr uint32_t kSeeds = 40'000;
  constexpr uint32_t kCompared = 500;
  const auto is_compared = [](uint32_t seed) { return seed < kCompared || seed >= kSeeds - kCompared; };
  Rng rng{seed(), 98};
  const std::vector<analysis::Flow> flows = analysis::first_probes(64, {}, 1);
  const dataplane::HashConfig jenkins{.algorithm = kJenkinsHi};
  const dataplane::HashConfig xxh3{.algorithm = kXxh3};
  const dataplane::HashConfig linux_router{
      .model = dataplane::HashModel::kLinux, .algorithm = kSiphash, .linux_policy = 1};
  const dataplane::HashConfig open_vswitch{.model = dataplane::HashModel::kOvs, .algorithm = kOvsL4};
  for (const uint32_t members : {3U, 8U, 12U, 60U, 61U}) {
    for (dataplane::HashConfig config : {jenkins, xxh3, linux_router, open_vswitch}) {
      SwitchUnderTest it{.hash = config, .order = std::vector<uint32_t>(members)};
      const uint32_t width = row_of(config.algorithm).bits_in(config.model);
      const uint32_t offsets = row_of(config.algorithm).is_of_hosts() ? 1 : width;
      it.hash.seed = static_cast<uint32_t>(kSeeds - 1 - rng.below(kCompared));
      it.hash.offset = static_cast<uint8_t>(rng.below(offsets));
      std::vector<analysis::FlowPair> pairs;
      for (uint32_t i = 0; i + 1 < flows.size() && pairs.size() < 3; ++i) {
        for (uint32_t j = i + 1; j < flows.size(); ++j) {
          if (it.bucket_of(flows[i]) != it.bucket_of(flows[j])) continue;
          pairs.push_back({i, j});
          break;
        }
      }
      analysis::Family family{.configs = {config}, .width = width, .raw = {}, .keys = {}};
      for (const analysis::Flow& flow : flows)
        dataplane::EcmpHash{config}.build(analysis::FlowFrame{flow}.view(), family.keys.emplace_back());
      Found expected;
      for (uint32_t tried = 0; tried < kSeeds; ++tried) {
        if (!is_compared(tried)) continue;
        for (uint32_t offset = 0; offset < offsets; ++offset) {
          it.hash.seed = tried;
          it.hash.offset = static_cast<uint8_t>(offset);
          const bool is_drawn = config.model == dataplane::HashModel::kLinux && tried == 0;  // by each kernel
          if (!is_drawn && std::ranges::all_of(pairs, [&](const analysis::FlowPair& pair) {
                return it.bucket_of(flows[pair.first]) == it.bucket_of(flows[pair.second]);
              }))
            expected.emplace(tried, offset);
        }
      }
      Found found;
      for (const analysis::FoundSeed& one : find_seeds(family, members, pairs, {}, 0, kSeeds)) {
        if (!is_compared(one.seed)) continue;
        found.emplace(one.seed, one.offset);
        it.hash.seed = one.seed;
        it.hash.offset = one.offset;
        const auto buckets = buckets_of(family, members, one);
        ASSERT_EQ(buckets.size(), flows.size());
        for (size_t i = 0; i < flows.size(); ++i) ASSERT_EQ(buckets[i], it.bucket_of(flows[i]));
      }
      EXPECT_EQ(found, expected) << analysis::hash_yaml(config) << ", " << members << " members";
      EXPECT_FALSE(found.empty());
    }
  }
}

TEST(Fit, NamesMembersOneToOne) {
  const auto sample = sample_with({0, 0, 0, 1, 1, 2, 2, 2}, 4);
  const auto fit = fit_of(sample, std::vector<uint32_t>{3, 3, 0, 0, 0, 1, 1, 0});
  EXPECT_EQ(fit.agreeing, 6u);
  EXPECT_EQ(fit.of_bucket, (std::vector<uint32_t>{1, 2, analysis::kUnknownLink, 0}));
  EXPECT_TRUE(explains_all(sample, std::vector<uint32_t>{3, 3, 3, 0, 0, 1, 1, 1}));
  EXPECT_FALSE(explains_all(sample, std::vector<uint32_t>{3, 3, 3, 0, 0, 3, 3, 3})) << "two links, one member";
  EXPECT_FALSE(explains_all(sample, std::vector<uint32_t>{3, 3, 3, 0, 0, 1, 1, 2})) << "one link, two members";
}

// By counting: the names explain all flows or fewer, and no names more than each bucket's most frequent link does.
TEST(Fit, IsAsGoodAsCountingSays) {
  Rng rng{seed(), 99};
  size_t explained = 0;
  for (int i = 0; i < 2'000; ++i) {
    const auto members = static_cast<uint32_t>(2 + rng.below(4));
    std::vector<uint32_t> links(1 + rng.below(6));
    std::vector<uint32_t> buckets(links.size());
    for (uint32_t& link : links) link = static_cast<uint32_t>(rng.below(members));
    for (uint32_t& bucket : buckets) bucket = static_cast<uint32_t>(rng.below(members));
    const auto sample = sample_with(links, members);
    const auto fit = fit_of(sample, buckets);
    std::map<uint32_t, std::map<uint32_t, uint32_t>> counts;
    uint32_t agreeing = 0;
    for (size_t flow = 0; flow < links.size(); ++flow) {
      ++counts[buckets[flow]][links[flow]];
      agreeing += fit.of_bucket[buckets[flow]] == links[flow] ? 1 : 0;
    }
    uint32_t most = 0;
    for (const auto& [bucket, of_link] : counts)
      most += std::ranges::max_element(of_link, {}, [](const auto& it) { return it.second; })->second;
    EXPECT_EQ(fit.agreeing, agreeing);
    EXPECT_EQ(most_agreeing(sample, buckets), most);
    EXPECT_LE(fit.agreeing, most);
    EXPECT_EQ(explains_all(sample, buckets), agreeing == links.size());
    explained += agreeing == links.size() ? 1 : 0;
    for (uint32_t link = 0; link < members; ++link) EXPECT_LE(std::ranges::count(fit.of_bucket, link), 1);
  }
  EXPECT_GT(explained, 100u);
}

// Of random links: the bound is above how often random buckets explain as much, or nearly nothing does.
TEST(Fit, BoundsWhatChanceExplains) {
  Rng rng{seed(), 96};
  const auto random = [&rng] {
    std::vector<uint32_t> out(12);
    for (uint32_t& it : out) it = static_cast<uint32_t>(rng.below(4));
    return out;
  };
  const auto sample = sample_with(random(), 4);
  std::vector<size_t> at_least(13, 0);
  constexpr size_t kTrials = 20'000;
  for (size_t i = 0; i < kTrials; ++i) {
    const uint32_t agreeing = fit_of(sample, random()).agreeing;
    for (uint32_t k = 0; k <= agreeing; ++k) ++at_least[k];
  }
  for (uint32_t k = 1; k <= 12; ++k) {
    const double share = static_cast<double>(at_least[k]) / kTrials;
    EXPECT_LE(share, std::exp2(chance_of(sample, k, 0)) * 1.5 + 0.002) << k;
  }
  EXPECT_NEAR(chance_of(sample_with({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, 4), 12, 0), 12 * -2 + std::log2(24), 0.1)
      << "4^-12, for each of 4! ways to name the members";
}

TEST(Sample, ProvesThePartsInWhichAloneFlowsDiffer) {
  Rng rng{seed(), 97};
  SwitchUnderTest it{.hash = {}, .order = {0, 1, 2, 3, 4, 5, 6, 7}};
  it.hash.fields = {dataplane::HashField::kSrcIp, dataplane::HashField::kL4SrcPort};
  using enum analysis::FlowPart;
  const std::set<analysis::FlowPart> taken{kSource, kSourcePort};
  const auto clean = sample_of(observed(it, analysis::first_probes(64, {}, 1), rng), 8);
  EXPECT_EQ(proven_parts(clean, false), taken);
  const auto spoilt = sample_of(observed(it, analysis::first_probes(512, {}, 1), rng, 5), 8);
  EXPECT_EQ(proven_parts(spoilt, true), taken);
}

TEST(Observations, OrderLinksByTheNumbersInTheirNames) {
  analysis::ObservationCollector out;
  for (const char* link : {"Ethernet16", "Ethernet8", "Ethernet100", "eth1/10", "eth1/2", "Ethernet08"})
    out.add_link(link);
  EXPECT_EQ(std::move(out).take().links,
            (std::vector<std::string>{"Ethernet08", "Ethernet8", "Ethernet16", "Ethernet100", "eth1/2", "eth1/10"}));
}

TEST(Observations, OrderLinksAsANameBeforeALongerOne) {
  const auto precedes = [](const char* a, const char* b) {
    EXPECT_FALSE(analysis::precedes_naturally(a, b) && analysis::precedes_naturally(b, a)) << a << " " << b;
    return analysis::precedes_naturally(a, b);
  };
  EXPECT_TRUE(precedes("eth", "eth0"));
  EXPECT_TRUE(precedes("eth8", "eth08x")) << "of numbers that are alike the rest decides";
  EXPECT_FALSE(precedes("eth08x", "eth8"));
  EXPECT_TRUE(precedes("eth08", "eth8")) << "else the letters";
  EXPECT_TRUE(precedes("", "a"));
  EXPECT_FALSE(precedes("a", "a"));
  EXPECT_TRUE(precedes("eth0", "eth00a"));
  EXPECT_TRUE(precedes("eth9", "eth0010"));
  EXPECT_FALSE(precedes("ethA", "eth1"));
}

TEST(Observations, CountAFlowWhereItWasSeenMostOften) {
  analysis::ObservationCollector out;
  for (const char* link : {"a", "b", "b"}) out.add({}, link);
  const auto taken = std::move(out).take();
  ASSERT_EQ(taken.flows.size(), 1u);
  EXPECT_EQ(taken.links[taken.flows[0].link], "b");
  EXPECT_EQ(taken.on_several_links, 1u);
}

}  // namespace
}  // namespace softspine::tests
