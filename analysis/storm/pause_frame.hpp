// SPDX-License-Identifier: Apache-2.0
// MAC control frames that pause: PFC (802.1Qbb) and the older PAUSE of 802.3 for all priorities at once.
//
//   destination 6 | source 6 | 0x8808 | opcode 2 | PFC 0x0101: enable vector 2, time[8] 2 each
//                                                | PAUSE 0x0001: time 2
// Bit n of the vector's lower byte enables time[n]; its upper byte is reserved and not looked at.
// Time is in quanta of 512 bit times; 0 with its bit set is XON: the priority may send again.
// A mirror puts tags of its own before the type, so VLAN tags (802.1Q, 802.1ad and two older types) are passed over.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace softspine::analysis::storm {

// Classes 0–7 are PFC's priorities; 8 is PAUSE, which stops all of them.
inline constexpr uint8_t kAllPriorities = 8;
inline constexpr size_t kPauseClasses = 9;

struct PauseFrame {
  uint64_t source = 0;   // 48 bits
  uint16_t enabled = 0;  // bit n: class n
  std::array<uint16_t, kPauseClasses> quanta{};
  friend bool operator==(const PauseFrame&, const PauseFrame&) = default;
};

enum class MacControl : uint8_t {
  kNone,   // not a MAC control frame
  kPause,  // `out` is filled
  kCut,    // it was one, but its times were not captured
  kOther,  // another opcode, which pauses nobody
};

MacControl read_pause_frame(std::span<const uint8_t> frame, PauseFrame& out);

// Where an Ethernet header's fields stand.
inline constexpr size_t kSourceAt = 6;
inline constexpr size_t kTypeAt = 12;
// Behind at most kMaxTags tags; it may be beyond the frame's end.
inline constexpr size_t kMaxTags = 4;
size_t type_after_tags(std::span<const uint8_t> frame);

inline constexpr uint64_t kPauseAddress = 0x0180c2000001;  // MAC control's destination: no other protocol has it
inline constexpr uint64_t kGroupBit = uint64_t{1} << 40;   // of a MAC address

uint16_t word_at(std::span<const uint8_t> frame, size_t at);
uint64_t mac_at(std::span<const uint8_t> frame, size_t at);
std::string mac_text(uint64_t mac);

}  // namespace softspine::analysis::storm
