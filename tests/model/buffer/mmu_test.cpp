// SPDX-License-Identifier: Apache-2.0
// The MMU against a slow second implementation of the rules, and against the closed form of dynamic limits.
#include "dataplane/buffer/mmu.hpp"

#include <gtest/gtest.h>

#include "dataplane/units/rng.hpp"
#include "tests/model/buffer/slow_mmu.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

struct Frame {
  uint32_t in_port;
  uint32_t out_port;
  uint32_t group;
  uint32_t queue;
  uint32_t bytes;

  Mmu::Account account() const { return {Mmu::number_of_pg(in_port, group), Mmu::number_of_queue(out_port, queue)}; }
};

// A random division of a random memory: both models of it.
class Pair {
 public:
  static constexpr uint32_t kPorts = 3;

  explicit Pair(uint64_t seed) : rng_(seed, 0) {
    constexpr uint32_t kCells[] = {1, 80, 144, 208, 254, 384};
    cell_ = kCells[rng_.below(std::size(kCells))];
    plan_.cell = CellSize{cell_};
    slow.cell = cell_;
    plan_.slices = 1 + static_cast<uint32_t>(rng_.below(3));
    for (uint32_t port = 0; port <= kPorts; ++port) {
      slow.slice_of_port[port] = static_cast<uint32_t>(rng_.below(plan_.slices));
    }
    replan();
  }
  void replan() {
    plan_.ingress_pools.clear();
    plan_.egress_pools.clear();
    slow.ingress.clear();
    slow.egress.clear();
    for (uint32_t i = 0; i < 2 * plan_.slices; ++i) {
      add_pool(plan_.ingress_pools, slow.ingress, rng_.below(2) == 0);
      add_pool(plan_.egress_pools, slow.egress, false);
    }
    plan_.ports.assign(kPorts + 1, {});
    for (uint32_t port = 0; port <= kPorts; ++port) {
      plan_.ports[port].slice = static_cast<uint8_t>(slow.slice_of_port[port]);
      for (uint32_t i = 0; i < 8; ++i) plan_group(port, i);
      for (uint32_t i = 0; i < 8; ++i) plan_queue(port, i);
    }
    slow.ingress_limits.clear();
    slow.egress_limits.clear();
    const uint64_t limits = rng_.below(6);  // of both sides, of one of them, of none
    for (uint32_t port = 0; port <= kPorts; ++port) plan_port(port, limits <= 2, limits <= 1 || limits == 3);
    fast.apply(plan_);
  }
  // The same plan, but that some have more reserved cells. The slow model stays behind.
  void reserve_more() {
    for (uint32_t port = 0; port <= kPorts; ++port) {
      for (uint32_t i = 0; i < 8; ++i) {
        if (rng_.below(3) == 0) plan_.ports[port].groups[i].reserved_cells += cells_up_to(3'000);
        if (rng_.below(3) == 0) plan_.ports[port].queues[i].reserved_cells += cells_up_to(3'000);
      }
    }
    fast.apply(plan_);
  }
  // The same plan, but that some groups are lossless no more, or are now: their headroom may hold cells. Likewise.
  void change_lossless() {
    for (PortBufferPlan& port : plan_.ports) {
      for (PriorityGroupPlan& group : port.groups) group.lossless ^= rng_.below(6) == 0;
    }
    fast.apply(plan_);
  }
  Frame random_frame() {
    const auto below = [this](uint32_t n) { return static_cast<uint32_t>(rng_.below(n)); };
    return {below(kPorts + 1), below(kPorts), below(3), below(3), below(4) == 0 ? 60 + below(9200) : 60 + below(1500)};
  }
  Rng& rng() { return rng_; }
  const BufferPlan& plan() const { return plan_; }

  Mmu fast{kPorts};
  SlowMmu slow;

 private:
  uint32_t cells_up_to(uint32_t bytes) { return static_cast<uint32_t>(rng_.below(bytes / cell_ + 2)); }
  void add_pool(std::vector<PoolPlan>& fast_pools, std::vector<SlowPool>& slow_pools, bool with_headroom) {
    const PoolPlan pool{cells_up_to(200'000), with_headroom ? cells_up_to(60'000) : 0};
    fast_pools.push_back(pool);
    slow_pools.push_back({static_cast<double>(pool.shared_cells), static_cast<double>(pool.headroom_cells)});
  }
  std::pair<SharedLimit, SlowLimit> limit() {
    if (rng_.below(3) == 0) {
      const uint32_t cells = cells_up_to(100'000);
      return {SharedLimit::fixed(cells), {false, 0, static_cast<double>(cells)}};
    }
    const int th = static_cast<int>(rng_.below(11)) - 7;
    return {SharedLimit::dynamic(th), {true, th, 0}};
  }
  void plan_group(uint32_t port, uint32_t i) {
    PriorityGroupPlan& fast_group = plan_.ports[port].groups[i];
    SlowGroup& group = slow.groups[{port, i}];
    std::tie(fast_group.limit, group.limit) = limit();
    group.pool = fast_group.pool = static_cast<uint8_t>(rng_.below(2) * plan_.slices + slow.slice_of_port[port]);
    group.lossless = fast_group.lossless = rng_.below(2) == 0;
    group.size = fast_group.reserved_cells = cells_up_to(5'000);
    group.xoff = fast_group.headroom_cells = cells_up_to(40'000);
    group.xon = fast_group.xon_cells = cells_up_to(10'000);
    group.xon_offset = fast_group.xon_offset_cells = cells_up_to(5'000);
  }
  void plan_queue(uint32_t port, uint32_t i) {
    QueuePlan& fast_queue = plan_.ports[port].queues[i];
    SlowQueue wanted;
    std::tie(fast_queue.limit, wanted.limit) = limit();
    fast_queue.pool = static_cast<uint8_t>(rng_.below(2) * plan_.slices);
    wanted.size = fast_queue.reserved_cells = cells_up_to(5'000);
    for (uint32_t slice = 0; slice < plan_.slices; ++slice) {
      SlowQueue& queue = slow.queues[{slice * SlowMmu::kSlice + port, i}];
      wanted.pool = fast_queue.pool + slice;
      wanted.in_reserved = queue.in_reserved;
      wanted.in_shared = queue.in_shared;
      queue = wanted;
    }
  }

  void plan_port(uint32_t port, bool limits_ingress, bool limits_egress) {
    for (uint8_t pool = 0; pool < 2 * plan_.slices; ++pool) {
      for (const bool ingress : {true, false}) {
        if (!(ingress ? limits_ingress : limits_egress) || rng_.below(2) == 0) continue;
        const auto [fast_limit, slow_limit] = limit();
        PortBufferPlan& plan = plan_.ports[port];
        (ingress ? plan.ingress_limits : plan.egress_limits).push_back({pool, fast_limit});
        (ingress ? slow.ingress_limits : slow.egress_limits)[{port, pool}] = slow_limit;
      }
    }
  }

  Rng rng_;
  uint32_t cell_ = 1;
  BufferPlan plan_;
};

std::string verdict_of(const Mmu& mmu, uint32_t cells) {
  if (cells != 0) return "admitted";
  switch (mmu.refused_for()) {
    case DropReason::kQueueFull: return "queue";
    case DropReason::kIngressFull: return "ingress";
    case DropReason::kHeadroomFull: return "lossless";
    default: return "otherwise";
  }
}

void compare_use(Pair& both, const Frame& frame) {
  const auto& [in_port, out_port, g, q, bytes] = frame;
  const PriorityGroupUse& group = both.fast.pg(in_port, g);
  const SlowGroup& slow_group = both.slow.groups.at({in_port, g});
  ASSERT_EQ(group.reserved(), slow_group.in_reserved);
  ASSERT_EQ(group.shared, slow_group.in_shared);
  ASSERT_EQ(group.headroom, slow_group.in_headroom);
  ASSERT_EQ(group.xoff, slow_group.stopped);
  ASSERT_EQ(group.packets, slow_group.admitted);
  ASSERT_EQ(both.fast.extremes(in_port, g).counters.dropped_packets, slow_group.refused);
  ASSERT_EQ(both.fast.extremes(in_port, g).headroom_watermark, slow_group.most_headroom);
  const SlowQueue& slow_queue = both.slow.queue_of(in_port, out_port, q);
  const QueueUse& queue = both.fast.queue(out_port, q, both.slow.slice_of_port.at(in_port));
  ASSERT_EQ(queue.reserved(), slow_queue.in_reserved);
  ASSERT_EQ(queue.shared, slow_queue.in_shared);
}

// One event: a frame comes, or one that is held goes.
void step(Pair& both, std::vector<Frame>& held, bool comes) {
  if (comes) {
    const Frame frame = both.random_frame();
    const auto& [in_port, out_port, g, q, bytes] = frame;
    const bool stopped = both.slow.groups.at({in_port, g}).stopped;
    const std::string wanted = both.slow.arrive(in_port, g, out_port, q, bytes);
    const uint32_t found = both.fast.admit(frame.account(), frame.bytes);
    const bool admitted = wanted == "reserved" || wanted == "shared" || wanted == "headroom";
    ASSERT_EQ(verdict_of(both.fast, found), admitted ? "admitted" : wanted);
    ASSERT_EQ(found != 0 && both.fast.must_raise_xoff(), both.slow.groups.at({in_port, g}).stopped && !stopped);
    if (admitted) held.push_back(frame);
    compare_use(both, frame);
    return;
  }
  const size_t which = both.rng().below(held.size());
  const Frame frame = held[which];
  held[which] = held.back();
  held.pop_back();
  const auto& [in_port, out_port, g, q, bytes] = frame;
  ASSERT_EQ(both.fast.release(frame.account(), both.fast.cell().cells_of(frame.bytes)),
            both.slow.leave(in_port, g, out_port, q, bytes));
  compare_use(both, frame);
}

void run_events(uint64_t seed, int events) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Pair both{seed};
  std::vector<Frame> held;
  bool filling = true;
  for (int i = 0; i < events; ++i) {
    if (both.rng().below(400) == 0) filling = !filling;
    const bool comes = held.empty() || both.rng().below(10) < (filling ? 8U : 2U);
    step(both, held, comes);
    if (::testing::Test::HasFatalFailure()) return;
    if (i % 1000 == 0) {
      ASSERT_STREQ(both.fast.validate(held.empty()), "");
    }
  }
  while (!held.empty()) {
    step(both, held, false);
    if (::testing::Test::HasFatalFailure()) return;
  }
  ASSERT_STREQ(both.fast.validate(false), "");
}

TEST(Mmu, DecidesMillionsOfEventsAsTheSlowRulesDo) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    run_events(seed, 20'000);
    if (HasFatalFailure()) return;
  }
}

TEST(Mmu, KeepsItsSumsWhenThePlanChangesUnderTraffic) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Pair both{seed};
    std::vector<Frame> held;
    for (int i = 0; i < 5'000; ++i) {
      step(both, held, held.empty() || both.rng().below(10) < 6);
      if (HasFatalFailure()) return;
      if (i % 500 == 499) {
        both.replan();
        ASSERT_STREQ(both.fast.validate(false), "");
      }
    }
    for (const Frame& frame : held) both.fast.release(frame.account(), both.fast.cell().cells_of(frame.bytes));
    for (uint16_t port = 0; port <= Pair::kPorts; ++port) {
      for (uint8_t g = 0; g < 8; ++g) both.fast.reconsider_xoff(port, g);
    }
    ASSERT_STREQ(both.fast.validate(true), "");
  }
}

// A switch that reports releases late, as egress does: admission goes by admit_usual() and pass_on() as far as they go.
class LateReleases {
 public:
  LateReleases(Mmu& mmu, Rng& rng) : mmu_(mmu), rng_(rng) {}

  uint32_t admit(const Frame& frame) {
    const uint32_t cells = mmu_.cell().cells_of(frame.bytes);
    for (Frame& left : waiting_) {
      if (left.account().group != frame.account().group || left.account().queue != frame.account().queue) continue;
      if (mmu_.cell().cells_of(left.bytes) != cells || rng_.below(4) == 0) continue;
      if (!mmu_.pass_on(frame.account(), cells)) break;
      ++passed_on;
      left = waiting_.back();
      waiting_.pop_back();
      return cells;
    }
    const bool is_exact = waiting_.empty() && rng_.below(2) == 0;
    if (const uint32_t usual = mmu_.admit_usual(frame.account(), frame.bytes, is_exact); usual != 0) {
      ++taken_as_usual;
      return usual;
    }
    report();
    return mmu_.admit(frame.account(), frame.bytes);
  }
  bool release(const Frame& frame) {
    if (mmu_.exact_only()) return mmu_.release(frame.account(), mmu_.cell().cells_of(frame.bytes));
    waiting_.push_back(frame);
    return false;
  }
  void report() {
    for (const Frame& frame : waiting_)
      EXPECT_FALSE(mmu_.release(frame.account(), mmu_.cell().cells_of(frame.bytes))) << "an XOFF depends on it";
    waiting_.clear();
  }
  bool has_reported_all() const { return waiting_.empty(); }
  // Needs one that is not reported.
  const Frame& one_that_left() { return waiting_[rng_.below(waiting_.size())]; }

  uint32_t passed_on = 0;
  uint32_t taken_as_usual = 0;

 private:
  Mmu& mmu_;
  Rng& rng_;
  std::vector<Frame> waiting_;
};

template <typename Use>
std::vector<uint32_t> values_of(const Use& use) {
  return {use.shared, use.reserved(), use.shared_watermark, static_cast<uint32_t>(use.pool->free),
          static_cast<uint32_t>(use.pool->least_free)};
}
void expect_alike(const Mmu& a, const Mmu& b, uint32_t slices) {
  for (uint32_t port = 0; port <= Pair::kPorts; ++port) {
    for (uint32_t i = 0; i < 8; ++i) {
      ASSERT_EQ(values_of(a.pg(port, i)), values_of(b.pg(port, i)));
      ASSERT_EQ(a.pg(port, i).headroom, b.pg(port, i).headroom);
      ASSERT_EQ(a.pg(port, i).xoff, b.pg(port, i).xoff);
      ASSERT_EQ(a.pg(port, i).packets, b.pg(port, i).packets);
      for (uint32_t slice = 0; slice < slices; ++slice)
        ASSERT_EQ(values_of(a.queue(port, i, slice)), values_of(b.queue(port, i, slice)));
    }
  }
}

enum class Replans : uint8_t { kNone, kAnew, kMoreReserved, kLossless, kCount };

// Also what of it is unlike: XOFF that the new plan clears.
void replan_both(Pair& both, Mmu& exact, Replans how) {
  if (how == Replans::kAnew) both.replan();
  if (how == Replans::kMoreReserved) both.reserve_more();
  if (how == Replans::kLossless) both.change_lossless();
  exact.apply(both.plan());
  for (uint16_t port = 0; port <= Pair::kPorts; ++port) {
    for (uint8_t group = 0; group < 8; ++group)
      ASSERT_EQ(both.fast.reconsider_xoff(port, group), exact.reconsider_xoff(port, group));
  }
}

// Adds how many frames took over cells of one that had left, and how many were the usual case.
void compare_late(uint64_t seed, Replans replans, uint32_t& passed_on, uint32_t& taken_as_usual) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Pair both{seed};
  Mmu exact{Pair::kPorts};
  exact.apply(both.plan());
  LateReleases late{both.fast, both.rng()};
  std::vector<Frame> held;
  bool filling = true;
  for (int i = 0; i < 10'000; ++i) {
    if (both.rng().below(200) == 0) filling = !filling;
    if (held.empty() || both.rng().below(10) < (filling ? 7U : 3U)) {
      const bool is_like_one_that_left = !late.has_reported_all() && both.rng().below(2) == 0;
      const Frame frame = is_like_one_that_left ? late.one_that_left() : both.random_frame();
      const uint32_t cells = exact.admit(frame.account(), frame.bytes);
      ASSERT_EQ(late.admit(frame), cells);
      ASSERT_EQ(exact.must_raise_xoff(), both.fast.must_raise_xoff());
      if (cells != 0) held.push_back(frame);
    } else {
      std::swap(held[both.rng().below(held.size())], held.back());
      ASSERT_EQ(late.release(held.back()),
                exact.release(held.back().account(), exact.cell().cells_of(held.back().bytes)));
      held.pop_back();
    }
    if (both.rng().below(100) == 0) late.report();
    if (replans != Replans::kNone && both.rng().below(700) == 0) {
      late.report();
      replan_both(both, exact, replans);
    }
    if (!late.has_reported_all()) continue;
    expect_alike(both.fast, exact, both.plan().slices);
    if (testing::Test::HasFatalFailure()) return;
  }
  passed_on += late.passed_on;
  taken_as_usual += late.taken_as_usual;
}

TEST(Mmu, IsTheSameForReleasesThatAreReportedLate) {
  uint32_t passed_on = 0;
  uint32_t taken_as_usual = 0;
  constexpr auto kKinds = static_cast<uint64_t>(Replans::kCount);
  for (uint64_t seed = 1; seed <= 20 * kKinds; ++seed) {
    compare_late(seed, static_cast<Replans>(seed % kKinds), passed_on, taken_as_usual);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(passed_on, 5'000u);
  EXPECT_GT(taken_as_usual, 20'000u);
}

// N groups that all want the pool settle at α B / (1 + α N) each.
TEST(Mmu, GivesEachOfManyHungryGroupsTheClosedFormsShare) {
  constexpr uint32_t kPool = 100'000;
  for (int th = -7; th <= 3; ++th) {
    for (uint32_t n = 1; n <= 32; n *= 2) {
      BufferPlan plan = BufferPlan::plain_limits(n, {});
      plan.ingress_pools[0].shared_cells = kPool;
      for (PortBufferPlan& port : plan.ports) {
        port.groups[3].limit = SharedLimit::dynamic(th);
        port.queues[3].limit = SharedLimit::fixed(BufferPlan::kUnlimitedCells);
      }
      Mmu mmu{n};
      mmu.apply(plan);
      for (bool grew = true; grew;) {
        grew = false;
        for (uint16_t port = 0; port < n; ++port) {
          grew |= mmu.admit({Mmu::number_of_pg(port, 3), Mmu::number_of_queue(0, 3)}, 1) != 0;
        }
      }
      const double alpha = std::pow(2.0, th);
      const double share = alpha * kPool / (1 + alpha * n);
      for (uint16_t port = 0; port < n; ++port) {
        EXPECT_NEAR(mmu.pg(port, 3).shared, share, 1 + alpha) << "2^" << th << ", " << n << " groups";
      }
    }
  }
}

// A release would take the headroom's cells first, and the next frame would be charged shared ones.
TEST(Mmu, WantsEachReleaseWhileAGroupThatIsLossyNowHoldsHeadroom) {
  BufferPlan plan = BufferPlan::plain_limits(1, {});
  plan.ingress_pools[0].shared_cells = 100'000;
  plan.ports[0].queues[0].limit = SharedLimit::fixed(BufferPlan::kUnlimitedCells);
  PriorityGroupPlan& group = plan.ports[0].groups[0];
  group.limit = SharedLimit::fixed(4'000);
  group.headroom_cells = 5'000;
  group.lossless = true;
  Mmu mmu{1};
  mmu.apply(plan);
  EXPECT_FALSE(mmu.exact_only());
  ASSERT_EQ(mmu.admit({0, 0}, 3'000), 3'000U);
  ASSERT_EQ(mmu.admit({0, 0}, 3'000), 3'000U);
  ASSERT_TRUE(mmu.must_raise_xoff());
  ASSERT_EQ(mmu.admit({0, 0}, 3'000), 3'000U);
  ASSERT_EQ(mmu.pg(0, 0).headroom, 3'000U);
  group.lossless = false;
  group.limit = SharedLimit::fixed(20'000);
  mmu.apply(plan);
  ASSERT_TRUE(mmu.reconsider_xoff(0, 0));
  EXPECT_TRUE(mmu.exact_only());
  mmu.release({0, 0}, 3'000);
  ASSERT_EQ(mmu.pg(0, 0).headroom, 0U);
  mmu.apply(plan);
  EXPECT_FALSE(mmu.exact_only());
}

TEST(CellSize, CountsCellsAsDivisionDoes) {
  for (uint32_t cell = 1; cell <= 1024; ++cell) {
    const CellSize size{cell};
    for (uint32_t bytes = 1; bytes <= 9300; ++bytes) {
      ASSERT_EQ(size.cells_of(bytes), (bytes + cell - 1) / cell) << bytes << " bytes in cells of " << cell;
    }
  }
}

TEST(Mmu, ClearsWatermarksToWhatIsHeld) {
  BufferPlan plan = BufferPlan::plain_limits(1, {10'000, 0, 0, 0, 0, 0, 0, 0});
  Mmu mmu{1};
  mmu.apply(plan);
  ASSERT_EQ(mmu.admit({0, 0}, 3000), 3000U);
  ASSERT_EQ(mmu.admit({0, 0}, 2000), 2000U);
  mmu.release({0, 0}, 3000);
  EXPECT_EQ(mmu.queue(0, 0).shared_watermark, 5000U);
  EXPECT_EQ(mmu.pg(0, 0).shared_watermark, 5000U);
  mmu.clear_watermarks();
  EXPECT_EQ(mmu.queue(0, 0).shared_watermark, 2000U);
  EXPECT_EQ(mmu.pg(0, 0).shared_watermark, 2000U);
  EXPECT_EQ(mmu.ingress_pools()[0].watermark(), 2000U);
}

}  // namespace
}  // namespace softspine::tests
