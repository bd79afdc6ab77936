// SPDX-License-Identifier: Apache-2.0
// The open-loop transport of one sending queue pair: it paces its packets, and no response changes what it sends.
//
// A host asks a transport three questions; a closed loop (reliable_sender.hpp) answers the same three:
//   eligible()  from when on the next packet may be sent; never() when there is none
//   next()      which part of a message it is, and its PSN
//   sent()      it has left: advance
// What there is to send: work_queue.hpp. A message is complete when its last packet has left.
// Responses (ACK, NAK, CNP) come to HostFlows::respond(), which counts them, and tells a closed loop, whose eligible()
// and next() may then change.
//
//   eligible' = max(eligible, start − 16 intervals) + interval      interval = frame on the wire / rate
//   after the last packet of a message with a gap:  max(eligible', left) + gap
//
// So the mean rate is exact as long as the port gives the queue pair its turn within 16 intervals, which is
// also the longest burst by which a wait is made up for. An interval is rounded to a picosecond (of thousands).
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/packet/wire.hpp"
#include "dataplane/units/time.hpp"
#include "testbeds/hosts/frame_template.hpp"
#include "testbeds/hosts/work_queue.hpp"

namespace softspine::testbeds {

class OpenLoop {
 public:
  struct Segment {
    Part part;
    uint32_t psn;
  };

  OpenLoop() = default;  // of a queue pair with another transport
  explicit OpenLoop(const FlowConfig& flow)
      : eligible_(flow.start), gap_(flow.gap), first_psn_(flow.first_psn), queue_(queue_of(flow)) {}

  dataplane::Instant eligible() const { return queue_.has_next() ? eligible_ : dataplane::Instant::never(); }
  Segment next() const {
    return {part_of_next(queue_), (first_psn_ + static_cast<uint32_t>(queue_.next())) & dataplane::bth::kMask24};
  }
  // Returns whether a message ended with it: complete() has its tag.
  bool sent(dataplane::Instant start, dataplane::Instant left, dataplane::Duration interval) {
    eligible_ = std::max(eligible_, start - interval * kCatchUpLimit) + interval;
    if (!queue_.advance()) return false;
    if (gap_.count_ps() > 0) eligible_ = std::max(eligible_, left) + gap_;
    return true;
  }

  // A message more. False if the queue is full. What was idle makes up for nothing.
  bool post(uint64_t bytes, uint64_t tag, dataplane::Instant now) {
    const bool was_idle = !queue_.has_next();
    if (!queue_.post(bytes, tag)) return false;
    if (was_idle) eligible_ = std::max(eligible_, now);
    return true;
  }
  // see(tag) of what has been sent.
  template <typename See>
  void complete(See&& see) {
    queue_.complete(queue_.next(), see);
  }
  const WorkQueue& queue() const { return queue_; }

 private:
  static constexpr int64_t kCatchUpLimit = 16;

  dataplane::Instant eligible_;
  dataplane::Duration gap_;
  uint32_t first_psn_ = 0;
  WorkQueue queue_;
};

}  // namespace softspine::testbeds
