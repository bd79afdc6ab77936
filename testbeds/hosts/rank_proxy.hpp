// SPDX-License-Identifier: Apache-2.0
// What a rank's processor does for its messages: one thing after the other, in the order in which it was asked, each
// for its cost. NCCL has such a thread, the proxy, for each rank.
//
//   kPost      hands one part of a message to its queue pair            post
//   kClear     hands a clear-to-send to its queue pair                  post
//   kSent      takes the completion of one part that was sent           completion
//   kReceived  takes the completion of one part that has come           completion
//
// A thing is done at the end of its cost. So no more than one message leaves in `post` + `completion`, which is what
// limits a rank whose messages are small: chunk / (10 to 12 µs) was measured (NVIDIA/nccl issue 2409).
// Memory: `room` things that wait, allocated at the start.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/units/check.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

struct RankCosts {
  dataplane::Duration post;        // of the proxy, for each part of a message and each clear-to-send
  dataplane::Duration completion;  // of the proxy, for each part that was sent or has come
  dataplane::Duration step;        // of each send, beside all others: until it is asked of the proxy
};

class RankProxy {
 public:
  enum class Job : uint8_t { kPost, kClear, kSent, kReceived };
  struct Entry {
    Job job = Job::kPost;
    uint32_t of = 0;  // an operation's place; kClear: a connection
  };

  RankProxy(const RankCosts& costs, uint64_t room) : costs_(costs), ring_(room) {}

  void ask(Job job, uint32_t of, dataplane::Instant now) noexcept {
    SOFTSPINE_CHECK(tail_ - head_ < ring_.size(), tail_, head_);
    if (head_ == tail_) begin(job, now);
    ring_[tail_++ % ring_.size()] = {job, of};
  }
  // When the first is done; never() if there is none.
  dataplane::Instant next() const { return head_ == tail_ ? dataplane::Instant::never() : ends_; }
  Entry take() noexcept {
    const Entry done = ring_[head_++ % ring_.size()];
    if (head_ != tail_) begin(ring_[head_ % ring_.size()].job, ends_);
    return done;
  }
  dataplane::Duration busy() const { return busy_; }

 private:
  void begin(Job job, dataplane::Instant at) noexcept {
    const bool posts = job == Job::kPost || job == Job::kClear;
    const dataplane::Duration cost = posts ? costs_.post : costs_.completion;
    ends_ = at + cost;
    busy_ += cost;
  }

  RankCosts costs_;
  std::vector<Entry> ring_;
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
  dataplane::Instant ends_;
  dataplane::Duration busy_;
};

}  // namespace softspine::testbeds
