// SPDX-License-Identifier: Apache-2.0
#include "control/explain/evenness.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "control/explain/likelihood.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::control {

namespace {

// Σ x^k over the items, for the sums over pairs and triples.
struct PowerSums {
  double one = 0, two = 0, three = 0, four = 0, six = 0;
  void add(double v) {
    const double v2 = v * v;
    one += v;
    two += v2;
    three += v2 * v;
    four += v2 * v2;
    six += v2 * v2 * v2;
  }
  double pairs() const { return (one * one - two) / 2; }
  double squared_pairs() const { return (two * two - four) / 2; }
  double cubed_pairs() const { return (three * three - six) / 2; }
  double squared_triples() const { return (two * two * two - 3 * two * four + 2 * six) / 6; }
};

// U of one group from the sums of each link: sizes, and their squares.
class LinkSums {
 public:
  void begin(size_t links) {
    sums_.assign(links, 0);
    squares_.assign(links, 0);
  }
  void add(uint32_t link, double size) {
    sums_[link] += size;
    squares_[link] += size * size;
  }
  double u(std::span<const double> weights, double pairs) const {
    double shared = 0;
    for (size_t i = 0; i < sums_.size(); ++i) shared += (sums_[i] * sums_[i] - squares_[i]) / 2 / weights[i];
    return shared - pairs;
  }

 private:
  std::vector<double> sums_;
  std::vector<double> squares_;
};

}  // namespace

// Throws a group's items anew.
class Thrower {
 public:
  double u_of(std::span<const double> weights, std::span<const double> sizes) {
    sums_.begin(weights.size());
    PowerSums powers;
    for (const double size : sizes) {
      powers.add(size);
      sums_.add(link_by(weights, rng_.unit()), size);
    }
    return sums_.u(weights, powers.pairs());
  }

 private:
  static uint32_t link_by(std::span<const double> weights, double at) {
    if (weights.front() == weights.back() && weights.front() * static_cast<double>(weights.size()) > 0.999999)
      return std::min(static_cast<uint32_t>(at * static_cast<double>(weights.size())),
                      static_cast<uint32_t>(weights.size() - 1));
    uint32_t link = 0;
    while (link + 1 < weights.size() && at >= weights[link]) at -= weights[link++];
    return link;
  }
  dataplane::Rng rng_{1, 0};
  LinkSums sums_;
};

void EvennessTest::add(std::span<const double> weights, std::span<const Item> items) {
  if (items.size() < 2 || weights.size() < 2) return;
  const auto links = static_cast<double>(weights.size());
  groups_.push_back({weights, sizes_.size(), items.size()});
  PowerSums powers;
  LinkSums sums;
  sums.begin(weights.size());
  for (const Item& item : items) {
    sizes_.push_back(item.size);
    powers.add(item.size);
    sums.add(item.link, item.size);
  }
  const double reciprocals =
      std::accumulate(weights.begin(), weights.end(), 0.0, [](double a, double w) { return a + 1 / w; });
  u_ += sums.u(weights, powers.pairs());
  pairs_ += powers.pairs();
  squares_ += powers.squared_pairs() * links;
  variance_ += (links - 1) * powers.squared_pairs();
  third_ += (reciprocals - 3 * links + 2) * powers.cubed_pairs() + 6 * (links - 1) * powers.squared_triples();
  // Pearson's is (2 U + Σ v² (1 / w − 1)) / Σ v, whose mean for an ideal hash is (m − 1) Σ v² / Σ v.
  chi_square_mean_ += (links - 1) * powers.two / 2;
}

double EvennessTest::thrown_again(Thrower& thrower) const {
  double u = 0;
  for (const Thrown& group : groups_)
    u += thrower.u_of(group.weights, std::span{sizes_}.subspan(group.first, group.count));
  return u;
}

Evenness EvennessTest::result(double finest) const {
  Evenness out{.pairs = pairs_};
  if (variance_ <= 0) return out;
  const double deviation = std::sqrt(variance_);
  const double z = u_ / deviation;
  const double skewness = third_ / (variance_ * deviation);
  const double expected = pairs_ * pairs_ / squares_;
  out.deviation2 = u_ / pairs_;
  out.relative = std::max(0.0, 1 + u_ / chi_square_mean_);
  out.more = upper_tail(z, skewness);
  out.less = lower_tail(z, skewness);
  constexpr double kRounding = 1e-9;
  Thrower thrower;
  if (needs_trials(z, out.more, expected))
    out.more = tried_tail(finest, [&] { return thrown_again(thrower) >= u_ - kRounding * deviation; });
  if (needs_trials(-z, out.less, expected))
    out.less = tried_tail(finest, [&] { return thrown_again(thrower) <= u_ + kRounding * deviation; });
  return out;
}

}  // namespace softspine::control
