// SPDX-License-Identifier: Apache-2.0
// What one queue pair has to send: messages, in the order in which they were posted.
//
// Packets are numbered 0, 1, 2 … over all messages, without a wrap. A message of n bytes makes max(1, ⌈n / MTU⌉).
//
//   | complete | batch: messages of one size | batch … | end
//                          next →
//
//   fill(bytes, count)   before anything else: `count` like messages, or messages without end; their tags are 0, 1, 2 …
//   post(bytes, tag)     one more behind all others; false if the queue is full
//   advance(), go_to()   the next packet: the one behind, or another that is not complete yet
//   complete(until)      tells the tag of each message all of whose packets are before `until`, each once, in order
//
// Like messages that fill() posts are one batch, so messages without end need no memory. A message that is posted is a
// batch of its own, and keeps its place until it is complete. Memory: `depth` places, allocated at the start.
// Invariant: complete ≤ next ≤ end.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/units/check.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

// Who wants to know of messages and instants, at one host. Called from within a window: it may post to flows of this
// host.
class WorkEvents {
 public:
  virtual ~WorkEvents() = default;
  // The flow's message with this tag: of a reliable connection its last packet is acknowledged, at `now`; of an open
  // loop its last bit leaves then, which is after the instant that the host is at.
  virtual void completed(uint32_t flow, uint64_t tag, dataplane::Instant now) noexcept = 0;
  // The sink's message is whole. Messages are numbered 0, 1, 2 … in the order in which they became so: of a reliable
  // connection that is the order in which they were posted.
  virtual void received(uint32_t sink, uint64_t number, dataplane::Instant now) noexcept = 0;
  // The flow's connection has ended: what is posted will not be complete.
  virtual void failed(uint32_t /*flow*/, dataplane::Instant /*now*/) noexcept {}
  // The instant that RoceHost::wake_at() was asked for.
  virtual void woken(dataplane::Instant /*now*/) noexcept {}
};

inline uint32_t packets_of_message(uint64_t bytes, uint32_t mtu) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, (bytes + mtu - 1) / mtu));
}

class WorkQueue {
 public:
  WorkQueue() = default;  // of nobody who sends
  // `depth`: how many that are posted it holds.
  WorkQueue(uint32_t mtu, uint32_t depth) : batches_(std::make_unique<Batches>(mtu, std::max(depth, 1U))) {}

  // `count` 0: without end.
  void fill(uint64_t bytes, uint64_t count) {
    SOFTSPINE_CHECK(batches_->tail == 0, batches_->tail, bytes);
    const uint64_t each = packets_of_message(bytes, batches_->mtu);
    append(bytes, 0, count == 0 || count > UINT64_MAX / each ? UINT64_MAX : count * each);
  }
  bool post(uint64_t bytes, uint64_t tag) {
    if (batches_->tail - batches_->head == batches_->depth) return false;
    append(bytes, tag, batches_->end() + packets_of_message(bytes, batches_->mtu));
    return true;
  }

  bool has_next() const { return next_ != batch_end_; }
  uint64_t next() const { return next_; }
  uint32_t position() const { return position_; }  // of the next packet in its message
  bool is_last() const { return position_ + 1 == packets_; }
  // Of the next packet's message; needs one.
  uint64_t message_bytes() const { return batches_->at(batches_->current).bytes; }
  // Likewise, of a message that was posted.
  uint64_t message_tag() const { return batches_->at(batches_->current).tag; }

  // Behind the next packet. Returns whether a message ended with it.
  bool advance() {
    ++next_;
    if (++position_ < packets_) return false;
    position_ = 0;
    if (next_ == batch_end_ && ++batches_->current != batches_->tail) enter();
    return true;
  }
  // `number` is of a message that is not complete, or the end.
  void go_to(uint64_t number) {
    Batches& b = *batches_;
    for (b.current = b.head; b.current != b.tail && b.at(b.current).end <= number; ++b.current) {
    }
    next_ = batch_end_ = number;
    position_ = 0;
    if (b.current == b.tail) return;
    enter();
    position_ = static_cast<uint32_t>((number - b.at(b.current).begin) % packets_);
  }

  // The number behind the last packet of the first message that is not complete; the largest if there is none.
  uint64_t message_end() const { return message_end_; }
  // see(tag); it may post.
  template <typename See>
  void complete(uint64_t until, See&& see) {
    Batches& b = *batches_;
    while (message_end_ <= until) {
      const uint64_t tag = b.tag++;
      if (message_end_ != b.at(b.head).end) {
        message_end_ += b.at(b.head).packets;
      } else if (++b.head != b.tail) {
        begin_head();
      } else {
        message_end_ = UINT64_MAX;
      }
      see(tag);
    }
  }
  // Payload in all packets before this one, which is of a message that is not complete, or the end.
  uint64_t payload_before(uint64_t number) const {
    const Batches& b = *batches_;
    uint64_t i = b.head;
    while (i + 1 < b.tail && b.at(i).end < number) ++i;
    return b.at(i).payload_before(number, b.mtu);
  }

 private:
  // Messages of one size: packets begin … end − 1.
  struct Batch {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t bytes = 0;    // of a message
    uint64_t tag = 0;      // of the first
    uint64_t payload = 0;  // of all batches before
    uint32_t packets = 1;  // of a message

    uint64_t payload_before(uint64_t number, uint32_t mtu) const {
      return payload + (number - begin) / packets * bytes + (number - begin) % packets * mtu;
    }
  };
  // Counted from the first one on; those that are not complete are head … tail − 1.
  struct Batches {
    Batches(uint32_t packet_bytes, uint32_t places)
        : ring(std::bit_ceil(places)), mask(ring.size() - 1), depth(places), mtu(packet_bytes) {}
    Batch& at(uint64_t i) { return ring[i & mask]; }
    const Batch& at(uint64_t i) const { return ring[i & mask]; }
    uint64_t end() const { return tail == 0 ? 0 : at(tail - 1).end; }

    std::vector<Batch> ring;
    uint64_t mask;
    uint32_t depth;
    uint32_t mtu;
    uint64_t head = 0;
    uint64_t current = 0;  // that next_ is in; tail: there is none
    uint64_t tail = 0;
    uint64_t tag = 0;  // of the first message that is not complete
  };

  void append(uint64_t bytes, uint64_t tag, uint64_t end) {
    Batches& b = *batches_;
    const uint64_t begin = b.end();
    const uint64_t payload = b.tail == 0 ? 0 : b.at(b.tail - 1).payload_before(begin, b.mtu);
    b.at(b.tail) = {begin, end, bytes, tag, payload, packets_of_message(bytes, b.mtu)};
    ++b.tail;
    if (b.head + 1 == b.tail) begin_head();
    if (b.current + 1 == b.tail) enter();
  }
  void begin_head() {
    const Batch& first = batches_->at(batches_->head);
    message_end_ = first.begin + first.packets;
    batches_->tag = first.tag;
  }
  void enter() {
    batch_end_ = batches_->at(batches_->current).end;
    packets_ = batches_->at(batches_->current).packets;
  }

  uint64_t next_ = 0;
  uint64_t batch_end_ = 0;  // of the batch that next_ is in; next_ itself behind the last one
  uint32_t position_ = 0;
  uint32_t packets_ = 1;  // of the message that next_ is in
  uint64_t message_end_ = UINT64_MAX;
  std::unique_ptr<Batches> batches_;
};

}  // namespace softspine::testbeds
