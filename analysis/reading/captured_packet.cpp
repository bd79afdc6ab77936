// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/captured_packet.hpp"

#include <algorithm>

#include "analysis/reading/host_named.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

using control::Fabric;
using control::LinkEnd;

FlowIdentity identity_of(const dp::Packet& packet) {
  const dp::PacketMeta& meta = packet.meta();
  const char* data = reinterpret_cast<const char*>(packet.data());
  const bool is_ipv6 = (meta.flags & dp::kIsIpv6) != 0;
  const size_t length = is_ipv6 ? 16 : 4;
  const char* addresses = data + meta.l3_offset + (is_ipv6 ? dp::ipv6::kSource : dp::ipv4::kSource);
  FlowIdentity out{std::string(addresses, length), std::string(addresses + length, length), {}};
  out.rest += static_cast<char>(meta.ip_protocol);
  if ((meta.flags & (dp::kIsUdp | dp::kIsTcp)) != 0) out.rest.append(data + meta.l4_offset, 4);
  if ((meta.flags & dp::kIsRoce) != 0)
    out.rest.append(data + meta.l4_offset + dp::udp::kBytes + dp::bth::kDestinationQp, 3);
  return out;
}

BareFrame without_tags(std::span<const uint8_t> captured, uint32_t length) {
  const auto stored = static_cast<uint32_t>(std::min<size_t>(captured.size(), dp::kMaxFrameBytes));
  BareFrame out{{captured.begin(), captured.begin() + stored}, std::clamp(length, stored, dp::kMaxFrameBytes)};
  constexpr uint16_t kServiceTag = 0x88a8;
  while (out.bytes.size() >= dp::ethernet::kBytes + dp::ethernet::kTagBytes) {
    const uint16_t type = dp::load16(out.bytes.data() + dp::ethernet::kType);
    if (type != dp::ethernet::kTypeVlan && type != kServiceTag) break;
    const auto at = out.bytes.begin() + dp::ethernet::kType;
    out.bytes.erase(at, at + dp::ethernet::kTagBytes);
    out.length -= dp::ethernet::kTagBytes;
  }
  return out;
}

std::unordered_map<std::string, uint32_t> hosts_by_address(const Fabric& fabric) {
  std::unordered_map<std::string, uint32_t> out;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    if (node.kind != control::NodeKind::kHost) continue;
    char v4[4];
    dp::store32(reinterpret_cast<uint8_t*>(v4), node.ipv4.value);
    out.emplace(std::string(v4, 4), n);
    out.emplace(std::string(node.ipv6.bytes.begin(), node.ipv6.bytes.end()), n);
  }
  return out;
}

std::expected<std::optional<LinkEnd>, std::string> sender_named(const Fabric& fabric, const std::string& from) {
  if (from.empty()) return std::nullopt;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    if (node.kind == control::NodeKind::kHost && node.name == from) return LinkEnd{n, 0};
    for (uint16_t p = 0; node.kind == control::NodeKind::kSwitch && p < node.ports.size(); ++p) {
      if (fabric.name_of({n, p}) == from) return fabric.peer_of({n, p});
    }
  }
  return std::unexpected("--from: there is neither a host nor a switch's port " + control::shown(from) +
                         guess_at_sender(fabric, from));
}

}  // namespace softspine::analysis
