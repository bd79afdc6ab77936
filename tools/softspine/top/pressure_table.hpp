// SPDX-License-Identifier: Apache-2.0
// Ports or lanes as lines of a terminal: as many columns as fit, the most important first. Pure.
//
//   PORT     tor1:Ethernet0      Q        the priority, queue and priority group; of a port: those that hurt most
//   PAUSED   share of the time   DROP/s   frames lost that came in there, and frames that its queues refused
//   FULL     the fullest queue's or group's fill, in per cent of its limit
//   MARK/s   frames marked CE    OUT, IN  utilisation     QUEUE    bytes in the longest queue
//   GROUP    bytes in the priority group                  XOFF     sent: it keeps its neighbour from sending
#pragma once

#include <string>
#include <vector>

#include "control/report/pressure_rates.hpp"

namespace softspine::tools {

// How bad a line is: by its mark in the first column, and by its colour where there are colours.
enum class Tone : uint8_t { kPlain, kHead, kHurts, kWarns, kNotice };

struct ScreenLine {
  std::string text;
  Tone tone = Tone::kPlain;
  friend bool operator==(const ScreenLine&, const ScreenLine&) = default;
};

enum class RowKind : uint8_t { kPorts, kLanes };

// A head, then a line for each row; none is wider than `width` (0: no limit).
std::vector<ScreenLine> pressure_lines(const control::PortMap& map, const std::vector<control::PressureRow>& rows,
                                       RowKind kind, size_t width);

Tone tone_of(const control::PressureRow& row);

// 0.4%, 37%, 100%.
std::string percent_text(double share);
// 0, 12, 3.4k, 56k, 7.8M: at most four characters up to 999T.
std::string short_number(double number);

}  // namespace softspine::tools
