// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace softspine::analysis {

namespace {

double log2_of_factorial(double n) {
  return std::lgamma(n + 1) / std::log(2.0);
}

// log2 P(X ≥ k) of n trials with probability p each.
double log2_of_upper_tail(uint32_t n, uint32_t k, double p) {
  double sum = 0;
  double largest = -1e300;
  std::vector<double> terms;
  for (uint32_t i = k; i <= n; ++i) {
    const double choose = log2_of_factorial(n) - log2_of_factorial(i) - log2_of_factorial(n - i);
    terms.push_back(choose + i * std::log2(p) + (n - i) * std::log2(1 - p));
    largest = std::max(largest, terms.back());
  }
  for (const double term : terms) sum += std::exp2(term - largest);
  return largest + std::log2(sum);
}

// That two flows share a link; at least what an even hash gives.
double shared_by_chance(const Sample& sample) {
  std::vector<double> flows(sample.link_count, 0);
  for (const uint32_t link : sample.links) ++flows[link];
  double pairs = 0;
  for (const double n : flows) pairs += n * (n - 1);
  const auto all = static_cast<double>(sample.size());
  return std::max(1.0 / sample.members, pairs / (all * (all - 1)));
}

}  // namespace

bool explains_all(const Sample& sample, std::span<const uint32_t> buckets) {
  thread_local std::vector<uint32_t> of_bucket;
  thread_local std::vector<uint32_t> of_link;
  of_bucket.assign(sample.members, kUnknownLink);
  of_link.assign(sample.link_count, kUnknownLink);
  for (size_t i = 0; i < buckets.size(); ++i) {
    uint32_t& link = of_bucket[buckets[i]];
    uint32_t& bucket = of_link[sample.links[i]];
    if (link == kUnknownLink && bucket == kUnknownLink) {
      link = sample.links[i];
      bucket = buckets[i];
    }
    if (link != sample.links[i] || bucket != buckets[i]) return false;
  }
  return true;
}

uint32_t most_agreeing(const Sample& sample, std::span<const uint32_t> buckets) {
  thread_local std::vector<uint32_t> flows;  // by bucket and link; all zeros in between
  thread_local std::vector<uint32_t> most;   // by bucket
  flows.resize(std::max(flows.size(), size_t{sample.members} * sample.link_count));
  most.assign(sample.members, 0);
  for (size_t i = 0; i < buckets.size(); ++i) {
    const uint32_t count = ++flows[size_t{buckets[i]} * sample.link_count + sample.links[i]];
    most[buckets[i]] = std::max(most[buckets[i]], count);
  }
  for (size_t i = 0; i < buckets.size(); ++i) flows[size_t{buckets[i]} * sample.link_count + sample.links[i]] = 0;
  return std::accumulate(most.begin(), most.end(), 0U);
}

Fit fit_of(const Sample& sample, std::span<const uint32_t> buckets) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> flows;
  for (size_t i = 0; i < buckets.size(); ++i) ++flows[{buckets[i], sample.links[i]}];
  std::vector<std::tuple<int64_t, uint32_t, uint32_t>> order;
  for (const auto& [pair, count] : flows) order.emplace_back(-int64_t{count}, pair.first, pair.second);
  std::ranges::sort(order);
  Fit out{.agreeing = 0, .of_bucket = std::vector<uint32_t>(sample.members, kUnknownLink)};
  std::vector<bool> is_named(sample.link_count, false);
  for (const auto& [count, bucket, link] : order) {
    if (out.of_bucket[bucket] != kUnknownLink || is_named[link]) continue;
    out.of_bucket[bucket] = link;
    is_named[link] = true;
    out.agreeing += static_cast<uint32_t>(-count);
  }
  return out;
}

double chance_of(const Sample& sample, uint32_t agreeing, double tried) {
  if (sample.size() < 2) return 0;
  const double p = shared_by_chance(sample);
  if (p >= 1) return 0;
  const uint32_t seen = sample.links_seen();
  const double names = log2_of_factorial(sample.members) - log2_of_factorial(sample.members - seen);
  const double tail = log2_of_upper_tail(static_cast<uint32_t>(sample.size()), agreeing, p);
  return std::min(0.0, tried + names + tail);
}

}  // namespace softspine::analysis
