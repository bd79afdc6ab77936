// SPDX-License-Identifier: Apache-2.0
// All that ranks say to each other during a run, over one RankLink and in one order.
//
//   window, action   messages for nodes elsewhere, and how far each rank is (engine/rank_meeting.hpp)
//   gather           what control wants to know from all ranks: each gives its bytes, and each gets those of all
//   least            the smallest of all ranks' instants
//   clock            what ranks' clocks show, before the first window
//
// Control decides alike on every rank, so all ranks ask the same in the same order. Each lot carries its number and its
// purpose; a rank that is somewhere else is found at once, and not by wrong results.
//
// A run cannot go on without one of its ranks. on_loss is called with the first that is lost, and must not return.
// One thread at a time: worker 0's, or the caller's while no worker runs.
#pragma once

#include <functional>

#include "dataplane/ranks/rank_link.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class RankTalk {
 public:
  enum class Purpose : uint8_t { kWindow, kAction, kGather, kLeast, kClock };

  // `link` outlives this.
  RankTalk(RankLink& link, std::function<void(const LostRank&)> on_loss);

  uint32_t rank() const { return link_.rank(); }
  uint32_t ranks() const { return link_.ranks(); }

  // What the next exchange() sends to `rank`; empty after each.
  RankBytes& to(uint32_t rank) { return to_[rank]; }
  void exchange(Purpose purpose) noexcept;
  // What it has brought, until the next one.
  const RankBytes& from(uint32_t rank) const { return from_[rank]; }

  // By rank, `mine` at its place.
  std::vector<RankBytes> gather(RankBytes mine) noexcept;
  Instant least(Instant mine) noexcept;

  std::chrono::nanoseconds waited() const { return link_.waited(); }

  // What a rank has sent is not what was agreed.
  void lose(uint32_t rank, LostRank::Why why) noexcept;

 private:
  RankLink& link_;
  std::function<void(const LostRank&)> on_loss_;
  std::vector<RankBytes> to_;
  std::vector<RankBytes> from_;
  uint64_t exchanges_ = 0;
};

}  // namespace softspine::dataplane
