// SPDX-License-Identifier: Apache-2.0
// Ranks on islands of limited room, so that little of what they say to each other goes from one island to another.
//
// Finding the least is NP-hard. This grows an island from a rank by whoever talks most to those that are in, fills the
// smallest island that holds all who are left, or else the largest, and then moves and swaps ranks as long as that
// saves something; several beginnings are tried, and the best is kept. On graphs small enough to try all
// placements it finds the least (tests/unit/placement). The same input gives the same placement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace softspine::control {

struct Talk {
  uint32_t peer = 0;
  double bytes = 0;  // both ways together
};

// By rank; each rank's by ascending peer. Symmetric.
using Talks = std::vector<std::vector<Talk>>;

// An island for each of `ranks`. The rooms add up to at least as many.
std::vector<uint32_t> min_cut(const Talks& talks, std::span<const uint32_t> ranks, std::span<const uint32_t> room);

// Bytes between ranks on different islands.
double cut_of(const Talks& talks, std::span<const uint32_t> ranks, std::span<const uint32_t> island_of);

}  // namespace softspine::control
