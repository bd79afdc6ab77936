// SPDX-License-Identifier: Apache-2.0
// The sending half of a built-in host's queue pairs: each flow's packets, its transport, its timer, and what it learns
// from the responses that come back.
//
//   send      a flow's turn at its port: its next packet is written from its template (frame_template.hpp) and sent; a
//             flow whose priority flow control blocks is parked instead. Then its transport says from when on it may
//             send again: an open loop by its pace (open_loop.hpp), a reliable connection by window and rate
//             (reliable_sender.hpp), or not until an acknowledgement has come
//   respond   an acknowledgement, a negative one or a CNP has come in for the flow; an open loop only counts it
//   use_ports the host's bond uses other ports than before: flows change their port, wherever they stand. They keep
//             their place in line as far as the other port's line lets them
//   expire    a reliable connection has waited too long. If it has too often in a row, it takes the host's other port
//             (path change), should the other end have lost the one in its plane. Its timer stands at its deadline or
//             before, so that a deadline that moves on costs nothing: it is compared when the timer goes off
// A flow stands in its port's order, is parked there, or waits for a response: in one of them at any time.
// The packet is made here and is the link's from `send` on. Without memory nothing is lost: the port tries again.
// Ports belong to the host, which hands them in. Counters, per flow: FlowSent (counters.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "dataplane/units/prefetch.hpp"
#include "dataplane/units/timed_heap.hpp"
#include "testbeds/hosts/counters.hpp"
#include "testbeds/hosts/frame_template.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/hosts/host_port.hpp"
#include "testbeds/hosts/open_loop.hpp"
#include "testbeds/hosts/reliable_sender.hpp"
#include "testbeds/hosts/roce_reader.hpp"

namespace softspine::testbeds {

class alignas(dataplane::kCacheLine) HostFlows {
 public:
  // `host` and `pool` outlive this.
  HostFlows(const HostConfig& host, dataplane::PacketPool& pool)
      : pool_(pool),
        host_(host),
        path_change_after_(host.ports > 1 && host.bond.changes_paths() ? host.bond.path_change_after : uint8_t{0}) {}

  // Between windows. `line`: the rate of the link of the flow's port. Returns its index; indices count from 0.
  uint32_t add(const FlowConfig& flow, dataplane::Rate line);
  uint32_t count() const { return static_cast<uint32_t>(flows_.size()); }

  // A message more for a flow that has a queue_depth. False if its queue is full, or its connection has failed.
  bool post(uint32_t flow, uint64_t bytes, uint64_t tag, dataplane::Instant now, std::vector<HostPort>& ports) noexcept;
  // Of messages of flows that have a queue_depth; null: nobody is told.
  void listen(WorkEvents* events) noexcept;

  // The flow whose turn it is at the port. Needs one.
  void send(HostPort& out, dataplane::Instant now) noexcept;
  // `times`: how long messages took, from their first bit out to their last acknowledgement in.
  void respond(uint32_t flow, const RoceFrame& frame, dataplane::Instant now, std::vector<HostPort>& ports,
               dataplane::Histogram& times) noexcept;
  // When the first timer goes off; never() if none runs.
  dataplane::Instant next_timer() const { return timers_.next(); }
  void expire(dataplane::Instant now, std::vector<HostPort>& ports) noexcept;

  // The bond uses these ports from now on (bit n: port n): a flow whose own port is not among them leaves by the other,
  // and one whose port is again goes back. Without any port in use flows stay where they are. Returns how many moved.
  uint64_t use_ports(uint8_t usable, std::vector<HostPort>& ports, dataplane::Instant now) noexcept;

