// SPDX-License-Identifier: Apache-2.0
// What `softspine top` shows: which rows, in which order, and the lines of its screen. Pure: keys (top_keys.hpp) change
// the settings, the screen prints the lines.
#pragma once

#include <string>
#include <vector>

#include "control/report/pressure_rates.hpp"
#include "control/telemetry/live_table.hpp"
#include "tools/softspine/top/pressure_table.hpp"

namespace softspine::tools {

struct TopSettings {
  control::RankBy by = control::RankBy::kHurt;
  RowKind kind = RowKind::kPorts;
  std::string filter;  // a part of a port's or its peer's name, in capitals or not; empty: all
  size_t first = 0;    // rows above the screen
  bool is_frozen = false;
  bool shows_help = false;
  bool is_typing = false;  // the filter
  std::string filter_before = {};
};

// The word of the command line, and of the screen.
const char* word_of(control::RankBy by);

struct TopLooks {
  control::FabricPressure before;
  control::FabricPressure now;
  bool is_since_start = false;  // there was one look alone: `before` is the start
};

struct TopRows {
  std::vector<control::PressureRow> rows;  // those wanted, in their order
  size_t all = 0;                          // that the filter lets through
};
// Rows `settings.first` on, at most `most`.
TopRows rows_for(const control::PortMap& map, const TopLooks& looks, const TopSettings& settings, size_t most);

struct TopPicture {
  std::vector<ScreenLine> lines;  // at most terminal.rows, none wider than the terminal
  size_t rows = 0;                // that there are to scroll through
};
// `notice`: for the last line, if it is not empty.
TopPicture top_picture(const control::PortMap& map, const TopLooks& looks, const TopSettings& settings,
                       const std::string& notice, control::TerminalSize terminal);

}  // namespace softspine::tools
