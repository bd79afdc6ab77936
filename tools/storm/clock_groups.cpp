// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/clock_groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace softspine::tools::storm {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr Duration kLongestLink = Duration::us(5);  // 1 km of fibre

// Of a pair (a, b): b's clock − a's.
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
    if (!is_both_ways) return limits_;
    limits_.packets += on_link_.size();
    for (const ClockLimit& it : on_link_) {
      limits_.upper.push_back({.at = it.at, .difference = it.difference + kLongestLink});
      limits_.lower.push_back({.at = it.at, .difference = it.difference - kLongestLink});
    }
    return limits_;
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

using Pair = std::pair<uint32_t, uint32_t>;
using Fits = std::map<Pair, std::expected<ClockFit, std::string>>;

struct Seen {
  uint32_t capture = 0;
  Sighting it;
};

// Where one packet was seen with as many hops left: more than two places are not one link, but a bridge and its links.
size_t ends(std::span<const Seen> of_one, uint8_t hops_left) {
  return static_cast<size_t>(
      std::ranges::count_if(of_one, [=](const Seen& seen) { return seen.it.mark.hops_left == hops_left; }));
}

std::map<Pair, PairLimits> compare(const std::vector<CaptureClock>& captures) {
  unsigned level = 0;
  for (const CaptureClock& it : captures) level = std::max(level, it.seen->level());
  std::vector<Seen> all;
  for (uint32_t i = 0; i < captures.size(); ++i) {
    for (const Sighting& it : captures[i].seen->at_level(level)) all.push_back({.capture = i, .it = it});
  }
  std::ranges::stable_sort(all, {}, [](const Seen& seen) { return seen.it.mark.key; });
  std::map<Pair, PairLimits> limits;
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
  return limits;
}

// The inverse of t − skew − drift × (t − at).
ClockFit reversed(const ClockFit& fit) {
  ClockFit out = fit;
  out.at = fit.at - fit.skew;
  out.skew = Duration{} - fit.skew;
  out.drift = 1 - 1 / (1 - fit.drift);
  return out;
}

class Grouping {
 public:
  explicit Grouping(const std::vector<CaptureClock>& captures) : captures_(captures), is_placed_(captures.size()) {
    for (auto& [pair, limits] : compare(captures)) {
      const CaptureClock& b = captures[pair.second];
      fits_.emplace(pair, fit_clock(limits.finish(), b.first, b.last));
    }
  }

  CaptureGroups find() {
    CaptureGroups out{.groups = {}, .why_apart = std::vector<std::string>(captures_.size())};
    for (uint32_t first = 0; first < captures_.size(); ++first) {
      if (is_placed_[first]) continue;
      if (!out.groups.empty()) out.why_apart[first] = why_apart(first);
      out.groups.push_back(group_of(first));
    }
    return out;
  }

 private:
  std::optional<ClockFit> fit(uint32_t known, uint32_t other) const {
    const auto found = fits_.find({std::min(known, other), std::max(known, other)});
    if (found == fits_.end() || !found->second) return std::nullopt;
    return known < other ? *found->second : reversed(*found->second);
  }

  // Always the one next whose uncertainty is the least (Dijkstra).
  CaptureGroup group_of(uint32_t first) {
    CaptureGroup out;
    out.captures.push_back({.capture = first, .by = first});
    is_placed_[first] = true;
    for (;;) {
      std::optional<AlignedCapture> best;
      for (const AlignedCapture& known : out.captures) {
        for (uint32_t other = 0; other < captures_.size(); ++other) {
          const auto its = is_placed_[other] ? std::nullopt : fit(known.capture, other);
          if (!its) continue;
          const AlignedCapture candidate = align(other, known, *its);
          if (!best || candidate.uncertainty < best->uncertainty) best = candidate;
        }
      }
      if (!best || best->uncertainty > kMostUncertainty) return out;
      is_placed_[best->capture] = true;
      out.captures.push_back(*best);
    }
  }

  AlignedCapture align(uint32_t capture, const AlignedCapture& known, const ClockFit& fit) const {
    const CaptureClock& its = captures_[capture];
    const CaptureClock& other = captures_[known.capture];
    const Duration beyond =
        std::max({Duration{}, other.first - fit.other(its.first), fit.other(its.last) - other.last});
    // A fit was made for the time of the pair's second capture.
    const double drift = known.drift_uncertainty + (capture < known.capture ? fit.drift_uncertainty : 0);
    AlignedCapture out{.capture = capture,
                       .map = through(fit, known.map),
                       .uncertainty = known.uncertainty + fit.uncertainty + times(drift, beyond),
                       .drift_uncertainty = std::min(2 * kMostDrift, known.drift_uncertainty + fit.drift_uncertainty),
                       .by = known.capture,
                       .fit = fit};
    limit_drift(out.map, its.first + (its.last - its.first) / 2);
    return out;
  }

  static Duration times(double factor, Duration of) {
    return Duration::ps(std::llround(std::ceil(factor * static_cast<double>(of.count_ps()))));
  }

  // The drifts of several pairs may add up to more than crystals differ by. The true line does not, and stays within
  // the uncertainty of one that turns around the capture's middle until it does not, either.
  static void limit_drift(ClockMap& map, Instant middle) {
    const double rate = std::clamp(map.rate, 1 - kMostDrift, 1 + kMostDrift);
    if (rate != map.rate) map = {.at = middle, .begin = map(middle), .rate = rate};
  }

  static ClockMap through(const ClockFit& fit, const ClockMap& next) {
    return {.at = fit.at, .begin = next(fit.other(fit.at)), .rate = (1 - fit.drift) * next.rate};
  }

  // What is wrong with the pair that could have joined it: the one with the most packets.
  std::string why_apart(uint32_t capture) const {
    std::string why = "it shares no packet with the others";
    uint64_t most = 0;
    for (const auto& [pair, its] : fits_) {
      if (pair.first != capture && pair.second != capture) continue;
      if (!its && its.error() != "they share no packet" && most == 0) why = its.error();
      if (!its || its->packets <= most) continue;
      most = its->packets;
      why = "its clock can be compared with theirs to no less than 25 us";
    }
    return why;
  }

  const std::vector<CaptureClock>& captures_;
  std::vector<bool> is_placed_;
  Fits fits_;
};

}  // namespace

// Times in captures are anybody's: what leaves the range of an Instant stays at its end.
Instant ClockMap::operator()(Instant t) const {
  const auto passed = static_cast<Int128>(t.count_ps()) - at.count_ps();
  const auto faster = std::llround((rate - 1) * static_cast<double>(passed));
  constexpr Int128 kMost = Duration::s(100LL * 24 * 3600).count_ps();
  return Instant::at_ps(static_cast<int64_t>(std::clamp(begin.count_ps() + passed + faster, -kMost, kMost)));
}

CaptureGroups group_captures(const std::vector<CaptureClock>& captures) {
  return Grouping{captures}.find();
}

CaptureGroups one_group(size_t captures, Duration uncertainty) {
  CaptureGroups out{.groups = {CaptureGroup{}}, .why_apart = std::vector<std::string>(captures)};
  for (uint32_t i = 0; i < captures; ++i) {
    out.groups[0].captures.push_back({.capture = i, .uncertainty = i == 0 ? Duration{} : uncertainty});
  }
  return out;
}

}  // namespace softspine::tools::storm
