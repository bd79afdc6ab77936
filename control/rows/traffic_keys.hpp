// SPDX-License-Identifier: Apache-2.0
// Keys that workloads and collectives have alike.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "control/format/table.hpp"

namespace softspine::control {

inline constexpr std::string_view kStartHelp = "after the start of the run";
inline constexpr std::string_view kPathMtuHelp =
    "RDMA path MTU: payload bytes of a packet; 256, 512, 1024, 2048 or 4096";
inline constexpr std::string_view kDscpHelp =
    "of its packets; if not given, the least that is lossless on all their ways, or else 26";

inline const Limits<uint8_t> kDscps = within<uint8_t>(0, 63);
inline const Limits<uint32_t> kPathMtus = held_to<uint32_t>([](const uint32_t& mtu) {
  const bool good = mtu >= 256 && mtu <= 4096 && std::has_single_bit(mtu);
  return good ? "" : "must be 256, 512, 1024, 2048 or 4096, not " + shown(std::to_string(mtu));
});

}  // namespace softspine::control
