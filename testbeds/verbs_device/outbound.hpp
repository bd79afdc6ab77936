// SPDX-License-Identifier: Apache-2.0
// The sending half of an RNIC: packets of a queue pair, first the answers that it owes, then requests; and what answers
// of its peer mean for its work.
#pragma once

#include <cstdint>

#include "testbeds/verbs_device/completions.hpp"
#include "testbeds/verbs_device/frame_batch.hpp"
#include "testbeds/verbs_device/pending_writes.hpp"

namespace softspine::testbeds {

class Outbound {
 public:
  Outbound(RnicGround& ground, Completions& completions, PendingWrites& writes)
      : ground_(ground), completions_(completions), writes_(writes) {}

  // Sends a batch. True: there may be more.
  bool send(QueuePair& pair, dataplane::Instant now) noexcept;
  // An acknowledgement or a response, whose payload stays until the writes are flushed.
  void take(QueuePair& pair, const RdmaFrame& frame, dataplane::Instant now) noexcept;
  // A timer has run out.
  void expire(QueuePair& pair, dataplane::Instant now) noexcept;

 private:
  void add_answers(QueuePair& pair, FrameBatch& batch) noexcept;
  bool add_read(QueuePair& pair, OwedAnswer& answer, FrameBatch& batch) noexcept;
  bool add_requests(QueuePair& pair, FrameBatch& batch, dataplane::Instant now) noexcept;
  bool add_payload(QueuePair& pair, const RequestPacket& packet, uint8_t* to, FrameBatch& batch) noexcept;
  void take_acknowledgement(QueuePair& pair, const RdmaFrame& frame, dataplane::Instant now) noexcept;
  void take_response(QueuePair& pair, const RdmaFrame& frame, dataplane::Instant now) noexcept;
  bool place_response(QueuePair& pair, const SendWork& work, const RdmaFrame& frame) noexcept;
  void complete(QueuePair& pair) noexcept;
  void fail(QueuePair& pair, uint32_t status) noexcept;

  RnicGround& ground_;
  Completions& completions_;
  PendingWrites& writes_;
};

}  // namespace softspine::testbeds
