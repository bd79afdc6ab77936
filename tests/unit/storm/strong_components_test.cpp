// SPDX-License-Identifier: Apache-2.0
// Strongly connected components of random graphs, against the definition: each of two leads to the other.
#include "analysis/storm/strong_components.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::analysis::storm {
namespace {

using Edges = std::vector<std::vector<uint32_t>>;
using Components = std::set<std::set<uint32_t>>;

Components found(const Edges& edges) {
  Components out;
  const auto count = static_cast<uint32_t>(edges.size());
  for (const auto& each : strong_components(count, [&](uint32_t vertex) { return edges[vertex]; })) {
    out.insert({each.begin(), each.end()});
  }
  return out;
}

Components by_definition(const Edges& edges) {
  const size_t n = edges.size();
  std::vector<std::vector<bool>> leads(n, std::vector<bool>(n, false));
  for (size_t i = 0; i < n; ++i) {
    for (const uint32_t to : edges[i]) leads[i][to] = true;
  }
  for (size_t by = 0; by < n; ++by) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) leads[i][j] = leads[i][j] || (leads[i][by] && leads[by][j]);
    }
  }
  Components out;
  for (uint32_t i = 0; i < n; ++i) {
    std::set<uint32_t> members{i};
    for (uint32_t j = 0; j < n; ++j) {
      if (leads[i][j] && leads[j][i]) members.insert(j);
    }
    if (members.size() > 1) out.insert(members);
  }
  return out;
}

TEST(StrongComponentsTest, AreThoseOfTheDefinitionInRandomGraphs) {
  dataplane::Rng rng{tests::seed(), 0};
  size_t components = 0;
  for (int graph = 0; graph < 300; ++graph) {
    Edges edges(1 + rng.below(12));
    const uint64_t count = rng.below(2 * edges.size() + 1);
    for (uint64_t e = 0; e < count; ++e) {
      edges[rng.below(edges.size())].push_back(static_cast<uint32_t>(rng.below(edges.size())));
    }
    EXPECT_EQ(found(edges), by_definition(edges)) << "graph " << graph;
    components += found(edges).size();
  }
  EXPECT_GT(components, 100U);
}

TEST(StrongComponentsTest, FollowsAChainOfAMillionVertices) {
  constexpr uint32_t kCount = 1'000'000;
  const auto all =
      strong_components(kCount, [](uint32_t vertex) { return std::vector<uint32_t>{(vertex + 1) % kCount}; });
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].size(), kCount);
}

}  // namespace
}  // namespace softspine::analysis::storm
