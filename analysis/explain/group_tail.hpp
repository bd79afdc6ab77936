// SPDX-License-Identifier: Apache-2.0
// How likely an ideal hash is to leave one group of links as uneven as it is: a bound that holds for few items, too,
// and for probabilities that are far smaller than trials could measure.
//
//   fullest   n items, c of them on a link of share w: at most exp(−n D(c / n ‖ w)) for c / n > w (Chernoff; D is the
//             relative entropy), times the number of links
//   idle      j of m links have nothing: at most binomial(m, j) (1 − what the j smallest shares add up to)^n
//   curve     chi-square's tail (evenness.hpp), where many pairs meet
//
// The result is the smallest of the three bounds, times 3 because three were tried (Bonferroni).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/explain/evenness.hpp"

namespace softspine::analysis {

struct GroupTail {
  double likely = 1;      // at most
  double deviation2 = 0;  // as in Evenness
};

// No two items are one draw. `most`: as in EvennessTest::result.
GroupTail group_tail(std::span<const double> weights, std::span<const EvennessTest::Item> items,
                     double most = std::numeric_limits<double>::infinity());

}  // namespace softspine::analysis
