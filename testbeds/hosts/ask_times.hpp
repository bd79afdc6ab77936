// SPDX-License-Identifier: Apache-2.0
// When packets that ask for an acknowledgement have left: round-trip times are measured from these instants.
//
//   RTT of packet n = its acknowledgement in − its last bit out
// Only packets that were sent once are measured (Karn and Partridge, SIGCOMM 1987): when the sender goes back it
// forgets all instants, and notes none of a packet that it sends again. The acknowledgement of a packet that did not
// ask for it gives no round-trip time.
//
// Memory: a ring for as many packets as may be under way, made once. A ring of size 0 notes nothing, for flows whose
// congestion control needs no round-trip times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

class AskTimes {
 public:
  explicit AskTimes(uint32_t room) : ring_(room) {}

  // Numbers only grow, but for forget().
  void note(uint64_t number, dataplane::Instant left) noexcept {
    if (noted_ - taken_ < ring_.size()) ring_[noted_++ % ring_.size()] = {number, left};
  }
  void forget() noexcept { taken_ = noted_; }
  // Everything up to `number` is acknowledged, by its acknowledgement, at `now`.
  std::optional<dataplane::Duration> take(uint64_t number, dataplane::Instant now) noexcept {
    std::optional<dataplane::Duration> rtt;
    for (; taken_ != noted_ && ring_[taken_ % ring_.size()].number <= number; ++taken_) {
      const Ask& ask = ring_[taken_ % ring_.size()];
      if (ask.number == number) rtt = now - ask.left;
    }
    return rtt;
  }

 private:
  struct Ask {
    uint64_t number;
    dataplane::Instant left;
  };
  std::vector<Ask> ring_;
  uint64_t noted_ = 0;
  uint64_t taken_ = 0;
};

}  // namespace softspine::testbeds
