// SPDX-License-Identifier: Apache-2.0
// Which root each pause is due to: sweeps over the time line, and attributes every moment of every pause to a root.
// A pause that was captured twice, at the same link and priority, is attributed once.
//
// At a given moment, a pause is a root if no other pause can have caused it (pause_graph.hpp), or if it is known to be
// one; the pauses that it leads to, hop by hop, are attributed to it. Where several roots lead to one pause, the one
// that has paused longest gets it. Pauses that no root leads to form a circle. So a switch that was pausing because it
// was congested, and is then paused itself by a storming NIC, is a root up to then and a victim from then on. Time is
// added up over pauses: two ports that stand still for 1 ms are 2 ms.
//
// Cycles are looked for among lasting pauses alone. In a busy fabric, pauses that come and go close and open circles
// all the time; a deadlock stays closed.
//
// Which moments are looked at, and when the result is a sample: stretches.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/storm/pause_graph.hpp"

namespace softspine::analysis::storm {

inline constexpr size_t kMaxCycles = 1'000;

// The pauses of one link that are attributed to one root.
struct Share {
  uint32_t root = 0;          // node
  uint8_t root_priority = 0;  // of the root's pause
  uint32_t from = 0;          // port that sent the PFC frames
  uint32_t to = 0;
  dataplane::Instant first;  // when both the root's pause and this one were on
  dataplane::Duration time;
  uint32_t hops = 0;  // fewest from the root; 0: the root's own pause
};

// Lasting pauses in a circle: each node pauses the next one, and waits for the one before it.
struct Cycle {
  uint8_t priority = 0;
  std::vector<uint32_t>
      ports;  // that sent the PFC frames: each one's pause leads to the next one's, the last one's to the first's
  std::vector<uint32_t> members;  // those of `ports`, and all others that are caught in the circle
  dataplane::Instant begin;
  dataplane::Instant end;
  dataplane::Duration time;       // how long it was closed, in total
  std::vector<uint32_t> victims;  // nodes that it stops beside its own, directly or through others: by name
  uint32_t fed_by = kNone;        // node: a root of a lasting pause that led into it when it closed
  bool turns_up = false;          // closes only if traffic from above goes up again
};

struct Attribution {
  std::vector<Share> shares;  // by (root, its priority, from, to)
  std::vector<Cycle> cycles;  // by begin
  bool is_sampled = false;
};

// The sum, or Duration's maximum, which the paused time of many links may exceed.
inline dataplane::Duration sum(dataplane::Duration a, dataplane::Duration b) {
  const auto most = dataplane::Duration::max();
  return a > most - b ? most : a + b;
}

// Facts about the pauses of a log, by their index, before their attribution.
struct PauseMarks {
  std::vector<bool> lasts;    // the pause is part of one that lasts
  std::vector<bool> is_root;  // the pause has no cause, whatever else is paused
};

// `selected`: indices into log.pauses, by begin.
Attribution attribute(const PauseLog& log, const std::vector<uint32_t>& selected, const PauseMarks& marks);

}  // namespace softspine::analysis::storm
