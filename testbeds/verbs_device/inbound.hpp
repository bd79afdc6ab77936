// SPDX-License-Identifier: Apache-2.0
// The receiving half of an RNIC: requests of peers. Each packet is judged by its PSN, its place in the message, the
// queue pair's rights and the region's, before a byte goes into the program.
//
//   PSN ahead       one NAK (sequence error) for each PSN that is expected, and the packet ends
//   PSN behind      acknowledged again; a read is answered again, an atomic from what it found the first time; neither
//                   while its answer is still owed
//   no receive      NAK (receiver not ready), and the packet ends; a datagram ends without
//   wrong           NAK (invalid request, access error, operation error), and the queue pair has failed
// A queue pair that refuses sends first what it owes for the requests before.
// An unreliable connection answers nothing: a gap ends the message, and the next one that begins is taken, into the
// same receive.
// Atomics are atomic among the operations of the device, not against the program's own. Source: IBA 1.4, 9.7 and 9.8.
#pragma once

#include <cstdint>

#include "testbeds/verbs_device/completions.hpp"
#include "testbeds/verbs_device/pending_writes.hpp"
#include "testbeds/verbs_device/rdma_frame.hpp"

namespace softspine::testbeds {

class Inbound {
 public:
  Inbound(RnicGround& ground, Completions& completions, PendingWrites& writes)
      : ground_(ground), completions_(completions), writes_(writes) {}

  // A request, whose payload stays until the writes are flushed.
  void take(QueuePair& pair, const RdmaFrame& frame) noexcept;

 private:
  void take_datagram(QueuePair& pair, const RdmaFrame& frame) noexcept;
  void take_again(QueuePair& pair, const RdmaFrame& frame) noexcept;
  void take_expected(QueuePair& pair, const RdmaFrame& frame) noexcept;
  void take_data(QueuePair& pair, const RdmaFrame& frame) noexcept;
  bool begin(QueuePair& pair, const RdmaFrame& frame, bool sends) noexcept;
  bool place(QueuePair& pair, const RdmaFrame& frame) noexcept;
  bool place_send(QueuePair& pair, const RdmaFrame& frame) noexcept;
  void end(QueuePair& pair, const RdmaFrame& frame) noexcept;
  void take_read(QueuePair& pair, const RdmaFrame& frame) noexcept;
  void take_atomic(QueuePair& pair, const RdmaFrame& frame) noexcept;
  bool find_receive(QueuePair& pair) noexcept;
  uint32_t pd_of_receives(const QueuePair& pair) const noexcept;
  void acknowledge(QueuePair& pair, uint32_t psn, uint8_t syndrome) noexcept;
  void refuse(QueuePair& pair, const RdmaFrame& frame, uint8_t syndrome) noexcept;

  RnicGround& ground_;
  Completions& completions_;
  PendingWrites& writes_;
};

}  // namespace softspine::testbeds
