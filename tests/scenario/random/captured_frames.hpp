// SPDX-License-Identifier: Apache-2.0
// A capture, read by the letter of draft-ietf-opsawg-pcapng, and of each frame what a recount needs. No code of the
// program's is used: a recount has to err alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softspine::tests {

// The payload of a queue pair (no acknowledgement, no CNP).
struct CapturedRoce {
  uint32_t source = 0;  // IPv4 addresses
  uint32_t destination = 0;
  uint32_t qp = 0;
  uint32_t psn = 0;
  uint32_t payload_bytes = 0;
  bool is_marked = false;  // CE
  std::string telemetry;   // its 42 bytes; empty: none
};

struct CapturedAck {
  uint32_t source = 0;
  uint32_t destination = 0;
  uint32_t qp = 0;
  uint32_t psn = 0;
  bool is_negative = false;
  bool echoes_mark = false;  // BECN
  std::string telemetry;
};

struct CapturedPause {
  uint8_t priorities = 0;
  std::array<uint16_t, 8> quanta{};
};

struct CapturedFrame {
  uint32_t interface = 0;
  int64_t at_ps = 0;  // when its last bit left, to the 100 ps below
  uint32_t bytes = 0;
  uint64_t to_mac = 0;
  std::optional<CapturedRoce> roce;
  std::optional<CapturedAck> ack;
  std::optional<CapturedPause> pause;
};

inline constexpr int64_t kCaptureTick = 100;  // ps

// The word of `bytes` bytes, most significant first; 0 if the text ends before it does.
uint64_t big(std::string_view text, size_t at, size_t bytes);

struct Captured {
  std::vector<std::string> interfaces;  // NODE:PORT
  std::vector<CapturedFrame> frames;
};

Captured read_capture(std::string_view file);

}  // namespace softspine::tests
