// SPDX-License-Identifier: Apache-2.0
#include "control/placement/min_cut.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace softspine::control {
namespace {

constexpr uint32_t kNowhere = UINT32_MAX;
// Beginnings, so that a cut of thousands of ranks takes seconds, and one of a hundred no time.
constexpr uint64_t kPairsTried = 1 << 23;
constexpr uint64_t kLeastTries = 2;
constexpr uint64_t kMaxTries = 64;
constexpr uint32_t kMaxSwapRounds = 200;
constexpr double kFewPlacements = 1 << 17;  // so few are all tried: milliseconds

// Ranks are numbered anew here: those to be placed, from 0.
class Partition {
 public:
  Partition(const Talks& talks, std::span<const uint32_t> ranks, std::span<const uint32_t> room)
      : room_(room.begin(), room.end()), talks_(ranks.size()) {
    std::vector<uint32_t> number(talks.size(), kNowhere);
    for (uint32_t i = 0; i < ranks.size(); ++i) number[ranks[i]] = i;
    for (uint32_t i = 0; i < ranks.size(); ++i) {
      for (const Talk& talk : talks[ranks[i]]) {
        if (number[talk.peer] != kNowhere) talks_[i].push_back({number[talk.peer], talk.bytes});
      }
      std::ranges::sort(talks_[i], {}, &Talk::peer);
    }
  }

  std::vector<uint32_t> best() {
    const uint64_t pairs = std::max<uint64_t>(1, uint64_t{talks_.size()} * talks_.size());
    const uint64_t tries = std::clamp(kPairsTried / pairs, kLeastTries, kMaxTries);
    for (uint64_t i = 0; i < tries && (kept_.empty() || least_ > 0); ++i) {
      grow(i);
      refine();
      const double cut = this->cut();
      if (!kept_.empty() && cut >= least_) continue;
      least_ = cut;
      kept_ = island_of_;
    }
    if (std::pow(room_.size(), count()) <= kFewPlacements) place_all_from(0, 0);
    return std::move(kept_);
  }

 private:
  uint32_t count() const { return static_cast<uint32_t>(talks_.size()); }

  // The first attempt begins with the first rank and fills large islands first; the others begin anywhere.
  void grow(uint64_t attempt) {
    random_.seed(attempt);
    island_of_.assign(count(), kNowhere);
    std::vector<uint32_t> order(room_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::greater{}, [this](uint32_t island) { return room_[island]; });
    for (size_t i = 0; attempt % 2 == 1 && i < order.size(); ++i)
      std::swap(order[i], order[i + random_() % (order.size() - i)]);
    uint32_t left = count();
    while (left > 0) {
      const auto next = island_for(order, left);
      const uint32_t island = *next;
      order.erase(next);
      left -= fill(island, std::min(left, room_[island]), attempt == 0);
    }
  }

  // The smallest that holds all who are left, or else the next.
  std::vector<uint32_t>::iterator island_for(std::vector<uint32_t>& order, uint32_t left) const {
    auto out = order.begin();
    bool holds = false;
    for (auto it = order.begin(); it != order.end(); ++it) {
      if (room_[*it] < left || (holds && room_[*it] >= room_[*out])) continue;
      out = it;
      holds = true;
    }
    return out;
  }

  uint32_t fill(uint32_t island, uint32_t size, bool from_first) {
    std::vector<double> pull(count(), 0);
    for (uint32_t n = 0; n < size; ++n) {
      const uint32_t rank = n == 0 ? first_free(from_first) : most_pulled(pull);
      island_of_[rank] = island;
      for (const Talk& talk : talks_[rank]) pull[talk.peer] += talk.bytes;
    }
    return size;
  }

  uint32_t first_free(bool from_first) {
    const auto from = from_first ? 0 : static_cast<uint32_t>(random_() % count());
    for (uint32_t i = 0; i < count(); ++i) {
      const uint32_t rank = (from + i) % count();
      if (island_of_[rank] == kNowhere) return rank;
    }
    return 0;
  }

  uint32_t most_pulled(const std::vector<double>& pull) const {
    uint32_t out = kNowhere;
    for (uint32_t rank = 0; rank < count(); ++rank) {
      if (island_of_[rank] == kNowhere && (out == kNowhere || pull[rank] > pull[out])) out = rank;
    }
    return out;
  }

  void refine() {
    members_.assign(room_.size(), {});
    said_.assign(talks_.size() * room_.size(), 0);
    for (uint32_t rank = 0; rank < count(); ++rank) {
      members_[island_of_[rank]].push_back(rank);
      for (const Talk& talk : talks_[rank]) said(rank, island_of_[talk.peer]) += talk.bytes;
    }
    bool better = true;
    for (uint32_t round = 0; better && round < kMaxSwapRounds; ++round) {
      better = false;
      for (uint32_t rank = 0; rank < count(); ++rank) better = improve(rank) || better;
    }
  }

