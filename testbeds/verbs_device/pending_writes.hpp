// SPDX-License-Identifier: Apache-2.0
// Payload of one queue pair that has arrived and is not copied into its program yet; the packets are held until then.
// Copied when it has grown, before anybody is told of it, and at the next poll: a window of the engine is shorter than
// a packet, and a copy costs a call of the kernel.
#pragma once

#include <cstdint>
#include <utility>

#include "testbeds/verbs_device/rnic_ground.hpp"

namespace softspine::testbeds {

class PendingWrites {
 public:
  explicit PendingWrites(RnicGround& ground) : ground_(ground) {}
  ~PendingWrites() { flush(); }
  PendingWrites(const PendingWrites&) = delete;
  PendingWrites& operator=(const PendingWrites&) = delete;

  // What comes now is this queue pair's.
  void turn_to(const QueuePair& pair) noexcept {
    if (pair_ != pair.number || !memory_of(pair).has_room(2 * kPieceLimit)) flush();
    pair_ = pair.number;
  }
  // `local` lies in the packet that is held next, or stays until flush().
  void add(const QueuePair& pair, const void* local, uint64_t remote, uint32_t bytes) noexcept {
    memory_of(pair).add(const_cast<void*>(local), remote, bytes);
  }
  void hold(dataplane::Packet packet) noexcept { packets_.push(std::move(packet)); }
  // False: the program has no such memory, now or at an earlier flush of this queue pair.
  bool flush() noexcept {
    QueuePair* const pair = ground_.objects.queue_pairs.find(pair_);
    bool is_whole = true;
    if (pair != nullptr) {
      ProcessMemory& memory = memory_of(*pair);
      if (!memory.empty() && !memory.write()) pair->receiver.has_lost_memory = true;
      is_whole = !pair->receiver.has_lost_memory;
    }
    while (!packets_.empty()) dataplane::PacketPool::release(packets_.pop());
    return is_whole;
  }

 private:
  ProcessMemory& memory_of(const QueuePair& pair) { return ground_.objects.client_of(pair).writes; }

  RnicGround& ground_;
  uint32_t pair_ = 0;
  dataplane::PacketList packets_;
};

}  // namespace softspine::testbeds
