// SPDX-License-Identifier: Apache-2.0
// How many packets a testbed may have under way at once, and the memory that they take: an upper estimate from its file
// alone, for `softspine check` and for the message of a run that is out of memory.
//
//   under way ≤ on the links + in the switches + in the hosts, and no more than the workloads can have sent
//
//   a link's direction   rate × (propagation + a window + 2 largest frames) / frame, and 2: its sender may be ahead of
//                        its receiver by a window, no longer than the propagation or 5 µs
//   a switch             its shared buffers and headroom, or the limits of the queues that workloads use / frame
//   a built-in host      1,024 answers; with a fault as slow receiver, its receive buffer
//   an outside host      4,096: its device's rings and what waits for it
//   can have sent        the workloads' messages; at most what the senders' links carry in `duration`; where all
//                        transports are reliable, twice their windows
//   × 2                  where a transport acknowledges: a packet may cause one
//
// `frame` is the smallest average frame of a workload; of traffic from outside 256 bytes. Links and switches count if
// packets of a workload can come there: all above the ToRs as soon as a workload leaves one.
#pragma once

#include <cstdint>
#include <filesystem>

#include "control/model/testbed.hpp"

namespace softspine::testbeds {

inline constexpr uint32_t kHeaderRoom = 640;        // built-in packets, and the switches' answers (ICMP errors: 576)
inline constexpr uint32_t kFrameRoom = 9'216 + 64;  // a jumbo frame with its tags
inline constexpr uint32_t kPacketsPerEdge = 4'096;  // a device's rings, what it holds, and a queue before it

struct PacketNeed {
  uint64_t packets = 0;
  uint64_t bytes = 0;
};

PacketNeed packet_need(const control::Testbed& testbed);

// The memory that packets may take: `run: {memory: …}`, but no more than seven eighths of what the machine has left.
// `root`: where /proc and /sys are.
uint64_t packet_memory_limit(const control::Testbed& testbed, const std::filesystem::path& root = "/");

}  // namespace softspine::testbeds
