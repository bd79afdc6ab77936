// SPDX-License-Identifier: Apache-2.0
// Pauses by counters, where there is no capture: two readings of a machine's counters, and their difference. Four forms
// are read, recognised by their own words, and may stand in one file:
//
//   show pfc counters   a table "Port Tx  PFC0 … PFC7" and one "Port Rx …": PFC frames by port and priority (SONiC)
//   … --history         "Port  Priority  RX Pause Transitions  Total RX Pause Time US …" (SONiC; pfcstat --history)
//   show pfcwd stats    QUEUE (Ethernet4:3), STATUS, STORM DETECTED/RESTORED (SONiC)
//   ethtool -S          of mlx5, ice (and i40e), bnxt: PFC by priority, and link-level PAUSE (802.3x);
//                       ethtool_pauses.hpp
//
// tx: what the port asked of its neighbour; rx: what its neighbour asked of it. Frames that resume (XON) count, too.
// Link-level PAUSE, which stops all priorities, is a class of its own behind them: kWholeLink.
// Counters that a file leaves out, or calls N/A, are not known. Numbers may have commas.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>

namespace softspine::analysis::storm {

inline constexpr size_t kCountedPriorities = 8;
inline constexpr size_t kWholeLink = kCountedPriorities;
inline constexpr size_t kCountedClasses = kWholeLink + 1;

// "priority 3", "link-level PAUSE".
std::string name_of_class(size_t counted);

struct PauseCounts {
  std::optional<uint64_t> tx_frames;
  std::optional<uint64_t> rx_frames;
  std::optional<uint64_t> rx_times;  // how often a pause began: at least one frame each
  std::optional<uint64_t> tx_us;
  std::optional<uint64_t> rx_us;
};

struct WatchdogCounts {
  bool is_stormed = false;
  uint64_t detected = 0;
};

using PortCounts = std::array<PauseCounts, kCountedClasses>;
using Watched = std::pair<std::string, uint32_t>;  // port and queue

struct CountReading {
  std::map<std::string, PortCounts> ports;
  std::map<Watched, WatchdogCounts> watchdog;
};

// `port`: what the counters of ethtool, which name none, are of. The error is a sentence with file and line.
std::expected<CountReading, std::string> read_counts(const std::string& path, const std::string& port);

// The counts that `after` has more than `before`. The error is a sentence's end: a counter that went backwards, a port
// that is gone.
std::expected<CountReading, std::string> difference(const CountReading& before, const CountReading& after);

}  // namespace softspine::analysis::storm
