// SPDX-License-Identifier: Apache-2.0
#include "dataplane/forwarding/prefix_trie.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace softspine::dataplane {

namespace {

// In the order of addresses, each prefix once, with the last of its values.
std::vector<PrefixValue> sorted_and_unique(const std::vector<PrefixValue>& prefixes) {
  std::vector<uint32_t> order(prefixes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&prefixes](uint32_t i) { return std::pair{prefixes[i].prefix, i}; });
  std::vector<PrefixValue> unique;
  for (const uint32_t i : order) {
    if (!unique.empty() && unique.back().prefix == prefixes[i].prefix) {
      unique.back() = prefixes[i];
    } else {
      unique.push_back(prefixes[i]);
    }
  }
  return unique;
}

uint8_t byte_of(const PrefixValue& p, uint32_t depth) {
  return p.prefix.address[depth];
}

// Entries of a node at `depth` that a prefix which ends in this byte covers: [first, first + count).
uint32_t covered_count(uint32_t length, uint32_t depth) {
  return 1U << (8 * (depth + 1) - length);
}

}  // namespace

PrefixTrie::PrefixTrie(const std::vector<PrefixValue>& prefixes) {
  std::vector<PrefixValue> unique = sorted_and_unique(prefixes);
  uint32_t everything = kMiss;
  const auto is_default = [](const PrefixValue& p) { return p.prefix.length == 0; };
  if (const auto it = std::ranges::find_if(unique, is_default); it != unique.end()) everything = it->value;
  std::erase_if(unique, is_default);
  nodes_.emplace_back();
  build(0, {unique.data(), unique.data() + unique.size()}, 0, everything);
}

void PrefixTrie::build(uint32_t index, Range range, uint32_t depth, uint32_t inherited) {
  nodes_[index].entries.fill(inherited);
  nodes_[index].fallback = inherited;
  if (range.begin == range.end) return;
  const auto shares_byte = [&range](uint32_t at) {
    return std::all_of(range.begin, range.end, [&](const PrefixValue& p) {
      return p.prefix.length > 8 * (at + 1) && byte_of(p, at) == byte_of(*range.begin, at);
    });
  };
  while (shares_byte(depth)) {
    nodes_[index].skip_byte(byte_of(*range.begin, depth));
    ++depth;
  }
  fill_short(index, range, depth);
  // The range is sorted by address, so those that go on below one entry stand together,
  // but for the short ones between them, which `fill_short` has dealt with.
  const PrefixValue* p = range.begin;
  while (p != range.end) {
    const uint8_t byte = byte_of(*p, depth);
    const PrefixValue* next =
        std::find_if(p, range.end, [&](const PrefixValue& q) { return byte_of(q, depth) != byte; });
    std::vector<PrefixValue> longer;
    std::copy_if(p, next, std::back_inserter(longer),
                 [&](const PrefixValue& q) { return q.prefix.length > 8 * (depth + 1); });
    if (!longer.empty()) {
      const auto child = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back();
      const uint32_t best = nodes_[index].entries[byte];
      build(child, {longer.data(), longer.data() + longer.size()}, depth + 1, best);
      nodes_[index].entries[byte] = child | kIsNode;
    }
    p = next;
  }
}

void PrefixTrie::fill_short(uint32_t index, Range range, uint32_t depth) {
  std::vector<PrefixValue> ending;
  std::copy_if(range.begin, range.end, std::back_inserter(ending),
               [&](const PrefixValue& p) { return p.prefix.length <= 8 * (depth + 1); });
  std::ranges::sort(ending, {}, [](const PrefixValue& p) { return p.prefix.length; });
  for (const PrefixValue& p : ending) {
    std::fill_n(nodes_[index].entries.begin() + byte_of(p, depth), covered_count(p.prefix.length, depth), p.value);
  }
}

}  // namespace softspine::dataplane
