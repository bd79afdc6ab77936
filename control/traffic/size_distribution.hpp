// SPDX-License-Identifier: Apache-2.0
// How large flows are: a cumulative distribution, linear between its points.
//
//   points   bytes and the share of flows that have at most so many; both ascend, from a share of 0 to all of them
//   a draw   a share s, uniform in [0, 1): bytes₀ + (bytes₁ − bytes₀) · (s − share₀) / (share₁ − share₀), between the
//            points around s, rounded down, at least 1
//   mean     Σ (bytes₀ + bytes₁) / 2 · (share₁ − share₀)
//
// As the traffic generator of HPCC (Li et al., SIGCOMM 2019) reads such files and draws. Integers alone: a seed
// gives the same flows on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/units/rng.hpp"

namespace softspine::control {

// Shares are in parts of this: percent with ten decimals.
inline constexpr uint64_t kWholeShare = 1'000'000'000'000;

struct SizePoint {
  uint64_t bytes = 0;
  uint64_t share = 0;  // of kWholeShare
};

class SizeDistribution {
 public:
  // The points must be good: fault_of() finds nothing.
  explicit SizeDistribution(std::vector<SizePoint> points) : points_(std::move(points)) {}

  uint64_t draw(dataplane::Rng& rng) const;
  // Twice the mean, in bytes, times kWholeShare.
  dataplane::Uint128 mean_doubled() const;
  double mean() const { return static_cast<double>(mean_doubled()) / 2 / static_cast<double>(kWholeShare); }

 private:
  std::vector<SizePoint> points_;
};

// What is wrong with point `i` behind those before it; empty: nothing. `last`: no other follows.
std::string fault_of(std::span<const SizePoint> points, size_t i, bool last);

// Distributions that were published (published_sizes.cpp says where).
struct PublishedSizes {
  std::string_view word;
  std::string_view of;
  std::span<const SizePoint> points;
};
std::span<const PublishedSizes> published_sizes();
// Nothing if none has this name.
std::optional<SizeDistribution> published_as(std::string_view word);

}  // namespace softspine::control
