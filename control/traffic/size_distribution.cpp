// SPDX-License-Identifier: Apache-2.0
#include "control/traffic/size_distribution.hpp"

#include <algorithm>

#include "control/traffic/flow.hpp"

namespace softspine::control {

using dataplane::Uint128;

uint64_t SizeDistribution::draw(dataplane::Rng& rng) const {
  const uint64_t share = rng.below(kWholeShare);
  const auto above = std::ranges::upper_bound(points_, share, {}, &SizePoint::share);
  const SizePoint& a = *(above - 1);
  const SizePoint& b = *above;
  const Uint128 more = Uint128{b.bytes - a.bytes} * (share - a.share) / (b.share - a.share);
  return std::max<uint64_t>(1, a.bytes + static_cast<uint64_t>(more));
}

Uint128 SizeDistribution::mean_doubled() const {
  Uint128 out = 0;
  for (size_t i = 1; i < points_.size(); ++i)
    out += Uint128{points_[i - 1].bytes + points_[i].bytes} * (points_[i].share - points_[i - 1].share);
  return out;
}

std::optional<SizeDistribution> published_as(std::string_view word) {
  const auto all = published_sizes();
  const auto found = std::ranges::find(all, word, &PublishedSizes::word);
  if (found == all.end()) return std::nullopt;
  return SizeDistribution({found->points.begin(), found->points.end()});
}

std::string fault_of(std::span<const SizePoint> points, size_t i, bool last) {
  const SizePoint& point = points[i];
  if (point.bytes > kMaxMessageBytes) return "a flow has at most 2^31 bytes";
  if (i == 0 && point.share != 0) return "the first line must be at 0 %: the bytes of the smallest flow";
  if (i > 0 && point.bytes <= points[i - 1].bytes) return "the bytes must ascend from line to line";
  if (i > 0 && point.share <= points[i - 1].share) return "the percent must ascend from line to line";
  return last && point.share != kWholeShare ? "the last line must be at 100 %" : "";
}

}  // namespace softspine::control
