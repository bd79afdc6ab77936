// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/stretches.hpp"

#include <algorithm>

namespace softspine::analysis::storm {

using dataplane::Duration;
using dataplane::Instant;

namespace {

size_t most_at_once(const PauseLog& log, const std::vector<uint32_t>& selected) {
  std::vector<Instant> ends;
  for (const uint32_t index : selected) ends.push_back(log.pauses[index].span.end);
  std::ranges::sort(ends);
  size_t most = 0;
  size_t ended = 0;
  for (size_t begun = 0; begun < selected.size(); ++begun) {
    while (ended < begun && ends[ended] <= log.pauses[selected[begun]].span.begin) ++ended;
    most = std::max(most, begun + 1 - ended);
  }
  return most;
}

std::vector<Instant> changes_of(const PauseLog& log, const std::vector<uint32_t>& selected) {
  std::vector<Instant> out;
  for (const uint32_t index : selected) {
    out.push_back(log.pauses[index].span.begin);
    out.push_back(log.pauses[index].span.end);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Instant> evenly_spaced(Instant first, Instant last, size_t moments) {
  const Duration all = last - first;
  const Duration step = Duration::ps(std::max<int64_t>(1, all.count_ps() / static_cast<int64_t>(moments)));
  std::vector<Instant> out;
  for (int64_t i = 0; step * i < all; ++i) out.push_back(first + step * i);
  out.push_back(first + all);
  return out;
}

}  // namespace

Stretches stretches_of(const PauseLog& log, const std::vector<uint32_t>& selected) {
  std::vector<Instant> bounds = changes_of(log, selected);
  const size_t affordable = std::max(kLeastMoments, kMaxWork / std::max<size_t>(1, most_at_once(log, selected)));
  const size_t moments = std::min(kMaxMoments, affordable);
  Stretches out{.stretches = {}, .is_sampled = bounds.size() > moments};
  if (out.is_sampled) bounds = evenly_spaced(bounds.front(), bounds.back(), moments);
  for (size_t i = 1; i < bounds.size(); ++i) out.stretches.push_back({bounds[i - 1], bounds[i]});
  return out;
}

}  // namespace softspine::analysis::storm
