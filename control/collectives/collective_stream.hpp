// SPDX-License-Identifier: Apache-2.0
// A rank's operations for one collective, made from the steps of its lanes: step k of all lanes before step k + 1 of
// any. Nothing is kept but the numbers of what still holds a slot.
//
//   receive k   needs its slot: the work on what came `slots` messages before it
//   work k      a kReduce: needs what it receives, the lane's work before it, and a slot to send from: the send
//               `slots` messages before its own; and the work whose mark it waits for, of another lane
//               What neither reads nor writes passes on what has come as it lies there, and is no work on bytes
//   send k      needs its work. Of an exchange: the lane's work before it, and no slot
//
// Works of a lane follow each other, so messages of a connection keep their order. Copies count as work: NCCL's thread
// blocks copy from and to the slots.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "control/collectives/lane.hpp"
#include "control/model/collective.hpp"
#include "control/traffic/graph.hpp"

namespace softspine::control {

using Lanes = std::vector<std::unique_ptr<Lane>>;

class CollectiveStream final : public WorkStream {
 public:
  // Marks of steps are below `marks`.
  CollectiveStream(Lanes lanes, CollectiveProtocol protocol, uint32_t slots, uint32_t marks = 0);

  bool next(Operation& out) noexcept override;
  // Of the operation that next() gave last. A message that reads nothing carries its work's value.
  const DataUse& data() const { return made_[given_ - 1].data; }

 private:
  static constexpr uint32_t kMaxMade = 2 * kMaxPeers + 1;
  static constexpr uint32_t kMaxNeeds = 2 * kMaxPeers + 1;
  static constexpr uint64_t kNothing = UINT64_MAX;

  // One connection's operations that hold its slots, oldest first.
  struct Slots {
    std::vector<uint64_t> holders;
    uint64_t used = 0;

    uint64_t oldest() const { return used < holders.size() ? kNothing : holders[used % holders.size()]; }
    void take(uint64_t number) { holders[used++ % holders.size()] = number; }
  };

  struct LaneState {
    std::unique_ptr<Lane> lane;
    std::array<Slots, kMaxPeers> received;
    std::array<Slots, kMaxPeers> sent;
    uint64_t last_work = kNothing;
  };

  struct Made {
    Operation operation;
    DataUse data;
    std::array<uint64_t, kMaxNeeds> needs{};
    uint32_t need_count = 0;
  };

  static uint32_t channel_of(const LaneState& state, const Step& step) {
    return step.channel == kUnmarked ? state.lane->channel() : step.channel;
  }
  bool make();
  void make_step(LaneState& state, const Step& step);
  void make_receives(LaneState& state, const Step& step);
  void make_work(LaneState& state, const Step& step);
  void make_sends(LaneState& state, const Step& step);
  Made& add(OperationKind kind, const DataUse& data);
  Made& add_message(OperationKind kind, const DataUse& data, uint32_t peer, uint32_t channel);
  static void need(Made& made, uint64_t number);

  std::vector<LaneState> lanes_;
  std::vector<uint64_t> marked_;  // by mark: the work
  size_t turn_ = 0;
  CollectiveProtocol protocol_;
  std::array<Made, kMaxMade> made_;
  uint32_t made_count_ = 0;
  uint32_t given_ = 0;
  uint64_t number_ = 0;
};

}  // namespace softspine::control
