// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/sender.hpp"

#include <algorithm>

#include "tools/verbs/pattern.hpp"

namespace softspine::tools {

Sender::Sender(QueuePairs& queue_pairs, const Terms& terms, uint64_t messages)
    : queue_pairs_(queue_pairs),
      terms_(terms),
      planned_(messages),
      lanes_(terms.spread.queue_pairs),
      // At most `depth` of a queue pair's messages are under way, and messages begin in order: so the oldest is less
      // than (depth + 1) rounds behind the newest.
      under_way_((size_t{terms.depth} + 1) * terms.spread.queue_pairs) {}

bool Sender::can_begin() const {
  if (begun_ == planned_) return false;
  const uint32_t first = terms_.spread.first_queue_pair(begun_);
  const auto needed = std::span{lanes_}.subspan(first, terms_.spread.parts());
  return std::ranges::all_of(needed, [this](const Lane& lane) { return has_room(lane); });
}

bool Sender::are_all_free() const {
  return std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.freed == lane.posted; });
}

std::expected<void, std::string> Sender::post() {
  while (can_begin()) {
    const Clock::time_point now = Clock::now();
    if (begun_ == 0) first_ = now;
    under_way_[begun_ % under_way_.size()] = {.begun = now, .parts_left = terms_.spread.parts()};
    const uint32_t first = terms_.spread.first_queue_pair(begun_);
    for (uint32_t qp = first; qp < first + terms_.spread.parts(); ++qp) {
      if (auto posted = post_part(qp); !posted) return posted;
    }
    ++begun_;
  }
  return {};
}

std::expected<void, std::string> Sender::post_part(uint32_t queue_pair) {
  Lane& lane = lanes_[queue_pair];
  const uint64_t slot = lane.posted % terms_.depth;
  const uint64_t bytes = terms_.spread.part_bytes(queue_pair);
  fill_pattern(queue_pairs_.buffer(queue_pair, slot).first(bytes), pattern_key(terms_.seed, begun_, queue_pair));
  ++lane.posted;
  return queue_pairs_.write(queue_pair, slot, bytes, static_cast<uint32_t>(begun_), begun_);
}

std::expected<void, std::string> Sender::take(const QueuePairs::Completion& completion) {
  Lane& lane = lanes_[completion.queue_pair];
  if (completion.is_receive) {
    ++lane.freed;
    return queue_pairs_.post_receive(completion.queue_pair);
  }
  ++lane.acknowledged;
  UnderWay& message = under_way_[completion.id % under_way_.size()];
  if (--message.parts_left > 0) return {};
  last_ = Clock::now();
  completion_ns_.push_back((last_ - message.begun).count());
  ++ended_;
  return {};
}

}  // namespace softspine::tools
