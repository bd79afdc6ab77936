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
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace softspine::control {

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
  };
  // Adds one group. Its weights add up to 1, and must outlive the test.
  void add(std::span<const double> weights, std::span<const Item> items);

  // `finest`: the smallest probability that the caller distinguishes.
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
