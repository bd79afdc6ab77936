// SPDX-License-Identifier: Apache-2.0
// One receiving queue pair: the PSN of each packet that arrives is compared with the PSN that is expected.
//
//   distance = (PSN − expected) modulo 2^24, as a signed number
//   0            in order
//   > 0          ahead: `distance` packets are skipped
//   < 0          behind: arrived before (twice), or counted as skipped when something overtook it
//
// The sink of an open loop accepts packets that are ahead, since nobody retransmits: packets lost in gaps = skipped −
// those of `behind` that were late. A message is whole if its FIRST and all packets after it came in order.
//
// A reliable connection's responder (judge()) takes what is in order and nothing else:
//   in order     taken; acknowledged if it asks for it, at once: one ACK for it and all before it
//   ahead        dropped; one NAK "PSN sequence error" for each expected PSN
//   behind       a duplicate: dropped, and acknowledged again with the last PSN taken
// Source: InfiniBand Architecture 9.7.5. MSN: messages completed, modulo 2^24.
// A packet touches two cache lines, an answer or anything unusual one more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "dataplane/packet/wire.hpp"
#include "dataplane/units/check.hpp"
#include "dataplane/units/prefetch.hpp"
#include "dataplane/units/time.hpp"
#include "testbeds/hosts/counters.hpp"
#include "testbeds/hosts/roce_reader.hpp"

namespace softspine::testbeds {

class alignas(dataplane::kCacheLine) ReceiveQueue {
 public:
  // `latencies`: the host's number of the group that it belongs to.
  ReceiveQueue(uint32_t id, uint32_t qp, uint32_t first_psn, uint32_t latencies = 0)
      : expected_(first_psn), latencies_(latencies & kLatenciesMask) {
    SOFTSPINE_CHECK(latencies_ == latencies, latencies, id);
    counters_.id = id;
    counters_.qp = qp;
  }

  // Returns the latency of the message that this packet completes, or a negative duration.
  dataplane::Duration receive(const RoceFrame& frame, dataplane::Instant born, dataplane::Instant at) {
    count(frame, born, at);
    const uint32_t ahead = (frame.psn - expected_) & dataplane::bth::kMask24;
    if (ahead > dataplane::bth::kMask24 / 2) {
      ++counters_.behind;
      return kNothing;
    }
    if (ahead != 0) {
      ++counters_.gaps;
      counters_.skipped += ahead;
      whole_ = false;
    }
    expected_ = (frame.psn + 1) & dataplane::bth::kMask24;
    counters_.bytes += frame.payload_bytes;
    if (frame.starts_message) {
      whole_ = true;
      message_born_ = born;
    }
    if (!frame.ends_message || !whole_) return kNothing;
    whole_ = false;
    ++counters_.messages;
    counters_.last_message = at;
    return at - message_born_;
  }

  enum class Reply : uint8_t { kNone, kAck, kSequenceError };
  struct Judgement {
    Reply reply;
    uint32_t psn;                 // of the reply
    dataplane::Duration message;  // as receive() returns it
  };
  [[gnu::always_inline]] Judgement judge(const RoceFrame& frame, dataplane::Instant born, dataplane::Instant at) {
    const uint32_t ahead = (frame.psn - expected_) & dataplane::bth::kMask24;
    if (ahead == 0) {
      const bool asks = frame.asks_for_ack();
      has_complained_ = false;
      counters_.reliable.acks_sent += asks;
      return {asks ? Reply::kAck : Reply::kNone, frame.psn, receive(frame, born, at)};
    }
    count(frame, born, at);
    if (ahead > dataplane::bth::kMask24 / 2) {
      ++counters_.reliable.duplicate_request;
      ++counters_.reliable.acks_sent;
      return {Reply::kAck, (expected_ - 1) & dataplane::bth::kMask24, kNothing};
    }
    ++counters_.reliable.out_of_sequence;
    if (has_complained_) return {Reply::kNone, 0, kNothing};
    has_complained_ = true;
    ++counters_.gaps;
    return {Reply::kSequenceError, expected_, kNothing};
  }
  uint32_t msn() const { return static_cast<uint32_t>(counters_.messages) & dataplane::bth::kMask24; }
  void sent_cnp() { ++counters_.reliable.np_cnp_sent; }
  void count_foreign() { ++counters_.foreign; }
  uint32_t latencies() const { return latencies_; }
  uint32_t expected_psn() const { return expected_; }

  const FlowReceived& counters() const { return counters_; }
  // Between windows.
  ArrivalGap take_gap() { return std::exchange(gap_, {}); }

 private:
  static constexpr dataplane::Duration kNothing = dataplane::Duration::ps(-1);

  void count(const RoceFrame& frame, dataplane::Instant born, dataplane::Instant at) {
    const dataplane::Duration apart = at - counters_.last_arrived;
    if (apart > gap_.length) [[unlikely]]
      note_gap(apart, at);
    const int64_t latency = (at - born).count_ps();
    counters_.latency_min_ps = counters_.packets == 0 ? latency : std::min(counters_.latency_min_ps, latency);
    counters_.latency_max_ps = std::max(counters_.latency_max_ps, latency);
    counters_.latency_sum_ps += static_cast<double>(latency);
    ++counters_.packets;
    counters_.marked += frame.is_marked;
    counters_.first_born = std::min(counters_.first_born, born);
    counters_.last_arrived = at;
  }

  void note_gap(dataplane::Duration apart, dataplane::Instant at) {
    if (counters_.packets == 0) {
      counters_.first_arrived = at;
    } else {
      gap_ = {apart, at};
    }
  }

  static constexpr uint32_t kLatenciesMask = (1U << 30) - 1;

  uint32_t expected_;
  uint32_t latencies_ : 30;
  bool whole_ : 1 = false;
  bool has_complained_ : 1 = false;  // about the expected PSN
  dataplane::Instant message_born_;
  ArrivalGap gap_;
  FlowReceived counters_;
};
static_assert(sizeof(ReceiveQueue) == 3 * dataplane::kCacheLine);
static_assert(sizeof(ReceiveQueue) - sizeof(FlowReceived) + offsetof(FlowReceived, gaps) == 2 * dataplane::kCacheLine);

}  // namespace softspine::testbeds
