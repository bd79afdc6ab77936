// SPDX-License-Identifier: Apache-2.0
// The ring: rank r sends to r + 1 and receives from r − 1, on every channel, counted in the channel's order
// (ring_order.hpp).
//
//   AllReduce      a loop handles one chunk of each rank; the last loop's chunk is ⌈rest / ranks⌉, a multiple of 16 B.
//                  Step j = 0 … 2n − 2 handles chunk r − 1 − j: sent; n − 2 times received, reduced, sent; received,
//                  reduced, kept, sent; n − 2 times received, kept, sent; received, kept. 2(n − 1) transfers
//   AllGather      step j = 0 … n − 1 handles the block of rank r − j. n − 1 transfers
//   ReduceScatter  step j = 0 … n − 1 handles the block of rank r − 1 − j. n − 1 transfers
//   Broadcast      a pipeline of chunks from the root around the ring; Reduce: to the root
//
// A step goes slice by slice. The thread block is one, so a loop begins when the loop before it has ended here.
#include <algorithm>

#include "control/collectives/collective_algorithms.hpp"
#include "control/collectives/ring_order.hpp"

namespace softspine::control {
namespace {

class RingLane final : public Lane {
 public:
  RingLane(const CollectiveShape& shape, const Cut& cut, uint32_t rank, uint32_t channel)
      : Lane(channel),
        cut_(cut),
        collective_(shape.collective),
        order_(shape, channel),
        n_(shape.ranks),
        rank_(rank),
        position_(order_.position_of(rank)),
        root_(shape.root),
        part_(cut.part(channel)),
        full_chunk_(cut.chunk_bytes(part_.bytes)) {
    begin_loop();
  }

  bool next(Step& out) noexcept override {
    if (done_ == part_.bytes) return false;
    const ByteRange slice = cut_.slice(chunk_.bytes, slice_);
    out.data.bytes = slice.bytes;
    fill(out, chunk_.offset + slice.offset);
    advance();
    return true;
  }

 private:
  bool pipelines() const { return collective_ == Collective::kBroadcast || collective_ == Collective::kReduce; }
  bool reduces_all() const { return collective_ == Collective::kAllReduce; }
  uint32_t steps() const {
    if (pipelines()) return 1;
    return reduces_all() ? 2 * n_ - 1 : n_;
  }
  // The place in the ring that is `back` places before this one, and the rank there.
  uint32_t place_before(uint32_t back) const { return (position_ + 2 * n_ - back) % n_; }
  uint32_t before(uint32_t back) const { return order_.rank_at(place_before(back)); }
  uint32_t behind() const { return order_.rank_at((position_ + 1) % n_); }

  void begin_loop() {
    const uint64_t rest = part_.bytes - done_;
    loop_bytes_ = std::min(rest, full_chunk_ * (reduces_all() ? n_ : 1));
    chunk_bytes_ = full_chunk_;
    if (reduces_all() && loop_bytes_ < full_chunk_ * n_) chunk_bytes_ = (((rest + n_ - 1) / n_) + 15) / 16 * 16;
    begin_step();
  }

  // Where the step's chunk is, in the part.
  void begin_step() {
    const uint64_t start = reduces_all() ? std::min(loop_bytes_, chunk_bytes_ * place_before(1 + step_)) : 0;
    chunk_ = {done_ + start, std::min(chunk_bytes_, loop_bytes_ - start)};
  }

  void advance() {
    if (++slice_ < cut_.slices()) return;
    slice_ = 0;
    if (++step_ < steps()) return begin_step();
    step_ = 0;
    done_ += loop_bytes_;
    begin_loop();
  }

  void fill(Step& out, uint64_t offset) const {
    offset += part_.offset;
    switch (collective_) {
      case Collective::kAllGather: return fill_gather(out, offset);
      case Collective::kReduceScatter: return fill_scatter(out, offset);
      case Collective::kBroadcast: return fill_broadcast(out, offset);
      case Collective::kReduce: return fill_reduce(out, offset);
      default: return fill_all_reduce(out, offset);
    }
  }

  void fill_all_reduce(Step& out, uint64_t offset) const {
    connect(out, step_ > 0, step_ + 1 < steps());
    if (step_ < n_) read(out, offset);
    if (step_ + 1 >= n_) write(out, offset);
  }

  void fill_gather(Step& out, uint64_t offset) const {
    connect(out, step_ > 0, step_ + 1 < steps());
    if (step_ == 0) read(out, offset);
    write(out, before(step_) * cut_.block_bytes() + offset);
  }

  void fill_scatter(Step& out, uint64_t offset) const {
    connect(out, step_ > 0, step_ + 1 < steps());
    read(out, before(1 + step_) * cut_.block_bytes() + offset);
    if (step_ + 1 == steps()) write(out, offset);
  }

  void fill_broadcast(Step& out, uint64_t offset) const {
    connect(out, rank_ != root_, behind() != root_);
    if (rank_ == root_) read(out, offset);
    write(out, offset);
  }

  void fill_reduce(Step& out, uint64_t offset) const {
    connect(out, before(1) != root_, rank_ != root_);
    read(out, offset);
    if (rank_ == root_) write(out, offset);
  }

  void connect(Step& out, bool receives, bool sends) const {
    if (receives) out.from.add(before(1));
    if (sends) out.to.add(behind());
  }
  static void read(Step& out, uint64_t offset) {
    out.data.reads = DataPlace::kInput;
    out.data.read_offset = offset;
  }
  static void write(Step& out, uint64_t offset) {
    out.data.writes = DataPlace::kOutput;
    out.data.write_offset = offset;
  }

  Cut cut_;
  Collective collective_;
  RingOrder order_;
  uint32_t n_;
  uint32_t rank_;
  uint32_t position_;
  uint32_t root_;
  ByteRange part_;
  uint64_t full_chunk_;
  uint64_t done_ = 0;  // of the part, by earlier loops
  uint64_t loop_bytes_ = 0;
  uint64_t chunk_bytes_ = 0;
  ByteRange chunk_;
  uint32_t step_ = 0;
  uint32_t slice_ = 0;
};

}  // namespace

Lanes ring_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank) {
  return lane_of_each_channel<RingLane>(shape, cut, rank);
}

}  // namespace softspine::control
