// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/pause_frame.hpp"

#include <fmt/format.h>

namespace softspine::tools::storm {

namespace {

constexpr size_t kOpcodeAt = 14;
constexpr size_t kBodyAt = 16;
constexpr uint16_t kMacControlType = 0x8808;
constexpr uint16_t kPfc = 0x0101;
constexpr uint16_t kPauseAll = 0x0001;

uint16_t word_at(std::span<const uint8_t> frame, size_t at) {
  return static_cast<uint16_t>(frame[at] << 8 | frame[at + 1]);
}

}  // namespace

uint64_t mac_at(std::span<const uint8_t> frame, size_t at) {
  uint64_t mac = 0;
  for (size_t i = 0; i < 6; ++i) mac = mac << 8 | frame[at + i];
  return mac;
}

std::string mac_text(uint64_t mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac >> 40 & 0xff, mac >> 32 & 0xff, mac >> 24 & 0xff,
                     mac >> 16 & 0xff, mac >> 8 & 0xff, mac & 0xff);
}

MacControl read_pause_frame(std::span<const uint8_t> frame, PauseFrame& out) {
  if (frame.size() < kOpcodeAt || word_at(frame, kTypeAt) != kMacControlType) return MacControl::kNone;
  if (frame.size() < kBodyAt) return MacControl::kCut;
  const uint16_t opcode = word_at(frame, kOpcodeAt);
  out = {.source = mac_at(frame, kSourceAt)};
  if (opcode == kPauseAll) {
    if (frame.size() < kBodyAt + 2) return MacControl::kCut;
    out.enabled = 1 << kAllPriorities;
    out.quanta[kAllPriorities] = word_at(frame, kBodyAt);
    return MacControl::kPause;
  }
  if (opcode != kPfc) return MacControl::kOther;
  if (frame.size() < kBodyAt + 2 + size_t{2} * kAllPriorities) return MacControl::kCut;
  out.enabled = word_at(frame, kBodyAt) & 0xff;
  for (size_t i = 0; i < kAllPriorities; ++i) out.quanta[i] = word_at(frame, kBodyAt + 2 + 2 * i);
  return MacControl::kPause;
}

}  // namespace softspine::tools::storm
