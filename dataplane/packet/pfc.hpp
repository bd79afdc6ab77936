// SPDX-License-Identifier: Apache-2.0
// Pause frames: priority-based (PFC, 802.1Qbb) and classic (802.3 annex 31B), as bytes.
//
//   14  opcode 0x0101 (PFC), 0x0001 (PAUSE); before it mac_control.hpp
//   PFC:    16 enable vector (bit n = priority n, upper byte 0)   18 time[0 … 7], 16 bits each   34 zeros
//   PAUSE:  16 time                                               18 zeros
// Times are quanta of 512 bits; 0 in an enabled priority means go on (XON).
//
// The reader accepts what a standard receiver accepts. Type and opcode decide, not the destination, since the caller
// has already found the frame to be MAC control. The reserved upper byte of the vector, the times of priorities that
// are not enabled, and the pad are ignored. A frame without a full pad is read if all its fields are there. An empty
// vector is valid and names no priority. Every other opcode, and a frame that ends within its fields, is refused.
#pragma once

#include <array>
#include <cstdint>
#include <expected>

#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/packet/mac_control.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::dataplane {

namespace pfc {
inline constexpr uint32_t kVector = 16;
inline constexpr uint32_t kTimes = 18;
inline constexpr uint32_t kFieldBytes = kTimes + 2 * kPriorities;
inline constexpr uint32_t kPauseTime = 16;
inline constexpr uint32_t kPauseFieldBytes = 18;
inline constexpr uint16_t kOpcodePause = 0x0001;
inline constexpr uint16_t kOpcodePfc = 0x0101;
inline constexpr uint16_t kMaxQuanta = 0xffff;
}  // namespace pfc

struct PfcFrame {
  uint8_t enable = 0;
  bool is_pause = false;                       // PAUSE: of the whole link, each priority enabled for the same time
  std::array<uint16_t, kPriorities> quanta{};  // meaningful where enabled

  // The same time for each priority of the mask.
  static constexpr PfcFrame of(uint8_t mask, uint16_t time) {
    PfcFrame frame{.enable = mask};
    for (size_t i = 0; i < frame.quanta.size(); ++i) frame.quanta[i] = (mask >> i & 1) != 0 ? time : uint16_t{0};
    return frame;
  }
  friend bool operator==(const PfcFrame&, const PfcFrame&) = default;
};

// `bytes` of an untagged frame of type 0x8808 without FCS. Refused: kTruncated, kUnknownMacControl.
inline std::expected<PfcFrame, DropReason> read_pfc(const uint8_t* frame, uint32_t bytes) {
  if (bytes < mac_control::kOpcode + 2) return std::unexpected(DropReason::kTruncated);
  const uint16_t opcode = load16(frame + mac_control::kOpcode);
  if (opcode == pfc::kOpcodePause) {
    if (bytes < pfc::kPauseFieldBytes) return std::unexpected(DropReason::kTruncated);
    PfcFrame pause = PfcFrame::of(0xff, load16(frame + pfc::kPauseTime));
    pause.is_pause = true;
    return pause;
  }
  if (opcode != pfc::kOpcodePfc) return std::unexpected(DropReason::kUnknownMacControl);
  if (bytes < pfc::kFieldBytes) return std::unexpected(DropReason::kTruncated);
  PfcFrame read{.enable = frame[pfc::kVector + 1]};
  for (size_t i = 0; i < kPriorities; ++i) read.quanta[i] = load16(frame + pfc::kTimes + 2 * i);
  return read;
}

// Writes mac_control::kFrameBytes bytes at `out`.
inline void write_pfc(uint8_t* out, const MacAddress& own, const PfcFrame& frame) {
  write_mac_control(out, own, pfc::kOpcodePfc);
  store16(out + pfc::kVector, frame.enable);
  for (size_t i = 0; i < kPriorities; ++i) store16(out + pfc::kTimes + 2 * i, frame.quanta[i]);
}

// Writes a PAUSE frame of the same length.
inline void write_pause(uint8_t* out, const MacAddress& own, uint16_t quanta) {
  write_mac_control(out, own, pfc::kOpcodePause);
  store16(out + pfc::kPauseTime, quanta);
}

}  // namespace softspine::dataplane
