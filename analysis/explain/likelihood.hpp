// SPDX-License-Identifier: Apache-2.0
// How likely chance is to give as much as was seen.
//
// A sum over many pairs of flows is close to a gamma distribution, whose tail Wilson and Hilferty's cube root gives
// from mean, variance and skewness (Proc. Natl. Acad. Sci. 17, 1931). Where few pairs are expected to meet, the sum is
// far from any curve. Then random trials are made, with a seed of their own, until enough of them have reached what was
// seen to know the probability (Besag, Clifford, Biometrika 78, 1991).
#pragma once

#include <cstdint>

namespace softspine::analysis {

// P(X ≥ x) with z = (x − mean) / deviation.
double upper_tail(double z, double skewness);
inline double lower_tail(double z, double skewness) {
  return upper_tail(-z, -skewness);
}

// From this many expected pairs on the curve is used: the skewness that it does not account for is 1 / √30.
inline constexpr double kManyPairs = 30;
// Whether random trials are needed: fewer pairs are expected, and the curve's answer is small enough to matter.
bool needs_trials(double z, double tail, double expected_pairs);

// `reaches()` makes one random trial, and returns whether it reached what was seen. `finest`: the smallest probability
// of use.
template <typename Reaches>
double tried_tail(double finest, Reaches&& reaches) {
  constexpr uint32_t kEnough = 20;
  const auto trials = static_cast<uint32_t>(2 / finest);
  uint32_t reached = 0;
  for (uint32_t i = 1; i <= trials; ++i) {
    reached += reaches() ? 1 : 0;
    if (reached == kEnough) return static_cast<double>(kEnough) / i;
  }
  return (1.0 + reached) / (1.0 + trials);
}

}  // namespace softspine::analysis
