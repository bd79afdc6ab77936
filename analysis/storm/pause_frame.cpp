// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/pause_frame.hpp"

#include <fmt/format.h>

namespace softspine::analysis::storm {

namespace {

constexpr size_t kTagBytes = 4;
constexpr uint16_t kMacControlType = 0x8808;
constexpr uint16_t kPfc = 0x0101;
constexpr uint16_t kPauseAll = 0x0001;

bool is_tag(uint16_t type) {
  return type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200;
}

}  // namespace

uint16_t word_at(std::span<const uint8_t> frame, size_t at) {
  return static_cast<uint16_t>(frame[at] << 8 | frame[at + 1]);
}

size_t type_after_tags(std::span<const uint8_t> frame) {
  size_t at = kTypeAt;
  for (size_t tags = 0; tags < kMaxTags && frame.size() >= at + 2 && is_tag(word_at(frame, at)); ++tags)
    at += kTagBytes;
  return at;
}

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
  const size_t type_at = type_after_tags(frame);
  if (frame.size() < type_at + 2 || word_at(frame, type_at) != kMacControlType) return MacControl::kNone;
  const std::span<const uint8_t> control = frame.subspan(type_at + 2);  // opcode 2, and the rest
  if (control.size() < 2) return MacControl::kCut;
  const uint16_t opcode = word_at(control, 0);
  out = {.source = mac_at(frame, kSourceAt)};
  if (opcode == kPauseAll) {
    if (control.size() < 4) return MacControl::kCut;
    out.enabled = 1 << kAllPriorities;
    out.quanta[kAllPriorities] = word_at(control, 2);
    return MacControl::kPause;
  }
  if (opcode != kPfc) return MacControl::kOther;
  if (control.size() < 4 + size_t{2} * kAllPriorities) return MacControl::kCut;
  out.enabled = word_at(control, 2) & 0xff;
  for (size_t i = 0; i < kAllPriorities; ++i) out.quanta[i] = word_at(control, 4 + 2 * i);
  return MacControl::kPause;
}

}  // namespace softspine::analysis::storm
