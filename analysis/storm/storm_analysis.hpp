// SPDX-License-Identifier: Apache-2.0
// Whether a capture shows a storm, who causes it and who suffers; or a deadlock, or just congestion.
//
// A *storm* is one node that pauses its neighbour's egress without a cause of its own and does not end the pause:
//
//   an uninterrupted pause (no XON; gaps in which a timer lapsed may take up to 20 %) of at least T that no other
//   explains: during T or more of it, and during more than 20 % of it, no one egress port of the sender stood still
//   in an uninterrupted pause of at least T that can have caused this one (pause_graph.hpp)
//   or, in place of an uninterrupted pause: at least five that all lapse, none ended by XON, and that are on for a
//   twentieth of the time or more. This is how a generator of PFC frames appears that is slower than its timers.
//   PAUSE (802.3x) stops all priorities: it counts along with PFC of the same link, overlaps once, and may be caused by
//   a pause of any priority.
//   T = a tenth of the capture, but at least 3 × 0xFFFF quanta of the link (1.0 ms at 100G, 0.25 ms at 400G; where the
//       speed is unknown, 1 ms), and at most 200 ms; or the user's value.
//
// Why so. SONiC's watchdog reports a storm when a queue moved nothing and was paused for more than 0.8 of a poll,
// through 200 ms: hence the 20 % and the 200 ms. Emulated captures last milliseconds, hence the tenth. Ordinary
// congestion pauses, too, and is recognised by its XON: a buffer that drains sends XON, so each of its pauses ends
// within the time the buffer takes to drain, well below three of the longest timers an XOFF can set. Nor does a buffer
// that drains let its pauses lapse.
// A node is no root if it keeps pausing because its own egress is paused. Pauses of its egress that come and go are no
// such reason: in between its buffer drains, and it would send XON. A host does not forward, so it never has this
// reason.
//
// Its *victims* are the nodes that it stopped, directly or through others, for at least a twentieth of its time.
//
// A *deadlock* is a cycle of pauses (attribution.hpp) that stays closed for T and that no root feeds. Its victims are
// the nodes beside it that it stopped for at least a twentieth of that time.
// Otherwise there is no storm. Pauses are listed all the same, with their origins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/storm/attribution.hpp"

namespace softspine::analysis::storm {

struct StormRule {
  std::optional<dataplane::Duration> storm_after;  // T, if the user gives it

  dataplane::Duration threshold(dataplane::Duration capture, dataplane::Rate link) const;
};

// All that one port asked of its neighbour at one priority.
struct LinkPauses {
  uint32_t from = 0;
  uint32_t to = 0;
  uint8_t priority = 0;
  uint64_t pauses = 0;
  uint64_t frames = 0;  // XOFFs: first ones and refreshes
  uint64_t xons = 0;    // pauses that an XON ended
  uint64_t lapsed = 0;
  dataplane::Duration total;
  dataplane::Duration longest;
  dataplane::Instant first;
  bool is_open = false;  // still paused when the capture ended
};

struct Storm {
  uint32_t root = 0;  // node: its pauses have no cause that the capture shows
  std::string doubt;  // why it may only pass a pause on (certainty.hpp, hidden_causes.hpp); empty: it is the root
  uint32_t from = 0;  // its port: the first whose pause does not end, if there are several
  uint32_t to = 0;
  uint16_t priorities = 0;  // bit n: class n; of PAUSE if it makes up half of the storm
  dataplane::Instant begin;
  dataplane::Instant end;
  PauseEnd how = PauseEnd::kOpen;
  uint64_t frames = 0;
  double paused_percent = 100;    // of the first pause: less if its timer lapsed again and again
  dataplane::Duration explained;  // paused time of all links, its own included, that leads back to it
  std::vector<Share> spread;      // over links and priorities, by when they were reached
  std::vector<uint32_t> victims;  // nodes with a port that it paused, directly or through others: by name
};

// A node where pauses began that nothing else caused.
struct Origin {
  uint32_t node = 0;
  dataplane::Duration explained;
};

struct Analysis {
  std::vector<LinkPauses> links;  // by total, longest first
  std::vector<Storm> storms;      // those whose root is certain first; then by what they explain, most first
  std::vector<Cycle> deadlocks;
  std::vector<Cycle> fed_cycles;      // cycles that lasted but lead back to a root: they may stay when it stops
  std::vector<Origin> origins;        // by what they explain, most first
  dataplane::Duration paused;         // of all links and priorities
  dataplane::Duration threshold_min;  // T of the fastest and the slowest link that pauses were seen on
  dataplane::Duration threshold_max;
  uint32_t longest = kNone;   // the longest pause: index into the log
  bool is_too_short = false;  // the capture is: no pause in it could have lasted T
  bool is_sampled = false;
  bool hides_pauses = false;  // no pause was read, but some may be there (Gaps::hides_all)
};

Analysis analyse(const PauseLog& log, const StormRule& rule = {});

}  // namespace softspine::analysis::storm
