// SPDX-License-Identifier: Apache-2.0
// The requester of a reliable connection: what one queue pair may send, and when, by what comes back.
//
// What there is to send, and the numbers of its packets: work_queue.hpp. PSN = (first_psn + number) modulo 2^24.
//
//   |  acknowledged  | una … under way … | next … may go, if next − una < window | highest: the first never sent |
//
//   ACK p       everything up to p has arrived: una ← p + 1                     p outside una … highest − 1: ignored
//   NAK p       PSN sequence error: everything before p has arrived; go back:   una ← p, next ← una
//   timeout     4.096 µs × 2^n since progress was made last: go back            next ← una
//               after `retries` of these in a row the next one ends the connection: it sends nothing any more
//   adaptive    as ConnectX adapters do it: the first timeout is the configured one, each in a row without progress
//               twice the one before it, at most 4.096 µs × 2^n; it ends when `retries` × 4.096 µs × 2^n have passed
//   asks        for an acknowledgement: the last packet of a message, and each one that is the `ack_every`th
//               since the last that asked; so a full window always holds one that did. All, if the congestion control
//               has kAsksAlways
// A message is complete when the ACK of its last packet is in; its time runs from its first packet's first bit.
// Pace: rate_limiter.hpp, by the configured rate and the congestion control's. A gap follows a message's last
// packet when that is sent for the first time.
// Window: the configured one, or the congestion control's if that is less, but one packet at least. A window of less
// than `ack_every` packets asks once in each. Waits for the configured one are counted, with their time, if
// nothing else held the sender back: no pace below the link's rate. Who waits there hides what the fabric would do.
//
// Sources: InfiniBand Architecture 9.7.3 (PSNs), 9.7.5 (acknowledgements), 9.7.6 (timers); NVIDIA's "Adaptive
// Retransmission: Parameters Control", and what linux-rdma/perftest issue 251 saw: 2, 4, 8, 16 ms. The counters' names
// are mlx5's and rxe's. Memory: an instant for each message that may be under way; for a congestion control that uses
// acknowledgements one for each packet that may have asked (ask_times.hpp); none is allocated later. A packet or an
// acknowledgement touches three cache lines, a message one more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dataplane/congestion/rate_limiter.hpp"
#include "dataplane/units/histogram.hpp"
#include "dataplane/units/prefetch.hpp"
#include "testbeds/hosts/ask_times.hpp"
#include "testbeds/hosts/counters.hpp"
#include "testbeds/hosts/frame_template.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/hosts/roce_reader.hpp"

namespace softspine::testbeds {

class alignas(dataplane::kCacheLine) ReliableSender {
 public:
  // To be prefetched: what a packet touches, and the line of a message, which lies between.
  static constexpr size_t kBytesOfPacket = 4 * dataplane::kCacheLine;

  struct Segment {
    Part part;
    uint32_t psn;
    bool asks;
  };

  // `flow`: its index at the host. The flow passes validate(). `line`: the rate of its port's link.
  ReliableSender(uint32_t flow, const FlowConfig& config, dataplane::Rate line);

  // From when on the next packet may go, or when to ask again; never() until something comes back, or for ever.
  dataplane::Instant eligible(dataplane::Instant now) noexcept {
    if (queue_.next() - una_ >= window_ || !queue_.has_next() || has_failed_) return dataplane::Instant::never();
    return std::max(ready_, limiter_.eligible(now));
  }
  Segment next() const {
    return {part_of_next(queue_), psn_of(queue_.next()), queue_.is_last() || since_asked_ + 1 >= ask_every()};
  }
  // Whether the next packet was sent before.
  bool sends_again() const { return queue_.next() != highest_; }
  // It left between `start` and `left`. Returns whether a message ended with it, for the first time.
  bool sent(dataplane::Instant start, dataplane::Instant left, uint32_t wire_bytes, FlowSent& counters) noexcept;

