// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/clock_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace softspine::tools::storm {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr Duration kMostSkew = Duration::s(25LL * 24 * 3600);  // the shortest way to stay within an Instant's range
constexpr double kStampPs = 1e6;
constexpr size_t kLeastLimits = 3;  // on either side
constexpr size_t kLeastTrue = 8;    // of the tightest limits, one may be wrong
constexpr size_t kWrongOf = 50;     // limits, one may be wrong
constexpr int kSteps = 32;          // of a search by halves
constexpr int kThirds = 48;         // 400 ppm × (2/3)^48 is 1.4e-6 ppm: 5 ps in an hour
constexpr size_t kBuckets = 128;    // of time: the tightest limits of each are used
constexpr size_t kOfBucket = 4;

struct Limit {
  double t = 0;  // ps from the fit's instant
  double v = 0;  // ps from the first difference
};

struct Band {
  double low = 0;  // of the difference at t = 0
  double high = 0;
  size_t wrong = 0;
  double width() const { return high - low; }
  double middle() const { return (low + high) / 2; }
  bool is_better(const Band& other) const {
    return wrong != other.wrong ? wrong < other.wrong : width() > other.width();
  }
};

// The limits of one side. What was left out said less than what is here, so each that is wrong is still among them.
struct Side {
  std::vector<Limit> limits;
  size_t all = 0;  // before any was left out
  size_t may_be_wrong() const { return std::min(all / kWrongOf, limits.size() / kLeastTrue); }
};

// Those that say most, of each stretch of time: `sign` 1 for upper limits, −1 for lower.
Side tightest(const std::vector<Limit>& all, double sign) {
  double first = std::numeric_limits<double>::max();
  double last = std::numeric_limits<double>::lowest();
  for (const Limit& it : all) {
    first = std::min(first, it.t);
    last = std::max(last, it.t);
  }
  const double step = std::max(1.0, (last - first) / static_cast<double>(kBuckets));
  std::map<size_t, std::vector<Limit>> buckets;
  for (const Limit& it : all) buckets[static_cast<size_t>((it.t - first) / step)].push_back(it);
  Side out{.limits = {}, .all = all.size()};
  for (auto& [number, of_bucket] : buckets) {
    std::ranges::sort(of_bucket, {}, [sign](const Limit& it) { return sign * it.v; });
    of_bucket.resize(std::min(of_bucket.size(), kOfBucket));
    out.limits.insert(out.limits.end(), of_bucket.begin(), of_bucket.end());
  }
  return out;
}

class Search {
 public:
  Search(Side upper, Side lower) : upper_(std::move(upper)), lower_(std::move(lower)) {}

  size_t may_be_wrong() const { return upper_.may_be_wrong() + lower_.may_be_wrong(); }

  // Where the fewest limits are wrong, if the clock drifts so.
  Band at(double drift) {
    project(drift);
    // The k-th candidate leaves out the k lowest upper limits, and as many lower ones as are above the next.
    Band best{.wrong = may_be_wrong() + 1};
    const size_t most = std::min(highs_.size() - 1, may_be_wrong());
    for (size_t k = 0; k <= most; ++k) {
      const auto below = static_cast<size_t>(std::ranges::find_if(lows_, [&](double low) { return low <= highs_[k]; }) -
                                             lows_.begin());
      if (below == lows_.size()) continue;
      const Band band{.low = lows_[below], .high = highs_[k], .wrong = k + below};
      if (band.is_better(best)) best = band;
      if (best.wrong == 0) break;  // no other is
    }
    return best;
  }

  // The drift at which the limits are farthest apart: of all limits, or else without the one in fifty that may be
  // wrong.
  double best_drift() {
    const double of_all = widest(false);
    return width(of_all, false) >= 0 ? of_all : widest(true);
  }

  // How far from `drift` a line may still drift, towards `end`.
  double reach(double drift, double end, size_t wrong) {
    double inside = drift;
    double outside = end;
    if (at(outside).wrong <= wrong) return outside;
    for (int i = 0; i < kSteps; ++i) {
      const double middle = (inside + outside) / 2;
      (at(middle).wrong <= wrong ? inside : outside) = middle;
    }
    return inside;
  }

 private:
  // `robust`: without those that may be wrong.
  double width(double drift, bool robust) {
    project(drift);
    return highs_[robust ? upper_.may_be_wrong() : 0] - lows_[robust ? lower_.may_be_wrong() : 0];
  }

