// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/replay_review.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "control/telemetry/text_table.hpp"
#include "dataplane/edge/pcap_reader.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::tools {
namespace {

// The byte of DSCP and ECN of an IP packet, with or without a tag; none: no IP.
std::optional<uint8_t> traffic_class_of(std::span<const uint8_t> frame) {
  namespace ethernet = dataplane::ethernet;
  constexpr size_t kEnough = ethernet::kBytes + ethernet::kTagBytes + sizeof(uint32_t);
  if (frame.size() < kEnough) return std::nullopt;
  const uint8_t* type = frame.data() + ethernet::kType;
  if (dataplane::load16(type) == ethernet::kTypeVlan) type += ethernet::kTagBytes;
  const uint8_t* const ip = type + sizeof(uint16_t);
  switch (dataplane::load16(type)) {
    case ethernet::kTypeIpv4: return ip[dataplane::ipv4::kTos];
    case ethernet::kTypeIpv6: return static_cast<uint8_t>(dataplane::load32(ip) >> dataplane::ipv6::kTrafficClassShift);
    default: return std::nullopt;
  }
}

struct ReplayCount {
  uint64_t frames = 0;
  uint64_t not_capable = 0;
};

ReplayCount replay_count_of(const std::string& path, const std::vector<uint8_t>& lossless) {
  ReplayCount out;
  auto file = dataplane::PcapReader::open(path);
  if (!file) return out;  // the run will say so
  dataplane::RecordedFrame frame;
  while (out.frames < kReplayedLooked && file->next(frame)) {
    ++out.frames;
    const auto traffic_class = traffic_class_of({frame.bytes, frame.captured});
    if (traffic_class && (*traffic_class & 3) == 0 && std::ranges::binary_search(lossless, *traffic_class >> 2))
      ++out.not_capable;
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
      const ReplayCount counted = replay_count_of(path.string(), outside.lossless_dscps);
      if (counted.not_capable == 0) continue;
      warnings.push_back(error_at(
          node.place, fmt::format("{} of {} frames in {} have a lossless DSCP and are not ECN-capable: WRED drops such "
                                  "frames early",
                                  control::grouped(counted.not_capable), control::grouped(counted.frames), file->in)));
    }
  }
}

}  // namespace softspine::tools
