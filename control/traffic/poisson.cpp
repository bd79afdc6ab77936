// SPDX-License-Identifier: Apache-2.0
#include "control/traffic/poisson.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace softspine::control {

using dataplane::Duration;
using dataplane::Rate;
using dataplane::Rng;
using dataplane::Uint128;

namespace {

// The longest mean that is told from others: then no second flow comes in a run.
constexpr uint64_t kLongestMeanPs = uint64_t{1} << 60;
constexpr Duration kLongestGap = Duration::ps(int64_t{1} << 61);  // twice that is still an instant

uint64_t mean_gap_ps(const PoissonTraffic& traffic, Rate rate) {
  // mean_doubled is in bytes · 2 · kWholeShare; 8 bits a byte, 10^12 ps a second, 10^6 millionths.
  const Uint128 bits = traffic.sizes.mean_doubled() * 4 / (kWholeShare / 1'000'000);
  const Uint128 per_second = Uint128{rate.count_bps()} * traffic.load_millionths;
  const Uint128 gap = bits * 1'000'000'000'000 / per_second;
  return static_cast<uint64_t>(std::clamp<Uint128>(gap, 1, kLongestMeanPs));
}

Duration gap_of(uint64_t mean_ps, Rng& rng) {
  const Uint128 ps = (Uint128{mean_ps} * draw_exponential(rng)) >> 32;
  return Duration::ps(static_cast<int64_t>(std::min<Uint128>(ps, static_cast<uint64_t>(kLongestGap.count_ps()))));
}

struct Next {
  Duration at;
  uint32_t source;
  bool operator>(const Next& other) const { return std::tie(at, source) > std::tie(other.at, other.source); }
};

}  // namespace

uint64_t draw_exponential(Rng& rng) {
  for (uint64_t whole = 0;; ++whole) {
    const uint64_t first = rng.next();
    uint64_t last = first;
    bool odd = true;
    for (uint64_t next = rng.next(); next < last; next = rng.next()) {
      last = next;
      odd = !odd;
    }
    if (odd) return (whole << 32) | (first >> 32);
  }
}

std::vector<ArrivedFlow> draw_poisson(const PoissonTraffic& traffic, Rng rng) {
  std::vector<uint64_t> mean_ps;
  for (const Rate rate : traffic.rates) mean_ps.push_back(mean_gap_ps(traffic, rate));
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (uint32_t host = 0; host < mean_ps.size(); ++host) next.push({gap_of(mean_ps[host], rng), host});
  std::vector<ArrivedFlow> out;
  const Duration until = std::min(traffic.until, kLongestGap);
  while (out.size() < traffic.flows && next.top().at < until) {
    const auto [at, source] = next.top();
    next.pop();
    const auto other = static_cast<uint32_t>(rng.below(mean_ps.size() - 1));
    const uint32_t to = other < source ? other : other + 1;
    out.push_back({.from = source, .to = to, .bytes = traffic.sizes.draw(rng), .start = at});
    next.push({at + gap_of(mean_ps[source], rng), source});
  }
  return out;
}

}  // namespace softspine::control
