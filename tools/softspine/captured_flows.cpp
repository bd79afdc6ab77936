// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/captured_flows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "dataplane/edge/pcap_reader.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::tools {

namespace dp = dataplane;

namespace {

using control::Fabric;
using control::LinkEnd;

// Hosts by address, as bytes.
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

// Everything that a hash may look at and that is the same for a flow's packets.
struct Identity {
  std::string source;
  std::string destination;
  std::string rest;
  std::string all() const { return source + destination + rest; }
};
Identity identity_of(const dp::Packet& packet) {
  const dp::PacketMeta& meta = packet.meta();
  const char* data = reinterpret_cast<const char*>(packet.data());
  const bool is_ipv6 = (meta.flags & dp::kIsIpv6) != 0;
  const size_t length = is_ipv6 ? 16 : 4;
  const char* addresses = data + meta.l3_offset + (is_ipv6 ? dp::ipv6::kSource : dp::ipv4::kSource);
  Identity out{std::string(addresses, length), std::string(addresses + length, length), {}};
  out.rest += static_cast<char>(meta.ip_protocol);
  if ((meta.flags & (dp::kIsUdp | dp::kIsTcp)) != 0) out.rest.append(data + meta.l4_offset, 4);
  if ((meta.flags & dp::kIsRoce) != 0)
    out.rest.append(data + meta.l4_offset + dp::udp::kBytes + dp::bth::kDestinationQp, 3);
  return out;
}

// A frame without the tags that it was captured with.
struct Bare {
  std::vector<uint8_t> bytes;
  uint32_t length = 0;  // on the wire
};
Bare without_tags(const dp::RecordedFrame& frame) {
  const uint32_t stored = std::min(frame.captured, dp::kMaxFrameBytes);
  Bare out{{frame.bytes, frame.bytes + stored}, std::clamp(frame.length, stored, dp::kMaxFrameBytes)};
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

std::expected<std::optional<LinkEnd>, std::string> sender_named(const Fabric& fabric, const std::string& from) {
  if (from.empty()) return std::nullopt;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    if (node.kind == control::NodeKind::kHost && node.name == from) return LinkEnd{n, 0};
    for (uint16_t p = 0; node.kind == control::NodeKind::kSwitch && p < node.ports.size(); ++p) {
      if (fabric.name_of({n, p}) == from) return fabric.peer_of({n, p});
    }
  }
  return std::unexpected("--from: there is neither a host nor a switch's port '" + from + "'");
}

class Collection {
 public:
  Collection(control::Walker& walker, std::optional<LinkEnd> from)
      : walker_(walker), from_(from), hosts_(hosts_by_address(walker.testbed().fabric)) {}

  void add(const dp::RecordedFrame& frame) {
    ++out_.packets;
    Bare bare = without_tags(frame);
    dp::Packet& packet = scratch_.load(bare.bytes, bare.length);
    dp::parse(packet);
    if ((packet.meta().flags & (dp::kIsIpv4 | dp::kIsIpv6)) == 0) {
      ++out_.without_ip;
      return;
    }
    const Identity identity = identity_of(packet);
    const auto known = seen_.find(identity.all());
    if (known != seen_.end()) {
      out_.flows[known->second].bytes += frame.length;
      return;
    }
    const auto host = hosts_.find(identity.source);
    if (!from_ && host == hosts_.end()) {
      ++out_.unknown_sources;
      return;
    }
    const LinkEnd sender = from_ ? *from_ : LinkEnd{host->second, 0};
    const LinkEnd first = walker_.testbed().fabric.peer_of(sender);
    dp::store_mac(bare.bytes.data() + dp::ethernet::kDestination, walker_.router_mac(first.node));
    out_.unknown_destinations += hosts_.contains(identity.destination) ? 0 : 1;
    seen_.emplace(identity.all(), out_.flows.size());
    out_.flows.push_back({std::move(bare.bytes), sender, frame.length, bare.length});
  }
  CapturedFlows take() && { return std::move(out_); }

 private:
  control::Walker& walker_;
  std::optional<LinkEnd> from_;
  std::unordered_map<std::string, uint32_t> hosts_;
  std::unordered_map<std::string, size_t> seen_;
  dp::ScratchPacket scratch_;
  CapturedFlows out_;
};

}  // namespace

std::expected<CapturedFlows, std::string> captured_flows(control::Walker& walker, const std::vector<std::string>& files,
                                                         const std::string& from) {
  const auto sender = sender_named(walker.testbed().fabric, from);
  if (!sender) return std::unexpected(sender.error());
  Collection collection(walker, *sender);
  for (const std::string& file : files) {
    auto reader = dp::PcapReader::open(file);
    if (!reader) return std::unexpected(file + ": " + reader.error().message);
    dp::RecordedFrame frame;
    while (reader->next(frame)) collection.add(frame);
    if (!reader->error().empty()) return std::unexpected(file + ": " + reader->error());
  }
  CapturedFlows out = std::move(collection).take();
  if (out.flows.empty())
    return std::unexpected("no flow in the capture. " + told_of(out) +
                           "--from HOST or --from SWITCH:PORT says where packets come in, whatever their addresses");
  return out;
}

std::string told_of(const CapturedFlows& captured) {
  std::string out;
  if (captured.without_ip > 0)
    out += fmt::format("{} of {} packets are not IP, or were cut before their addresses. ", captured.without_ip,
                       captured.packets);
  if (captured.unknown_sources > 0)
    out += fmt::format("{} of {} packets come from addresses that no host of the testbed has. ",
                       captured.unknown_sources, captured.packets);
  if (captured.unknown_destinations > 0)
    out += fmt::format("{} of {} flows go to addresses that no host of the testbed has. ",
                       captured.unknown_destinations, captured.flows.size());
  return out;
}

}  // namespace softspine::tools
