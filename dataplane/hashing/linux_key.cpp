// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/linux_key.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dataplane/hashing/inner_headers.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint32_t kProtocol = 2;
constexpr uint32_t kFlowLabel = 4;
constexpr uint32_t kSourcePort = 28;
constexpr uint32_t kDestinationPort = 30;
constexpr uint32_t kAddresses = 36;

std::vector<HashField> fields_of(const HashConfig& config, bool is_ipv6) {
  using enum HashField;
  switch (config.linux_policy) {
    case 1: return {kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol};
    case 3: return config.fields;
    default: break;
  }
  if (is_ipv6) return {kSrcIp, kDstIp, kIpProtocol, kIpv6FlowLabel};
  return {kSrcIp, kDstIp};
}

uint8_t place_in_linux_key(HashField field, bool is_ipv6) {
  switch (field) {
    case HashField::kIpProtocol: return kProtocol;
    case HashField::kIpv6FlowLabel: return kFlowLabel + 1;  // three bytes of four
    case HashField::kL4SrcPort: return kSourcePort;
    case HashField::kL4DstPort: return kDestinationPort;
    case HashField::kDstIp: return kAddresses + (is_ipv6 ? 16 : 4);
    default: return kAddresses;
  }
}

// Where layer 4 has its ports; -1: nowhere.
int ports_at(uint8_t protocol) {
  constexpr uint8_t kDccp = 33;
  constexpr uint8_t kEsp = 50;
  constexpr uint8_t kAh = 51;
  constexpr uint8_t kSctp = 132;
  constexpr uint8_t kUdpLite = 136;
  switch (protocol) {
    case kDccp:
    case kEsp:
    case kSctp:
    case kUdpLite: return 0;
    case kAh: return 4;
    default: return -1;
  }
}

HeaderView inside_view(const HeaderView& view) noexcept {
  if ((view.flags & kIsUdp) != 0) return view;
  const InnerHeaders inner = inner_of(view);
  return (inner.view.flags & (kIsIpv4 | kIsIpv6)) != 0 ? inner.view : view;
}

template <typename T>
T little(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

std::vector<KeyPart> LinuxKey::parts_of(const HashConfig& config, bool is_ipv6) {
  std::vector<HashField> fields = fields_of(config, is_ipv6);
  std::ranges::sort(fields);
  std::vector<KeyPart> parts;
  for (const HashField field : fields) {
    if (field == HashField::kIpv6FlowLabel && !is_ipv6) continue;
    KeyPart part = source_of(field, is_ipv6);
    part.to = place_in_linux_key(field, is_ipv6);
    if (field == HashField::kIpv6FlowLabel) part.needs = 0;  // of what is inside, whatever is outside
    parts.push_back(part);
  }
  return parts;
}

OwnKey::ViewOf LinuxKey::inside_of(const HashConfig& config) {
  return config.linux_policy == 2 ? inside_view : nullptr;
}

bool LinuxKey::has_ports(const HeaderView& view, uint8_t) noexcept {
  if ((view.flags & (kIsUdp | kIsTcp)) != 0) return true;
  const int at = ports_at(view.ip_protocol);
  return at >= 0 && (view.flags & kIsFragment) == 0 && view.l4_offset != 0 &&
         view.l4_offset + static_cast<uint32_t>(at) + 4 <= view.stored_bytes;
}

void LinuxKey::finish(const std::vector<KeyPart>& parts, const HeaderView& view, uint8_t policy,
                      uint8_t* key) noexcept {
  const bool is_ipv6 = (view.flags & kIsIpv6) != 0;
  const bool has_other_ports = (view.flags & (kIsUdp | kIsTcp)) == 0 && has_ports(view, policy);
  for (const KeyPart& part : parts) {
    if (has_other_ports && part.base == UdfBase::kL4)
      std::memcpy(key + part.to, view.frame + view.l4_offset + ports_at(view.ip_protocol) + part.offset, part.length);
  }
  if (policy >= 2) std::reverse(key + kFlowLabel, key + kFlowLabel + 4);
  uint8_t* source = key + kAddresses;
  uint8_t* destination = source + (is_ipv6 ? 16 : 4);
  const bool turned =
      is_ipv6 ? std::memcmp(destination, source, 16) < 0 : little<uint32_t>(destination) < little<uint32_t>(source);
  if (turned) std::swap_ranges(source, destination, destination);
  if (little<uint16_t>(key + kDestinationPort) < little<uint16_t>(key + kSourcePort))
    std::swap_ranges(key + kSourcePort, key + kDestinationPort, key + kDestinationPort);
}

}  // namespace softspine::dataplane
