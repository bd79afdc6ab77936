// SPDX-License-Identifier: Apache-2.0
// The receive buffer of a host's port that can't take packets as fast as they come: a slow receiver.
//
//   Packets of its priorities wait here, first in first out, and leave at `drain`, frame bytes only.
//   XOFF wanted   from bytes > xoff until bytes ≤ xon             bytes: from a packet's last bit to the end of its
//   drain refused       if it would make bytes > size; with drain 0 nothing ever leaves
// A change of the rate counts from its instant on; what had drained of the first packet starts anew.
// Invariant: bytes ≤ size. Without a configuration it takes no priority.
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
};

class ReceiveBuffer {
 public:
  // Packets that are no longer of its priorities leave as the others do.
  void configure(const SlowReceiver& slow, dataplane::Instant now) {
    slow_ = slow;
    settle_head(now);
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

  // Slow: for who only looks. see(flow)
  template <typename See>
  void for_each(See&& see) const {
    packets_.for_each([&](const dataplane::PacketMeta&, uint32_t flow) { see(flow); });
  }

  // Needs has_room(). Its last bit came in at `now`.
  void push(dataplane::Packet packet, dataplane::Instant now) {
    bytes_ += packet.frame_bytes();
    watermark_ = std::max(watermark_, bytes_);
    const bool is_first = packets_.empty();
    packets_.push(std::move(packet));
    if (is_first) settle_head(now);
    judge();
  }
  // At next(), or at any time by who empties it. Needs a packet.
  dataplane::Packet pop(dataplane::Instant now) {
    dataplane::Packet packet = packets_.pop();
    bytes_ -= packet.frame_bytes();
    settle_head(now);
    judge();
    return packet;
  }

 private:
  void settle_head(dataplane::Instant now) {
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
