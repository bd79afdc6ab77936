// SPDX-License-Identifier: Apache-2.0
// Events of a reliable connection beside its data, at its two ends, and the table by which they are shown. Hosts
// count in these structs; snapshots hold both ends of a flow, workloads the sums. All zero for an open loop, but for
// CNPs. The names are those of mlx5 and rxe. No DPDK.
//
// To add a counter: a member and its row here, and the line that counts it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "dataplane/units/counter_facts.hpp"

namespace softspine::control {

struct RequesterCounts {
  uint64_t completed_messages = 0;     // that are wholly acknowledged
  uint64_t retransmitted_packets = 0;  // counted as sent, too
  uint64_t retransmitted_bytes = 0;    // payload, likewise
  uint64_t packet_seq_err = 0;         // NAKs "PSN sequence error" that it acted on
  uint64_t local_ack_timeout_err = 0;  // timeouts
  uint64_t retry_exceeded_err = 0;     // 1: it has given up
  uint64_t path_changes = 0;           // after timeouts, to the host's other port
  uint64_t rp_cnp_handled = 0;
  uint64_t rp_cnp_ignored = 0;  // CNPs for a queue pair without a reaction point
  uint64_t ce_echoes = 0;       // acknowledgements that said that their packet came marked with CE
  uint64_t telemetry_acks = 0;  // acknowledgements that brought telemetry of at least one switch
  uint64_t window_waits = 0;    // times that its window was full, more was to be sent, and an acknowledgement opened it
  uint64_t window_wait_ps = 0;  // in all
};

struct ResponderCounts {
  uint64_t out_of_sequence = 0;    // PSN ahead: not taken
  uint64_t duplicate_request = 0;  // PSN before the expected one: acknowledged again
  uint64_t acks_sent = 0;          // positive ones
  uint64_t np_cnp_sent = 0;
};

struct ReliableCounts : RequesterCounts, ResponderCounts {
  // Every member, in the order in which they are shown.
  static constexpr auto rows();
  ReliableCounts& operator+=(const ReliableCounts& more);
};

constexpr auto ReliableCounts::rows() {
  using enum dataplane::CounterUnit;
  using C = ReliableCounts;
  constexpr auto row = [](uint64_t C::* member, dataplane::CounterUnit unit, std::string_view key,
                          std::string_view help) {
    return dataplane::CounterRow<C>{member, {.unit = unit, .report = key, .help = help}};
  };
  return std::array{
      row(&C::completed_messages, kMessages, "completed_messages", "Messages acknowledged."),
      row(&C::retransmitted_packets, kPackets, "retransmitted_packets", "Packets sent again."),
      row(&C::retransmitted_bytes, kBytes, "retransmitted_bytes", "Payload bytes sent again."),
      row(&C::packet_seq_err, kCount, "packet_seq_err", "Requester: NAKs after which it sent again."),
      row(&C::local_ack_timeout_err, kCount, "local_ack_timeout_err", "Requester: timeouts."),
      row(&C::retry_exceeded_err, kCount, "retry_exceeded_err", "Requester: connections given up."),
      row(&C::path_changes, kCount, "path_changes", "Requester: changes to the host's other port, after timeouts."),
      row(&C::out_of_sequence, kPackets, "out_of_sequence", "Responder: packets ahead of the one due."),
      row(&C::duplicate_request, kPackets, "duplicate_request", "Responder: packets behind the one due."),
      row(&C::acks_sent, kPackets, "acks_sent", "Responder: acknowledgements, without NAKs."),
      row(&C::np_cnp_sent, kPackets, "np_cnp_sent", "Receiver: CNPs sent."),
      row(&C::rp_cnp_handled, kPackets, "rp_cnp_handled", "Sender: CNPs that slowed it down."),
      row(&C::rp_cnp_ignored, kPackets, "rp_cnp_ignored", "Sender: CNPs without effect."),
      row(&C::ce_echoes, kPackets, "ce_echoes", "Sender: acknowledgements of packets that came marked with CE."),
      row(&C::telemetry_acks, kPackets, "telemetry_acks",
          "Sender: acknowledgements with the in-band telemetry of a switch or more."),
      row(&C::window_waits, kCount, "window_waits",
          "Requester: waits for its window, with more to send that its pace would let go."),
      row(&C::window_wait_ps, kPicoseconds, "window_wait_ps",
          "Requester: the time of these waits, of all connections."),
  };
}
static_assert(sizeof(ReliableCounts) == ReliableCounts::rows().size() * sizeof(uint64_t), "a member has no row");

inline ReliableCounts& ReliableCounts::operator+=(const ReliableCounts& more) {
  for (const dataplane::CounterRow<ReliableCounts>& row : rows()) this->*row.member += more.*row.member;
  return *this;
}

}  // namespace softspine::control
