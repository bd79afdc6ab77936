// SPDX-License-Identifier: Apache-2.0
// The open-loop transport of one sending queue pair: it paces its packets, and no response changes what it sends.
//
// A host asks a transport three questions; a closed loop (reliable_sender.hpp) answers the same three:
//   eligible()  from when on the next packet may be sent; never() when there is none
//   next()      which part of a message it is, and its PSN
//   sent()      it has left: advance
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

namespace softspine::testbeds {

class OpenLoop {
 public:
  struct Segment {
    Part part;
    uint32_t psn;
  };

  explicit OpenLoop(const FlowConfig& flow)
      : eligible_(flow.start),
        gap_(flow.gap),
        messages_left_(flow.messages == 0 ? UINT64_MAX : flow.messages),
        packets_(packets_per_message(flow)),
        psn_(flow.first_psn) {}

  dataplane::Instant eligible() const { return messages_left_ == 0 ? dataplane::Instant::never() : eligible_; }
  Segment next() const {
    if (position_ == 0) return {Part::kFirstOrOnly, psn_};
    return {position_ + 1 == packets_ ? Part::kLast : Part::kMiddle, psn_};
  }
  // Returns whether a message ended with it.
  bool sent(dataplane::Instant start, dataplane::Instant left, dataplane::Duration interval) {
    eligible_ = std::max(eligible_, start - interval * kCatchUpLimit) + interval;
    psn_ = (psn_ + 1) & dataplane::bth::kMask24;
    if (++position_ < packets_) return false;
    position_ = 0;
    --messages_left_;
    if (gap_.count_ps() > 0) eligible_ = std::max(eligible_, left) + gap_;
    return true;
  }

 private:
  static constexpr int64_t kCatchUpLimit = 16;

  dataplane::Instant eligible_;
  dataplane::Duration gap_;
  uint64_t messages_left_;
  uint32_t packets_;       // per message
  uint32_t position_ = 0;  // of the next packet in its message
  uint32_t psn_;
};

}  // namespace softspine::testbeds
