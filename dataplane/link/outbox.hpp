// SPDX-License-Identifier: Apache-2.0
// The messages that one worker sends to another within a window: timestamped, in order, handed over at the window's
// end. The outbox has two sides so that neither worker waits: the sender fills one while the receiver empties the
// other. It grows once to the size that a window needs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/link/message.hpp"

namespace softspine::dataplane {

class Outbox {
 public:
  void push(NodeId to, PortNo port, Packet packet, Instant at) {
    if (at < earliest_) earliest_ = at;
    sides_[filling_].push_back(Message{std::move(packet), at, to, port});
  }
  // Called by the sender at the end of a window: the side that it has filled now belongs to the receiver. Returns the
  // earliest arrival on that side, so that the next window starts no later.
  Instant close_window() {
    filling_ ^= 1;
    const Instant earliest = earliest_;
    earliest_ = Instant::never();
    return earliest;
  }
  // For the receiver: deliver(message) takes those that the `closings`-th close_window() has handed over.
  template <typename Deliver>
  void empty_closed(uint64_t closings, Deliver&& deliver) {
    empty(sides_[(closings + 1) & 1], deliver);
  }
  // While no worker fills or empties the outbox: deliver(message) takes all messages, as they were sent.
  template <typename Deliver>
  void empty_both(Deliver&& deliver) {
    earliest_ = Instant::never();
    empty(sides_[filling_ ^ 1], deliver);
    empty(sides_[filling_], deliver);
  }
  // Likewise: take(message) takes those that takes(message) claims; the others stay in their order.
  template <typename Takes, typename Take>
  void take_if(Takes&& takes, Take&& take) {
    for (std::vector<Message>& side : sides_) {
      std::vector<Message> rest;
      for (Message& message : side) {
        if (takes(message)) {
          take(message);
        } else {
          rest.push_back(std::move(message));
        }
      }
      side = std::move(rest);
    }
  }
  // While no worker fills or empties the outbox: calls see(message) for all messages, on both sides.
  template <typename See>
  void for_each(See&& see) const {
    for (const std::vector<Message>& side : sides_) {
      for (const Message& message : side) see(message);
    }
  }

 private:
  template <typename Deliver>
  static void empty(std::vector<Message>& side, Deliver& deliver) {
    for (Message& message : side) deliver(message);
    side.clear();
  }

  std::array<std::vector<Message>, 2> sides_;
  Instant earliest_ = Instant::never();
  uint32_t filling_ = 0;
};

}  // namespace softspine::dataplane
