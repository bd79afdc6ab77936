// SPDX-License-Identifier: Apache-2.0
// How flows spread over links: measured, and what an ideal hash would do with as many.
//
//   max over mean (MMR)   the fullest link's flows, divided by the mean of all links
//   Jain's index          (Σx)² / (n Σx²): 1 even, 1/n all on one (Jain, Chiu, Hawe, DEC-TR-301, 1984)
//
// Few flows are never even: 16 on 16 links have a max over mean of 3.08 on average, also with an ideal hash, 1000 have
// 1.23. So each figure comes with the ideal's: every switch's flows thrown at random over its own links, a thousand
// times. What is above all thousand is no accident (once in a thousand).
#pragma once

#include <cstdint>
#include <vector>

namespace softspine::control {

struct Spread {
  uint64_t flows = 0;
  uint32_t links = 0;
  uint32_t idle = 0;  // links without a flow
  double max_over_mean = 0;
  double jain = 0;
};

// The flows of each link; empty or all zero: a spread of nothing.
Spread spread_of(const std::vector<uint32_t>& flows);

struct Ideal {
  double max_over_mean = 0;  // on average
  double largest = 0;        // of a thousand
  double jain = 0;           // on average
};

// `switches`: how many flows each spreads over how many links of its own.
struct Thrower {
  uint32_t flows = 0;
  uint32_t links = 0;
};
Ideal ideal_of(const std::vector<Thrower>& switches, uint32_t rounds = 1'000);

}  // namespace softspine::control
