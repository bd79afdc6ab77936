// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/clock_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace softspine::analysis::storm {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr Duration kMaxSkew = Duration::s(25LL * 24 * 3600);  // the shortest way to stay within an Instant's range
constexpr double kStampPs = 1e6;
constexpr size_t kLeastLimits = 3;  // on either side
constexpr int kSteps = 32;          // of a drift, between the least and the largest that fit

double between(int64_t from, int64_t to) {
  return static_cast<double>(Int128{to} - from);
}

// `wider` is added to each difference, since time stamps may be cut to microseconds.
std::vector<LineLimit> relative(const std::vector<ClockLimit>& limits, Instant at, Duration difference, double wider) {
  std::vector<LineLimit> out;
  for (const ClockLimit& it : limits) {
    out.push_back({.t = between(at.count_ps(), it.at.count_ps()),
                   .v = between(difference.count_ps(), it.difference.count_ps()) + wider});
  }
  return out;
}

// The range of the difference at one time, over the lines that still fit.
struct Reach {
  double t = 0;
  double low = 0;
  double high = 0;
  double middle() const { return (low + high) / 2; }
  double farthest_from(double v) const { return std::max(high - v, v - low); }
};

Reach reach_at(LineSearch& search, double low_drift, double high_drift, double t) {
  Reach out{.t = t, .low = std::numeric_limits<double>::max(), .high = std::numeric_limits<double>::lowest()};
  for (int i = 0; i <= kSteps; ++i) {
    const double drift = low_drift + (high_drift - low_drift) * i / kSteps;
    const LineBand band = search.at(drift);
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
  LineSearch search{LimitSide::upper(relative(limits.upper, out.at, base, kStampPs)),
                    LimitSide::lower(relative(limits.lower, out.at, base, -kStampPs))};
  out.drift = search.best_drift();
  const LineBand band = search.at(out.drift);
  out.contradicting = band.wrong;
  if (band.wrong > search.may_be_wrong()) {
    return std::unexpected(fmt::format(
        "the times of {} packets that both saw contradict each other: a clock was set, or does not run evenly",
        limits.packets));
  }
  const double low = search.reach(out.drift, -kMaxDrift, band.wrong);
  const double high = search.reach(out.drift, kMaxDrift, band.wrong);
  const Reach begin = reach_at(search, low, high, between(out.at.count_ps(), from.count_ps()));
  const Reach end = reach_at(search, low, high, between(out.at.count_ps(), to.count_ps()));
  // The line through both middles has the least uncertainty of all. Its drift is 0 if any drift fits.
  if (end.t > begin.t) out.drift = std::clamp((end.middle() - begin.middle()) / (end.t - begin.t), low, high);
  const double middle = begin.middle() - out.drift * begin.t;
  out.skew = base + Duration::ps(std::llround(middle));
  if (out.skew > kMaxSkew || out.skew < Duration{} - kMaxSkew) return std::unexpected("they are weeks apart");
  out.drift_uncertainty = std::max(high - out.drift, out.drift - low);
  out.uncertainty = Duration::ps(std::llround(
      std::max(begin.farthest_from(middle + out.drift * begin.t), end.farthest_from(middle + out.drift * end.t))));
  return out;
}

}  // namespace softspine::analysis::storm
