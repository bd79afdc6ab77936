// SPDX-License-Identifier: Apache-2.0
// How a plan's chunks become messages, as MSCCL's interpreter cuts them.
//
//   chunk     bytes / the plan's chunks
//   loop      all steps, for so much of each chunk as one chunk of the protocol has room for (cut.hpp)
//   message   a slice. A step of several chunks goes at once as far as that room goes, else chunk by chunk
#pragma once

#include <algorithm>
#include <cstdint>

#include "control/collectives/cut.hpp"
#include "control/model/collective_plan.hpp"

namespace softspine::control {

class PlanCut {
 public:
  // Its bytes are a multiple of the plan's chunks.
  explicit PlanCut(const CollectiveShape& shape)
      : cut_(shape),
        chunk_(shape.bytes / shape.plan->chunks),
        room_(cut_.chunk_bytes(chunk_)),
        at_once_(static_cast<uint32_t>(std::clamp<uint64_t>(chunk_ == 0 ? 1 : room_ / chunk_, 1, UINT32_MAX))) {}

  const Cut& cut() const { return cut_; }
  uint64_t chunk_bytes() const { return chunk_; }
  uint64_t loops() const { return (chunk_ + room_ - 1) / room_; }
  // Of each chunk, in that loop.
  ByteRange part(uint64_t loop) const { return {loop * room_, std::min(room_, chunk_ - loop * room_)}; }
  // Chunks of a step that go as one, which is then cut into slices.
  uint32_t chunks_at_once() const { return at_once_; }
  uint32_t messages(const PlanStep& step) const { return (step.chunks + at_once_ - 1) / at_once_ * cut_.slices(); }
  // In a loop of the rank.
  uint32_t operations(const PlanRank& rank) const {
    uint64_t count = 1;
    for (const PlanBlock& block : rank.blocks) {
      for (const PlanStep& step : block.steps) {
        count += uint64_t{messages(step)} * (1U + (step.receives ? 1U : 0U) + (step.sends ? 1U : 0U));
      }
    }
    return static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
  }

 private:
  Cut cut_;
  uint64_t chunk_;
  uint64_t room_;
  uint32_t at_once_;
};

}  // namespace softspine::control
