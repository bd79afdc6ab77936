// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/pair_limits.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace softspine::analysis::storm {

using dataplane::Duration;

namespace {

constexpr Duration kLongestLink = Duration::us(5);  // 1 km of fibre

// The limits of a pair (a, b): b's clock − a's.
class PairLimits {
 public:
  // `is_one_link`: places with as many hops left are the two ends of a link.
  void add(const Sighting& a, const Sighting& b, bool is_one_link) {
    const Duration difference = b.at - a.at;
    const ClockLimit limit{.at = b.at, .difference = difference};
    if (a.mark.hops_left > b.mark.hops_left) return add(limits_.upper, limit);
    if (a.mark.hops_left < b.mark.hops_left) return add(limits_.lower, limit);
    if (a.mark.source != b.mark.source || !is_one_link) return;
    const ClockLimit early{.at = b.at, .difference = difference - kLongestLink};
    const ClockLimit late{.at = b.at, .difference = difference + kLongestLink};
    if (a.way == Way::kOut && b.way == Way::kIn) return add(limit, early);
    if (a.way == Way::kIn && b.way == Way::kOut) return add(late, limit);
    if (a.way != Way::kUnknown || b.way != Way::kUnknown) return;
    on_link_.push_back(limit);
    macs_.emplace(a.mark.source, a.mark.destination);
  }

  ClockLimits finish() {
    const bool is_both_ways =
        std::ranges::any_of(macs_, [this](const auto& it) { return macs_.contains({it.second, it.first}); });
    if (!is_both_ways) return std::move(limits_);
    limits_.packets += on_link_.size();
    for (const ClockLimit& it : on_link_) {
      limits_.upper.push_back({.at = it.at, .difference = it.difference + kLongestLink});
      limits_.lower.push_back({.at = it.at, .difference = it.difference - kLongestLink});
    }
    return std::move(limits_);
  }

 private:
  void add(const ClockLimit& upper, const ClockLimit& lower) {
    limits_.upper.push_back(upper);
    limits_.lower.push_back(lower);
    ++limits_.packets;
  }
  void add(std::vector<ClockLimit>& to, const ClockLimit& limit) {
    to.push_back(limit);
    ++limits_.packets;
  }

  ClockLimits limits_;
  std::vector<ClockLimit> on_link_;
  std::set<std::pair<uint64_t, uint64_t>> macs_;
};

struct Seen {
  uint32_t capture = 0;
  Sighting it;
};

// Where one packet was seen with as many hops left: more than two places are not one link, but a bridge and its links.
size_t ends(std::span<const Seen> of_one, uint8_t hops_left) {
  return static_cast<size_t>(
      std::ranges::count_if(of_one, [=](const Seen& seen) { return seen.it.mark.hops_left == hops_left; }));
}

}  // namespace

std::map<CapturePair, ClockLimits> limits_of_pairs(const std::vector<const SightingLog*>& captures) {
  unsigned level = 0;
  for (const SightingLog* it : captures) level = std::max(level, it->level());
  std::vector<Seen> all;
  for (uint32_t i = 0; i < captures.size(); ++i) {
    for (const Sighting& it : captures[i]->at_level(level)) all.push_back({.capture = i, .it = it});
  }
  std::ranges::stable_sort(all, {}, [](const Seen& seen) { return seen.it.mark.key; });
  std::map<CapturePair, PairLimits> limits;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].it.mark.key == all[begin].it.mark.key) ++end;
    for (size_t i = begin; i < end; ++i) {
      for (size_t j = i + 1; j < end; ++j) {
        const auto& [first, seen_first] = all[i];
        const auto& [second, seen_second] = all[j];
        if (first == second) continue;
        const std::span of_one = std::span{all}.subspan(begin, end - begin);
        limits[{first, second}].add(seen_first, seen_second, ends(of_one, seen_first.mark.hops_left) == 2);
      }
    }
  }
  std::map<CapturePair, ClockLimits> out;
  for (auto& [pair, of_pair] : limits) out.emplace(pair, of_pair.finish());
  return out;
}

}  // namespace softspine::analysis::storm
