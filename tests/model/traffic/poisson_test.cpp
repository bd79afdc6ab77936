// SPDX-License-Identifier: Apache-2.0
// Arrivals at a load: their times, destinations and load against what a Poisson process has.
#include "control/traffic/poisson.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Rate;
using dataplane::Rng;

// As 32.32 bits, from a list of the numbers drawn: how long its first descending run is.
uint64_t slow_exponential(Rng& rng) {
  uint64_t whole = 0;
  for (;;) {
    std::vector<uint64_t> run{rng.next()};
    for (uint64_t next = rng.next(); next < run.back(); next = rng.next()) run.push_back(next);
    if (run.size() % 2 == 1) return (whole << 32) + (run.front() >> 32);
    ++whole;
  }
}

// The same process in another order: each step looks at all sources.
std::vector<ArrivedFlow> slow_poisson(const PoissonTraffic& traffic, Rng rng) {
  const auto gap = [&](size_t host) {
    const long double mean = static_cast<long double>(traffic.sizes.mean()) * 8e12L /
                             (static_cast<long double>(traffic.rates[host].count_bps()) *
                              static_cast<long double>(traffic.load_millionths) / 1e6L);
    return mean * static_cast<long double>(slow_exponential(rng)) / 0x1p32L;
  };
  std::vector<long double> next;
  for (size_t host = 0; host < traffic.rates.size(); ++host) next.push_back(gap(host));
  std::vector<ArrivedFlow> out;
  while (out.size() < traffic.flows) {
    const auto source = static_cast<size_t>(std::ranges::min_element(next) - next.begin());
    std::vector<uint32_t> others;
    for (uint32_t host = 0; host < next.size(); ++host) {
      if (host != source) others.push_back(host);
    }
    const uint32_t to = others[rng.below(others.size())];
    out.push_back({.from = static_cast<uint32_t>(source), .to = to, .bytes = traffic.sizes.draw(rng), .start = {}});
    out.back().start = Duration::ps(static_cast<int64_t>(next[source]));
    next[source] += gap(source);
  }
  return out;
}

PoissonTraffic traffic_of(const SizeDistribution& sizes, size_t hosts, uint64_t flows) {
  return {.sizes = sizes,
          .load_millionths = 300'000,
          .rates = std::vector<Rate>(hosts, Rate::gbps(100)),
          .until = Duration::max(),
          .flows = flows};
}

TEST(Poisson, ExponentialNumbersAreThoseOfTheSlowRuns) {
  Rng fast{5, 1};
  Rng slow{5, 1};
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(draw_exponential(fast), slow_exponential(slow)) << i;
}

// Kolmogorov and Smirnov: of twenty seeds one is above 1.36 / √n, and with 98 % no more than three.
TEST(Poisson, TimesBetweenFlowsAreExponential) {
  constexpr size_t kDraws = 200'000;
  int above = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng{seed, 9};
    std::vector<double> drawn;
    for (size_t i = 0; i < kDraws; ++i) drawn.push_back(static_cast<double>(draw_exponential(rng)) / 0x1p32);
    std::ranges::sort(drawn);
    double distance = 0;
    for (size_t i = 0; i < kDraws; ++i) {
      const double expected = 1 - std::exp(-drawn[i]);
      distance = std::max(distance, std::abs(expected - static_cast<double>(i) / kDraws));
    }
    above += distance > 1.36 / std::sqrt(kDraws) ? 1 : 0;
  }
  EXPECT_LE(above, 3);
}

TEST(Poisson, FlowsAreThoseOfTheSlowProcess) {
  const SizeDistribution sizes = published_as("websearch").value();
  PoissonTraffic traffic = traffic_of(sizes, 16, 20'000);
  traffic.rates[3] = Rate::gbps(400);
  traffic.rates[7] = Rate::gbps(25);
  const auto found = draw_poisson(traffic, Rng{1, 4});
  const auto expected = slow_poisson(traffic, Rng{1, 4});
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::tuple(found[i].from, found[i].to, found[i].bytes),
              std::tuple(expected[i].from, expected[i].to, expected[i].bytes))
        << i;
    // Each gap of a source is rounded down to a picosecond.
    ASSERT_NEAR(static_cast<double>(found[i].start.count_ps()), static_cast<double>(expected[i].start.count_ps()), 1e4);
  }
}

TEST(Poisson, LoadIsWhatWasAskedForWithinThreeStandardErrors) {
  for (const PublishedSizes& each : published_sizes()) {
    const SizeDistribution sizes = published_as(each.word).value();
    const PoissonTraffic traffic = traffic_of(sizes, 32, 100'000);
    const auto flows = draw_poisson(traffic, Rng{8, 5});
    double bytes = 0;
    double squares = 0;
    for (const ArrivedFlow& flow : flows) {
      bytes += static_cast<double>(flow.bytes);
      squares += static_cast<double>(flow.bytes) * static_cast<double>(flow.bytes);
    }
    const auto n = static_cast<double>(flows.size());
    const double mean = bytes / n;
    // Of sizes and, independently, of the time that n flows take.
    const double error = std::sqrt((squares / n - mean * mean) / (mean * mean * n) + 1 / n);
    const double load = bytes * 8 / (flows.back().start.seconds() * 32 * 100e9);
    EXPECT_NEAR(load, 0.3, 0.3 * 3 * error) << each.word;
  }
}

TEST(Poisson, DestinationsAreUniformAmongTheOthers) {
  const SizeDistribution sizes = published_as("hadoop").value();
  std::map<std::pair<uint32_t, uint32_t>, double> pairs;
  for (const ArrivedFlow& flow : draw_poisson(traffic_of(sizes, 5, 100'000), Rng{8, 6})) ++pairs[{flow.from, flow.to}];
  EXPECT_EQ(pairs.size(), 20U);
  double chi = 0;
  for (const auto& [pair, count] : pairs) chi += (count - 5'000) * (count - 5'000) / 5'000;
  EXPECT_LT(chi, 43.8);  // 19 degrees of freedom: one seed in a thousand is above
}

TEST(Poisson, WhatComesFirstDoesNotDependOnTheEnd) {
  const SizeDistribution sizes = published_as("alistorage").value();
  const auto many = draw_poisson(traffic_of(sizes, 8, 1'000), Rng{1, 1});
  PoissonTraffic shorter = traffic_of(sizes, 8, 1'000'000);
  shorter.until = many[500].start;
  const auto few = draw_poisson(shorter, Rng{1, 1});
  ASSERT_EQ(few.size(), 500U);
  for (size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].start, many[i].start);
}

TEST(Poisson, ASeedGivesTheSameFlowsEverywhere) {
  const SizeDistribution sizes = published_as("websearch").value();
  std::vector<std::tuple<uint32_t, uint32_t, uint64_t, int64_t>> found;
  for (const ArrivedFlow& flow : draw_poisson(traffic_of(sizes, 4, 3), Rng{1, 1}))
    found.emplace_back(flow.from, flow.to, flow.bytes, flow.start.count_ps());
  EXPECT_EQ(found, (decltype(found){
                       {1, 2, 1'610'344, 48'529'540}, {2, 3, 77'342, 79'341'702}, {3, 0, 3'324'654, 112'116'056}}));
}

}  // namespace
}  // namespace softspine::control
