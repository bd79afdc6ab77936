// SPDX-License-Identifier: Apache-2.0
// Every pair of ranks for itself, as NCCL's grouped sends and receives do it.
//
//   AllToAll       block p of the input goes to rank p
//   AllGather      the input goes to every rank
//   ReduceScatter  block p of the input goes to rank p, which adds up what comes
//   SendRecv       nccl-tests': the input goes to rank r + 1
//
// Round k sends to rank r + d and receives from rank r − d, with d = 0, 1, 3, 6, 10 …, k(k + 1) / 2 modulo the next
// power of two, those below n: no two ranks send to one in the same round. On each channel eight rounds run at once, a
// sender and a receiver each. A sender goes on to its next round when its last slice is in a slot, a receiver when it
// has worked on its last. ReduceScatter has one of each, so that nothing is added twice at once. Distance 0 is a copy.
//
// PXN (NCCL's PCI × NVLink): what goes to another server's GPU on another rail goes to the local GPU on that rail
// first, which passes it on, so that no message leaves its rail. In round d a rank passes on for one other, the local
// rank whose partner is on its rail: a third lane of the round does that. Its messages have channels of their own, one
// for each of the rounds that run at once: so a connection belongs to one lane on each side there, too. NCCL joins them
// on one connection, several a message (multi-receive). All lanes have a step for each slice of each round, if an empty
// one: what waits for a rank's step k waits for steps up to k alone.
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "control/collectives/collective_algorithms.hpp"

namespace softspine::control {
namespace {

constexpr uint32_t kRoundsAtOnce = 8;

// The distances 1 … n − 1 in NCCL's order.
class PairDistances {
 public:
  explicit PairDistances(uint32_t ranks) : n_(ranks), mask_(std::bit_ceil(ranks) - 1) {}

  // 0: there are no more.
  uint32_t next() {
    while (round_ <= mask_) {
      distance_ = (distance_ + round_++) & mask_;
      if (distance_ != 0 && distance_ < n_) return distance_;
    }
    return 0;
  }

 private:
  uint32_t n_;
  uint32_t mask_;
  uint32_t round_ = 1;
  uint32_t distance_ = 0;
};

struct PairsOfRank {
  Collective collective;
  uint32_t ranks;
  uint32_t rank;
  uint64_t block_bytes;
  uint32_t per_server;
  bool pxn;

  bool reduces() const { return collective == Collective::kReduceScatter; }
  uint32_t rounds_at_once() const {
    if (reduces() || collective == Collective::kSendRecv) return 1;
    return std::min(kRoundsAtOnce, ranks - 1);
  }
  bool copies_own() const { return collective != Collective::kSendRecv; }
  // What goes to a rank, and where a rank's stands.
  uint64_t read_offset(uint32_t to) const {
    return collective == Collective::kAllToAll || reduces() ? to * block_bytes : 0;
  }
  uint64_t write_offset(uint32_t from) const {
    return collective == Collective::kAllToAll || collective == Collective::kAllGather ? from * block_bytes : 0;
  }
  bool is_relayed(uint32_t from, uint32_t to) const {
    return pxn && from / per_server != to / per_server && from % per_server != to % per_server;
  }
  // Who passes it on: in the sender's server, on the receiver's rail.
  uint32_t relay(uint32_t from, uint32_t to) const { return from / per_server * per_server + to % per_server; }
  // The local rank whose partner at this distance is on this rank's rail.
  uint32_t relayed(uint32_t distance) const {
    return rank / per_server * per_server + (rank + ranks - distance) % per_server;
  }
};

// The copy of what stays here: one step.
void fill_own(Step& out, const PairsOfRank& pairs, ByteRange part) {
  out.data.bytes = part.bytes;
  out.data.reads = DataPlace::kInput;
  out.data.read_offset = pairs.read_offset(pairs.rank) + part.offset;
  out.data.writes = DataPlace::kOutput;
  out.data.write_offset = pairs.write_offset(pairs.rank) + part.offset;
}

class CopyLane final : public Lane {
 public:
  CopyLane(const PairsOfRank& pairs, const Cut& cut, uint32_t channel)
      : Lane(channel), pairs_(pairs), part_(cut.part(channel)) {}

  bool next(Step& out) noexcept override {
    fill_own(out, pairs_, part_);
    return !std::exchange(done_, true);
  }

