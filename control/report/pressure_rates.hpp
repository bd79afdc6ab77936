// SPDX-License-Identifier: Apache-2.0
// What ports and queues suffered between two looks at a fabric, and which of them hurts most. Pure: `softspine top`
// takes the looks (port_pressure.hpp). Rates are per second of emulated time, shares are of that time; all are 0 if no
// time has passed. A counter that has shrunk, as of another fabric, has not grown.
//
//   paused        of a lane: Δpaused / Δt; of a port: its most paused priority, or PAUSE
//   drops         of a port: frames lost that came in there, and frames that its queues refused; of a lane: frames that
//                 its queue or its priority group refused
//   dropped       the larger of lost / received and refused / (refused + sent)
//   out, in       Δtx_bytes · 8 / (rate · Δt) of the port's transmitter, and of its peer's
//   fill          bytes / limit: 1 is where a queue refuses, and a lossless group raises XOFF; beyond is headroom
//
// Ranks, the worst first; what ties goes by kHurt, then by number:
//   kHurt      the larger of paused and dropped in whole percent; unless it is 0, the time paused since the start, so
//              that the root of a storm precedes its victims; then the fill
//   kPaused    paused, then the time paused since the start          kOccupied   the fill, then queued bytes
//   kDropped   drops, then dropped                                   kUtilised   the larger of in and out
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "control/report/port_pressure.hpp"

namespace softspine::control {

struct PressureRow {
  uint32_t port = 0;  // of PortMap::ports
  uint8_t lane = 0;   // of a port: the one that hurts most
  bool up = true;
  bool paused_now = false;
  bool stopping = false;  // has raised XOFF: its neighbour must not send
  double paused = 0;
  uint64_t paused_ps = 0;  // since the start
  double drops_per_s = 0;
  double dropped = 0;
  double marks_per_s = 0;
  double in = 0;  // of a port only, as `out`
  double out = 0;
  uint64_t queue_bytes = 0;          // of a port: its longest queue's
  uint64_t group_bytes = 0;          // likewise
  std::optional<double> queue_fill;  // none without a limit
  std::optional<double> group_fill;

  double fill() const { return std::max(queue_fill.value_or(0), group_fill.value_or(0)); }
};

enum class RankBy : uint8_t { kHurt, kPaused, kDropped, kOccupied, kUtilised };

// A row for each port of the map, in its order.
std::vector<PressureRow> port_rows_of(const PortMap& map, const FabricPressure& before, const FabricPressure& now);
// A row for each lane that has ever been used.
std::vector<PressureRow> lane_rows_of(const PortMap& map, const FabricPressure& before, const FabricPressure& now);

// The worst `most` rows come first, in their order; the others follow in any.
void rank(std::vector<PressureRow>& rows, RankBy by, size_t most);

}  // namespace softspine::control
