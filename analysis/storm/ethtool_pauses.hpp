// SPDX-License-Identifier: Apache-2.0
// The drivers' names for counters of pauses in `ethtool -S`, and in `ethtool -I -a`:
//
//   mlx5        rx_prio3_pause, rx_prio3_pause_duration (µs)     rx_global_pause, rx_global_pause_duration,
//                                                                rx_pause_ctrl_phy
//   ice, i40e   rx_priority_3_xoff.nic, …_xon.nic,               link_xoff_rx.nic, link_xon_rx.nic,
//               port.rx_priority_3_xoff                          port.link_xoff_rx
//   bnxt        rx_pfc_ena_frames_pri3, pfc_pri3_rx_duration_us, rx_pause_frames
//               pfc_pri3_rx_transitions
//
// and the same with tx. The right column is link-level PAUSE (802.3x).
#pragma once

#include <optional>
#include <string_view>

#include "analysis/storm/pause_counts.hpp"

namespace softspine::analysis::storm {

struct EthtoolPause {
  size_t counted = 0;  // a priority, or kWholeLink
  std::optional<uint64_t> PauseCounts::* member = nullptr;
  bool is_added = false;         // a part of the number, as XOFF and XON are
  bool is_another_name = false;  // of what the driver counts by a better name, too
};

// Nothing: the counter is of something else.
std::optional<EthtoolPause> ethtool_pause(std::string_view name);

}  // namespace softspine::analysis::storm
