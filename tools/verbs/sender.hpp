// SPDX-License-Identifier: Apache-2.0
// The client's side of a run: posts messages as long as there are free buffers, and notes how long each took.
//
// A message's time is from posting its first part until the device has the last part's acknowledgement. A buffer is
// free again when its part was acknowledged and the server has looked at every byte of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "tools/verbs/queue_pairs.hpp"

namespace softspine::tools {

class Sender {
 public:
  using Clock = std::chrono::steady_clock;

  Sender(QueuePairs& queue_pairs, const Terms& terms, uint64_t messages);

  // Posts what can be posted.
  std::expected<void, std::string> post();
  std::expected<void, std::string> take(const QueuePairs::Completion& completion);
  // No message begins any more.
  void stop() { planned_ = begun_; }

  bool is_done() const { return begun_ == planned_ && ended_ == begun_ && are_all_free(); }
  uint64_t messages() const { return ended_; }
  uint64_t bytes() const { return ended_ * terms_.spread.message_bytes; }
  // The time from the first message's begin to the last one's end.
  std::chrono::nanoseconds elapsed() const { return last_ - first_; }
  const std::vector<int64_t>& completion_ns() const { return completion_ns_; }
  uint64_t parts_over(uint32_t queue_pair) const { return lanes_[queue_pair].posted; }

 private:
  // Parts over one queue pair, all since the start.
  struct Lane {
    uint64_t posted = 0;
    uint64_t acknowledged = 0;
    uint64_t freed = 0;
  };
  struct UnderWay {
    Clock::time_point begun;
    uint32_t parts_left;
  };

  bool has_room(const Lane& lane) const { return lane.posted - std::min(lane.acknowledged, lane.freed) < terms_.depth; }
  bool can_begin() const;
  bool are_all_free() const;
  std::expected<void, std::string> post_part(uint32_t queue_pair);

  QueuePairs& queue_pairs_;
  const Terms terms_;
  uint64_t planned_;
  uint64_t begun_ = 0;
  uint64_t ended_ = 0;
  std::vector<Lane> lanes_;
  std::vector<UnderWay> under_way_;  // by message, modulo its size
  std::vector<int64_t> completion_ns_;
  Clock::time_point first_;
  Clock::time_point last_;
};

}  // namespace softspine::tools
