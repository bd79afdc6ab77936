// SPDX-License-Identifier: Apache-2.0
#include "dataplane/ranks/rank_talk.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "dataplane/ranks/rank_bytes.hpp"

namespace softspine::dataplane {

namespace {

// At the end of each lot, so that it is taken off without a copy.
struct Trailer {
  uint64_t number = 0;
  uint64_t purpose = 0;
};

}  // namespace

RankTalk::RankTalk(RankLink& link, std::function<void(const LostRank&)> on_loss)
    : link_(link), on_loss_(std::move(on_loss)), to_(link.ranks()), from_(link.ranks()) {}

void RankTalk::lose(uint32_t rank, LostRank::Why why) noexcept {
  on_loss_({rank, why});
  std::abort();
}

void RankTalk::exchange(Purpose purpose) noexcept {
  const Trailer mine{.number = ++exchanges_, .purpose = static_cast<uint64_t>(purpose)};
  for (uint32_t r = 0; r < ranks(); ++r) {
    if (r != rank()) put(to_[r], mine);
  }
  if (const auto lost = link_.exchange(to_, from_)) lose(lost->rank, lost->why);
  for (uint32_t r = 0; r < ranks(); ++r) {
    to_[r].clear();
    if (r == rank()) continue;
    RankBytes& bytes = from_[r];
    const size_t before = bytes.size() - std::min(bytes.size(), sizeof(Trailer));
    const Trailer theirs = RankReader{std::span(bytes).subspan(before)}.take<Trailer>();
    if (theirs.number != mine.number || theirs.purpose != mine.purpose) lose(r, LostRank::Why::kOutOfStep);
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(before), bytes.end());
  }
}

std::vector<RankBytes> RankTalk::gather(RankBytes mine) noexcept {
  for (uint32_t r = 0; r < ranks(); ++r) {
    if (r != rank()) to_[r] = mine;
  }
  exchange(Purpose::kGather);
  from_[rank()] = std::move(mine);
  return std::exchange(from_, std::vector<RankBytes>(ranks()));
}

Instant RankTalk::least(Instant mine) noexcept {
  for (uint32_t r = 0; r < ranks(); ++r) {
    if (r != rank()) put(to_[r], mine);
  }
  exchange(Purpose::kLeast);
  for (uint32_t r = 0; r < ranks(); ++r) {
    if (r != rank()) mine = std::min(mine, RankReader{from_[r]}.take<Instant>());
  }
  return mine;
}

}  // namespace softspine::dataplane
