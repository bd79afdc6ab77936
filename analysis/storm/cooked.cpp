// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/cooked.hpp"

#include <algorithm>

#include "analysis/storm/pause_frame.hpp"

namespace softspine::analysis::storm {

namespace {

constexpr uint16_t kSll2 = 276;
constexpr uint16_t kEthernet = 1;  // ARPHRD_ETHER
constexpr uint16_t kOutgoing = 4;
constexpr size_t kMacBytes = 6;
constexpr size_t kPayloadAt = 14;

// Where the fields stand.
struct Layout {
  size_t bytes;
  size_t protocol;
  size_t hardware;
  size_t address;
};
constexpr Layout kSllLayout{.bytes = 16, .protocol = 14, .hardware = 2, .address = 6};
constexpr Layout kSll2Layout{.bytes = 20, .protocol = 0, .hardware = 8, .address = 12};

uint32_t number(std::span<const uint8_t> bytes, size_t at, size_t length) {
  uint32_t value = 0;
  for (size_t i = 0; i < length; ++i) value = value << 8 | bytes[at + i];
  return value;
}

}  // namespace

std::optional<CookedFrame> read_cooked(uint16_t link_type, std::span<const uint8_t> frame) {
  const bool is_second = link_type == kSll2;
  const Layout& at = is_second ? kSll2Layout : kSllLayout;
  if (frame.size() < at.bytes || number(frame, at.hardware, 2) != kEthernet) return std::nullopt;
  const uint32_t packet_type = is_second ? frame[10] : number(frame, 0, 2);
  const uint32_t address_bytes = is_second ? frame[11] : number(frame, 4, 2);
  if (address_bytes != kMacBytes) return std::nullopt;
  CookedFrame out;
  out.way = packet_type == kOutgoing ? Way::kOut : Way::kIn;
  out.interface = is_second ? number(frame, 4, 4) : 0;
  std::copy_n(&frame[at.address], kMacBytes, &out.ethernet[kSourceAt]);
  std::copy_n(&frame[at.protocol], 2, &out.ethernet[kTypeAt]);
  const size_t payload = std::min(frame.size() - at.bytes, out.ethernet.size() - kPayloadAt);
  std::copy_n(frame.begin() + static_cast<ptrdiff_t>(at.bytes), payload, &out.ethernet[kPayloadAt]);
  out.bytes = kPayloadAt + payload;
  return out;
}

}  // namespace softspine::analysis::storm
