// SPDX-License-Identifier: Apache-2.0
// Are flows spread over groups of links as an ideal hash would do it, given which flows came to which group?
//
// Pearson's chi-square without its diagonal: of each pair of items in a group, whether they share a link. An ideal hash
// throws each item on link i with chance w_i (its weight) by itself, so with h(a, b) = 1 / w_i if both lie on i, else
// 0,
//   U = Σ_pairs v_a v_b (h(a, b) − 1)
// has, whatever the items' sizes v (flows, queue pairs of one key, bytes), and m links:
//   mean 0      variance (m − 1) Σ_pairs v_a² v_b²
//   third moment (Σ 1/w − 3 m + 2) Σ_pairs v_a³ v_b³ + 6 (m − 1) Σ_triples v_a² v_b² v_c²
// (pairs are uncorrelated, since h averages to 1 whatever a is; of three pairs only the same and a triangle count.)
// Groups are thrown independently: all three add up. U / Σ_pairs v_a v_b estimates, without bias, the square of the
// links' deviation from their shares over the mean: 0 for an ideal hash, m − 1 if one link has everything.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace softspine::control {

struct Evenness {
  double pairs = 0;       // of items that were in one group, by size
  double deviation2 = 0;  // (deviation / mean)² of the links' shares, beyond chance
  double more = 1;        // how likely an ideal hash is as uneven as this
  double less = 1;        // or as even
  double relative = 1;    // chi-square / what an ideal hash has
};

class EvennessTest {
 public:
  struct Item {
    uint32_t link = 0;
    double size = 1;
  };
  // One group; weights are 1 in all, and outlive the test.
  void add(std::span<const double> weights, std::span<const Item> items);

  // `finest`: the smallest likelihood that the caller tells apart.
  Evenness result(double finest) const;

 private:
  struct Thrown {
    std::span<const double> weights;
    size_t first = 0;  // of sizes_
    size_t count = 0;
  };
  double thrown_again(class Thrower& thrower) const;

  std::vector<Thrown> groups_;
  std::vector<double> sizes_;
  double u_ = 0;
  double variance_ = 0;
  double third_ = 0;
  double pairs_ = 0;
  double squares_ = 0;  // of the pairs' products
  double chi_square_mean_ = 0;
};

}  // namespace softspine::control
