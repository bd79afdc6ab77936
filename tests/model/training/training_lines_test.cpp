// SPDX-License-Identifier: Apache-2.0
// Random trainings, executed by all ranks in random order with the least windows: everybody ends.
#include "control/training/training_lines.hpp"

#include <gtest/gtest.h>

#include "control/collectives/collective_work.hpp"
#include "control/training/training_plan.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/training/patient_ranks.hpp"

namespace softspine::tests {
namespace {

using namespace control;
using dataplane::Duration;

class DrawnTraining {
 public:
  explicit DrawnTraining(uint64_t seed) : random_(seed) {
    constexpr ParallelSizes kSizes[]{{1, 1}, {2, 1}, {4, 1}, {2, 2}, {1, 4}, {3, 1}};
    run_.sizes = kSizes[below(6)];
    const auto ranks = static_cast<uint32_t>(run_.sizes.tensor * run_.sizes.expert * (1 + below(3)) * 2);
    run_.traffic.hosts.resize(ranks);
    run_.iterations = 1 + static_cast<uint32_t>(below(3));
    std::vector<TrainingLayer> layers(1 + below(4));
    for (TrainingLayer& layer : layers) {
      layer = {"l", drawn_phase(), drawn_phase(), drawn_phase(), Duration::ps(static_cast<int64_t>(below(2)))};
    }
    const ParallelGroups groups(ranks, run_.sizes);
    run_.plan = plan_of(layers, below(4) == 0 ? StepOrder::kOneByOne : StepOrder::kStep, groups, 1'000'000);
    for (const GroupKind kind : run_.plan.kinds) add_shapes(kind, groups);
  }

  const TrainingRun& run() const { return run_; }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }

  LayerPhase drawn_phase() {
    constexpr Collective kOps[]{Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter,
                                Collective::kBroadcast, Collective::kAllToAll};
    LayerPhase out{.compute = Duration::ps(static_cast<int64_t>(below(3)))};
    if (below(4) == 0) return out;
    out.op = kOps[below(5)];
    out.group = static_cast<GroupKind>(below(kGroupKinds));
    out.bytes = 1 + below(below(2) == 0 ? 100 : 3'000'000);
    return out;
  }

  void add_shapes(GroupKind kind, const ParallelGroups& groups) {
    for (uint32_t number = 0; number < groups.count(kind); ++number) {
      auto& shapes = run_.shapes[static_cast<size_t>(kind)].emplace_back();
      for (const GroupCollective& it : run_.plan.collectives[static_cast<size_t>(kind)]) {
        const bool is_tree = it.op == Collective::kAllReduce && it.bytes % 2 == 0;
        shapes.push_back({.collective = it.op,
                          .algorithm = it.op == Collective::kAllToAll ? CollectiveAlgorithm::kDirect
                                       : is_tree                      ? CollectiveAlgorithm::kTree
                                                                      : CollectiveAlgorithm::kRing,
                          .ranks = groups.size(kind),
                          .bytes = it.bytes,
                          .channels = 1 + static_cast<uint32_t>(it.bytes % 3)});
      }
    }
  }

  std::mt19937_64 random_;
  TrainingRun run_;
};

// By kind, over all steps.
uint64_t bytes_of(const TrainingRun& run, GroupKind kind) {
  const ParallelGroups groups(static_cast<uint32_t>(run.traffic.hosts.size()), run.sizes);
  uint64_t out = 0;
  for (const TrainingAction& action : run.plan.actions) {
    if (action.kind != TrainingAction::Kind::kBegin || action.group != kind) continue;
    for (uint32_t number = 0; number < groups.count(kind); ++number) {
      const CollectiveShape& shape = run.shapes[static_cast<size_t>(kind)][number][action.collective];
      for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
        for (const CollectiveConnection& each : connections_of(shape, rank)) out += each.bytes * run.iterations;
      }
    }
  }
  return out;
}

TEST(TrainingLines, EndInAnyOrderWithTheLeastWindows) {
  const uint32_t rounds = to_draw(200);
  for (uint32_t round = 0; round < rounds; ++round) {
    const uint64_t seed_of_round = seed() * 10'000 + round;
    SCOPED_TRACE(seed_of_round);
    const DrawnTraining drawn(seed_of_round);
    PatientRanks ranks(drawn.run(), seed_of_round);
    ASSERT_EQ(ranks.run(), "");
    for (const GroupKind kind : drawn.run().plan.kinds) {
      const auto sent = ranks.sent_bytes().find(static_cast<uint32_t>(kind));
      ASSERT_EQ(sent == ranks.sent_bytes().end() ? 0 : sent->second, bytes_of(drawn.run(), kind));
    }
  }
}

}  // namespace
}  // namespace softspine::tests
