// SPDX-License-Identifier: Apache-2.0
// Finds which nodes can be the root of pauses, by counters alone. These have no order in time, so they show less than a
// capture:
//
//   can be      a host that asked its switch to pause: nothing is behind it.
//               A switch that asked a neighbour to pause, if all of its ports are counted and none of the others was
//               asked to pause at that priority
//   cannot be   asked nobody to pause, though all of its ports are counted
//   unknown     all others. A switch that was itself paused at another port may only pass that on, or be congested
//               besides; a port that is not counted may have been paused
//
// The root is known only if all but one cannot be it, and that one can. Nodes that were not read have to be excluded,
// too:
//
//   links known    what the other end of a link counted stands for a port that was not read. A node of which nothing
//                  was counted so may be the root of anything
//   links unknown  the pause frames that nodes received must all have come from the one that can be it: as many were
//                  received as it sent, and it received none
//
// Priorities, and link-level PAUSE, are judged one by one. Where the ends of a link count different numbers of frames
// (by more than a tenth and 2), the report notes it: a reading was taken at another time, or the ports are not of one
// link.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/storm/pause_counts.hpp"

namespace softspine::analysis::storm {

struct CountedNode {
  std::string name;
  bool is_host = false;
  uint32_t known_ports = 0;                 // how many it has; 0: not known
  std::map<std::string, PortCounts> ports;  // by name, without the node's
  bool is_read = true;
};

struct CountedFabric {
  std::vector<CountedNode> nodes;
  std::map<std::string, std::string> peers;  // "node:port", both ways; empty: links are not known
};

enum class Suspicion : uint8_t { kCannot, kUnknown, kCan };

struct CountedSuspect {
  std::string node;
  uint32_t priority = 0;  // or kWholeLink
  Suspicion suspicion = Suspicion::kUnknown;
  std::string why;
  uint64_t asked = 0;      // frames sent
  uint64_t was_asked = 0;  // frames received
};

struct CountedVerdict {
  std::vector<CountedSuspect> suspects;  // of the priorities with pauses: those that can be first, then by frames sent
  std::vector<std::string> unread;       // nodes of which nothing was counted, by themselves or at the other ends
  std::vector<std::string> roots;        // "h1, priority 3": the one that it must be
  std::vector<std::string> notes;
};

CountedVerdict judge_counts(const CountedFabric& read);

}  // namespace softspine::analysis::storm
