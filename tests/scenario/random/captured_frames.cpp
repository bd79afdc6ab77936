// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/captured_frames.hpp"

#include <algorithm>

namespace softspine::tests {

uint64_t big(std::string_view text, size_t at, size_t bytes) {
  if (at + bytes > text.size()) return 0;
  uint64_t out = 0;
  for (size_t i = 0; i < bytes; ++i) out = out << 8 | static_cast<uint8_t>(text[at + i]);
  return out;
}

namespace {

constexpr uint32_t kInterfaceBlock = 1;
constexpr uint32_t kPacketBlock = 6;
constexpr size_t kHead = 8;  // of a block: type, length

uint64_t little(std::string_view text, size_t at, size_t bytes) {
  uint64_t out = 0;
  for (size_t i = bytes; i-- > 0;) out = out << 8 | static_cast<uint8_t>(text[at + i]);
  return out;
}

// An interface's name: option 2.
std::string name_in(std::string_view block) {
  for (size_t at = kHead + 8; at + 4 <= block.size();) {
    const auto code = little(block, at, 2);
    const auto bytes = little(block, at + 2, 2);
    if (code == 2) return std::string(block.substr(at + 4, bytes));
    if (code == 0) break;
    at += 4 + (bytes + 3) / 4 * 4;
  }
  return "";
}

// Between the BTH and the payload, by InfiniBand's opcodes of reliable connections.
size_t extension_of(uint64_t opcode) {
  switch (opcode) {
    case 0x06:                 // RDMA WRITE FIRST
    case 0x0a: return 16;      // RDMA WRITE ONLY
    case 0x03:                 // SEND LAST with immediate
    case 0x05:                 // SEND ONLY with immediate
    case 0x09: return 4;       // RDMA WRITE LAST with immediate
    case 0x0b: return 16 + 4;  // RDMA WRITE ONLY with immediate
    default: return 0;
  }
}

constexpr size_t kTelemetryBytes = 42;

std::string telemetry_at(std::string_view frame, size_t at) {
  return at + kTelemetryBytes > frame.size() ? "" : std::string(frame.substr(at, kTelemetryBytes));
}

// What IPv4's total length leaves: UDP, BTH, its extension, telemetry, padding and the invariant CRC come off.
uint32_t payload_of(std::string_view frame, size_t ip, size_t bth, bool has_telemetry) {
  const uint64_t padding = big(frame, bth + 1, 1) >> 4 & 3;
  const uint64_t around = 20 + 8 + 12 + extension_of(big(frame, bth, 1)) + padding + 4;
  return static_cast<uint32_t>(big(frame, ip + 2, 2) - around - (has_telemetry ? kTelemetryBytes : 0));
}

void read_frame(std::string_view frame, CapturedFrame& out) {
  out.to_mac = big(frame, 0, 6);
  size_t at = 12;
  if (big(frame, at, 2) == 0x8100) at += 4;
  const uint64_t type = big(frame, at, 2);
  at += 2;
  if (type == 0x8808 && big(frame, at, 2) == 0x0101) {
    CapturedPause& pause = out.pause.emplace();
    pause.priorities = static_cast<uint8_t>(big(frame, at + 3, 1));
    for (size_t i = 0; i < 8; ++i) pause.quanta[i] = static_cast<uint16_t>(big(frame, at + 4 + 2 * i, 2));
  }
  const size_t udp = at + 20;
  const size_t bth = udp + 8;
  if (type != 0x0800 || big(frame, at, 1) != 0x45 || big(frame, at + 9, 1) != 17 || big(frame, udp + 2, 2) != 4791)
    return;
  const uint64_t opcode = big(frame, bth, 1);
  constexpr uint64_t kAcknowledge = 0x11;
  constexpr uint64_t kCnp = 0x81;
  const auto source = static_cast<uint32_t>(big(frame, at + 12, 4));
  const auto destination = static_cast<uint32_t>(big(frame, at + 16, 4));
  const auto qp = static_cast<uint32_t>(big(frame, bth + 5, 3));
  const auto psn = static_cast<uint32_t>(big(frame, bth + 9, 3));
  const size_t behind = bth + 12;
  if (opcode == kAcknowledge) {
    const bool is_long = big(frame, at + 2, 2) >= 20 + 8 + 12 + 4 + 44 + 4;
    out.ack = CapturedAck{.source = source,
                          .destination = destination,
                          .qp = qp,
                          .psn = psn,
                          .is_negative = big(frame, behind, 1) != 0x1f,
                          .echoes_mark = (big(frame, bth + 4, 1) & 0x40) != 0,
                          .telemetry = is_long ? telemetry_at(frame, behind + 4) : ""};
  } else if (opcode != kCnp) {
    const bool has_telemetry = (big(frame, bth + 4, 1) & 0x01) != 0;
    out.roce = CapturedRoce{.source = source,
                            .destination = destination,
                            .qp = qp,
                            .psn = psn,
                            .payload_bytes = payload_of(frame, at, bth, has_telemetry),
                            .is_marked = (big(frame, at + 1, 1) & 3) == 3,
                            .telemetry = has_telemetry ? telemetry_at(frame, behind + extension_of(opcode)) : ""};
  }
}

}  // namespace

Captured read_capture(std::string_view file) {
  Captured out;
  for (size_t at = 0; at + 12 <= file.size();) {
    const uint64_t type = little(file, at, 4);
    const uint64_t bytes = little(file, at + 4, 4);
    const std::string_view block = file.substr(at, bytes);
    if (type == kInterfaceBlock) out.interfaces.push_back(name_in(block));
    if (type == kPacketBlock) {
      CapturedFrame& frame = out.frames.emplace_back();
      frame.interface = static_cast<uint32_t>(little(block, kHead, 4));
      const uint64_t ticks = little(block, kHead + 4, 4) << 32 | little(block, kHead + 8, 4);
      frame.at_ps = static_cast<int64_t>(ticks) * kCaptureTick;
      frame.bytes = static_cast<uint32_t>(little(block, kHead + 16, 4));
      read_frame(block.substr(kHead + 20, little(block, kHead + 12, 4)), frame);
    }
    at += bytes;
  }
  return out;
}

}  // namespace softspine::tests
