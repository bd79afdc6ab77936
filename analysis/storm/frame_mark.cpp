// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/frame_mark.hpp"

#include <array>
#include <cstring>

#include "analysis/storm/pause_frame.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::analysis::storm {

namespace {

constexpr size_t kBytesOfV4 = 40;
constexpr size_t kBytesOfV6 = 60;

// Mixes each word in by a product of 128 bits, folded.
uint64_t key_of(std::span<const uint8_t> bytes) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  uint64_t key = bytes.size() * kOdd;
  for (size_t at = 0; at < bytes.size(); at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    const auto product = dataplane::Uint128(key ^ word) * (kOdd ^ at << 32);
    key = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ kOdd;
  }
  return key;
}

}  // namespace

std::optional<FrameMark> mark_of(std::span<const uint8_t> frame) {
  size_t at = type_after_tags(frame);
  if (frame.size() < at + 2) return std::nullopt;
  const uint16_t type = word_at(frame, at);
  at += 2;
  const bool is_v4 = type == 0x0800;
  const size_t size = is_v4 ? kBytesOfV4 : kBytesOfV6;
  if ((!is_v4 && type != 0x86dd) || frame.size() < at + size) return std::nullopt;
  FrameMark out{.source = mac_at(frame, 6), .destination = mac_at(frame, 0)};
  if ((out.destination & kGroupBit) != 0) return std::nullopt;
  std::array<uint8_t, kBytesOfV6> bytes{};
  std::memcpy(bytes.data(), frame.data() + at, size);
  if (is_v4) {
    out.hops_left = bytes[8];
    bytes[1] = bytes[8] = bytes[10] = bytes[11] = 0;
  } else {
    out.hops_left = bytes[7];
    bytes[0] &= 0xf0;
    bytes[1] &= 0x0f;
    bytes[7] = 0;
  }
  out.key = key_of(std::span{bytes}.first(size));
  return out;
}

}  // namespace softspine::analysis::storm
