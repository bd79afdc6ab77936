// SPDX-License-Identifier: Apache-2.0
// A run counted again from its capture, slowly and plainly: what the report says of links, flows, latencies, stalls,
// pauses and losses, held against the frames. Each finding is a sentence with both numbers.
//
//   a frame arrives  when its last bit has left, and the cable's propagation later
//   links            frames and bytes of each port
//   flows            packets that the sender sent; sent = received + missing + under way, and nothing twice
//   latencies        quantiles by nearest rank of (arrival − first bit's departure), within 0.5 %
//   pace             no packet of an open loop leaves before its rate lets it
//   stalls           each is a gap between two arrivals, to 200 ps, that ends after the fault; where one fault strikes
//                    and lasts, each gap that is much longer than the flow's others is told
//   pauses           what the neighbour's frames ask for, by the standard's timer, less at most the frame that leaves
//                    as each begins; where faults or watchdogs end pauses and take frames, at most what XOFFs ask for
//   losses           vanished frames were lost when they left: at a captured frame's instant
//   vanished         where one port's frames die and nothing else befalls links: those that began meanwhile, the first
//                    and the last of them
//   telemetry        each switch that writes adds its link's rate, the instant at which the packet began to leave, to
//                    1 ns, and what its port had sent before; a host sends the field empty
//   echoes           where nothing was sent again: an acknowledgement brings back the telemetry of the packet that it
//                    names, and the mark if the flow's congestion control uses it; and no other mark
//   pause file       ns-3's lines are the capture's PFC frames, to 1 ns
//   echo counters    the marks and telemetry of acknowledgements for packets not yet acknowledged, by sender
//   collectives      of those that have ended, without faults and with nothing sent again: the bytes that came by
//                    their queue pairs and beside the fabric are those received; no frame leaves before their start,
//                    or comes after their end. Where ranks spend no time of their own and all is on the fabric, a
//                    rank's end is its last arrival, of data or of an acknowledgement: the last, and the mean of ranks
//   ways             (recount_ways.hpp) where nothing changes them: packets leave by the ports of their flow's way, and
//                    by each of them unless switches draw
//   strangers        hosts drop what has another station's address, and nothing else, as not for them
//
// What a capture cannot tell is left out: a packet that left for a host but may not have arrived (a fault of its last
// link), so gaps and latencies are asked of flows all of whose packets are known to have arrived.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::tests {

struct Recount {
  std::vector<std::string> findings;
  std::map<std::string, uint64_t> compared;  // numbers, by what
};

// `pauses`: the file of pauses as ns-3 has it.
Recount recount(const control::Testbed& testbed, const control::FabricSnapshot& snapshot, std::string_view capture,
                std::string_view pauses);

}  // namespace softspine::tests
