// SPDX-License-Identifier: Apache-2.0
// What one worker sends to another within a window: timestamped, in order, handed over at the
// window's end. Two sides take turns, so nobody waits: while the sender fills one, the
// receiver empties the other. It grows once to the size a window needs.
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
  // The sender, at the end of a window: what it holds belongs to the receiver from now on.
  // Returns the earliest arrival in it, so that the next window starts no later than that.
  Instant close_window() {
    filling_ ^= 1;
    const Instant earliest = earliest_;
    earliest_ = Instant::never();
    return earliest;
  }
  // While all workers stand still: what was sent since the last closing is taken out by the caller, at once.
  std::vector<Message>& open_side() {
    earliest_ = Instant::never();
    return sides_[filling_];
  }
  // The receiver, after the `closings`-th closing: what was handed over by it.
  std::vector<Message>& closed_side(uint64_t closings) { return sides_[(closings + 1) & 1]; }
  // While nobody fills or empties it: all that it holds, on either side.
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
