// SPDX-License-Identifier: Apache-2.0
// DCQCN for a host that has none, in its NIC: notification point for what it receives, reaction point for what it
// sends.
//
//   CE in          a marked RC packet is answered with a CNP to the queue pair that sent it, at most one CNP per
//                  queue pair and `cnp_interval`, ready `nic_delay` later (congestion/notification_point.hpp)
//   CNP in         cuts the rate of the queue pair that it is for (congestion/reaction_point.hpp) and ends here, since
//                  the host has no use for it
//   to the fabric  a packet waits here until the rate of its queue pair allows it, in the order of that queue pair and
//                  without delaying others; acknowledgements are never held
// For both, the NIC has to know which two queue pairs belong together, which congestion/qp_pairs.hpp learns from
// acknowledgements. Marks and CNPs before the first acknowledgement are only counted (np_cnp_unknown, rp_cnp_ignored).
//
// CNP: the marked packet's addresses turned round, DSCP `cnp_dscp`, ECT(0), BTH 0x81 with BECN, 16 zero bytes, ICRC;
// the UDP source port is the marked packet's. No CNP for IPv4 with options. Everything here happens in the order of
// time, so only run() may call it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/congestion/notification_point.hpp"
#include "dataplane/congestion/qp_pairs.hpp"
#include "dataplane/congestion/rate_limiter.hpp"
#include "dataplane/edge/nic_config.hpp"
#include "dataplane/edge/nic_counters.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/units/timed_heap.hpp"

namespace softspine::dataplane {

class NicCongestion {
 public:
  // `counters` outlives this object. `config` has a congestion control that CNPs alone steer.
  NicCongestion(const NicConfig& config, NicCounters& counters);

  // Called when it is a parsed packet's turn to leave. True if its rate does not allow it yet: it is then kept here.
  // False: it leaves now.
  bool keeps(Packet& packet, Instant now, Rate line) noexcept;
  // When the next packet that is kept may leave. take() returns it, or nothing if its rate has fallen meanwhile.
  Instant due() const { return heap_.next(); }
  Packet take(Instant now) noexcept;
  // Any packet that is kept, at the end of the run; empty if there is none.
  Packet take_any() noexcept;
  uint64_t packets() const { return packets_; }
  uint64_t bytes() const { return bytes_; }

  struct Inspection {
    bool ends_here = false;  // a CNP
    Packet answer;           // a CNP of our own
  };
  // Handles a parsed packet that came in at `now`.
  Inspection inspect(const Packet& packet, Instant now, PacketPool& pool) noexcept;

 private:
  // The state of a stream to a peer.
  struct Sender {
    std::optional<RateLimiter> limiter;
    PacketList waiting;
    uint32_t packets = 0;
  };

  uint16_t stream_of(Way way, const Ipv6Address& peer, uint32_t qp, Instant now) noexcept;
  void note(Way way, const uint8_t* bth, uint16_t stream) noexcept;
  Packet answer(const Packet& packet, uint16_t stream, Instant now, PacketPool& pool) noexcept;
  Packet pop(uint16_t stream) noexcept;

  const NicConfig config_;
  NicCounters& counters_;
  QpPairs pairs_;
  std::vector<Sender> senders_;                   // by stream to a peer
  std::vector<NotificationPoint> notifications_;  // by stream from a peer
  TimedHeap heap_;                                // senders with a packet that waits, by when it may leave
  uint64_t packets_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace softspine::dataplane
