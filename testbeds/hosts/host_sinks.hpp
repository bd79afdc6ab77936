// SPDX-License-Identifier: Apache-2.0
// The receiving half of a built-in host's queue pairs: each sink's packets are judged by their PSN (receive_queue.hpp),
// timed, and answered if the sink was told to.
//
//   answers    a reliable connection acknowledges; either kind sends a CNP for a marked packet, at most one in
//              cnp_interval (notification_point.hpp). An answer is written into a packet of its own from its template
//              (response_template.hpp), and waits at the port that the host answers by (control_queue.hpp); a CNP with
//              a nic_delay first in that port's delayed_cnps.hpp
//   unanswered the answers that there was no room or no memory for
// The packet that came in stays the caller's. Latencies are kept apart by the sinks' latency group (SinkConfig).
// Counters: per sink FlowReceived; of the host message latencies, unanswered, and flow packets that ended at a foreign
// sink.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "testbeds/hosts/answering.hpp"
#include "testbeds/hosts/counters.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/hosts/host_port.hpp"
#include "testbeds/hosts/qp_table.hpp"
#include "testbeds/hosts/receive_queue.hpp"
#include "testbeds/hosts/roce_reader.hpp"
#include "testbeds/hosts/waiting_latencies.hpp"
#include "testbeds/hosts/work_queue.hpp"

namespace softspine::testbeds {

class alignas(dataplane::kCacheLine) HostSinks {
 public:
  // `pool` outlives this.
  explicit HostSinks(dataplane::PacketPool& pool) : pool_(pool) {}

  // Between windows. Writes its index, and how it answers, into its queue pair's entry.
  void add(const HostConfig& host, const SinkConfig& sink, QpTable::Entry& entry);
  uint32_t count() const { return static_cast<uint32_t>(sinks_.size()); }

  // A sound packet for the sink of `entry`, which has one. `port`: where an answer leaves.
  [[gnu::always_inline]] void receive(const dataplane::Packet& packet, const RoceFrame& frame,
                                      const QpTable::Entry& entry, HostPort& port, HostCounters& counters) noexcept {
    ReceiveQueue& sink = sinks_[entry.sink];
    const dataplane::PacketMeta& meta = packet.meta();
    if (packet.flow() != sink.counters().id) [[unlikely]] {
      sink.count_foreign();
      counters.ended_flow_packets += packet.is_of_flow() ? 1 : 0;
    }
    const dataplane::Duration message = entry.answering == QpTable::kNone
                                            ? sink.receive(frame, meta.born, meta.at)
                                            : receive_and_answer(packet, frame, entry, port, counters);
    if (message >= dataplane::Duration{}) {
      counters.message_latency_ps.add(message.count_ps());
      if (events_ != nullptr) [[unlikely]] {
        immediate_ = frame.immediate();
        events_->received(entry.sink, sink.counters().messages - 1, meta.at);
      }
    }
    if (!waiting_[sink.latencies()].add((meta.at - meta.born).count_ps())) [[unlikely]]
      flush(sink.latencies());
  }

  // Null: nobody is told of messages.
  void listen(WorkEvents* events) noexcept { events_ = events; }
  // Of the message that WorkEvents are being told of.
  uint32_t immediate() const noexcept { return immediate_; }

  // To be prefetched.
  const void* place() const { return sinks_.data(); }
  const void* place_of_latencies() const { return waiting_.data(); }
  const void* place_of_answers() const { return answering_.data(); }
  const FlowReceived& received(uint32_t sink) const { return sinks_[sink].counters(); }
  uint32_t expected_psn(uint32_t sink) const { return sinks_[sink].expected_psn(); }
  // Between windows.
  ArrivalGap take_gap(uint32_t sink) { return sinks_[sink].take_gap(); }
  // Between windows. Of packets delivered, by latency group, in the order in which the groups' first sinks were added.
  const std::vector<LatencyGroup>& latencies() const {
    for (uint32_t i = 0; i < waiting_.size(); ++i) flush(i);
    return latencies_;
  }
  dataplane::Histogram latency() const {
    dataplane::Histogram all;
    for (const LatencyGroup& each : latencies()) all.merge(each.latency_ps);
    return all;
  }

 private:
  uint32_t index_of_latencies(uint32_t group);
  [[gnu::noinline]] void flush(uint32_t group) const { waiting_[group].flush(latencies_[group].latency_ps); }
  dataplane::Duration receive_and_answer(const dataplane::Packet& packet, const RoceFrame& frame,
                                         const QpTable::Entry& entry, HostPort& port, HostCounters& counters) noexcept;
  dataplane::Duration acknowledge_with_echo(const dataplane::Packet& packet, const RoceFrame& frame, ReceiveQueue& sink,
                                            const Answering& answering, HostPort& port,
                                            HostCounters& counters) noexcept;
  dataplane::Packet make_cnp(HostPort& port, const Answering& answering, HostCounters& counters) noexcept;
  dataplane::Packet make_response(HostPort& port, uint8_t priority, HostCounters& counters) noexcept;

  // A cache line that every packet touches, and one that those touch that may have an answer.
  std::vector<ReceiveQueue> sinks_;
  mutable std::vector<WaitingLatencies> waiting_;  // for latencies_; mutable, as those: who reads them sees all
  WorkEvents* events_ = nullptr;
  dataplane::PacketPool& pool_;
  std::vector<Answering> answering_;
  uint32_t immediate_ = 0;
  mutable std::vector<LatencyGroup> latencies_;
};

}  // namespace softspine::testbeds
