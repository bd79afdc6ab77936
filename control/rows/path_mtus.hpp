// SPDX-License-Identifier: Apache-2.0
// The path MTUs that a reliable connection may have.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "control/format/table.hpp"

namespace softspine::control {

inline const Limits<uint32_t> kPathMtus = held_to<uint32_t>([](const uint32_t& mtu) {
  const bool good = mtu >= 256 && mtu <= 4096 && std::has_single_bit(mtu);
  return good ? "" : "must be 256, 512, 1024, 2048 or 4096, not " + shown(std::to_string(mtu));
});

}  // namespace softspine::control
