// SPDX-License-Identifier: Apache-2.0
// Recursive halving and doubling, as MPICH does it (Rabenseifner). NCCL has no such thing: one message a round.
//
// p = the largest power of two ≤ n, e = n − p. Of the first 2e ranks, each even one gives its data to the odd one above
// it, waits, and gets the result in the end; the others are roles 0 … p − 1.
//
//   AllReduce      p ranges, the first ones a byte longer. Halving: in round k = 0 … log2 p − 1 a role exchanges with
//   role ^ 2^k: it
//                  keeps the lower half of its ranges if its bit k is 0, sends the other one and adds what it gets.
//                  Then doubling: the same backwards, without adding. 2(p − 1)/p of the bytes
//   ReduceScatter  the same halving, the highest bit first; a role's range is the block of its rank, or, of the first
//                  e roles, also that of the even rank below. (p − 1)/p of the bytes
//   AllGather      the mirror of ReduceScatter: doubling. MPICH itself sends between the roles' rounds where n is no
//                  power of two; the number of bytes differs, the number of rounds does not
//
// A chunk or slices do not apply.
#include <algorithm>
#include <bit>

#include "control/collectives/collective_algorithms.hpp"

namespace softspine::control {
namespace {

class HalvingLane final : public Lane {
 public:
  HalvingLane(const CollectiveShape& shape, const Cut& cut, uint32_t rank, uint32_t channel)
      : Lane(channel),
        collective_(shape.collective),
        n_(shape.ranks),
        rank_(rank),
        block_bytes_(cut.block_bytes()),
        part_(cut.part(channel)),
        rounds_(static_cast<uint32_t>(std::bit_width(n_)) - 1),
        roles_(1U << rounds_),
        pairs_(n_ - roles_) {
    phase_ = is_folded() ? Phase::kGive : Phase::kCopy;
  }

  bool next(Step& out) noexcept override {
    out.new_peers = true;
    switch (phase_) {
      case Phase::kCopy: return copy_own(out);
      case Phase::kGive: return give(out);
      case Phase::kTake: return take(out);
      case Phase::kHalve: return halve(out);
      case Phase::kDouble: return exchange_back(out);
      case Phase::kReturn: return give_back(out);
      case Phase::kKeep: return keep(out);
      default: return false;
    }
  }

 private:
  // Of a role: copy, take, halve, double, return, keep. Of an even rank of a pair: give, keep.
  enum class Phase : uint8_t { kCopy, kGive, kTake, kHalve, kDouble, kReturn, kKeep, kEnd };

  struct Ranges {
    uint32_t first;
    uint32_t count;
  };

  bool reduces() const { return collective_ == Collective::kAllReduce; }
  bool scatters() const { return collective_ == Collective::kReduceScatter; }
  bool gathers() const { return collective_ == Collective::kAllGather; }
  bool is_folded() const { return rank_ < 2 * pairs_ && rank_ % 2 == 0; }
  bool has_pair() const { return rank_ < 2 * pairs_ && rank_ % 2 == 1; }
  uint32_t role() const { return rank_ < 2 * pairs_ ? rank_ / 2 : rank_ - pairs_; }
  uint32_t rank_of(uint32_t role) const { return role < pairs_ ? 2 * role + 1 : role + pairs_; }
  // Where a role works: what is summed up for all ranks has room in the output of AllReduce alone.
  DataPlace workplace() const { return scatters() ? DataPlace::kScratch : DataPlace::kOutput; }

  uint32_t bit(uint32_t round) const { return reduces() ? 1U << round : roles_ >> (round + 1); }

  // What a role holds after `rounds` rounds of halving.
  Ranges held(uint32_t role, uint32_t rounds) const {
    Ranges ranges{0, roles_};
    for (uint32_t round = 0; round < rounds; ++round) {
      ranges.count /= 2;
      if ((role & bit(round)) != 0) ranges.first += ranges.count;
    }
    return ranges;
  }

  // AllReduce: of the part. Else the part of each block: as many pieces.
  uint64_t bytes_before(uint32_t range) const {
    return range * (part_.bytes / roles_) + std::min<uint64_t>(range, part_.bytes % roles_);
  }
  uint32_t blocks_before(uint32_t range) const { return range + std::min(range, pairs_); }

