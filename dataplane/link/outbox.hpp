// SPDX-License-Identifier: Apache-2.0
// The messages that one worker sends to another within a window: timestamped, in order, handed over at the window's
// end. The outbox has two sides so that neither worker waits: the sender fills one while the receiver empties the
// other. It grows once to the size that a window needs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class Node;

struct Message {
  Node* to = nullptr;
  Packet packet;
  Instant at;
  PortNo port;
};

class Outbox {
 public:
  void push(Node* to, PortNo port, Packet packet, Instant at) {
    if (at < earliest_) earliest_ = at;
    sides_[filling_].push_back(Message{to, std::move(packet), at, port});
  }
  // Called by the sender at the end of a window: the side that it has filled now belongs to the receiver. Returns the
  // earliest arrival on that side, so that the next window starts no later.
  Instant close_window() {
    filling_ ^= 1;
    const Instant earliest = earliest_;
    earliest_ = Instant::never();
    return earliest;
  }
  // While all workers wait: the messages sent since the last close_window(); the caller takes them out at once.
  std::vector<Message>& open_side() {
    earliest_ = Instant::never();
    return sides_[filling_];
  }
  // For the receiver: the messages that the `closings`-th close_window() has handed over.
  std::vector<Message>& closed_side(uint64_t closings) { return sides_[(closings + 1) & 1]; }
  // While no worker fills or empties the outbox: calls see(message) for all messages, on both sides.
  template <typename See>
  void for_each(See&& see) const {
    for (const std::vector<Message>& side : sides_) {
      for (const Message& message : side) see(message);
    }
  }

 private:
  std::array<std::vector<Message>, 2> sides_;
  Instant earliest_ = Instant::never();
  uint32_t filling_ = 0;
};

}  // namespace softspine::dataplane
