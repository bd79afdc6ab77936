// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/plan_check.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace softspine::control {
namespace {

struct BlockState {
  uint32_t step = 0;
  uint32_t message = 0;  // of the step
};

class PlanExecution {
 public:
  PlanExecution(const CollectivePlan& plan, const PlanMessages& messages) : plan_(plan), messages_(messages) {
    for (uint32_t rank = 0; rank < plan.ranks.size(); ++rank) {
      states_.emplace_back(plan.ranks[rank].blocks.size());
      marked_.emplace_back(plan.ranks[rank].marks, false);
      awake_.push_back(rank);
    }
    is_awake_.assign(plan.ranks.size(), true);
  }

  std::string run() {
    while (!awake_.empty()) {
      const uint32_t rank = awake_.front();
      awake_.pop_front();
      is_awake_[rank] = false;
      while (run_blocks(rank)) {
      }
    }
    return first_stop();
  }

 private:
  using Link = std::tuple<uint32_t, uint32_t, uint32_t>;  // from, to, channel

  static Link link_in(const PlanBlock& block, uint32_t rank) { return {block.from, rank, block.channel}; }
  static Link link_out(const PlanBlock& block, uint32_t rank) { return {rank, block.to, block.channel}; }

  bool run_blocks(uint32_t rank) {
    bool moved = false;
    const PlanRank& planned = plan_.ranks[rank];
    for (uint32_t i = 0; i < planned.blocks.size(); ++i) {
      while (run_message(rank, planned.blocks[i], states_[rank][i])) moved = true;
    }
    return moved;
  }

  bool run_message(uint32_t rank, const PlanBlock& block, BlockState& state) {
    if (state.step == block.steps.size()) return false;
    const PlanStep& step = block.steps[state.step];
    if (step.after != kNoMark && !marked_[rank][step.after]) return false;
    if (step.receives && under_way_[link_in(block, rank)] == 0) return false;
    if (step.sends && under_way_[link_out(block, rank)] >= messages_.slots) return false;
    if (step.receives) {
      --under_way_[link_in(block, rank)];
      wake(block.from);
    }
    if (step.sends) {
      ++under_way_[link_out(block, rank)];
      wake(block.to);
    }
    if (++state.message < messages_.of_step(step)) return true;
    if (step.mark != kNoMark) marked_[rank][step.mark] = true;
    state = {state.step + 1, 0};
    return true;
  }

  void wake(uint32_t rank) {
    if (is_awake_[rank]) return;
    is_awake_[rank] = true;
    awake_.push_back(rank);
  }

  std::string first_stop() const {
    for (uint32_t rank = 0; rank < plan_.ranks.size(); ++rank) {
      for (uint32_t i = 0; i < states_[rank].size(); ++i) {
        const PlanBlock& block = plan_.ranks[rank].blocks[i];
        const uint32_t at = states_[rank][i].step;
        if (at == block.steps.size()) continue;
        return "gpu " + std::to_string(rank) + ", tb " + std::to_string(block.id) + ", step " + std::to_string(at) +
               " (line " + std::to_string(block.steps[at].line) + ") waits for ever for " +
               reason(rank, block, block.steps[at]);
      }
    }
    return {};
  }

  std::string reason(uint32_t rank, const PlanBlock& block, const PlanStep& step) const {
    const auto under_way = [&](const Link& link) {
      const auto found = under_way_.find(link);
      return found == under_way_.end() ? 0 : found->second;
    };
    if (step.after != kNoMark && !marked_[rank][step.after]) return "another tb's step";
    if (step.receives && under_way(link_in(block, rank)) == 0)
      return "a message from gpu " + std::to_string(block.from);
    return "room for a message to gpu " + std::to_string(block.to);
  }

  const CollectivePlan& plan_;
  const PlanMessages& messages_;
  std::vector<std::vector<BlockState>> states_;
  std::vector<std::vector<bool>> marked_;
  std::map<Link, uint64_t> under_way_;
  std::deque<uint32_t> awake_;
  std::vector<bool> is_awake_;
};

}  // namespace

std::vector<uint32_t> order_of_steps(const PlanRank& rank) {
  std::vector<uint32_t> order;
  std::vector<uint32_t> next(rank.blocks.size());
  std::vector<bool> marked(rank.marks);
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = 0; i < rank.blocks.size(); ++i) {
      const std::vector<PlanStep>& steps = rank.blocks[i].steps;
      if (next[i] == steps.size()) continue;
      const PlanStep& step = steps[next[i]];
      if (step.after != kNoMark && !marked[step.after]) continue;
      if (step.mark != kNoMark) marked[step.mark] = true;
      ++next[i];
      order.push_back(i);
      moved = true;
    }
  }
  return order;
}

std::string where_it_stops(const CollectivePlan& plan, const PlanMessages& messages) {
  return PlanExecution(plan, messages).run();
}

}  // namespace softspine::control
