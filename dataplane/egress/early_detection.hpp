// SPDX-License-Identifier: Apache-2.0
// WRED of a switch's queues: which frames are dropped before the buffer is asked, and which are marked when they begin
// to leave. The lines and their probabilities are those of wred.hpp, one pair for each queue.
//
//   drop   at admission, by the queue's bytes with the frame; only frames that cannot be marked instead: no IP, or
//          Not-ECT, or all frames if the profile marks nothing (ecn_none)
//   mark   when the frame begins to leave, by the queue's bytes then; only ECT(0) and ECT(1): CE, checksum included
// Only called at a port with such a line (EgressPort::has_wred), for a queue beyond the lowest min of the port's lines.
// Random numbers come from the node's generator. Counters: of the queue, dropped and ECN-marked packets.
#pragma once

#include "dataplane/egress/port_counters.hpp"
#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::dataplane {

class EarlyDetection {
 public:
  // `rng` outlives this.
  explicit EarlyDetection(Rng& rng) : rng_(rng) {}

  // `plan` must stay valid until the next call.
  void apply(const QosPlan& plan) noexcept { plan_ = &plan; }

  // The packet has its port and queue in its meta; `queue` is that queue.
  [[gnu::noinline]] bool is_dropped_early(const Packet& packet, QueueCounters& queue) noexcept;
  [[gnu::noinline]] void mark(Packet& packet, QueueCounters& queue) noexcept;

 private:
  const WredPlan& wred_of(const PacketMeta& meta) const noexcept {
    return plan_->wred[plan_->ports[meta.out_port].queues[meta.queue].wred];
  }

  Rng& rng_;
  const QosPlan* plan_ = nullptr;
};

}  // namespace softspine::dataplane
