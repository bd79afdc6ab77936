// SPDX-License-Identifier: Apache-2.0
// The keys that flows had at one tier, or at two, by the functions that chose there: what causes are computed from.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "analysis/explain/flow_choices.hpp"
#include "analysis/explain/key_hull.hpp"
#include "analysis/explain/tier_tests.hpp"

namespace softspine::analysis {

// The choice of one switch, as a function of its key.
struct Chooser {
  const dataplane::EcmpHash* hash = nullptr;
  const LinkGroup* group = nullptr;
  uint32_t words = 0;  // of its keys

  uint32_t buckets() const { return static_cast<uint32_t>(group->by_bucket.size()); }
  uint32_t hash_of(const KeyVector& from, size_t first) const {
    dataplane::HashKey key{};
    key.count = words;
    std::copy_n(from.begin() + static_cast<ptrdiff_t>(first), words, key.words.begin());
    return hash->of(key);
  }
  uint32_t link_of(const KeyVector& from, size_t first) const {
    return group->by_bucket[hash->bucket_of(hash_of(from, first), buckets())];
  }
  // RTAG7's blocks do not count as linear: nothing is assumed of what they add to one function.
  bool is_linear() const {
    return dataplane::row_of(hash->algorithm()).seed == dataplane::SeedEffect::kLinear && !hash->config().rtag7;
  }
  std::string size() const {
    return fmt::format("{} {}", buckets(), buckets() == group->links.size() ? "links" : "buckets");
  }
};

// The choosers of one tier or of two, one of each tier, and the keys of the sampled flows that met such.
struct Seen {
  std::vector<Chooser> choosers;
  std::vector<KeyVector> keys;  // of all choosers, one behind the other
};

// Whether two choosers choose by the same bytes of a packet, in the same order.
bool have_the_same_key(const Chooser& a, const Chooser& b);

// For two tiers, the earlier one first: an entry for every combination of functions, key lengths and shapes that flows
// met, the most frequent first. `functions`: only of these pairs; empty: of all. `walker` may have other tables than
// the walker that the choices are from.
std::vector<Seen> seen_at(Walker& walker, const FlowChoices& choices, const std::array<uint32_t, 2>& tiers,
                          const std::vector<FunctionPair>& functions = {});
// The keys seen in one tier: in these groups, or in all if none are given.
std::vector<Seen> seen_in(Walker& walker, const FlowChoices& choices, uint32_t tier,
                          const std::vector<UnevenEcmpGroup>& groups);

}  // namespace softspine::analysis
