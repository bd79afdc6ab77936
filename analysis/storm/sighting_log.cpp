// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/sighting_log.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/storm/cooked.hpp"

namespace softspine::analysis::storm {

namespace {

// The packet went by twice: it left or came in twice with as many hops left, or was seen more often than a link has
// ends.
bool is_repeated(std::span<const Sighting> of_one_key) {
  for (size_t i = 0; i < of_one_key.size(); ++i) {
    size_t unknown = 0;
    for (size_t j = i + 1; j < of_one_key.size(); ++j) {
      if (of_one_key[i].mark.hops_left != of_one_key[j].mark.hops_left) continue;
      if (of_one_key[i].way != of_one_key[j].way) continue;
      if (of_one_key[i].way != Way::kUnknown || ++unknown > 1) return true;
    }
  }
  return false;
}

}  // namespace

void SightingLog::see(const CapturedFrame& frame, uint16_t link_type) {
  constexpr uint16_t kEthernet = 1;
  std::optional<FrameMark> mark;
  Way way = frame.way;
  if (link_type == kEthernet) {
    mark = mark_of(frame.bytes);
  } else if (const auto cooked = is_cooked(link_type) ? read_cooked(link_type, frame.bytes) : std::nullopt) {
    mark = mark_of(std::span{cooked->ethernet}.first(cooked->bytes));
    way = cooked->way;
  }
  if (mark) add({.mark = *mark, .way = way, .at = frame.at});
}

void SightingLog::add(const Sighting& sighting) {
  if (!is_kept(sighting.mark.key, level_)) return;
  seen_.push_back(sighting);
  while (seen_.size() > kMaxSightings) {
    if (level_ < kMaxLevel) ++level_;
    std::erase_if(seen_, [this](const Sighting& it) { return !is_kept(it.mark.key, level_); });
    if (level_ == kMaxLevel) seen_.resize(std::min(seen_.size(), kMaxSightings / 2));  // one packet, again and again
  }
}

std::vector<Sighting> SightingLog::at_level(unsigned level) const {
  std::vector<Sighting> sorted;
  for (const Sighting& it : seen_) {
    if (is_kept(it.mark.key, level)) sorted.push_back(it);
  }
  std::ranges::stable_sort(sorted, {},
                           [](const Sighting& it) { return std::tuple{it.mark.key, -int{it.mark.hops_left}, it.at}; });
  std::vector<Sighting> out;
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].mark.key == sorted[begin].mark.key) ++end;
    const auto of_one = std::span{sorted}.subspan(begin, end - begin);
    if (!is_repeated(of_one)) out.insert(out.end(), of_one.begin(), of_one.end());
    begin = end;
  }
  return out;
}

}  // namespace softspine::analysis::storm
