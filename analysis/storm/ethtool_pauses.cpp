// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/ethtool_pauses.hpp"

#include <algorithm>
#include <array>

namespace softspine::analysis::storm {

namespace {

using PauseMember = std::optional<uint64_t> PauseCounts::*;

// `#` stands for the priority; without one the counter is of the whole link.
struct EthtoolPattern {
  std::string_view name;
  PauseMember member;
  bool is_added = false;
  bool is_another_name = false;
};

constexpr PauseMember kTxFrames = &PauseCounts::tx_frames;
constexpr PauseMember kRxFrames = &PauseCounts::rx_frames;
constexpr std::array kEthtoolPatterns{EthtoolPattern{"tx_prio#_pause", kTxFrames},
                                      EthtoolPattern{"rx_prio#_pause", kRxFrames},
                                      EthtoolPattern{"tx_prio#_pause_duration", &PauseCounts::tx_us},
                                      EthtoolPattern{"rx_prio#_pause_duration", &PauseCounts::rx_us},
                                      EthtoolPattern{"tx_global_pause", kTxFrames},
                                      EthtoolPattern{"rx_global_pause", kRxFrames},
                                      EthtoolPattern{"tx_global_pause_duration", &PauseCounts::tx_us},
                                      EthtoolPattern{"rx_global_pause_duration", &PauseCounts::rx_us},
                                      EthtoolPattern{"tx_pause_ctrl_phy", kTxFrames, false, true},
                                      EthtoolPattern{"rx_pause_ctrl_phy", kRxFrames, false, true},
                                      EthtoolPattern{"tx_priority_#_xoff", kTxFrames, true},
                                      EthtoolPattern{"tx_priority_#_xon", kTxFrames, true},
                                      EthtoolPattern{"rx_priority_#_xoff", kRxFrames, true},
                                      EthtoolPattern{"rx_priority_#_xon", kRxFrames, true},
                                      EthtoolPattern{"link_xoff_tx", kTxFrames, true},
                                      EthtoolPattern{"link_xon_tx", kTxFrames, true},
                                      EthtoolPattern{"link_xoff_rx", kRxFrames, true},
                                      EthtoolPattern{"link_xon_rx", kRxFrames, true},
                                      EthtoolPattern{"tx_pfc_ena_frames_pri#", kTxFrames},
                                      EthtoolPattern{"rx_pfc_ena_frames_pri#", kRxFrames},
                                      EthtoolPattern{"pfc_pri#_tx_duration_us", &PauseCounts::tx_us},
                                      EthtoolPattern{"pfc_pri#_rx_duration_us", &PauseCounts::rx_us},
                                      EthtoolPattern{"pfc_pri#_rx_transitions", &PauseCounts::rx_times},
                                      EthtoolPattern{"tx_pause_frames", kTxFrames, false, true},
                                      EthtoolPattern{"rx_pause_frames", kRxFrames, false, true}};

std::optional<size_t> ethtool_class_of(std::string_view pattern, std::string_view name) {
  const size_t at = pattern.find('#');
  if (at == std::string_view::npos) return name == pattern ? std::optional(kWholeLink) : std::nullopt;
  const bool fits = name.size() == pattern.size() && name.starts_with(pattern.substr(0, at)) &&
                    name.substr(at + 1) == pattern.substr(at + 1) && name[at] >= '0' && name[at] <= '7';
  return fits ? std::optional(static_cast<size_t>(name[at] - '0')) : std::nullopt;
}

}  // namespace

std::optional<EthtoolPause> ethtool_pause(std::string_view name) {
  if (name.starts_with("port.")) name.remove_prefix(5);
  if (name.ends_with(".nic")) name.remove_suffix(4);
  for (const EthtoolPattern& pattern : kEthtoolPatterns) {
    if (const auto counted = ethtool_class_of(pattern.name, name))
      return EthtoolPause{*counted, pattern.member, pattern.is_added, pattern.is_another_name};
  }
  return std::nullopt;
}

}  // namespace softspine::analysis::storm
