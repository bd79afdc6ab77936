// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/captured_flows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "dataplane/edge/pcap_reader.hpp"
#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"
#include "tools/softspine/captured_packet.hpp"

namespace softspine::tools {

namespace dp = dataplane;

namespace {

using control::LinkEnd;

constexpr uint64_t kMostFlows = 10'000'000;
// Ethernet, IPv4 with all options, and as far behind it as a UDF reaches: the rest of a frame changes no choice.
constexpr uint32_t kHeaderReach = dp::ethernet::kBytes + 60 + dp::kMaxUdfReach;

// The longest frame that every link takes.
uint32_t longest_frame(const control::Fabric& fabric) {
  uint32_t mtu = dp::kMaxFrameBytes;
  for (const control::FabricLink& link : fabric.links) mtu = std::min(mtu, link.mtu);
  return std::min(mtu + dp::ethernet::kBytes, dp::kMaxFrameBytes);
}

void set_ipv4_length(uint8_t* header, uint32_t header_bytes, uint32_t total) {
  dp::store16(header + dp::ipv4::kTotalLength, static_cast<uint16_t>(total));
  dp::store16(header + dp::ipv4::kChecksum, 0);
  dp::store16(header + dp::ipv4::kChecksum, dp::ipv4_checksum(header, header_bytes));
}

// A NIC that cuts or joins segments shows the capture a packet that no link carries, with a length of more than a frame
// or, beyond 64 KiB, of nothing. It is followed as the longest frame of its flow would be. True if it was such.
bool fit(BareFrame& frame, uint32_t longest) {
  if (frame.bytes.size() < dp::ethernet::kBytes + dp::ipv4::kMinBytes) return false;
  uint8_t* header = frame.bytes.data() + dp::ethernet::kBytes;
  const auto stored = static_cast<uint32_t>(frame.bytes.size()) - dp::ethernet::kBytes;
  const uint16_t type = dp::load16(frame.bytes.data() + dp::ethernet::kType);
  const uint32_t most = std::min(frame.length, longest) - dp::ethernet::kBytes;
  bool is_cut = frame.length > longest;
  frame.length = std::min(frame.length, longest);
  if (type == dp::ethernet::kTypeIpv4) {
    const uint32_t header_bytes = (header[dp::ipv4::kVersionIhl] & 0x0fU) * 4;
    const uint32_t total = dp::load16(header + dp::ipv4::kTotalLength);
    if (header_bytes < dp::ipv4::kMinBytes || header_bytes > std::min(stored, most)) return is_cut;
    if (total != 0 && total <= most) return is_cut;
    if (!is_cut) return false;  // a fault, not a NIC's doing
    set_ipv4_length(header, header_bytes, most);
    return true;
  }
  if (type != dp::ethernet::kTypeIpv6 || stored < dp::ipv6::kBytes || most < dp::ipv6::kBytes) return is_cut;
  const uint32_t payload = dp::load16(header + dp::ipv6::kPayloadLength);
  if (is_cut && (payload == 0 || payload + dp::ipv6::kBytes > most))
    dp::store16(header + dp::ipv6::kPayloadLength, static_cast<uint16_t>(most - dp::ipv6::kBytes));
  return is_cut;
}

class Collection {
 public:
  Collection(control::Walker& walker, std::optional<LinkEnd> from)
      : walker_(walker),
        from_(from),
        hosts_(hosts_by_address(walker.testbed().fabric)),
        longest_(longest_frame(walker.testbed().fabric)) {}

  void add(const dp::RecordedFrame& frame) {
    ++out_.packets;
    BareFrame bare = without_tags({frame.bytes, std::min(frame.captured, kTagged)}, frame.length);
    bare.bytes.resize(std::min<size_t>({bare.bytes.size(), kHeaderReach, longest_}));
    out_.oversize += fit(bare, longest_) ? 1 : 0;
    dp::Packet& packet = scratch_.load(bare.bytes, bare.length);
    dp::parse(packet);
    if (!has_flow(packet)) return;
    const FlowIdentity identity = identity_of(packet);
    const auto known = seen_.find(identity.all());
    if (known != seen_.end()) {
      out_.flows[known->second].bytes += frame.length;
      return;
    }
    if (out_.flows.size() == kMostFlows) {
      ++out_.beyond_limit;
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
  static constexpr uint32_t kTagged = kHeaderReach + 8 * dp::ethernet::kTagBytes;

  // Counts those of which it can't be told.
  bool has_flow(const dp::Packet& packet) {
    const dp::PacketMeta& meta = packet.meta();
    if ((meta.flags & (dp::kIsIpv4 | dp::kIsIpv6)) == 0) {
      ++out_.without_ip;
      return false;
    }
    const bool has_ports = meta.ip_protocol == dp::ip::kUdp || meta.ip_protocol == dp::ip::kTcp;
    if (has_ports && (meta.flags & (dp::kIsUdp | dp::kIsTcp | dp::kIsFragment)) == 0) {
      ++out_.cut_before_ports;
      return false;
    }
    return true;
  }

  control::Walker& walker_;
  std::optional<LinkEnd> from_;
  std::unordered_map<std::string, uint32_t> hosts_;
  uint32_t longest_;
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
    return std::unexpected("no flow in the capture. " + left_out_text(out) +
                           "--from HOST or --from SWITCH:PORT says where packets come in, whatever their addresses");
  return out;
}

std::string left_out_text(const CapturedFlows& captured) {
  std::string out;
  if (captured.without_ip > 0)
    out += fmt::format("{} of {} packets are not IP, have a faulty header, or were cut before their addresses. ",
                       captured.without_ip, captured.packets);
  if (captured.cut_before_ports > 0)
    out += fmt::format("{} of {} packets were cut before their ports: capture at least 64 bytes of each. ",
                       captured.cut_before_ports, captured.packets);
  if (captured.oversize > 0)
    out += fmt::format(
        "{} of {} packets are longer than the links take, as NICs with offloads show them: they are "
        "followed as the longest frames would be. ",
        captured.oversize, captured.packets);
  if (captured.beyond_limit > 0)
    out += fmt::format("{} of {} packets are of flows beyond the first {}. ", captured.beyond_limit, captured.packets,
                       kMostFlows);
  if (captured.unknown_sources > 0)
    out += fmt::format("{} of {} packets come from addresses that no host of the testbed has. ",
                       captured.unknown_sources, captured.packets);
  if (captured.unknown_destinations > 0)
    out += fmt::format("{} of {} flows go to addresses that no host of the testbed has. ",
                       captured.unknown_destinations, captured.flows.size());
  return out;
}

}  // namespace softspine::tools
