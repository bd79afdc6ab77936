// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/group_tail.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/explain/likelihood.hpp"

namespace softspine::analysis {

namespace {

// For a link with `count` of `all` items.
double fullest_tail(double count, double all, double weight) {
  const double part = count / all;
  if (part <= weight) return 1;
  double entropy = part * std::log(part / weight);
  if (part < 1) entropy += (1 - part) * std::log((1 - part) / (1 - weight));
  return std::exp(-all * entropy);
}

double idle_tail(size_t idle, double all, std::span<const double> weights) {
  std::vector<double> smallest(weights.begin(), weights.end());
  std::ranges::sort(smallest);
  const double without = std::accumulate(smallest.begin(), smallest.begin() + static_cast<ptrdiff_t>(idle), 0.0);
  const auto links = static_cast<double>(weights.size());
  const auto empty = static_cast<double>(idle);
  const double ways = std::lgamma(links + 1) - std::lgamma(empty + 1) - std::lgamma(links - empty + 1);
  return std::exp(ways + all * std::log1p(-without));
}

}  // namespace

GroupTail group_tail(std::span<const double> weights, std::span<const EvennessTest::Item> items, double most) {
  if (items.size() < 2 || weights.size() < 2) return {};
  EvennessTest test;
  test.add(weights, items);
  std::vector<double> counts(weights.size(), 0);
  for (const EvennessTest::Item& item : items) ++counts[item.link];
  const auto all = static_cast<double>(items.size());
  double likely = 1;
  for (size_t i = 0; i < counts.size(); ++i)
    likely = std::min(likely, static_cast<double>(counts.size()) * fullest_tail(counts[i], all, weights[i]));
  const auto idle = static_cast<size_t>(std::ranges::count(counts, 0.0));
  if (idle > 0) likely = std::min(likely, idle_tail(idle, all, weights));
  if (test.expected_pairs() >= kManyPairs) likely = std::min(likely, test.by_curve().more);
  likely *= 3;
  const Evenness counted = test.by_curve(most);
  if (std::isfinite(most)) likely = std::max(likely, counted.more);
  return {std::min(1.0, likely), counted.deviation2};
}

}  // namespace softspine::analysis
