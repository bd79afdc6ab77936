// SPDX-License-Identifier: Apache-2.0
// Whether a switch whose pauses seem to have no cause may have had one that the captures do not show. Captures lose
// frames, and seldom report it. While a switch pauses without a known cause, one of these is a doubt:
//
//   a lapse    A pause is refreshed long before its timer runs out, or ended by XON. One that lapses at a port of the
//              switch, whoever sent it, shows that frames are missing there, or that a sender is slower than its
//              timers.
//   a pause    of its other ports that lasts, or that the begin or the end of a capture cuts off. The times of several
//              ports add up: one may have held what the next one held later. A pause may begin with a frame that was
//              lost, so each counts from one longest timer before its first frame.
//   silence    No capture of a port was on, or none of its frames was captured so early or any more. But a port without
//              any frame is idle, a capture with a filter may be silent, and so may one that has as many frames as its
//              statistics count as received.
//
// Traffic from above does not go up again (pause_graph.hpp): here that counts only where tiers are known, not guessed.
// Pauses are certain to have no cause by the rule of roots (storm_analysis.hpp): at least T of them, and more than
// 20 %, are left when all that is taken away.
#pragma once

#include <span>
#include <string>

#include "analysis/storm/pause_runs.hpp"

namespace softspine::analysis::storm {

// A run that no cause is known of: free for at least `threshold` and for more than 20 % of it.
bool is_free(const Run& run, dataplane::Duration explained, dataplane::Duration threshold);

// Why `run` may have a cause all the same, as the end of a sentence. Empty: it has none.
// `runs`: of the pauses of its sender's ports, lasting or not.
std::string doubt_by_hidden_causes(const PauseLog& log, const Run& run, std::span<const Run* const> runs,
                                   dataplane::Duration threshold);

}  // namespace softspine::analysis::storm
