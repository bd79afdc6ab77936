// SPDX-License-Identifier: Apache-2.0
// Whose pauses are whose fault: sweeps over the time line of one priority, and gives every moment of every pause to
// a root.
//
// At a moment, a pause that no other pause can have caused (pause_graph.hpp), or that is known to be one, is a root;
// what it leads to, hop by hop, is its doing. Where several roots lead to one pause, the one that has paused longest
// has it. Pauses that no root leads to go in a circle. So a switch that was pausing because it was congested, and is
// then paused itself by a storming NIC, is a root up to then and a victim from then on. Time is added up over pauses:
// two ports that stand still for 1 ms are 2 ms.
//
// Cycles are looked for among lasting pauses alone. In a busy fabric, pauses that come and go close circles all the
// time, and open them again; what is locked stays.
//
// Exact where the time line has at most kMaxMoments changes; else looked at in as many evenly spaced moments.
// PAUSE frames of all priorities count in every priority.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/storm/pause_graph.hpp"

namespace softspine::tools::storm {

inline constexpr size_t kMaxMoments = 20'000;
inline constexpr size_t kMaxCycles = 1'000;

// What one root has done on one link.
struct Share {
  uint32_t root = 0;  // node
  uint32_t from = 0;  // port that sent the PFC frames
  uint32_t to = 0;
  dataplane::Instant first;  // when both the root's pause and this one were on
  dataplane::Duration time;
  uint32_t hops = 0;  // fewest from the root; 0: the root's own pause
};

// Lasting pauses in a circle: each node pauses the next, and waits for the one before.
struct Cycle {
  uint8_t priority = 0;
  std::vector<uint32_t>
      ports;  // that sent the PFC frames: each one's pause leads to the next one's, the last one's to the first's
  std::vector<uint32_t> members;  // those, and all others that are caught in it
  dataplane::Instant begin;
  dataplane::Instant end;
  dataplane::Duration time;  // that it was closed, all in all
  uint32_t fed_by = kNone;   // node: a root of a lasting pause that led into it when it closed
  bool turns_up = false;     // closes only if traffic from above goes up again
};

struct Attribution {
  std::vector<Share> shares;  // by (root, from)
  std::vector<Cycle> cycles;  // by begin
  bool is_sampled = false;
};

// Of many links, paused time may be longer than a Duration can be.
inline dataplane::Duration sum(dataplane::Duration a, dataplane::Duration b) {
  const auto most = dataplane::Duration::max();
  return a > most - b ? most : a + b;
}

// What is known of the pauses of a log, by their index, before they are attributed.
struct PauseMarks {
  std::vector<bool> lasts;    // part of a pause that lasts
  std::vector<bool> is_root;  // of its own doing, whatever else is paused
};

// `selected`: indices into log.pauses, by begin.
Attribution attribute(const PauseLog& log, uint8_t priority, const std::vector<uint32_t>& selected,
                      const PauseMarks& marks);

}  // namespace softspine::tools::storm
