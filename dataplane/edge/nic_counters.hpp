// SPDX-License-Identifier: Apache-2.0
// A NIC's counters of the frames that it handles or makes. Its host's frames are counted in EdgeCounters, PFC frames
// in PortFlowControl. To add a counter: a member and its row here, and the line that counts it.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/units/counter_facts.hpp"

namespace softspine::dataplane {

struct NicCounters {
  uint64_t made_packets = 0;       // sent into the link, made by the NIC and not by the host
  uint64_t waiting_bytes_max = 0;  // the most that ever waited for the link

  // DCQCN. The names are mlx5's, except for cases that only a NIC without queue pairs of its own can meet.
  uint64_t np_ecn_marked_roce_packets = 0;
  uint64_t np_cnp_sent = 0;
  uint64_t np_cnp_unknown = 0;  // due, but it is not known yet which queue pair sends
  uint64_t np_cnp_unsent = 0;   // due, but the packet has IP options or extension headers, which a CNP cannot copy
  uint64_t rp_cnp_handled = 0;
  uint64_t rp_cnp_ignored = 0;   // for a queue pair of which nothing is known
  uint64_t held_by_rate = 0;     // packets of the host that had to wait for their queue pair's rate
  uint64_t flows_forgotten = 0;  // since there were more flows than it can keep

  // Every member, in the order in which they are shown.
  static constexpr auto rows();
};

constexpr auto NicCounters::rows() {
  using enum CounterUnit;
  using enum Nature;
  return std::to_array<CounterRow<NicCounters>>(
      {{&NicCounters::waiting_bytes_max,
        {.unit = kBytes,
         .nature = kHighest,
         .report = "waiting_max_bytes",
         .help = "Most that ever waited for the link."}},
       {&NicCounters::made_packets,
        {.unit = kPackets, .report = "made_packets", .help = "Frames that the NIC made: CNPs, pause frames."}},
       {&NicCounters::np_ecn_marked_roce_packets,
        {.unit = kPackets, .report = "np_ecn_marked_roce_packets", .help = "RoCE packets that arrived marked CE."}},
       {&NicCounters::np_cnp_sent,
        {.unit = kPackets, .report = "np_cnp_sent", .help = "CNPs sent to who sent marked packets."}},
       {&NicCounters::np_cnp_unknown,
        {.unit = kPackets,
         .report = "np_cnp_unknown",
         .help = "CNPs that were due, when it was not known yet which queue pair sends."}},
       {&NicCounters::np_cnp_unsent,
        {.unit = kPackets,
         .report = "np_cnp_unsent",
         .help = "CNPs that were due for packets whose headers a CNP cannot copy."}},
       {&NicCounters::rp_cnp_handled,
        {.unit = kPackets, .report = "rp_cnp_handled", .help = "CNPs that slowed a queue pair down."}},
       {&NicCounters::rp_cnp_ignored,
        {.unit = kPackets, .report = "rp_cnp_ignored", .help = "CNPs for queue pairs of which nothing is known."}},
       {&NicCounters::held_by_rate,
        {.unit = kPackets, .report = "held_by_rate", .help = "Packets that waited for their queue pair's rate."}},
       {&NicCounters::flows_forgotten,
        {.unit = kCount, .report = "flows_forgotten", .help = "Queue pairs forgotten, since there were too many."}}});
}
static_assert(sizeof(NicCounters) == NicCounters::rows().size() * sizeof(uint64_t), "a member has no row");

}  // namespace softspine::dataplane
