// SPDX-License-Identifier: Apache-2.0
#include "control/generators/link_spec.hpp"

#include <cmath>
#include <numeric>

namespace softspine::control {

std::expected<uint32_t, std::string> uplinks_for(double count, dataplane::Rate down, dataplane::Rate up, Ratio ratio,
                                                 Rounding rounding) {
  const uint64_t common = std::gcd(down.count_bps(), up.count_bps());
  const uint64_t down_parts = down.count_bps() / common;
  const uint64_t up_parts = up.count_bps() / common;
  const double below = count * static_cast<double>(down_parts) * ratio.up_thousandths;
  const double above = static_cast<double>(up_parts) * ratio.down_thousandths;
  const double links = below / above;
  constexpr double kMax = 1e6;  // no switch has as many ports
  if (!(links <= kMax)) return std::unexpected("more uplinks than a switch has ports");
  if (rounding == Rounding::kUp) return static_cast<uint32_t>(std::ceil(links));
  if (std::fmod(below, above) != 0) {
    std::string text = std::to_string(links);
    text.erase(text.find_last_not_of('0') + 1);
    return std::unexpected(text + " uplinks of a switch: not a whole number");
  }
  return static_cast<uint32_t>(links);
}

}  // namespace softspine::control
