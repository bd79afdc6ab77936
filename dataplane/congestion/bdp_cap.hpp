// SPDX-License-Identifier: Apache-2.0
// BDP-FC: at most as many bytes under way as the longest path of the network holds. No reaction, no state.
//
//   window = line × rtt / 8 bytes, rounded down       of payload; no limit of the rate
//
// `rtt` is that of the longest path without any queue. Then every flow can fill its link, and N flows into one queue
// leave at most N windows there.
// Source: Mittal et al., Revisiting Network Support for RDMA (SIGCOMM 2018), section 3.2 (IRN's BDP-FC). Its networks
// of 40 Gb/s have 120 KB along their longest path, hence the default rtt of 24 us.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>

#include "dataplane/congestion/bdp_cap_parameters.hpp"
#include "dataplane/congestion/congestion_algorithm.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class BdpCap : public CongestionAlgorithm {
 public:
  using Parameters = BdpCapParameters;
  static constexpr std::array kSets{ParameterSet<Parameters>{
      "bdp_fc", "IRN's BDP-FC: a window of what the longest path holds, no reaction to anything.", {}}};
  static constexpr auto kKeys = std::tuple{
      parameter("rtt", &Parameters::rtt, "of the longest path, without queues", Duration::ns(100), Duration::s(1))};
  static std::optional<ParameterConflict> conflict(const Parameters&) { return std::nullopt; }

  BdpCap(const Parameters& parameters, Rate line)
      : window_(static_cast<uint64_t>(Uint128{line.count_bps()} * static_cast<uint64_t>(parameters.rtt.count_ps()) /
                                      kBitPicosecondsPerByte)) {}

  uint64_t window_bytes() const { return window_; }

 private:
  static constexpr uint64_t kBitPicosecondsPerByte = 8'000'000'000'000;

  uint64_t window_;
};

}  // namespace softspine::dataplane
