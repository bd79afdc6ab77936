// SPDX-License-Identifier: Apache-2.0
#include "dataplane/lacp/lacpdu.hpp"

#include <algorithm>

namespace softspine::dataplane {

namespace {

constexpr uint8_t kSubtype = 1;
constexpr uint8_t kVersion = 1;
constexpr uint32_t kSubtypeAt = ethernet::kBytes;
constexpr uint32_t kVersionAt = kSubtypeAt + 1;
constexpr uint32_t kActorAt = kSubtypeAt + 2;
constexpr uint32_t kPartnerAt = kActorAt + 20;
constexpr uint32_t kCollectorAt = kPartnerAt + 20;
constexpr uint32_t kTerminatorAt = kCollectorAt + 16;
constexpr uint8_t kActorType = 1;
constexpr uint8_t kPartnerType = 2;
constexpr uint8_t kCollectorType = 3;
constexpr uint8_t kEndBytes = 20;
constexpr uint8_t kCollectorBytes = 16;

LacpEnd end_at(const uint8_t* tlv) {
  return {.system_priority = load16(tlv + 2),
          .system = load_mac(tlv + 4),
          .key = load16(tlv + 10),
          .port_priority = load16(tlv + 12),
          .port = load16(tlv + 14),
          .state = tlv[16]};
}

void write_end(const LacpEnd& end, uint8_t type, uint8_t* tlv) {
  tlv[0] = type;
  tlv[1] = kEndBytes;
  store16(tlv + 2, end.system_priority);
  store_mac(tlv + 4, end.system);
  store16(tlv + 10, end.key);
  store16(tlv + 12, end.port_priority);
  store16(tlv + 14, end.port);
  tlv[16] = end.state;
}

}  // namespace

std::expected<Lacpdu, LacpduFault> read_lacpdu(std::span<const uint8_t> frame) noexcept {
  if (frame.size() <= kSubtypeAt) return std::unexpected(LacpduFault::kTruncated);
  if (frame[kSubtypeAt] != kSubtype) return std::unexpected(LacpduFault::kOtherSubtype);
  if (frame.size() < kTerminatorAt) return std::unexpected(LacpduFault::kTruncated);
  if (frame[kActorAt + 1] != kEndBytes || frame[kPartnerAt + 1] != kEndBytes ||
      frame[kCollectorAt + 1] != kCollectorBytes) {
    return std::unexpected(LacpduFault::kBadLength);
  }
  return Lacpdu{.actor = end_at(&frame[kActorAt]), .partner = end_at(&frame[kPartnerAt]), .version = frame[kVersionAt]};
}

void write_lacpdu(const Lacpdu& pdu, const MacAddress& source, std::span<uint8_t, kLacpFrameBytes> frame) noexcept {
  std::ranges::fill(frame, uint8_t{0});
  store_mac(frame.data() + ethernet::kDestination, kSlowProtocolsMac);
  store_mac(frame.data() + ethernet::kSource, source);
  store16(frame.data() + ethernet::kType, kTypeSlowProtocols);
  frame[kSubtypeAt] = kSubtype;
  frame[kVersionAt] = kVersion;
  write_end(pdu.actor, kActorType, &frame[kActorAt]);
  write_end(pdu.partner, kPartnerType, &frame[kPartnerAt]);
  frame[kCollectorAt] = kCollectorType;
  frame[kCollectorAt + 1] = kCollectorBytes;
}

}  // namespace softspine::dataplane
