// SPDX-License-Identifier: Apache-2.0
// TimedHeap and TimedRow against a std::set of (instant, id), over random operations.
#include "dataplane/units/timed_heap.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "dataplane/units/rng.hpp"
#include "dataplane/units/timed_row.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

template <typename Queue>
class HeapAndModel {
 public:
  explicit HeapAndModel(Rng rng) : rng_(rng) {
    if (rng_.below(2) == 0) heap_.reserve(kIds);
  }

  // Instants from a small range, so that many are equal and ids settle the order.
  void step() {
    switch (rng_.below(5)) {
      case 0:
      case 1: push(static_cast<uint32_t>(rng_.below(kIds))); break;
      case 2: pop(); break;
      case 3: replace_top(); break;
      case 4: remove(static_cast<uint32_t>(rng_.below(kIds))); break;
      default: break;
    }
  }
  void expect_alike() const {
    ASSERT_EQ(heap_.size(), model_.size());
    ASSERT_EQ(heap_.empty(), model_.empty());
    if (model_.empty()) {
      ASSERT_TRUE(heap_.next().is_never());
      return;
    }
    ASSERT_EQ(heap_.next(), model_.begin()->first);
    ASSERT_EQ(heap_.top_id(), model_.begin()->second);
  }
  void pop() {
    if (model_.empty()) return;
    heap_.pop();
    times_.erase(model_.begin()->second);
    model_.erase(model_.begin());
  }
  bool empty() const { return model_.empty(); }

 private:
  static constexpr uint64_t kIds = 40;

  void push(uint32_t id) {
    if (times_.contains(id)) return;  // each id stands in it at most once
    const Instant at = Instant::at_ps(static_cast<int64_t>(rng_.below(30)));
    heap_.push(at, id);
    model_.emplace(at, id);
    times_.emplace(id, at);
  }
  void replace_top() {
    if (model_.empty()) return;
    const auto [at, id] = *model_.begin();
    const Instant later = at + Duration::ps(static_cast<int64_t>(rng_.below(20)));
    heap_.replace_top(later);
    model_.erase(model_.begin());
    model_.emplace(later, id);
    times_[id] = later;
  }
  void remove(uint32_t id) {
    heap_.remove(id);
    const auto it = times_.find(id);
    if (it == times_.end()) return;
    model_.erase({it->second, id});
    times_.erase(it);
  }

  Rng rng_;
  Queue heap_;
  std::set<std::pair<Instant, uint32_t>> model_;
  std::map<uint32_t, Instant> times_;
};

template <typename Queue>
void compare_with_set() {
  for (uint64_t round = 0; round < 200; ++round) {
    HeapAndModel<Queue> both{Rng{tests::seed(), round}};
    for (int i = 0; i < 500; ++i) {
      both.step();
      both.expect_alike();
      if (testing::Test::HasFatalFailure()) return;
    }
    while (!both.empty()) {
      both.pop();
      both.expect_alike();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(TimedHeap, IsASetOfInstantsAndIds) {
  compare_with_set<TimedHeap>();
}
TEST(TimedRow, IsASetOfInstantsAndIds) {
  compare_with_set<TimedRow>();
}

}  // namespace
}  // namespace softspine::dataplane
