// SPDX-License-Identifier: Apache-2.0
// Ranks in one process: a RankLink for each, which hand lots of bytes to each other. Each rank is a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "dataplane/ranks/rank_link.hpp"

namespace softspine::tests {

class RankThreads {
 public:
  explicit RankThreads(uint32_t ranks) : boxes_(size_t{ranks} * ranks), ranks_(ranks) {
    for (uint32_t r = 0; r < ranks; ++r) links_.push_back(std::make_unique<Link>(*this, r));
  }

  dataplane::RankLink& link(uint32_t rank) { return *links_[rank]; }

  // Calls run(link) for each rank at once, rank 0 on the caller's thread; returns when all have ended.
  static void run(uint32_t ranks, const std::function<void(dataplane::RankLink&)>& run) {
    RankThreads all{ranks};
    std::vector<std::jthread> others;
    for (uint32_t r = 1; r < ranks; ++r) others.emplace_back([&, r] { run(all.link(r)); });
    run(all.link(0));
  }

 private:
  using Bytes = dataplane::RankBytes;
  class Link final : public dataplane::RankLink {
   public:
    Link(RankThreads& all, uint32_t rank) : all_(all), rank_(rank) {}
    uint32_t rank() const noexcept override { return rank_; }
    uint32_t ranks() const noexcept override { return all_.ranks_; }
    std::optional<dataplane::LostRank> exchange(const std::vector<Bytes>& to,
                                                std::vector<Bytes>& from) noexcept override {
      std::unique_lock guard{all_.lock_};
      for (uint32_t r = 0; r < all_.ranks_; ++r) {
        if (r != rank_) all_.box(rank_, r).push_back(to[r]);
      }
      all_.changed_.notify_all();
      for (uint32_t r = 0; r < all_.ranks_; ++r) {
        if (r == rank_) continue;
        std::deque<Bytes>& box = all_.box(r, rank_);
        all_.changed_.wait(guard, [&box] { return !box.empty(); });
        from[r] = std::move(box.front());
        box.pop_front();
      }
      return std::nullopt;
    }

   private:
    RankThreads& all_;
    uint32_t rank_;
  };

  std::deque<Bytes>& box(uint32_t from, uint32_t to) { return boxes_[size_t{from} * ranks_ + to]; }

  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<std::deque<Bytes>> boxes_;  // [from × ranks + to]
  std::vector<std::unique_ptr<Link>> links_;
  uint32_t ranks_;
};

}  // namespace softspine::tests
