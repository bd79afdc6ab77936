// SPDX-License-Identifier: Apache-2.0
// What became of one message of a rank on its way, and what delayed it most.
//
//   started        the rank was ready to send it
//   posted         its queue pair had it: it waited for a clear-to-send, for room, or for those before it
//   arrived        its receive was done
//   ideal          posted … arrived if only its sender's link slowed it down: propagation, its bytes on that link, and
//                  one packet more on each other link of its way. A message in parts has all links of their ways
//   late           arrived − posted − ideal. If the message before it on its connection was under way when it was
//                  posted, it counts from that one's arrival: what happened till then is that one's
//
// The cause is a pause or a queue, if a port was paused while it passed, or a packet of it stayed, for at least half of
// what it is late: the pause, unless the stay is longer than twice. Else it is a retransmission if there was one, else
// the queue pair's rate if that was cut, else a pause or a queue of more than kPacketsOfAQueue packets: one that is
// short, and shared for a long time. Else it is nothing in the fabric. If several ports of the way were paused for
// about as long, the last is the cause of the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/telemetry/steps_snapshot.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

struct HopFate {
  LinkEnd port;
  uint8_t queue = 0;
  uint8_t priorities = 0;
  uint64_t packets = 0;  // that left there, those sent again as well
  dataplane::Duration stay;
  dataplane::Duration paused;
};

struct MessageFate {
  static constexpr size_t kHops = 32;   // that are kept
  static constexpr size_t kBefore = 8;  // messages before it that are kept

  uint32_t from_rank = 0;
  uint32_t to_rank = 0;
  uint32_t channel = 0;
  uint64_t bytes = 0;
  uint64_t packets = 0;  // that it takes
  uint32_t parts = 0;    // each on a queue pair of its own
  dataplane::Instant started;
  dataplane::Instant posted;
  dataplane::Instant arrived = dataplane::Instant::never();
  uint64_t before = 0;        // the sender's step that it followed (step_history.hpp)
  std::vector<HopFate> hops;  // in the order in which the message passed them; none: it went beside the fabric
  uint64_t retransmitted_packets = 0;
  uint64_t naks = 0;
  uint64_t timeouts = 0;
  uint64_t cnps = 0;
  // On its connection, if it was under way when this one was posted.
  std::shared_ptr<MessageFate> message_before;

  bool was_repeated() const { return retransmitted_packets + naks + timeouts > 0; }
  // From when on nothing before it was in its way.
  dataplane::Instant was_next() const {
    return message_before ? std::max(posted, std::min(message_before->arrived, arrived)) : posted;
  }
};

struct MessageDelay {
  WaitCause cause = WaitCause::kTransfer;
  dataplane::Duration time;
  const HopFate* hop = nullptr;
};

dataplane::Duration ideal_time_of(const MessageFate& message, const Fabric& fabric);
// What it is late by since `from`; it has arrived. None: it was on its way for no longer than it takes.
std::optional<MessageDelay> delay_of(const MessageFate& message, const Fabric& fabric, dataplane::Instant from);
// The hop behind which most of its packets were lost; null: none was, only behind the last one, or it went in parts.
const HopFate* lossy_hop_of(const MessageFate& message, uint64_t& lost);

}  // namespace softspine::control
