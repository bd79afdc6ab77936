// SPDX-License-Identifier: Apache-2.0
// What a rank's program counts, and how it says what it waits for.
#pragma once

#include <array>
#include <cstdint>

#include "control/traffic/graph.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

inline constexpr size_t kOperationKinds = 4;

// For how long at least one operation of a kind was under way, and for how long receives alone were: then the rank
// waited for others.
class OperationTimes {
 public:
  void begin(control::OperationKind kind, dataplane::Instant now) {
    settle(now);
    ++open_[static_cast<size_t>(kind)];
  }
  void end(control::OperationKind kind, dataplane::Instant now) {
    settle(now);
    --open_[static_cast<size_t>(kind)];
  }
  // What is under way counts up to the last change.
  dataplane::Duration of(control::OperationKind kind) const { return times_[static_cast<size_t>(kind)]; }
  dataplane::Duration of_receives_alone() const { return receives_alone_; }

 private:
  void settle(dataplane::Instant now) {
    constexpr auto kReceive = static_cast<size_t>(control::OperationKind::kReceive);
    const dataplane::Duration passed = now - last_;
    last_ = now;
    bool others = false;
    for (size_t kind = 0; kind < kOperationKinds; ++kind) {
      if (open_[kind] == 0) continue;
      times_[kind] += passed;
      others |= kind != kReceive;
    }
    if (open_[kReceive] != 0 && !others) receives_alone_ += passed;
  }

  std::array<uint32_t, kOperationKinds> open_{};
  std::array<dataplane::Duration, kOperationKinds> times_{};
  dataplane::Duration receives_alone_;
  dataplane::Instant last_;
};

struct RankCounters {
  std::array<uint64_t, kOperationKinds> done{};   // operations, by kind
  std::array<uint64_t, kOperationKinds> bytes{};  // of those
  uint64_t scale_up_messages = 0;                 // of the sends: beside the fabric
  uint64_t scale_up_bytes = 0;                    // likewise
  uint64_t clears_sent = 0;                       // clear-to-sends
  uint64_t clears_received = 0;
  uint32_t most_open = 0;                                  // operations; the window if it was full
  dataplane::Instant ended = dataplane::Instant::never();  // or failed
  OperationTimes times;
};

// An operation that is not done, and why.
struct UnfinishedOperation {
  enum class Reason : uint8_t {
    kNeeds,            // others of its rank
    kOrder,            // the one before it on its connection
    kClear,            // the peer's clear-to-send
    kRoom,             // a place in the queue of its queue pair
    kProxy,            // the rank's own processor
    kAcknowledgement,  // the peer's, or an open loop's last bit
    kMessage,          // the peer's
    kTime,             // its own
  };
  uint64_t number = 0;
  control::OperationKind kind = control::OperationKind::kCompute;
  Reason reason = Reason::kNeeds;
  uint32_t peer = 0;     // send, receive
  uint32_t channel = 0;  // send, receive
  uint64_t bytes = 0;
};

}  // namespace softspine::testbeds
