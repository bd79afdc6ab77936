// SPDX-License-Identifier: Apache-2.0
// The table that `softspine run` shows meanwhile: rates between two snapshots of one fabric, in emulated time. One row
// for each switch and for each group of hosts (names that differ only in their last number: h1, h2 → "h*"), the
// busiest first, cut to the terminal. Pure: the caller decides when and where it is printed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

struct Rates {
  std::string name;
  double rx_bps = 0;
  double tx_bps = 0;
  double tx_pps = 0;
  uint64_t drops = 0;             // between the two
  uint64_t queue_bytes = 0;       // its fullest queue, now
  uint64_t queue_peak_bytes = 0;  // its fullest queue, ever
};

// Switches, then groups of hosts; each sorted by tx_bps, then by name. Both snapshots have the same nodes in the same
// order.
std::vector<Rates> rates_between(const FabricSnapshot& before, const FabricSnapshot& now);

struct TerminalSize {
  size_t rows = 24;
  size_t columns = 80;
};

// At most rows - 1 lines (the cursor stays below them), none wider than the terminal. The last line counts the rows
// that had no room.
std::string live_table(const FabricSnapshot& before, const FabricSnapshot& now, dataplane::Duration duration,
                       TerminalSize terminal);

// The text that brings the cursor back over the lines of `previous` and writes `next` in their place.
std::string redrawn(const std::string& previous, const std::string& next);

// `duration`: of the whole run; max(): it has no end.
// For a log or a pipe: one line, without its newline.
std::string progress_line(const FabricSnapshot& before, const FabricSnapshot& now, dataplane::Duration duration);

}  // namespace softspine::control