  // The width is a concave function of the drift, or nearly so where limits are left out.
  double widest(bool robust) {
    double low = -kMostDrift;
    double high = kMostDrift;
    for (int i = 0; i < kThirds; ++i) {
      const double third = (high - low) / 3;
      const bool is_right = width(low + third, robust) < width(high - third, robust);
      (is_right ? low : high) += is_right ? third : -third;
    }
    return (low + high) / 2;
  }

  void project(double drift) {
    highs_.clear();
    lows_.clear();
    for (const Limit& it : upper_.limits) highs_.push_back(it.v - drift * it.t);
    for (const Limit& it : lower_.limits) lows_.push_back(it.v - drift * it.t);
    std::ranges::sort(highs_);
    std::ranges::sort(lows_, std::greater{});
  }

  Side upper_;
  Side lower_;
  std::vector<double> highs_;
  std::vector<double> lows_;
};

double between(int64_t from, int64_t to) {
  return static_cast<double>(Int128{to} - from);
}

Side relative(const std::vector<ClockLimit>& limits, Instant at, Duration difference, double wider) {
  std::vector<Limit> out;
  for (const ClockLimit& it : limits) {
    out.push_back({.t = between(at.count_ps(), it.at.count_ps()),
                   .v = between(difference.count_ps(), it.difference.count_ps()) + wider});
  }
  return tightest(out, wider > 0 ? 1 : -1);
}

// What lines that still fit say of the difference at one time.
struct Reach {
  double t = 0;
  double low = 0;
  double high = 0;
  double middle() const { return (low + high) / 2; }
  double farthest_from(double v) const { return std::max(high - v, v - low); }
};

Reach reach_at(Search& search, double low_drift, double high_drift, double t) {
  Reach out{.t = t, .low = std::numeric_limits<double>::max(), .high = std::numeric_limits<double>::lowest()};
  for (int i = 0; i <= kSteps; ++i) {
    const double drift = low_drift + (high_drift - low_drift) * i / kSteps;
    const Band band = search.at(drift);
    out.low = std::min(out.low, band.low + drift * t);
    out.high = std::max(out.high, band.high + drift * t);
  }
  return out;
}

}  // namespace

Instant ClockFit::other(Instant shown) const {
  const double passed = between(at.count_ps(), shown.count_ps());
  return shown - skew - Duration::ps(std::llround(drift * passed));
}

std::expected<ClockFit, std::string> fit_clock(const ClockLimits& limits, Instant from, Instant to) {
  if (limits.packets == 0) return std::unexpected("they share no packet");
  if (limits.upper.size() < kLeastLimits || limits.lower.size() < kLeastLimits) {
    return std::unexpected(fmt::format("of {} packets that both saw, too few went both ways", limits.packets));
  }
  ClockFit out{.at = limits.upper.front().at, .packets = limits.packets};
  const Duration base = limits.upper.front().difference;
  Search search{relative(limits.upper, out.at, base, kStampPs), relative(limits.lower, out.at, base, -kStampPs)};
  out.drift = search.best_drift();
  const Band band = search.at(out.drift);
  out.contradicting = band.wrong;
  if (band.wrong > search.may_be_wrong()) {
    return std::unexpected(fmt::format(
        "the times of {} packets that both saw contradict each other: a clock was set, or does not run evenly",
        limits.packets));
  }
  const double low = search.reach(out.drift, -kMostDrift, band.wrong);
  const double high = search.reach(out.drift, kMostDrift, band.wrong);
  const Reach begin = reach_at(search, low, high, between(out.at.count_ps(), from.count_ps()));
  const Reach end = reach_at(search, low, high, between(out.at.count_ps(), to.count_ps()));
  // Of all lines, the one through both middles has the least uncertainty. Its drift is 0 if any drift fits.
  if (end.t > begin.t) out.drift = std::clamp((end.middle() - begin.middle()) / (end.t - begin.t), low, high);
  const double middle = begin.middle() - out.drift * begin.t;
  out.skew = base + Duration::ps(std::llround(middle));
  if (out.skew > kMostSkew || out.skew < Duration{} - kMostSkew) return std::unexpected("they are weeks apart");
  out.drift_uncertainty = std::max(high - out.drift, out.drift - low);
  out.uncertainty = Duration::ps(std::llround(
      std::max(begin.farthest_from(middle + out.drift * begin.t), end.farthest_from(middle + out.drift * end.t))));
  return out;
}

}  // namespace softspine::tools::storm
