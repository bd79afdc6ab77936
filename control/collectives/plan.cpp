// SPDX-License-Identifier: Apache-2.0
// A plan's thread blocks as lanes. Their steps come in the order of the plan's rank, and no step of a loop before all
// of the loop before it: a step comes behind those that it waits for, and one loop's operations stand together.
#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "control/collectives/collective_algorithms.hpp"
#include "control/collectives/plan_cut.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::control {
namespace {

class PlanTurns {
 public:
  explicit PlanTurns(const PlanRank& rank) : order_(rank.order) {}
  bool is_of(uint32_t block) const { return order_[at_] == block; }
  void advance() { at_ = at_ + 1 == order_.size() ? 0 : at_ + 1; }

 private:
  const std::vector<uint32_t>& order_;
  size_t at_ = 0;
};

struct BufferPlace {
  DataPlace place;
  uint64_t base = 0;
};

// Where a buffer of the plan is. In place, input and output are the larger of both.
BufferPlace buffer_of(const CollectiveShape& shape, uint32_t rank, PlanPlace place) {
  if (place == PlanPlace::kScratch) return {DataPlace::kScratch};
  const bool is_input = place == PlanPlace::kInput;
  if (!shape.plan->in_place) return {is_input ? DataPlace::kInput : DataPlace::kOutput};
  const uint64_t own_block = shape.bytes / shape.ranks * rank;
  if (shape.collective == Collective::kReduceScatter) return {DataPlace::kInput, is_input ? 0 : own_block};
  return {DataPlace::kOutput, shape.collective == Collective::kAllGather && is_input ? own_block : 0};
}

class PlanLane final : public Lane {
 public:
  PlanLane(const CollectiveShape& shape, uint32_t rank, uint32_t block, std::shared_ptr<PlanTurns> turns)
      : Lane(shape.plan->ranks[rank].blocks[block].channel),
        plan_(shape.plan),
        block_(plan_->ranks[rank].blocks[block]),
        number_(block),
        cut_(shape),
        turns_(std::move(turns)) {
    for (const PlanPlace place : {PlanPlace::kInput, PlanPlace::kOutput, PlanPlace::kScratch}) {
      buffers_[static_cast<size_t>(place)] = buffer_of(shape, rank, place);
    }
  }

  bool waits() const noexcept override { return !is_over() && !turns_->is_of(number_); }

  bool next(Step& out) noexcept override {
    if (is_over()) return false;
    const PlanStep& step = block_.steps[step_];
    const uint32_t left = step.chunks - chunk_;
    const uint32_t chunks = std::min(cut_.chunks_at_once(), left);
    const ByteRange part = cut_.part(loop_);
    const ByteRange slice = cut_.cut().slice(part.bytes * chunks, slice_);
    if (step.receives || step.reads) out.data.bytes = slice.bytes;
    out.data.adds = step.adds;
    if (step.receives) out.from.add(block_.from);
    if (step.sends) out.to.add(block_.to);
    const uint64_t offset = part.offset + slice.offset;
    if (step.reads) std::tie(out.data.reads, out.data.read_offset) = at(step.read_place, step.read_chunk, offset);
    if (step.writes) std::tie(out.data.writes, out.data.write_offset) = at(step.write_place, step.write_chunk, offset);
    if (chunk_ == 0 && slice_ == 0) out.after = step.after;
    if (advance(step, chunks)) out.mark = step.mark;
    return true;
  }

 private:
  bool is_over() const { return block_.steps.empty() || loop_ == cut_.loops(); }

  std::pair<DataPlace, uint64_t> at(PlanPlace place, uint32_t chunk, uint64_t offset) const {
    const BufferPlace& buffer = buffers_[static_cast<size_t>(place)];
    return {buffer.place, buffer.base + (uint64_t{chunk} + chunk_) * cut_.chunk_bytes() + offset};
  }

  // Whether the step has ended.
  bool advance(const PlanStep& step, uint32_t chunks) {
    if (++slice_ < cut_.cut().slices()) return false;
    slice_ = 0;
    chunk_ += chunks;
    if (chunk_ < step.chunks) return false;
    chunk_ = 0;
    turns_->advance();
    if (++step_ == block_.steps.size()) {
      step_ = 0;
      ++loop_;
    }
    return true;
  }

  std::shared_ptr<const CollectivePlan> plan_;
  const PlanBlock& block_;
  uint32_t number_;
  PlanCut cut_;
  std::shared_ptr<PlanTurns> turns_;
  BufferPlace buffers_[3]{};
  uint64_t loop_ = 0;
  uint32_t step_ = 0;
  uint32_t chunk_ = 0;  // of the step
  uint32_t slice_ = 0;
};

}  // namespace

Lanes plan_lanes(const CollectiveShape& shape, const Cut&, uint32_t rank) {
  SOFTSPINE_CHECK(shape.plan && shape.plan->ranks.size() == shape.ranks, rank, shape.ranks);
  const PlanRank& planned = shape.plan->ranks[rank];
  const auto turns = std::make_shared<PlanTurns>(planned);
  Lanes lanes;
  for (uint32_t block = 0; block < planned.blocks.size(); ++block) {
    lanes.push_back(std::make_unique<PlanLane>(shape, rank, block, turns));
  }
  return lanes;
}

}  // namespace softspine::control
