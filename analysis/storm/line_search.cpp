// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/line_search.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace softspine::analysis::storm {

namespace {

constexpr size_t kLeastTrue = 8;  // of the tightest limits, one may be wrong
constexpr size_t kWrongOf = 50;   // limits, one may be wrong
constexpr int kHalves = 32;       // of a search by halves
constexpr int kThirds = 48;       // 400 ppm × (2/3)^48 is 1.4e-6 ppm: 5 ps in an hour
constexpr size_t kBuckets = 128;  // of time: the tightest limits of each are used
constexpr size_t kOfBucket = 4;

}  // namespace

// `sign`: 1 for upper limits, −1 for lower.
LimitSide::LimitSide(const std::vector<LineLimit>& all, double sign) : all_(all.size()) {
  double first = std::numeric_limits<double>::max();
  double last = std::numeric_limits<double>::lowest();
  for (const LineLimit& it : all) {
    first = std::min(first, it.t);
    last = std::max(last, it.t);
  }
  const double step = std::max(1.0, (last - first) / static_cast<double>(kBuckets));
  std::map<size_t, std::vector<LineLimit>> buckets;
  for (const LineLimit& it : all) buckets[static_cast<size_t>((it.t - first) / step)].push_back(it);
  for (auto& [number, of_bucket] : buckets) {
    std::ranges::sort(of_bucket, {}, [sign](const LineLimit& it) { return sign * it.v; });
    of_bucket.resize(std::min(of_bucket.size(), kOfBucket));
    limits_.insert(limits_.end(), of_bucket.begin(), of_bucket.end());
  }
}

size_t LimitSide::may_be_wrong() const {
  return std::min(all_ / kWrongOf, limits_.size() / kLeastTrue);
}

LineBand LineSearch::at(double drift) {
  project(drift);
  // The k-th candidate leaves out the k lowest upper limits, and as many lower ones as are above the next.
  LineBand best{.wrong = may_be_wrong() + 1};
  const size_t most = std::min(highs_.size() - 1, may_be_wrong());
  for (size_t k = 0; k <= most; ++k) {
    const auto below =
        static_cast<size_t>(std::ranges::find_if(lows_, [&](double low) { return low <= highs_[k]; }) - lows_.begin());
    if (below == lows_.size()) continue;
    const LineBand band{.low = lows_[below], .high = highs_[k], .wrong = k + below};
    if (band.is_better(best)) best = band;
    if (best.wrong == 0) break;  // no other is
  }
  return best;
}

double LineSearch::best_drift() {
  const double of_all = widest(false);
  return width(of_all, false) >= 0 ? of_all : widest(true);
}

double LineSearch::reach(double drift, double end, size_t wrong) {
  double inside = drift;
  double outside = end;
  if (at(outside).wrong <= wrong) return outside;
  for (int i = 0; i < kHalves; ++i) {
    const double middle = (inside + outside) / 2;
    (at(middle).wrong <= wrong ? inside : outside) = middle;
  }
  return inside;
}

double LineSearch::width(double drift, bool robust) {
  project(drift);
  return highs_[robust ? upper_.may_be_wrong() : 0] - lows_[robust ? lower_.may_be_wrong() : 0];
}

// The width is a concave function of the drift, or nearly so where limits are left out.
double LineSearch::widest(bool robust) {
  double low = -kMaxDrift;
  double high = kMaxDrift;
  for (int i = 0; i < kThirds; ++i) {
    const double third = (high - low) / 3;
    const bool is_right = width(low + third, robust) < width(high - third, robust);
    (is_right ? low : high) += is_right ? third : -third;
  }
  return (low + high) / 2;
}

void LineSearch::project(double drift) {
  highs_.clear();
  lows_.clear();
  for (const LineLimit& it : upper_.limits()) highs_.push_back(it.v - drift * it.t);
  for (const LineLimit& it : lower_.limits()) lows_.push_back(it.v - drift * it.t);
  std::ranges::sort(highs_);
  std::ranges::sort(lows_, std::greater{});
}

}  // namespace softspine::analysis::storm
