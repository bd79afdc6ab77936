// SPDX-License-Identifier: Apache-2.0
// The frame that carries a link's credits. Ethernet defines none: this one is our own, in the format that 802.3
// (annex 31C) reserves for extensions of MAC control, so that any other station drops it and tshark still shows what
// it is.
//
//   14  opcode 0xFFFE (extension); before it mac_control.hpp
//   16  OUI 02-73-70 (locally administered)  19  extension's opcode 0x0001
//   21  bit 0: the sender has no credit left and asks for an update
//   22  bytes of a cell of the frame's sender          24  limit[0 … 7]: cells that the receiver may have sent
//   40  sent[0 … 7]: cells (of the receiver's) that the frame's sender has sent
//   56  priorities under credit flow control           57  zeros
//
// Both numbers count from the link's start, modulo 2^16, as InfiniBand's FCCL and FCTBS count modulo 2^12.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dataplane/packet/mac_control.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::dataplane {

namespace credit {
inline constexpr uint32_t kOui = 16;
inline constexpr uint32_t kExtension = 19;
inline constexpr uint32_t kFlags = 21;
inline constexpr uint32_t kCell = 22;
inline constexpr uint32_t kLimits = 24;
inline constexpr uint32_t kSent = kLimits + 2 * kPriorities;
inline constexpr uint32_t kPrioritiesAt = kSent + 2 * kPriorities;
inline constexpr uint32_t kFieldBytes = kPrioritiesAt + 1;
inline constexpr uint16_t kOpcodeExtension = 0xfffe;
inline constexpr uint32_t kOurOui = 0x027370;
inline constexpr uint16_t kOurExtension = 0x0001;
}  // namespace credit

struct CreditFrame {
  uint8_t priorities = 0;
  bool asks = false;
  uint16_t cell_bytes = 0;
  std::array<uint16_t, kPriorities> limit{};
  std::array<uint16_t, kPriorities> sent{};

  friend bool operator==(const CreditFrame&, const CreditFrame&) = default;
};

// `bytes` of an untagged frame of type 0x8808 without FCS; nothing if it is another kind, ends within its fields, or
// has no cell.
inline std::optional<CreditFrame> read_credit(const uint8_t* frame, uint32_t bytes) {
  if (bytes < credit::kFieldBytes || load16(frame + mac_control::kOpcode) != credit::kOpcodeExtension)
    return std::nullopt;
  const uint32_t oui = load32(frame + credit::kOui) >> 8;
  if (oui != credit::kOurOui || load16(frame + credit::kExtension) != credit::kOurExtension) return std::nullopt;
  CreditFrame read{.priorities = frame[credit::kPrioritiesAt],
                   .asks = (frame[credit::kFlags] & 1) != 0,
                   .cell_bytes = load16(frame + credit::kCell)};
  if (read.cell_bytes == 0) return std::nullopt;
  for (size_t i = 0; i < kPriorities; ++i) {
    read.limit[i] = load16(frame + credit::kLimits + 2 * i);
    read.sent[i] = load16(frame + credit::kSent + 2 * i);
  }
  return read;
}

// Writes mac_control::kFrameBytes bytes at `out`.
inline void write_credit(uint8_t* out, const MacAddress& own, const CreditFrame& frame) {
  write_mac_control(out, own, credit::kOpcodeExtension);
  store32(out + credit::kOui, credit::kOurOui << 8);
  store16(out + credit::kExtension, credit::kOurExtension);
  out[credit::kFlags] = frame.asks ? 1 : 0;
  store16(out + credit::kCell, frame.cell_bytes);
  for (size_t i = 0; i < kPriorities; ++i) {
    store16(out + credit::kLimits + 2 * i, frame.limit[i]);
    store16(out + credit::kSent + 2 * i, frame.sent[i]);
  }
  out[credit::kPrioritiesAt] = frame.priorities;
}

}  // namespace softspine::dataplane
