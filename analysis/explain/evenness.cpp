// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/evenness.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/explain/likelihood.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

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

// Throws items anew, those of one draw to one link.
class Resampler {
 public:
  explicit Resampler(uint32_t draws) : drawn_(draws + 1, kNotYet) {}
  void begin() { std::ranges::fill(drawn_, kNotYet); }
  double u_of(std::span<const double> weights, std::span<const double> sizes, std::span<const uint32_t> draws) {
    sums_.begin(weights.size());
    PowerSums powers;
    for (size_t i = 0; i < sizes.size(); ++i) {
      powers.add(sizes[i]);
      sums_.add(link_of(weights, draws[i]), sizes[i]);
    }
    return sums_.u(weights, powers.pairs());
  }

 private:
  static constexpr uint32_t kNotYet = UINT32_MAX;
  uint32_t link_of(std::span<const double> weights, uint32_t draw) {
    if (draw == 0) return link_by(weights, rng_.unit());
    if (drawn_[draw] == kNotYet) drawn_[draw] = link_by(weights, rng_.unit());
    return drawn_[draw];
  }
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
  std::vector<uint32_t> drawn_;  // the link, by draw
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
    draws_.push_back(item.draw);
    powers.add(item.size);
    sums.add(item.link, item.size);
  }
  const double reciprocals =
      std::accumulate(weights.begin(), weights.end(), 0.0, [](double a, double w) { return a + 1 / w; });
  fewest_links_ = std::min(fewest_links_, links);
  u_ += sums.u(weights, powers.pairs());
  pairs_ += powers.pairs();
  squares_ += powers.squared_pairs() * links;
  variance_ += (links - 1) * powers.squared_pairs();
  third_ += (reciprocals - 3 * links + 2) * powers.cubed_pairs() + 6 * (links - 1) * powers.squared_triples();
  // Pearson's is (2 U + Σ v² (1 / w − 1)) / Σ v, whose mean for an ideal hash is (m − 1) Σ v² / Σ v.
  chi_square_mean_ += (links - 1) * powers.two / 2;
}

double EvennessTest::resampled(Resampler& resampler, std::span<const uint32_t> draws) const {
  double u = 0;
  resampler.begin();
  for (const Thrown& group : groups_)
    u += resampler.u_of(group.weights, std::span{sizes_}.subspan(group.first, group.count),
                        draws.subspan(group.first, group.count));
  return u;
}

std::vector<uint32_t> EvennessTest::numbered_draws() const {
  std::vector<uint32_t> out(draws_.size(), 0);
  if (groups_.size() < 2) return out;
  std::vector<uint64_t> sorted = draws_;
  std::ranges::sort(sorted);
  std::vector<uint64_t> repeated;
  for (size_t i = 1; i < sorted.size(); ++i) {
    const bool is_new = repeated.empty() || repeated.back() != sorted[i];
    if (sorted[i] != 0 && sorted[i] == sorted[i - 1] && is_new) repeated.push_back(sorted[i]);
  }
  if (repeated.empty()) return out;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto found = std::ranges::equal_range(repeated, draws_[i]);
    if (!found.empty()) out[i] = static_cast<uint32_t>(found.begin() - repeated.begin()) + 1;
  }
  return out;
}

EvennessTest::Common EvennessTest::common_draws() const {
  const std::vector<uint32_t> draws = numbered_draws();
  const uint32_t repeated = draws.empty() ? 0 : std::ranges::max(draws);
  if (repeated == 0) return {};
  struct Part {
    uint32_t group = 0;
    double size = 0;
  };
  std::vector<std::vector<Part>> parts(repeated + 1);  // by draw
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    for (size_t i = groups_[g].first; i < groups_[g].first + groups_[g].count; ++i) {
      if (draws[i] != 0) parts[draws[i]].push_back({g, sizes_[i]});
    }
  }
  Common out;
  std::vector<double> products(groups_.size(), 0);
  std::vector<double> squares(groups_.size(), 0);
  std::vector<uint32_t> met;
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    double own = 0;
    for (size_t i = groups_[g].first; i < groups_[g].first + groups_[g].count; ++i) {
      own += sizes_[i] * sizes_[i];
      for (const Part& part : parts[draws[i]]) {
        if (part.group == g) continue;
        const double product = part.size * sizes_[i];
        if (products[part.group] == 0) met.push_back(part.group);
        products[part.group] += product;
        squares[part.group] += product * product;
      }
    }
    const auto freedom = static_cast<double>(groups_[g].weights.size() - 1);
    double row = own;
    out.squares += own * own;
    for (const uint32_t other : met) {
      out.variance += freedom / 2 * (products[other] * products[other] - squares[other]);
      out.squares += products[other] * products[other];
      row += products[other];
      products[other] = squares[other] = 0;
    }
    out.largest_row = std::max(out.largest_row, row);
    met.clear();
  }
  return out;
}

EvennessTest::Curve EvennessTest::curve(double most) const {
  Curve out{.evenness = {.pairs = pairs_}};
  if (variance_ <= 0) return out;
  const Common common = common_draws();
  const double variance = variance_ + common.variance;
  out.deviation = std::sqrt(variance);
  out.expected = pairs_ * pairs_ / squares_ * variance_ / variance;
  out.counted = std::min(u_, most);
  double skewness = third_ / (variance * out.deviation);
  if (common.variance > 0)
    skewness = std::sqrt(8 / (fewest_links_ - 1)) * std::min(1.0, common.largest_row / std::sqrt(common.squares)) +
               1 / std::sqrt(out.expected);
  out.evenness.deviation2 = out.counted / pairs_;
  out.evenness.relative = std::max(0.0, 1 + u_ / chi_square_mean_);
  out.evenness.more = upper_tail(out.counted / out.deviation, skewness);
  // A bound of the skewness makes the upper tail larger, and would make the lower one smaller.
  out.evenness.less = lower_tail(u_ / out.deviation, common.variance > 0 ? 0 : skewness);
  return out;
}

Evenness EvennessTest::result(double finest, double most) const {
  const Curve found = curve(most);
  Evenness out = found.evenness;
  if (variance_ <= 0) return out;
  const double rounding = 1e-9 * found.deviation;
  const bool is_more_tried = needs_trials(found.counted / found.deviation, out.more, found.expected);
  const bool is_less_tried = needs_trials(-u_ / found.deviation, out.less, found.expected);
  if (!is_more_tried && !is_less_tried) return out;
  const std::vector<uint32_t> draws = numbered_draws();
  Resampler resampler(std::ranges::max(draws));
  if (is_more_tried)
    out.more = tried_tail(finest, [&] { return resampled(resampler, draws) >= found.counted - rounding; });
  if (is_less_tried) out.less = tried_tail(finest, [&] { return resampled(resampler, draws) <= u_ + rounding; });
  return out;
}

}  // namespace softspine::analysis
