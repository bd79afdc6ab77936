// SPDX-License-Identifier: Apache-2.0
// A scheduler: of a fabric's free servers, which a job gets, and which of them has which rank.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "control/model/job.hpp"
#include "control/placement/islands.hpp"
#include "control/placement/min_cut.hpp"

namespace softspine::control {

// The most pairs of communicating ranks that min-cut accepts in a job.
inline constexpr uint64_t kMaxTalkingPairs = 8'000'000;

// Each returns a server for each rank: an index into the servers that islands_of was given. `free` has at least as many
// servers as there are ranks, in the order in which packed takes them; `tiers` are those of the fabric. min-cut cuts at
// the top tier first, then within each island at the next tier.
std::vector<uint32_t> packed_servers(size_t ranks, std::span<const uint32_t> free);
std::vector<uint32_t> drawn_servers(size_t ranks, std::span<const uint32_t> free, uint64_t seed, std::string_view name);
std::vector<uint32_t> min_cut_servers(const Talks& talks, std::span<const uint32_t> free,
                                      const std::vector<TierIslands>& tiers);

// The traffic that crosses each tier. `servers`: the server of each rank.
std::vector<TierCrossing> crossings_of(const Talks& talks, std::span<const uint32_t> servers,
                                       const std::vector<TierIslands>& tiers);

}  // namespace softspine::control
