// SPDX-License-Identifier: Apache-2.0
// Packet sequence numbers: 24 bits that wrap.
#pragma once

#include <cstdint>

#include "dataplane/packet/wire.hpp"

namespace softspine::testbeds {

constexpr uint32_t psn_after(uint32_t psn, uint32_t packets) {
  return (psn + packets) & dataplane::bth::kMask24;
}
// How far `a` is ahead of `b`; negative: behind.
constexpr int32_t psn_ahead(uint32_t a, uint32_t b) {
  return static_cast<int32_t>((a - b) << 8) >> 8;
}
static_assert(psn_ahead(0, 0xffffff) == 1 && psn_ahead(0xffffff, 0) == -1);

}  // namespace softspine::testbeds
