// SPDX-License-Identifier: Apache-2.0
// Are flows spread over groups of links as an ideal hash would do it, given which flows came to which group?
//
// Pearson's chi-square without its diagonal: for each pair of items in a group, whether they share a link. An ideal
// hash puts each item on link i with probability w_i (its weight), independently of the others. With h(a, b) = 1 / w_i
// if both are on link i, else 0,
//   U = Σ_pairs v_a v_b (h(a, b) − 1)
// has, whatever the items' sizes v (flows, queue pairs of one key, bytes), and m links:
//   mean 0      variance (m − 1) Σ_pairs v_a² v_b²
//   third moment (Σ 1/w − 3 m + 2) Σ_pairs v_a³ v_b³ + 6 (m − 1) Σ_triples v_a² v_b² v_c²
// (Pairs are uncorrelated, since h averages to 1 whatever a is; of triples of pairs, only three equal ones and
// triangles count.) Groups are independent, so all three moments add up. U / Σ_pairs v_a v_b estimates, without bias,
// the square of the links' deviation from their shares over the mean: 0 for an ideal hash, m − 1 if one link has
// everything.
// Items of several groups may be one draw: a key that comes to several switches with one function gets the same link
// everywhere. With A(g, g') = Σ v_g v_g' over what two groups have in common, and B(g, g') = Σ (v_g v_g')², the
// covariance of two groups' U is (m − 1) (A² − B) / 2. The skewness is then bounded through the largest eigenvalue of
// A, which is at most the largest sum of a row of A.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace softspine::analysis {

struct Evenness {
  double pairs = 0;       // pairs of items in one group, weighted by their sizes
  double deviation2 = 0;  // (deviation / mean)² of the links' shares, beyond chance
  double more = 1;        // the probability that an ideal hash is as uneven as this
  double less = 1;        // the probability that it is as even
  double relative = 1;    // chi-square / what an ideal hash has
};

class EvennessTest {
 public:
  struct Item {
    uint32_t link = 0;
    double size = 1;
    uint64_t draw = 0;  // items of several groups with the same number are one draw; 0: its own
  };
  // Adds one group. Its weights add up to 1, and must outlive the test. No two of its items are one draw; groups that
  // have a draw in common have the same weights.
  void add(std::span<const double> weights, std::span<const Item> items);

  // `finest`: the smallest probability that the caller distinguishes. `most`: for `more` and
  // `deviation2`, U counts up to this value only.
  Evenness result(double finest, double most = std::numeric_limits<double>::infinity()) const;
  // The same by the curve of the moments alone, without trials.
  Evenness by_curve(double most = std::numeric_limits<double>::infinity()) const { return curve(most).evenness; }
  double expected_pairs() const { return curve(0).expected; }
  double variance() const { return curve(0).deviation * curve(0).deviation; }  // of U, for an ideal hash

 private:
  struct Thrown {
    std::span<const double> weights;
    size_t first = 0;  // of sizes_
    size_t count = 0;
  };
  // Sums that groups have in common.
  struct Common {
    double variance = 0;  // to be added to that of independent groups
    double squares = 0;   // Σ A², also of each group with itself
    double largest_row = 0;
  };
  Common common_draws() const;
  // Each item's number of its draw, from 1, if other items are of the same draw, else 0.
  std::vector<uint32_t> numbered_draws() const;
  struct Curve {
    Evenness evenness;
    double deviation = 0;  // of U
    double expected = 0;   // pairs that meet
    double counted = 0;    // of U
  };
  Curve curve(double most) const;
  double resampled(class Resampler& resampler, std::span<const uint32_t> draws) const;

  std::vector<Thrown> groups_;
  std::vector<double> sizes_;
  std::vector<uint64_t> draws_;
  double fewest_links_ = std::numeric_limits<double>::infinity();
  double u_ = 0;
  double variance_ = 0;
  double third_ = 0;
  double pairs_ = 0;
  double squares_ = 0;  // of the pairs' products
  double chi_square_mean_ = 0;
};

}  // namespace softspine::analysis
