// SPDX-License-Identifier: Apache-2.0
// THE SEAM between ranks: processes, on one machine or on several, that run a part of one fabric each.
//
//   exchange(to, from)   every rank sends one lot of bytes to every other, and has what each has sent when it returns.
//                        All ranks call it equally often, in the same order
//
// What the bytes mean is above it (rank_talk.hpp); how they travel is below: dataplane/mpi, and threads in tests.
// Losing a rank is for good: who returns one is never called again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace softspine::dataplane {

using RankBytes = std::vector<uint8_t>;

struct LostRank {
  enum class Why : uint8_t {
    kSilent,     // no sign of life for longer than the link allows
    kGone,       // its process, or the way to it
    kOutOfStep,  // it does something else than we do: a defect
  };
  uint32_t rank = 0;
  Why why = Why::kGone;
};

class RankLink {
 public:
  virtual ~RankLink() = default;

  virtual uint32_t rank() const noexcept = 0;
  virtual uint32_t ranks() const noexcept = 0;
  // Wall time that exchanges have waited for other ranks, all together; zero where nobody measures.
  virtual std::chrono::nanoseconds waited() const noexcept { return {}; }
  // Both by rank; one's own place is neither read nor written. Returns the rank that was lost, if one was.
  virtual std::optional<LostRank> exchange(const std::vector<RankBytes>& to, std::vector<RankBytes>& from) noexcept = 0;
};

}  // namespace softspine::dataplane
