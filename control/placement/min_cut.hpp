// SPDX-License-Identifier: Apache-2.0
// Places a job's ranks on islands of limited size so that few of the bytes between ranks cross from island to island.
//
// The least cut is NP-hard to find. Here each island grows from one rank: the next rank is always the one that
// exchanges most with those already on the island. The island filled next is the smallest that holds all ranks left, or
// else the largest. Then ranks move and swap as long as that saves bytes. Several first ranks are tried, and the best
// result is kept. On graphs small enough all placements are tried, too, so that it is the least cut
// (tests/unit/placement).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace softspine::control {

struct Talk {
  uint32_t peer = 0;
  double bytes = 0;  // both ways together
};

// The traffic by rank; each rank's by ascending peer. Symmetric.
using Talks = std::vector<std::vector<Talk>>;

// An island for each of `ranks`. The rooms add up to at least as many.
std::vector<uint32_t> min_cut(const Talks& talks, std::span<const uint32_t> ranks, std::span<const uint32_t> room);

// Bytes between ranks on different islands.
double cut_of(const Talks& talks, std::span<const uint32_t> ranks, std::span<const uint32_t> island_of);

}  // namespace softspine::control