  // What send() reads of the flow whose turn it is: its sender and its frame in the middle of a message, if they are
  // numbered as flows are.
  void prefetch(const HostPort& out) const noexcept;
  // To be prefetched: the first flow, its sender, and its frame in the middle of a message; null if there is none.
  struct Places {
    const void* flow;
    const void* sender;
    const void* frame;
  };
  Places places() const noexcept;
  // A packet of the flow, as the first of a message: its bytes without FCS.
  uint32_t first_frame_bytes(uint32_t flow) const { return templates_[flows_[flow].first_template].frame_bytes(); }
  const FlowSent& sent(uint32_t flow) const { return flows_[flow].counters; }
  dataplane::PortNo port(uint32_t flow) const { return flows_[flow].port; }
  // None for an open loop.
  const ReliableSender* sender(uint32_t flow) const {
    return flows_[flow].sender == kOpenLoop ? nullptr : &senders_[flows_[flow].sender];
  }

 private:
  static constexpr uint32_t kOpenLoop = UINT32_MAX;  // in the place of a sender
  static constexpr uint32_t kFilled = UINT32_MAX;    // nothing is posted
  static constexpr uint32_t kHasTelemetry = 1U << 16;

  // Every packet touches the first cache line; one of a reliable connection no other, unless it ends a message or is
  // sent again; one of an open loop the last; a response the second.
  struct alignas(dataplane::kCacheLine) Flow {
    uint32_t first_template;
    uint32_t sender;             // of senders_, if it is reliable
    dataplane::PortNo port;      // by which it leaves
    dataplane::PortNo own_port;  // by which it leaves while the bond uses both
    uint8_t priority_bit;
    uint32_t additions;         // to its packets: the tag's TCI in the low 16 bits, 0: no tag; and kHasTelemetry
    uint32_t posted = kFilled;  // of posted_
    FlowSent counters;
    OpenLoop transport;
  };
  static_assert(offsetof(Flow, counters) + offsetof(FlowSent, messages) == dataplane::kCacheLine);
  static_assert(offsetof(Flow, transport) == 3 * dataplane::kCacheLine && sizeof(OpenLoop) == dataplane::kCacheLine);
  static void line_up(HostPort& out, uint32_t index, dataplane::Instant eligible, dataplane::Instant now) noexcept;
  void send_reliable(HostPort& out, uint32_t index, dataplane::Instant now) noexcept;
  bool transmit(HostPort& out, Flow& flow, const FrameTemplate& frame, uint32_t psn, bool asks,
                dataplane::Instant now) noexcept;
  static void add_to(dataplane::Packet& packet, uint32_t additions) noexcept;
  static void charge(HostPort& out, const Flow& flow, uint32_t frame_bytes, dataplane::Instant now) noexcept;
  void handle_response(ReliableSender& sender, const RoceFrame& frame, dataplane::Instant now,
                       dataplane::Histogram& times) noexcept;
  void arm(uint32_t sender) noexcept;
  void set_timer_anew(uint32_t sender) noexcept;
  const WorkQueue& queue_of(const Flow& flow) const {
    return flow.sender == kOpenLoop ? flow.transport.queue() : senders_[flow.sender].queue();
  }
  void shape(const Flow& flow) noexcept;
  void end_message(Flow& flow, uint32_t index) noexcept;
  uint64_t place_flows(std::vector<HostPort>& ports, dataplane::Instant now) noexcept;
  void change_path(const ReliableSender& sender, std::vector<HostPort>& ports, dataplane::Instant now) noexcept;
  void revive(ReliableSender& sender, dataplane::Instant now, std::vector<HostPort>& ports) noexcept;

  // Two cache lines that every packet touches; the host looks at the first at each event.
  dataplane::TimedHeap timers_;  // of senders, each at its deadline or before
  std::vector<Flow> flows_;
  dataplane::PacketPool& pool_;
  std::vector<FrameTemplate> templates_;
  std::vector<ReliableSender> senders_;

  const HostConfig& host_;
  std::vector<FlowConfig> posted_;  // of flows whose messages are posted: their templates are of its message_bytes
  WorkEvents* events_ = nullptr;
  uint8_t usable_ports_ = 0xff;    // bit n: the bond uses port n
  uint8_t path_change_after_ = 0;  // timeouts in a row; 0: never
};

}  // namespace softspine::testbeds
