// SPDX-License-Identifier: Apache-2.0
// Checks what must add up in a snapshot: sums of two sides that are counted by different code.
//
//   link, a way       sent + injected             = arrived + lost + cut + vanished + damaged + under way
//   its PFC frames    sent that name a priority   = received that name it      where nothing is lost or under way
//   its credit frames likewise
//   switch            rx + made                   = tx + ended + held
//   its ports         sent by the link            = tx of the port + the frame on the wire
//   its queues        held by their counters      = found in their lists + the frame on the wire
//   its drops         ended by a queue, by port of arrival = refused by a queue, by port of departure
//   its memory        what the MMU charges adds up (Mmu::validate)
//   host              sent by its links           = Σ flows + answers + PFC frames + credit frames
//                     arrived at its ports        = received = delivered + responses + answered + dropped + buffered
//                     delivered                   = Σ received of the flows that end there
//   edge              sent by its link            = in + made
//                     arrived                     = out + Σ out_drops + waiting for the outside
//   flows, all        sent + foreign − received   = ended at switches, links, hosts and edges − flooded copies
//                                                   + under way
//   losses, by reason in a run that has had a fault:
//                     of faults + unexplained + before the first = drops of switches and hosts, and of links
//                     (without no_buffer: copies that were never made)
//   a flow's losses   = its missing packets, where nothing was flooded or injected, and nothing leads outside
// `missing` rests on the line `flows, all`: hosts count what they sent and received, others count what ended at them;
// packets under way are found by looking at every packet in the fabric. A flow's packets are known by Packet::flow().
// The sums hold at every instant between two windows, not only after a run.
#pragma once

#include <string>
#include <vector>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// A sentence for each sum that does not hold, in the snapshot's order. Each is a defect of softspine.
std::vector<std::string> audit(const FabricSnapshot& snapshot);

}  // namespace softspine::control
