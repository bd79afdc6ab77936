// SPDX-License-Identifier: Apache-2.0
#include "tests/model/storm/simulated_capture.hpp"

#include <algorithm>

#include "control/capture/pcapng.hpp"

namespace softspine::tests {

using dataplane::Instant;
using dataplane::Rate;
namespace pcapng = control::pcapng;

namespace {

constexpr int64_t kPropagationPs = 200'000;
constexpr uint8_t kPriority = 3;
constexpr uint32_t kFrameBytes = 60;

struct Seen {
  int64_t at_ps;
  uint32_t interface;
  pcapng::Way way;
  std::vector<uint8_t> bytes;
};

void put_mac(std::vector<uint8_t>& out, size_t at, uint8_t kind, uint32_t number) {
  out[at] = 0x02;
  out[at + 1] = kind;
  for (size_t i = 0; i < 4; ++i) out[at + 2 + i] = static_cast<uint8_t>(number >> (24 - 8 * i));
}

// 802.1Qbb, byte by byte.
std::vector<uint8_t> pfc_frame(uint32_t port, bool is_xoff) {
  std::vector<uint8_t> out = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0, 0, 0, 0, 0, 0, 0x88, 0x08, 0x01, 0x01};
  put_mac(out, 6, 1, port);
  out.resize(kFrameBytes);
  out[17] = 1 << kPriority;
  if (is_xoff) out[18 + 2 * kPriority] = out[19 + 2 * kPriority] = 0xff;
  return out;
}

std::vector<uint8_t> data_frame(uint32_t from_node, uint32_t to_node) {
  std::vector<uint8_t> out(kFrameBytes);
  put_mac(out, 0, 0, to_node);
  put_mac(out, 6, 0, from_node);
  out[12] = 0x08;
  return out;
}

// The interface of a link's sending port has the link's number; the other end's is the way back's.
std::vector<Seen> frames_of(const PauseSimulator& simulated, Telling telling) {
  std::vector<Seen> out;
  const SimFabric& fabric = simulated.fabric();
  if (telling == Telling::kByTraffic) {
    for (uint32_t link = 0; link < fabric.links.size(); ++link) {
      const auto [from, to, port] = fabric.links[link];
      if (simulated.carries(link) || simulated.carries(SimFabric::back(link)))
        out.push_back({0, link, pcapng::Way::kOut, data_frame(from, to)});
    }
  }
  for (const SimPfc& frame : simulated.frames()) {
    const uint32_t back = SimFabric::back(frame.link);
    const auto bytes = pfc_frame(back, frame.is_xoff);
    out.push_back({frame.at_ps, back, pcapng::Way::kOut, bytes});
    if (telling == Telling::kBothWays) {
      out.push_back({frame.at_ps + kPropagationPs, frame.link, pcapng::Way::kIn, bytes});
    }
  }
  // Something at the very end, so that the capture is as long as the simulation.
  out.push_back({PauseSimulator::kEndPs, 0, pcapng::Way::kOut, data_frame(fabric.links[0].from, fabric.links[0].to)});
  std::ranges::stable_sort(out, {}, &Seen::at_ps);
  return out;
}

}  // namespace

std::vector<uint8_t> capture_of(const PauseSimulator& simulated, Telling telling) {
  pcapng::Bytes out;
  pcapng::append(out, pcapng::Section{.hardware = "", .application = "simulator", .comment = ""});
  const SimFabric& fabric = simulated.fabric();
  for (uint32_t link = 0; link < fabric.links.size(); ++link) {
    pcapng::Interface interface{.name = fabric.links[link].port, .speed = Rate::gbps(100), .description = ""};
    if (telling == Telling::kDescribed) interface.description = "link to " + fabric.links[SimFabric::back(link)].port;
    pcapng::append(out, interface);
  }
  for (const Seen& seen : frames_of(simulated, telling)) {
    pcapng::append(out, pcapng::Frame{.interface = seen.interface,
                                      .way = seen.way,
                                      .at = Instant::at_ps(seen.at_ps),
                                      .original_bytes = static_cast<uint32_t>(seen.bytes.size()),
                                      .bytes = seen.bytes,
                                      .comment = {}});
  }
  return out;
}

}  // namespace softspine::tests