 private:
  PairsOfRank pairs_;
  ByteRange part_;
  bool done_ = false;
};

// Of a round: what a rank sends, what it receives, and what it passes on.
enum class PairSide : uint8_t { kSends, kReceives, kRelays };

// One side of rounds `first`, `first` + 8 …
class PairLane final : public Lane {
 public:
  PairLane(const PairsOfRank& pairs, const Cut& cut, uint32_t channel, uint32_t first, PairSide side)
      : Lane(channel),
        pairs_(pairs),
        cut_(cut),
        part_(cut.part(channel)),
        chunk_bytes_(cut.chunk_bytes(part_.bytes)),
        side_(side),
        relay_channel_(cut.channels() + channel * pairs.rounds_at_once() + first),
        distances_(pairs.ranks) {
    for (uint32_t i = 0; i <= first; ++i) distance_ = distances_.next();
    own_is_left_ = pairs.reduces() && side == PairSide::kReceives;
  }

  bool next(Step& out) noexcept override {
    if (std::exchange(own_is_left_, false)) {
      fill_own(out, pairs_, part_);
      return true;
    }
    if (distance_ == 0) return false;
    const ByteRange chunk{done_, std::min(chunk_bytes_, part_.bytes - done_)};
    const ByteRange slice = cut_.slice(chunk.bytes, slice_);
    out.new_peers = !pairs_.pxn && done_ == 0 && slice_ == 0;  // a relay's messages of several rounds keep their order
    out.data.bytes = slice.bytes;
    fill(out, part_.offset + chunk.offset + slice.offset);
    advance(chunk.bytes);
    return true;
  }

 private:
  void fill(Step& out, uint64_t offset) const {
    switch (side_) {
      case PairSide::kSends: return fill_send(out, offset);
      case PairSide::kReceives: return fill_receive(out, offset);
      case PairSide::kRelays: return fill_relay(out);
    }
  }

  void fill_send(Step& out, uint64_t offset) const {
    const uint32_t to = (pairs_.rank + distance_) % pairs_.ranks;
    const bool is_relayed = pairs_.is_relayed(pairs_.rank, to);
    out.to.add(is_relayed ? pairs_.relay(pairs_.rank, to) : to);
    if (is_relayed) out.channel = relay_channel_;
    out.data.reads = DataPlace::kInput;
    out.data.read_offset = pairs_.read_offset(to) + offset;
  }

  void fill_receive(Step& out, uint64_t offset) const {
    const uint32_t from = (pairs_.rank + pairs_.ranks - distance_) % pairs_.ranks;
    const bool is_relayed = pairs_.is_relayed(from, pairs_.rank);
    out.from.add(is_relayed ? pairs_.relay(from, pairs_.rank) : from);
    if (is_relayed) out.channel = relay_channel_;
    out.data.writes = DataPlace::kOutput;
    out.data.write_offset = pairs_.write_offset(from) + offset;
    if (!pairs_.reduces()) return;
    out.data.reads = DataPlace::kOutput;
    out.data.read_offset = out.data.write_offset;
  }

  void fill_relay(Step& out) const {
    const uint32_t from = pairs_.relayed(distance_);
    const uint32_t to = (from + distance_) % pairs_.ranks;
    out.works = pairs_.is_relayed(from, to);
    if (!out.works) return;
    out.from.add(from);
    out.to.add(to);
    out.channel = relay_channel_;
  }

  void advance(uint64_t chunk_bytes) {
    if (++slice_ < cut_.slices()) return;
    slice_ = 0;
    done_ += chunk_bytes;
    if (done_ < part_.bytes) return;
    done_ = 0;
    if (pairs_.collective == Collective::kSendRecv) {
      distance_ = 0;
      return;
    }
    for (uint32_t i = 0; i < pairs_.rounds_at_once(); ++i) distance_ = distances_.next();
  }

  PairsOfRank pairs_;
  Cut cut_;
  ByteRange part_;
  uint64_t chunk_bytes_;
  PairSide side_;
  uint32_t relay_channel_;
  PairDistances distances_;
  uint32_t distance_ = 0;  // 0: all is done
  bool own_is_left_ = false;
  uint64_t done_ = 0;  // of the part, with this peer
  uint32_t slice_ = 0;
};

}  // namespace

Lanes direct_lanes(const CollectiveShape& shape, const Cut& cut, uint32_t rank) {
  const PairsOfRank pairs{shape.collective, shape.ranks, rank, cut.block_bytes(), shape.per_server, shape.pxn};
  Lanes lanes;
  for (uint32_t channel = 0; channel < cut.channels(); ++channel) {
    if (pairs.copies_own() && !pairs.reduces()) lanes.push_back(std::make_unique<CopyLane>(pairs, cut, channel));
    for (uint32_t round = 0; round < pairs.rounds_at_once(); ++round) {
      lanes.push_back(std::make_unique<PairLane>(pairs, cut, channel, round, PairSide::kSends));
      if (pairs.pxn) lanes.push_back(std::make_unique<PairLane>(pairs, cut, channel, round, PairSide::kRelays));
      lanes.push_back(std::make_unique<PairLane>(pairs, cut, channel, round, PairSide::kReceives));
    }
  }
  return lanes;
}

}  // namespace softspine::control