  // `frame`: a positive acknowledgement.
  void acknowledge(const RoceFrame& frame, dataplane::Instant now, FlowSent& counters,
                   dataplane::Histogram& times) noexcept;
  void go_back(uint32_t psn, dataplane::Instant now, FlowSent& counters, dataplane::Histogram& times) noexcept;
  void receive_cnp(dataplane::Instant now, FlowSent& counters) noexcept;
  // A message more. False if the queue is full, or the connection has failed. `now`: it is not ready before.
  bool post(uint64_t bytes, uint64_t tag, dataplane::Instant now) {
    if (has_failed_ || !queue_.post(bytes, tag)) return false;
    ready_ = std::max(ready_, now);
    return true;
  }
  const WorkQueue& queue() const { return queue_; }
  // Null: nobody wants to know.
  void listen(WorkEvents* events) { events_ = events; }
  // The timer went off at deadline() ≤ now.
  void time_out(dataplane::Instant now, FlowSent& counters) noexcept;

  // When it will have waited too long; never() while nothing is under way.
  dataplane::Instant deadline() const { return deadline_; }
  uint32_t flow() const { return flow_; }
  bool has_failed() const { return has_failed_; }
  uint32_t timeouts_in_a_row() const { return retries_; }
  uint64_t under_way() const { return highest_ - una_; }
  const dataplane::RateLimiter& limiter() const { return limiter_; }
  // The last round-trip time; zero: none yet, or the congestion control uses none.
  dataplane::Duration last_rtt() const { return last_rtt_; }

  // The host's: whether it stands in a port's order, and whether its timer runs.
  bool stands_in_order() const { return stands_in_order_; }
  void stand_in_order(bool stands) { stands_in_order_ = stands; }
  bool has_timer() const { return has_timer_; }
  void set_timer(bool runs) { has_timer_ = runs; }

 private:
  uint32_t psn_of(uint64_t number) const {
    return static_cast<uint32_t>(first_psn_ + number) & dataplane::bth::kMask24;
  }
  void advance_to(uint64_t una, dataplane::Instant now, FlowSent& counters, dataplane::Histogram& times) noexcept;
  void restart_at(uint64_t number) noexcept;
  void on_ack(uint64_t una, const RoceFrame* frame, dataplane::Instant now, FlowSent& counters) noexcept;
  void adjust_window() noexcept;
  void end_window_wait(dataplane::Instant now, FlowSent& counters) noexcept;
  uint32_t ask_every() const { return std::min(ack_every_, window_); }
  dataplane::Instant new_deadline(dataplane::Instant from) const {
    return una_ == highest_ ? dataplane::Instant::never() : from + timeout_now();
  }
  dataplane::Duration timeout_now() const {
    const bool is_adaptive = first_timeout_.count_ps() != 0;
    const int64_t most_ps = timeout_.count_ps() >> std::min<uint32_t>(retries_, 63);
    return is_adaptive && first_timeout_.count_ps() <= most_ps ? first_timeout_ * (int64_t{1} << retries_) : timeout_;
  }
  bool is_the_end() const noexcept;

  // Two cache lines, which every packet and every acknowledgement touches, as they do the limiter's first.
  WorkQueue queue_;
  uint64_t una_ = 0;
  uint64_t highest_ = 0;
  uint32_t window_;  // packets that may be under way now
  uint32_t window_limit_;

  dataplane::Instant ready_;                                     // start, or end of a gap
  dataplane::Instant full_since_ = dataplane::Instant::never();  // the configured window, with more to send
  dataplane::Instant deadline_ = dataplane::Instant::never();
  dataplane::Duration timeout_;
  dataplane::Duration first_timeout_;  // adaptive; zero: it is not
  uint32_t ack_every_;
  uint32_t since_asked_ = 0;
  uint32_t first_psn_;
  uint32_t flow_;
  uint32_t retries_ = 0;  // timeouts in a row
  uint8_t retries_allowed_;
  bool has_failed_ = false;
  bool stands_in_order_ = true;
  bool has_timer_ = false;

  // A line that every message touches.
  dataplane::Duration gap_;
  uint64_t completed_ = 0;  // messages
  uint64_t begun_ = 0;
  std::vector<dataplane::Instant> begins_;  // of messages begun and not complete: a ring
  WorkEvents* events_ = nullptr;
  uint32_t mtu_;
  uint8_t ttl_before_bth_;  // bytes from a frame's TTL to its BTH

  dataplane::RateLimiter limiter_;  // and behind its first line the state of a congestion control

  AskTimes asks_;
  dataplane::Duration last_rtt_;
  dataplane::Duration waited_;  // adaptive: in timeouts in a row
};

}  // namespace softspine::testbeds
