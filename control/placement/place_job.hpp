// SPDX-License-Identifier: Apache-2.0
// A scheduler: of a fabric's free servers, which a job gets, and which of them has which rank.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "control/placement/islands.hpp"
#include "control/placement/min_cut.hpp"

namespace softspine::control {

// The most pairs of communicating ranks that min-cut accepts in a job.
inline constexpr uint64_t kMaxTalkingPairs = 8'000'000;

// Each returns a server for each rank: an index into the servers that islands_of was given. `free` has at least as many
// servers as there are ranks, in the order in which packed takes them. min-cut cuts at the top tier first, then within
// each island at the next tier, by the ranks' traffic to each other there (rails_of).
std::vector<uint32_t> packed_servers(size_t ranks, std::span<const uint32_t> free);
std::vector<uint32_t> drawn_servers(size_t ranks, std::span<const uint32_t> free, uint64_t seed, std::string_view name);
struct TierTalks {
  const TierIslands* tier = nullptr;
  Talks talks;
};
std::vector<uint32_t> min_cut_servers(const std::vector<TierTalks>& tiers, size_t ranks,
                                      std::span<const uint32_t> free);

}  // namespace softspine::control
