// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/replay_review.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "control/telemetry/text_table.hpp"
#include "dataplane/edge/pcap_reader.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::tools {
namespace {

// DSCP and ECN of an IP packet, with or without a tag, and whether it is RoCEv2. Bytes that were not recorded count as
// 0.
struct IpPacket {
  uint8_t traffic_class = 0;
  bool is_roce = false;
};

std::optional<IpPacket> ip_packet_in(std::span<const uint8_t> frame) {
  namespace ethernet = dataplane::ethernet;
  namespace ipv4 = dataplane::ipv4;
  namespace ipv6 = dataplane::ipv6;
  constexpr size_t kMaxIpv4Bytes = 60;  // with all options; more than IPv6's
  std::array<uint8_t, ethernet::kBytes + ethernet::kTagBytes + kMaxIpv4Bytes + dataplane::udp::kBytes> start{};
  std::ranges::copy(frame.first(std::min(frame.size(), start.size())), start.begin());
  const uint8_t* type = start.data() + ethernet::kType;
  if (dataplane::load16(type) == ethernet::kTypeVlan) type += ethernet::kTagBytes;
  const uint8_t* const ip = type + sizeof(uint16_t);
  const auto is_roce = [](uint8_t protocol, const uint8_t* udp) {
    return protocol == dataplane::ip::kUdp &&
           dataplane::load16(udp + dataplane::udp::kDestinationPort) == dataplane::udp::kRoceV2Port;
  };
  switch (dataplane::load16(type)) {
    case ethernet::kTypeIpv4:
      return IpPacket{ip[ipv4::kTos], is_roce(ip[ipv4::kProtocol], ip + size_t{4} * (ip[0] & 0xfU))};
    case ethernet::kTypeIpv6:
      return IpPacket{static_cast<uint8_t>(dataplane::load32(ip) >> ipv6::kTrafficClassShift),
                      is_roce(ip[ipv6::kNextHeader], ip + ipv6::kBytes)};
    default: return std::nullopt;
  }
}

struct ReplayCount {
  uint64_t frames = 0;
  uint64_t not_capable = 0;
};

// The NIC writes its DSCP, if it has one, into RoCEv2 packets.
ReplayCount replay_count_of(const std::string& path, std::optional<uint8_t> nic_dscp,
                            const std::vector<uint8_t>& lossless) {
  ReplayCount out;
  auto file = dataplane::PcapReader::open(path);
  if (!file) return out;  // the run will report it
  dataplane::RecordedFrame frame;
  while (out.frames < kReplayedLooked && file->next(frame)) {
    ++out.frames;
    const auto packet = ip_packet_in({frame.bytes, frame.captured});
    if (!packet || (packet->traffic_class & dataplane::ip::kEcnMask) != 0) continue;
    const auto recorded = static_cast<uint8_t>(packet->traffic_class >> 2);
    const uint8_t dscp = packet->is_roce ? nic_dscp.value_or(recorded) : recorded;
    if (std::ranges::binary_search(lossless, dscp)) ++out.not_capable;
  }
  return out;
}

}  // namespace

void review_replays(const control::Testbed& testbed, const control::OutsideService& outside,
                    control::Errors& warnings) {
  if (!outside.drops_early) return;
  for (const uint32_t host : outside.hosts) {
    const control::FabricNode& node = testbed.fabric.nodes[host];
    const auto* edges = std::get_if<control::EdgeHost>(&node.attachment);
    if (edges == nullptr || !is_replayed(node.attachment)) continue;
    for (const control::Edge& edge : edges->edges) {
      const auto* file = std::get_if<control::PcapEdge>(&edge);
      if (file == nullptr || file->in.empty()) continue;
      // Relative paths in a testbed start at its folder.
      const std::filesystem::path path = std::filesystem::path(testbed.file).parent_path() / file->in;
      const ReplayCount counted = replay_count_of(path.string(), node.nic.parameters.dscp, outside.lossless_dscps);
      if (counted.not_capable == 0) continue;
      warnings.push_back(error_at(
          node.place, fmt::format("{} of {} frames in {} have a lossless DSCP and are not ECN-capable: WRED drops such "
                                  "frames early",
                                  control::grouped(counted.not_capable), control::grouped(counted.frames), file->in)));
    }
  }
}

}  // namespace softspine::tools
