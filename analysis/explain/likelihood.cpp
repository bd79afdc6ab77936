// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/likelihood.hpp"

#include <cmath>
#include <numbers>

namespace softspine::analysis {

double upper_tail(double z, double skewness) {
  if (std::abs(skewness) < 1e-6) return 0.5 * std::erfc(z / std::numbers::sqrt2);
  // Below the end of the distribution's support all is above, and the other way round.
  const double inside = 1 + skewness * z / 2;
  if (inside <= 0) return skewness > 0 ? 1 : 0;
  const double normal = 6 / skewness * (std::cbrt(inside) - 1) + skewness / 6;
  return 0.5 * std::erfc(normal / std::numbers::sqrt2);
}

bool needs_trials(double z, double tail, double expected_pairs) {
  constexpr double kOfInterest = 0.02;
  constexpr double kBeyondDoubt = 12;  // deviations, if at least one pair was to be expected
  if (expected_pairs >= kManyPairs || tail > kOfInterest) return false;
  return z < kBeyondDoubt || expected_pairs < 1;
}

}  // namespace softspine::analysis
