// SPDX-License-Identifier: Apache-2.0
// The cost of one fault: the packets lost by it, the flows that stalled meanwhile, and when the fabric had recovered.
// testbeds/run/loss_causes.hpp decides which fault a lost packet belongs to.
//
//   at                 the fault strikes
//   detected           the first switch knows (with `detection` only)
//   converged          the last switch has followed
//   last_loss          the last packet is lost; window = last_loss − at
//   moving             the last flow that stood still moves again
//   ended              the fault is repaired, or has lasted as long as it was to
//   recovered          repaired, LACP agreed, routes as they were, all flows moving
// An instant is never() until that has happened.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::control {

struct LossSum {
  uint64_t packets = 0;
  uint64_t bytes = 0;  // frames
  dataplane::Instant first = dataplane::Instant::never();
  dataplane::Instant last;

  void add(dataplane::Instant at, uint32_t frame_bytes) {
    first = packets == 0 ? at : first;
    last = at;
    ++packets;
    bytes += frame_bytes;
  }
};

struct ReasonLoss {
  std::string reason;  // as losses have it (losses.hpp)
  LossSum sum;
};

struct FlowLoss {
  uint32_t flow = 0;  // index of FabricSnapshot::flows
  uint64_t packets = 0;
  uint64_t bytes = 0;
  dataplane::Duration stalled;  // the longest time without a packet, of those that began before the fault's end
  bool still = false;           // and it has not ended
};

// Packets lost over time, in bins of equal width. The first bin begins with the fault. A loss past the last bin doubles
// the width.
struct LossBins {
  static constexpr size_t kBins = 64;
  dataplane::Duration width = dataplane::Duration::us(1);
  std::array<uint32_t, kBins> packets{};

  // `since`: the fault; not negative.
  void add(dataplane::Duration since) {
    while (since.count_ps() / width.count_ps() >= static_cast<int64_t>(kBins)) halve();
    ++packets[static_cast<size_t>(since.count_ps() / width.count_ps())];
  }

 private:
  void halve() {
    for (size_t i = 0; i < kBins; ++i) packets[i] = i < kBins / 2 ? packets[2 * i] + packets[2 * i + 1] : 0;
    width = width + width;
  }
};

struct LossWindow {
  dataplane::Instant at;
  dataplane::Instant detected = dataplane::Instant::never();
  dataplane::Instant converged = dataplane::Instant::never();
  dataplane::Instant ended = dataplane::Instant::never();
  dataplane::Instant moving = dataplane::Instant::never();
  dataplane::Instant recovered = dataplane::Instant::never();
  LossSum lost;
  std::vector<ReasonLoss> reasons;
  std::vector<FlowLoss> flows;    // that lost packets or stood still: the worst first
  uint64_t unlisted_packets = 0;  // of flows beyond the limit of the list
  LossBins over_time;
};

// Which of the drops that counters show are explained: each recorded loss is either a fault's or unexplained.
struct LossAccount {
  std::vector<ReasonLoss> explained;    // Σ over faults
  std::vector<ReasonLoss> unexplained;  // by no fault
  std::vector<ReasonLoss> before;       // counted before the first fault of a run that had none planned: packets only
  std::vector<uint64_t> lost_of_flow;   // by flow
  bool is_whole = true;                 // recorded from the start
};

}  // namespace softspine::control
