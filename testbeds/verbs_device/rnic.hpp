// SPDX-License-Identifier: Apache-2.0
// An RNIC: queue pairs of programs, whose payload it moves itself, behind one port of the fabric. It joins
//
//   objects, calls   what programs have made, and their calls      verbs_objects.hpp, device_calls_handler.hpp
//   outbound         requests and answers that leave                outbound.hpp, requester.hpp
//   inbound          requests that arrive                           inbound.hpp, receiver_state.hpp
//   completions      what programs are told                         completions.hpp
//   connections      rdma_cm's identifiers, by queue pair 1         connections.hpp
//
// Time comes from the caller. Arrivals and timers are handled at their instants, and whatever follows from them is sent
// at the next poll, as is what a program has posted: queue pairs that have something to send take turns, a batch each,
// while the link is no more than kBacklog behind. So a program loads the fabric as fast as this machine carries it, and
// no faster: a fabric that is late is polled less often.
// Its programs are hostile until shown otherwise: nothing that they write can do more than end their own queue pairs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "dataplane/units/timed_heap.hpp"
#include "testbeds/verbs_device/completions.hpp"
#include "testbeds/verbs_device/connections.hpp"
#include "testbeds/verbs_device/inbound.hpp"
#include "testbeds/verbs_device/outbound.hpp"
#include "testbeds/verbs_device/pending_writes.hpp"
#include "testbeds/verbs_device/rnic_ground.hpp"

namespace softspine::testbeds {

class Rnic {
 public:
  static constexpr dataplane::Duration kBacklog = dataplane::Duration::us(10);

  // `pool` has room for a whole frame; both outlive the RNIC.
  Rnic(const HostConfig& host, uint8_t ecn, dataplane::PacketPool& pool, RnicPort& port)
      : ground_{.host = host, .ecn = ecn, .pool = pool, .port = port, .objects = {}, .counters = {}} {}

  // A frame that claims to be RoCEv2. kConsumed: it was sound and for us.
  dataplane::DropReason receive(dataplane::Packet packet, dataplane::Instant now) noexcept;
  // True if a program has rung.
  bool take_doorbells() noexcept;
  // From now on a program that rings wakes the device, until rise(). False: one has rung meanwhile.
  bool rest() noexcept;
  void rise() noexcept;
  // Whether some may have something to send.
  bool has_queued() const noexcept { return !queued_.empty() || connections_.has_queued(); }
  // Lets them send.
  void pump(dataplane::Instant now) noexcept;
  // What has arrived is in the programs.
  void flush() noexcept { writes_.flush(); }

  // When expire() has something to do.
  dataplane::Instant next() const noexcept { return std::min(timers_.next(), connections_.next()); }
  void expire(dataplane::Instant now) noexcept;
  // A frame that the port was given begins to leave.
  void left(uint32_t sender, dataplane::Instant now) noexcept;
  void link_changed(bool up) noexcept;

  // For calls of programs: a queue pair has changed, or goes.
  void queue(QueuePair& pair) noexcept;
  void forget(QueuePair& pair) noexcept;
  void forget_client(uint32_t client) noexcept;
  Completions& completions() { return completions_; }
  Connections& connections() { return connections_; }
  RnicGround& ground() { return ground_; }
  const RnicGround& ground() const { return ground_; }

 private:
  bool is_for_us(const RdmaFrame& frame) const noexcept;
  QueuePair* taker_of(const RdmaFrame& frame) noexcept;
  void arm(QueuePair& pair) noexcept;
  void let_go() noexcept;
  void tell_programs(uint32_t asleep) noexcept;

  RnicGround ground_;
  Completions completions_{ground_};
  PendingWrites writes_{ground_};
  Connections connections_{ground_};
  Inbound inbound_{ground_, completions_, writes_};
  Outbound outbound_{ground_, completions_, writes_};
  std::deque<uint32_t> held_back_;  // handles of those that wait until the NIC keeps less
  std::deque<uint32_t> queued_;     // handles of queue pairs that may have something to send
  bool rests_ = false;
  dataplane::TimedHeap timers_;  // by queue pair's number modulo the limit
};

}  // namespace softspine::testbeds
