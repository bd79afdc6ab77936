// SPDX-License-Identifier: Apache-2.0
// AllReduce in two dimensions, as MPI libraries and BlueConnect have it (NCCL has not): k GPUs a server, N servers.
//
//   1  reduce-scatter in the server    GPU g gets the sum of block g: k − 1 exchanges, with g + d and g − d
//   2  AllReduce by rail               the ring of all GPUs g over block g: 2(N − 1) transfers by the NIC
//   3  all-gather in the server        block g goes to all: k − 1 exchanges
//
// Each NIC carries 2(N − 1)/N of a k-th of the bytes: what a ring by servers carries with k channels, in N − 1 steps
// in the place of k · N − 1. All channels do the same on parts of their own, and so work in different phases at once.
// A thread block's slots serve all whom it talks to, so that messages stay in their order from loop to loop.
// A loop handles one chunk of the ring for each rank; messages in the server are blocks, those of the ring slices.
#include <algorithm>

#include "control/collectives/collective_algorithms.hpp"

namespace softspine::control {
namespace {

class HierarchicalLane final : public Lane {
 public:
  HierarchicalLane(const CollectiveShape& shape, const Cut& cut, uint32_t rank, uint32_t channel)
      : Lane(channel),
        cut_(cut),
        gpus_(shape.per_server),
        servers_(shape.ranks / shape.per_server),
        gpu_(rank % gpus_),
        server_(rank / gpus_),
        part_(cut.part(channel)),
        full_chunk_(cut.chunk_bytes(part_.bytes)) {
    begin_loop();
  }

  bool next(Step& out) noexcept override {
    if (done_ == part_.bytes) return false;
    switch (phase_) {
      case Phase::kScatter: fill_scatter(out); break;
      case Phase::kRing: fill_ring(out); break;
      case Phase::kGather: fill_gather(out); break;
    }
    advance();
    return true;
  }

 private:
  enum class Phase : uint8_t { kScatter, kRing, kGather };

  static uint64_t share(uint64_t bytes, uint32_t of) { return ((bytes + of - 1) / of + 15) / 16 * 16; }
  uint32_t gpu_at(uint32_t ahead) const { return (gpu_ + ahead) % gpus_; }
  uint32_t mate(uint32_t gpu) const { return server_ * gpus_ + gpu; }
  // Of the loop, from its first byte on.
  ByteRange block_of(uint32_t gpu) const {
    const uint64_t offset = std::min(loop_bytes_, block_bytes_ * gpu);
    return {offset, std::min(block_bytes_, loop_bytes_ - offset)};
  }
  DataUse use_of(ByteRange range, DataPlace reads, DataPlace writes) const {
    const uint64_t offset = part_.offset + done_ + range.offset;
    return {.reads = reads, .writes = writes, .read_offset = offset, .write_offset = offset, .bytes = range.bytes};
  }

  // Round d = step + 1: block g + d of what this GPU has goes to GPU g + d.
  void fill_scatter(Step& out) const {
    const uint32_t to = gpu_at(step_ + 1);
    fill_exchange(out, to, gpu_at(gpus_ - step_ - 1));
    out.sent = use_of(block_of(to), DataPlace::kInput, DataPlace::kNowhere);
    out.data = use_of(block_of(gpu_), step_ == 0 ? DataPlace::kInput : DataPlace::kOutput, DataPlace::kOutput);
  }
  void fill_gather(Step& out) const {
    const uint32_t from = gpu_at(gpus_ - step_ - 1);
    fill_exchange(out, gpu_at(step_ + 1), from);
    out.sent = use_of(block_of(gpu_), DataPlace::kOutput, DataPlace::kNowhere);
    out.data = use_of(block_of(from), DataPlace::kNowhere, DataPlace::kOutput);
  }
  void fill_exchange(Step& out, uint32_t to, uint32_t from) const {
    out.exchanges = true;
    out.to.add(mate(to));
    out.from.add(mate(from));
  }

  // As the ring's AllReduce (ring.cpp), with servers as ranks and the block as its loop.
  void fill_ring(Step& out) const {
    const ByteRange block = block_of(gpu_);
    const uint64_t each = share(block.bytes, servers_);
    const uint64_t start = std::min(block.bytes, each * ((server_ + 2 * servers_ - 1 - step_) % servers_));
    const ByteRange slice = cut_.slice(std::min(each, block.bytes - start), slice_);
    if (step_ > 0) out.from.add((server_ + servers_ - 1) % servers_ * gpus_ + gpu_);
    if (step_ + 1 < ring_steps()) out.to.add((server_ + 1) % servers_ * gpus_ + gpu_);
    const DataPlace own = gpus_ == 1 ? DataPlace::kInput : DataPlace::kOutput;
    out.data = use_of({block.offset + start + slice.offset, slice.bytes}, step_ < servers_ ? own : DataPlace::kNowhere,
                      step_ + 1 >= servers_ ? DataPlace::kOutput : DataPlace::kNowhere);
  }
  uint32_t ring_steps() const { return servers_ == 1 ? 0 : 2 * servers_ - 1; }

  uint32_t steps_of(Phase phase) const { return phase == Phase::kRing ? ring_steps() : gpus_ - 1; }

  void begin_loop() {
    loop_bytes_ = std::min(part_.bytes - done_, full_chunk_ * gpus_ * servers_);
    block_bytes_ = share(loop_bytes_, gpus_);
    phase_ = Phase::kScatter;
    step_ = 0;
    if (steps_of(phase_) == 0) next_phase();
  }
  void next_phase() {
    step_ = 0;
    do {
      if (phase_ == Phase::kGather) {
        done_ += loop_bytes_;
        if (done_ < part_.bytes) begin_loop();
        return;
      }
      phase_ = phase_ == Phase::kScatter ? Phase::kRing : Phase::kGather;
    } while (steps_of(phase_) == 0);
  }
  void advance() {
    if (phase_ == Phase::kRing && ++slice_ < cut_.slices()) return;
    slice_ = 0;
    if (++step_ == steps_of(phase_)) next_phase();
  }

  Cut cut_;
  uint32_t gpus_;
  uint32_t servers_;
  uint32_t gpu_;
  uint32_t server_;
  ByteRange part_;
  uint64_t full_chunk_;
  uint64_t done_ = 0;  // of the part, by earlier loops
  uint64_t loop_bytes_ = 0;
  uint64_t block_bytes_ = 0;
  Phase phase_ = Phase::kScatter;
  uint32_t step_ = 0;
  uint32_t slice_ = 0;
};

}  // namespace

Lanes hierarchical_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank) {
  return lane_of_each_channel<HierarchicalLane>(shape, cut, rank);
}

}  // namespace softspine::control