  // The traffic of a rank to all ranks on an island.
  double& said(uint32_t rank, uint32_t island) { return said_[rank * room_.size() + island]; }
  double gain(uint32_t rank, uint32_t to) { return said(rank, to) - said(rank, island_of_[rank]); }

  double between(uint32_t a, uint32_t b) const {
    const auto found = std::ranges::equal_range(talks_[a], b, {}, &Talk::peer);
    return found.empty() ? 0 : found.front().bytes;
  }

  struct Step {
    double saved = 0;
    uint32_t island = kNowhere;
    uint32_t other = kNowhere;  // who takes the rank's place; nobody: there is room
  };

  // By the step that saves most. One of two that swap gains by it alone: its own step finds them.
  bool improve(uint32_t rank) {
    const uint32_t from = island_of_[rank];
    Step best;
    for (uint32_t to = 0; to < room_.size(); ++to) {
      const double own = gain(rank, to);
      // More than what sums of doubles lose.
      const double least = std::max(best.saved, 1e-9 * (said(rank, to) + said(rank, from)));
      if (to == from || own <= 0) continue;
      if (members_[to].size() < room_[to]) {
        if (own > least) best = {own, to, kNowhere};
      } else {
        best = best_swap(rank, to, own, best);
      }
    }
    if (best.island == kNowhere) return false;
    move(rank, best.island);
    if (best.other != kNowhere) move(best.other, from);
    return true;
  }

  Step best_swap(uint32_t rank, uint32_t to, double own, Step best) {
    const double lost = 1e-9 * (own + said(rank, to));
    for (const uint32_t other : members_[to]) {
      double saved = own + gain(other, island_of_[rank]);
      if (saved <= best.saved + lost) continue;
      saved -= 2 * between(rank, other);
      if (saved > best.saved + lost) best = {saved, to, other};
    }
    return best;
  }

  void move(uint32_t rank, uint32_t to) {
    const uint32_t from = island_of_[rank];
    std::erase(members_[from], rank);
    members_[to].push_back(rank);
    island_of_[rank] = to;
    for (const Talk& talk : talks_[rank]) {
      said(talk.peer, from) -= talk.bytes;
      said(talk.peer, to) += talk.bytes;
    }
  }

  double cut() const {
    double out = 0;
    for (uint32_t rank = 0; rank < count(); ++rank) {
      for (const Talk& talk : talks_[rank]) out += island_of_[talk.peer] == island_of_[rank] ? 0 : talk.bytes;
    }
    return out / 2;
  }

  // Keeps what cuts less than what is kept, by more than what sums of doubles lose. `cut`: between the ranks before.
  void place_all_from(uint32_t rank, double cut) {
    if (cut >= least_ * (1 - 1e-9)) return;
    if (rank == count()) {
      least_ = cut;
      kept_ = island_of_;
      return;
    }
    for (uint32_t island = 0; island < room_.size(); ++island) {
      if (room_[island] == 0) continue;
      double more = 0;
      for (const Talk& talk : talks_[rank])
        more += talk.peer < rank && island_of_[talk.peer] != island ? talk.bytes : 0;
      --room_[island];
      island_of_[rank] = island;
      place_all_from(rank + 1, cut + more);
      ++room_[island];
    }
  }

  std::vector<uint32_t> room_;
  Talks talks_;
  std::vector<uint32_t> island_of_;
  std::vector<std::vector<uint32_t>> members_;
  std::vector<double> said_;  // by rank and island
  std::mt19937_64 random_;
  std::vector<uint32_t> kept_;  // the islands of the best placement so far
  double least_ = 0;            // and what it cuts
};

}  // namespace

std::vector<uint32_t> min_cut(const Talks& talks, std::span<const uint32_t> ranks, std::span<const uint32_t> room) {
  return Partition(talks, ranks, room).best();
}

double cut_of(const Talks& talks, std::span<const uint32_t> ranks, std::span<const uint32_t> island_of) {
  std::vector<uint32_t> where(talks.size(), kNowhere);
  for (size_t i = 0; i < ranks.size(); ++i) where[ranks[i]] = island_of[i];
  double out = 0;
  for (const uint32_t rank : ranks) {
    for (const Talk& talk : talks[rank]) {
      if (talk.peer > rank && where[talk.peer] != kNowhere && where[talk.peer] != where[rank]) out += talk.bytes;
    }
  }
  return out;
}

}  // namespace softspine::control
