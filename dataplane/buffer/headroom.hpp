// SPDX-License-Identifier: Apache-2.0
// How much headroom a lossless priority group needs so that none of its frames is ever dropped.
//
// Let t0 be the instant at which a frame's last bit makes the group raise XOFF. In the worst case the PFC frame
//   waits for a frame of the largest size that has just begun       T(mtu)
//   is sent                                                         T(60)
//   crosses the link                                                propagation
//   and is obeyed at the last instant that 802.3 allows             response, by speed
// Until then the peer begins frames without a gap, and they cross the link, too. So
//   D        = T(mtu) + T(60) + 2 × propagation + response
//   arriving = the frame at t0, and those that the peer begins within D; the last of them may begin just before D ends
//   headroom = the cells of the largest frame at t0
//            + D × (1 + 2 × clock tolerance) × (cells per time) + the cells of the largest frame that has just begun
// The tolerance counts twice: a slow clock here makes D longer, and a fast one there makes the peer send more.
// Cells per time: the largest cells(f) / T(f) of all frame sizes f from the smallest to the largest. 64-byte frames
// in cells of 208 bytes need 2.5 × the bytes on the wire. T counts FCS, preamble and gap.
// The frame at t0 needs headroom only where the pool is full; else it takes shared cells (mmu.hpp).
// The bound is tight: some mix of frames uses all of it but two cells and 0.2 % (headroom_formula_test.cpp tries them).
// The textbook has 2 × cable + 2 × MTU + PFC frame + response (802.1Qbb annex O).
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/buffer/buffer_plan.hpp"
#include "dataplane/packet/pfc.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct HeadroomQuestion {
  Rate rate;
  Duration propagation;                      // one way
  uint32_t largest_frame = 0;                // bytes without FCS, sent or received
  uint32_t smallest_frame = kMinFrameBytes;  // of the lossless traffic
  CellSize cell;
  Duration response;       // of the peer
  uint32_t clock_ppm = 0;  // the clocks' tolerance (clock_offset.hpp)
};

// D of the formula above: from the frame that makes XOFF be raised to the last instant at which the peer begins
// another.
constexpr Duration pause_loop(const HeadroomQuestion& q) {
  return q.rate.time_of_frame(q.largest_frame) + q.rate.time_of_frame(mac_control::kFrameBytes) + q.propagation * 2 +
         q.response;
}

// Enough for any mix of sizes.
inline uint64_t headroom_cells(const HeadroomQuestion& q) {
  double most = 0;  // cells a picosecond
  for (uint32_t bytes = std::max(q.smallest_frame, kMinFrameBytes); bytes <= q.largest_frame; ++bytes) {
    most = std::max(most, q.cell.cells_of(bytes) / static_cast<double>(q.rate.time_of_frame(bytes).count_ps()));
  }
  const double in_loop = most * static_cast<double>(pause_loop(q).count_ps()) * (1 + 2e-6 * q.clock_ppm);
  return static_cast<uint64_t>(in_loop) + 1 + 2 * uint64_t{q.cell.cells_of(q.largest_frame)};
}

}  // namespace softspine::dataplane
