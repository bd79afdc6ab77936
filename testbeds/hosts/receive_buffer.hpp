// SPDX-License-Identifier: Apache-2.0
// The receive buffer of a slow receiver: of a host's port that cannot take packets as fast as they come.
//
// Packets of the configured priorities wait here, first in first out. They leave at the rate `drain`, which counts
// frame bytes only; with drain 0 none ever leaves.
//
//   bytes     of the packets that wait: each from the last bit received until it has drained
//   XOFF      is wanted from bytes > xoff until bytes ≤ xon
//   refused   is a packet that would make bytes > size
//
// A new rate counts from its instant on, and the first packet begins to drain again.
// Invariant: bytes ≤ size. Without a configuration no priority waits here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

struct SlowReceiver {
  uint8_t priorities = 0x18;  // bit n: priority n
  dataplane::Rate drain;
  uint32_t size_bytes = 256 << 10;
  uint32_t xoff_bytes = 96 << 10;
  uint32_t xon_bytes = 64 << 10;

  // At least as much room above XOFF as may still come: nothing lossless is lost by what the link is like.
  SlowReceiver with_headroom(uint32_t bytes) const {
    SlowReceiver out = *this;
    out.size_bytes = std::max(size_bytes, xoff_bytes + bytes);
    return out;
  }
};

class ReceiveBuffer {
 public:
  // Packets that wait, and whose priority is no longer configured, drain as the others do.
  void configure(const SlowReceiver& slow, dataplane::Instant now) {
    slow_ = slow;
    drain_first(now);
    judge();
  }

  uint8_t priorities() const { return slow_.priorities; }
  uint32_t size_bytes() const { return slow_.size_bytes; }
  bool is_empty() const { return packets_.empty(); }
  uint32_t bytes() const { return bytes_; }
  uint32_t watermark_bytes() const { return watermark_; }
  bool has_room(uint32_t frame_bytes) const { return uint64_t{bytes_} + frame_bytes <= slow_.size_bytes; }
  uint8_t wants_paused() const { return wants_xoff_ ? slow_.priorities : uint8_t{0}; }
  // When the first packet is through; never() if there is none or nothing drains.
  dataplane::Instant next() const { return head_done_; }

  // Slow, for reports: see(glance) for each packet.
  template <typename See>
  void for_each(See&& see) const {
    packets_.for_each(see);
  }

  // Needs has_room(). Its last bit came in at `now`.
  void push(dataplane::Packet packet, dataplane::Instant now) {
    bytes_ += packet.frame_bytes();
    watermark_ = std::max(watermark_, bytes_);
    const bool is_first = packets_.empty();
    packets_.push(std::move(packet));
    if (is_first) drain_first(now);
    judge();
  }
  // At next(), or at any time to empty the buffer. Needs a packet.
  dataplane::Packet pop(dataplane::Instant now) {
    dataplane::Packet packet = packets_.pop();
    bytes_ -= packet.frame_bytes();
    drain_first(now);
    judge();
    return packet;
  }

 private:
  void drain_first(dataplane::Instant now) {
    head_done_ = packets_.empty() || slow_.drain.is_zero()
                     ? dataplane::Instant::never()
                     : now + slow_.drain.time_of_bytes(packets_.front().frame_bytes);
  }
  void judge() {
    if (bytes_ > slow_.xoff_bytes) wants_xoff_ = true;
    if (bytes_ <= slow_.xon_bytes) wants_xoff_ = false;
  }

  SlowReceiver slow_{.priorities = 0};
  dataplane::PacketList packets_;
  dataplane::Instant head_done_ = dataplane::Instant::never();
  uint32_t bytes_ = 0;
  uint32_t watermark_ = 0;
  bool wants_xoff_ = false;
};

}  // namespace softspine::testbeds
