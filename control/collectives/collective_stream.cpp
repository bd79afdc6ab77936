// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/collective_stream.hpp"

#include <algorithm>
#include <utility>

#include "control/collectives/cut.hpp"

namespace softspine::control {
namespace {

// A message that carries what a work received or made.
DataUse carried(const DataUse& data) {
  DataUse only;
  only.bytes = data.bytes;
  only.pieces = data.pieces;
  only.stride = data.stride;
  return only;
}

}  // namespace

CollectiveStream::CollectiveStream(Lanes lanes, CollectiveProtocol protocol, uint32_t slots, uint32_t marks)
    : marked_(marks, kNothing), protocol_(protocol) {
  lanes_.reserve(lanes.size());
  for (auto& lane : lanes) {
    LaneState& state = lanes_.emplace_back();
    state.lane = std::move(lane);
    for (auto& connection : state.received) connection.holders.resize(slots);
    for (auto& connection : state.sent) connection.holders.resize(slots);
  }
}

bool CollectiveStream::next(Operation& out) noexcept {
  while (given_ == made_count_) {
    if (!make()) return false;
  }
  Made& made = made_[given_++];
  out = made.operation;
  out.needs = {made.needs.data(), made.need_count};
  return true;
}

bool CollectiveStream::make() {
  made_count_ = 0;
  given_ = 0;
  while (!lanes_.empty()) {
    if (turn_ >= lanes_.size()) turn_ = 0;
    if (lanes_[turn_].lane->waits()) {
      ++turn_;
      continue;
    }
    Step step;
    if (lanes_[turn_].lane->next(step)) {
      make_step(lanes_[turn_++], step);
      return true;
    }
    lanes_.erase(lanes_.begin() + static_cast<std::ptrdiff_t>(turn_));
  }
  return false;
}

void CollectiveStream::make_step(LaneState& state, const Step& step) {
  if (step.new_peers) {
    for (auto& connection : state.received) connection.used = 0;
    for (auto& connection : state.sent) connection.used = 0;
  }
  make_receives(state, step);
  if (step.exchanges) make_sends(state, step);
  if (step.works) make_work(state, step);
  if (!step.exchanges) make_sends(state, step);
}

void CollectiveStream::make_receives(LaneState& state, const Step& step) {
  auto slots = state.received.begin();
  for (const uint32_t peer : step.from.all()) {
    need(add_message(OperationKind::kReceive, carried(step.data), peer, channel_of(state, step)), (slots++)->oldest());
  }
}

void CollectiveStream::make_work(LaneState& state, const Step& step) {
  const uint64_t first_receive = number_ - made_count_;
  Made& work = add(OperationKind::kReduce, step.data);
  const bool passes_on = step.data.reads == DataPlace::kNowhere && step.data.writes == DataPlace::kNowhere;
  work.operation.bytes = passes_on ? 0 : step.data.all_bytes();
  need(work, state.last_work);
  if (step.after != kUnmarked) need(work, marked_[step.after]);
  state.last_work = number_ - 1;
  if (step.mark != kUnmarked) marked_[step.mark] = state.last_work;
  for (size_t i = 0; i < step.from.all().size(); ++i) {
    need(work, first_receive + i);
    state.received[i].take(state.last_work);
  }
  if (step.exchanges) return;
  for (size_t i = 0; i < step.to.all().size(); ++i) need(work, state.sent[i].oldest());
}

void CollectiveStream::make_sends(LaneState& state, const Step& step) {
  const DataUse data = step.exchanges ? step.sent : carried(step.data);
  auto slots = state.sent.begin();
  for (const uint32_t peer : step.to.all()) {
    Made& send = add_message(OperationKind::kSend, data, peer, channel_of(state, step));
    need(send, state.last_work);
    (slots++)->take(number_ - 1);
  }
}

CollectiveStream::Made& CollectiveStream::add(OperationKind kind, const DataUse& data) {
  Made& made = made_[made_count_++];
  made.operation = {};
  made.operation.kind = kind;
  made.data = data;
  made.need_count = 0;
  ++number_;
  return made;
}

CollectiveStream::Made& CollectiveStream::add_message(OperationKind kind, const DataUse& data, uint32_t peer,
                                                      uint32_t channel) {
  Made& made = add(kind, data);
  made.operation.peer = peer;
  made.operation.channel = channel;
  made.operation.bytes = wire_bytes(protocol_, data.all_bytes());
  return made;
}

void CollectiveStream::need(Made& made, uint64_t number) {
  if (number == kNothing) return;
  auto* place = made.needs.data() + made.need_count++;
  for (; place != made.needs.data() && *(place - 1) > number; --place) *place = *(place - 1);
  *place = number;
}

}  // namespace softspine::control
