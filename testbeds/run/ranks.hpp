// SPDX-License-Identifier: Apache-2.0
// The ranks that a run is spread over: which nodes are whose, and how control learns what it needs from all.
//
// Control runs on every rank, and decides alike: by the testbed, the instant, the states of links, and what it has
// gathered. So each call here is made by all ranks, in the same order, from actions or while nothing runs; with one
// rank it costs nothing.
//   gather    every rank gets every rank's value
//   collect   rank 0 gets every rank's value; the others get nothing
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "control/model/fabric.hpp"
#include "dataplane/ranks/rank_talk.hpp"
#include "testbeds/run/struct_bytes.hpp"

namespace softspine::testbeds {

class Ranks {
 public:
  // One process has all nodes.
  Ranks() = default;
  // `talk`: null as well. Outlives this. `workers`: of each rank.
  Ranks(dataplane::RankTalk* talk, const control::Fabric& fabric, uint32_t workers);

  bool is_alone() const { return talk_ == nullptr; }
  bool is_first() const { return rank() == 0; }
  uint32_t rank() const { return talk_ == nullptr ? 0 : talk_->rank(); }
  uint32_t ranks() const { return talk_ == nullptr ? 1 : talk_->ranks(); }
  dataplane::RankTalk* talk() const { return talk_; }

  uint32_t rank_of(uint32_t node) const { return talk_ == nullptr ? 0 : share_of_[node] / workers_; }
  // At its rank.
  uint32_t worker_of(uint32_t node) const { return share_of_[node] % workers_; }
  bool is_here(uint32_t node) const { return rank_of(node) == rank(); }

  template <typename T>
  std::vector<T> gather(const T& mine) const {
    if (is_alone()) return {mine};
    dataplane::RankBytes bytes;
    put_struct(bytes, mine);
    return read<T>(talk_->gather(std::move(bytes)));
  }
  template <typename T>
  std::vector<T> collect(const T& mine) const {
    if (is_alone()) return {mine};
    if (!is_first()) put_struct(talk_->to(0), mine);
    talk_->exchange(dataplane::RankTalk::Purpose::kGather);
    std::vector<T> out;
    if (!is_first()) return out;
    for (uint32_t r = 0; r < ranks(); ++r) {
      if (r == 0) {
        out.push_back(mine);
      } else {
        out.push_back(read_one<T>(talk_->from(r), r));
      }
    }
    return out;
  }
  // What single ranks know of something numbered, by its member `number`.
  template <typename T, typename Number>
  std::vector<T> collect_all(const std::vector<T>& mine, Number number) const {
    std::vector<T> out;
    for (auto& each : collect(mine)) std::ranges::move(each, std::back_inserter(out));
    std::ranges::sort(out, {}, number);
    return out;
  }
  dataplane::Instant least(dataplane::Instant mine) const { return is_alone() ? mine : talk_->least(mine); }
  // True if it is on every rank.
  bool all(bool mine) const { return least(mine ? dataplane::Instant::never() : dataplane::Instant{}).is_never(); }

 private:
  template <typename T>
  T read_one(const dataplane::RankBytes& bytes, uint32_t rank) const {
    T out{};
    dataplane::RankReader in{bytes};
    take_struct(in, out);
    if (!in.is_whole() || !in.empty()) talk_->lose(rank, dataplane::LostRank::Why::kOutOfStep);
    return out;
  }
  template <typename T>
  std::vector<T> read(const std::vector<dataplane::RankBytes>& all) const {
    std::vector<T> out;
    for (uint32_t r = 0; r < all.size(); ++r) out.push_back(read_one<T>(all[r], r));
    return out;
  }

  dataplane::RankTalk* talk_ = nullptr;
  uint32_t workers_ = 1;
  std::vector<uint32_t> share_of_;  // by node: rank × workers + worker
};

}  // namespace softspine::testbeds
