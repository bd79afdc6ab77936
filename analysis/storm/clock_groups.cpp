// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/clock_groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/storm/pair_limits.hpp"

namespace softspine::analysis::storm {

using dataplane::Duration;
using dataplane::Instant;

namespace {

using Fits = std::map<CapturePair, std::expected<ClockFit, std::string>>;

// The inverse of t − skew − drift × (t − at).
ClockFit reversed(const ClockFit& fit) {
  ClockFit out = fit;
  out.at = fit.at - fit.skew;
  out.skew = Duration{} - fit.skew;
  out.drift = 1 - 1 / (1 - fit.drift);
  return out;
}

// Whether limits of both kinds that `is_of` takes are there, and most of each are not broken by as much as a step is.
template <typename IsOf>
bool lie_on(const ClockFit& fit, const ClockLimits& limits, IsOf&& is_of) {
  constexpr Duration kFar = ClockSteps::kLeast / 2;
  const auto holds = [&](const std::vector<ClockLimit>& all, bool is_upper) {
    size_t found = 0;
    size_t broken = 0;
    for (const ClockLimit& it : all) {
      if (!is_of(it)) continue;
      const Duration beyond = it.difference - (it.at - fit.other(it.at));
      ++found;
      broken += (is_upper ? beyond < Duration{} - kFar : beyond > kFar) ? 1 : 0;
    }
    return found > 0 && broken * 2 < found;
  };
  return holds(limits.upper, true) && holds(limits.lower, false);
}

// Whether the steps of a pair's clocks are silences alone. Limits have the second clock's times.
bool are_silences(const ClockFit& fit, const ClockLimits& limits, const CaptureClock& a, const CaptureClock& b) {
  const auto is_silence = [&](const ClockStep& step, auto&& at) {
    return !step.is_back() && lie_on(fit, limits, [&](const ClockLimit& it) { return at(it) <= step.at; }) &&
           lie_on(fit, limits, [&](const ClockLimit& it) { return at(it) >= step.until; });
  };
  return std::ranges::all_of(a.steps,
                             [&](const ClockStep& step) {
                               return is_silence(step, [](const ClockLimit& it) { return it.at - it.difference; });
                             }) &&
         std::ranges::all_of(b.steps, [&](const ClockStep& step) {
           return is_silence(step, [](const ClockLimit& it) { return it.at; });
         });
}

constexpr const char* kMayHaveBeenSet =
    "its clock was set meanwhile, or nothing was captured for so long that it may have been";

class Grouping {
 public:
  explicit Grouping(const std::vector<CaptureClock>& captures) : captures_(captures), is_placed_(captures.size()) {
    std::vector<const SightingLog*> seen;
    for (const CaptureClock& it : captures) seen.push_back(it.seen);
    for (const auto& [pair, limits] : limits_of_pairs(seen)) {
      const CaptureClock& a = captures[pair.first];
      const CaptureClock& b = captures[pair.second];
      auto fit = fit_clock(limits, b.first, b.last);
      if (fit && !are_silences(*fit, limits, a, b)) fit = std::unexpected(kMayHaveBeenSet);
      fits_.emplace(pair, std::move(fit));
    }
  }

  CaptureGroups find() {
    CaptureGroups out{.groups = {}, .why_apart = std::vector<std::string>(captures_.size())};
    for (const bool was_set : {false, true}) {  // whose was set stands for none of the others
      for (uint32_t first = 0; first < captures_.size(); ++first) {
        if (is_placed_[first] || may_have_been_set(first) != was_set) continue;
        if (!out.groups.empty()) out.why_apart[first] = why_apart(first);
        out.groups.push_back(group_of(first));
      }
    }
    return out;
  }

 private:
  std::optional<ClockFit> fit(uint32_t known, uint32_t other) const {
    const auto found = fits_.find({std::min(known, other), std::max(known, other)});
    if (found == fits_.end() || !found->second) return std::nullopt;
    return known < other ? *found->second : reversed(*found->second);
  }

  // The capture has steps, and no other capture shows that they are silences.
  bool may_have_been_set(uint32_t capture) const {
    return !captures_[capture].steps.empty() && std::ranges::none_of(fits_, [capture](const auto& it) {
      return it.second && (it.first.first == capture || it.first.second == capture);
    });
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
      if (!best || best->uncertainty > kMaxUncertainty) return out;
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
                       .drift_uncertainty = std::min(2 * kMaxDrift, known.drift_uncertainty + fit.drift_uncertainty),
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
    const double rate = std::clamp(map.rate, 1 - kMaxDrift, 1 + kMaxDrift);
    if (rate != map.rate) map = {.at = middle, .begin = map(middle), .rate = rate};
  }

  static ClockMap through(const ClockFit& fit, const ClockMap& next) {
    return {.at = fit.at, .begin = next(fit.other(fit.at)), .rate = (1 - fit.drift) * next.rate};
  }

  // Names the fault of the pair that could have joined it: the one with the most packets.
  std::string why_apart(uint32_t capture) const {
    if (may_have_been_set(capture)) return kMayHaveBeenSet;
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
  constexpr Int128 kMax = Duration::s(100LL * 24 * 3600).count_ps();
  return Instant::at_ps(static_cast<int64_t>(std::clamp(begin.count_ps() + passed + faster, -kMax, kMax)));
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

}  // namespace softspine::analysis::storm