  DataUse use_of(Ranges ranges, DataPlace reads, DataPlace writes) const {
    const uint32_t end = ranges.first + ranges.count;
    if (reduces()) {
      const uint64_t offset = part_.offset + bytes_before(ranges.first);
      return use(reads, writes, offset, bytes_before(end) - bytes_before(ranges.first));
    }
    return use_of_blocks(blocks_before(ranges.first), blocks_before(end), reads, writes);
  }
  DataUse use_of_blocks(uint32_t first, uint32_t end, DataPlace reads, DataPlace writes) const {
    DataUse data = use(reads, writes, first * block_bytes_ + part_.offset, part_.bytes);
    data.pieces = end - first;
    data.stride = block_bytes_;
    return data;
  }
  DataUse use(DataPlace reads, DataPlace writes, uint64_t offset, uint64_t bytes) const {
    return {.reads = reads, .writes = writes, .read_offset = offset, .write_offset = offset, .bytes = bytes};
  }
  DataUse use_of_all(DataPlace reads, DataPlace writes) const { return use_of({0, roles_}, reads, writes); }

  bool copy_own(Step& out) {
    phase_ = has_pair() ? Phase::kTake : after_take();
    if (!gathers()) {
      out.data = use_of_all(DataPlace::kInput, workplace());
      return true;
    }
    out.data = use_of_blocks(rank_, rank_ + 1, DataPlace::kInput, DataPlace::kOutput);
    out.data.read_offset = part_.offset;
    return true;
  }

  bool give(Step& out) {
    phase_ = Phase::kKeep;
    out.exchanges = true;
    out.works = gathers();
    if (out.works) {
      out.data = use_of_blocks(rank_, rank_ + 1, DataPlace::kInput, DataPlace::kOutput);
      out.data.read_offset = part_.offset;
    }
    out.sent = gathers() ? use(DataPlace::kInput, DataPlace::kNowhere, part_.offset, part_.bytes)
                         : use_of_all(DataPlace::kInput, DataPlace::kNowhere);
    out.to.add(rank_ + 1);
    return true;
  }

  bool take(Step& out) {
    phase_ = after_take();
    out.from.add(rank_ - 1);
    out.data = gathers() ? use_of_blocks(rank_ - 1, rank_, DataPlace::kNowhere, DataPlace::kOutput)
                         : use_of_all(workplace(), workplace());
    return true;
  }

  bool halve(Step& out) {
    const uint32_t partner = role() ^ bit(round_);
    exchange_with(out, partner);
    ++round_;
    out.sent = use_of(held(partner, round_), workplace(), DataPlace::kNowhere);
    out.data = use_of(held(role(), round_), workplace(), workplace());
    if (round_ == rounds_) phase_ = reduces() ? Phase::kDouble : after_rounds();
    return true;
  }

  bool exchange_back(Step& out) {
    const uint32_t partner = role() ^ bit(round_ - 1);
    exchange_with(out, partner);
    out.sent = use_of(held(role(), round_), DataPlace::kOutput, DataPlace::kNowhere);
    out.data = use_of(held(partner, round_), DataPlace::kNowhere, DataPlace::kOutput);
    if (--round_ == 0) phase_ = after_rounds();
    return true;
  }

  bool give_back(Step& out) {
    phase_ = scatters() ? Phase::kKeep : Phase::kEnd;
    out.exchanges = true;
    out.works = false;
    out.to.add(rank_ - 1);
    out.sent = scatters() ? use_of_blocks(rank_ - 1, rank_, DataPlace::kScratch, DataPlace::kNowhere)
                          : use_of_all(DataPlace::kOutput, DataPlace::kNowhere);
    return true;
  }

  // The result comes from the pair, or is copied from where it was summed up.
  bool keep(Step& out) {
    phase_ = Phase::kEnd;
    if (is_folded()) out.from.add(rank_ + 1);
    const DataPlace reads = is_folded() ? DataPlace::kNowhere : DataPlace::kScratch;
    if (!scatters()) {
      out.data = use_of_all(reads, DataPlace::kOutput);
      return true;
    }
    out.data = use_of_blocks(rank_, rank_ + 1, reads, DataPlace::kOutput);
    out.data.write_offset = part_.offset;
    return true;
  }

  void exchange_with(Step& out, uint32_t partner) const {
    out.exchanges = true;
    out.from.add(rank_of(partner));
    out.to.add(rank_of(partner));
  }

  Phase after_take() {
    if (!gathers()) return Phase::kHalve;
    round_ = rounds_;
    return Phase::kDouble;
  }
  Phase after_rounds() const {
    if (has_pair()) return Phase::kReturn;
    return scatters() ? Phase::kKeep : Phase::kEnd;
  }

  Collective collective_;
  uint32_t n_;
  uint32_t rank_;
  uint64_t block_bytes_;
  ByteRange part_;
  uint32_t rounds_;
  uint32_t roles_;
  uint32_t pairs_;
  Phase phase_;
  uint32_t round_ = 0;
};

}  // namespace

Lanes halving_doubling_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank) {
  return lane_of_each_channel<HalvingLane>(shape, cut, rank);
}

}  // namespace softspine::control
