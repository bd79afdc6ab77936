// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/device_need.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/packet/numa.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/run/packet_need.hpp"

namespace softspine::testbeds {

using dataplane::PacketPool;

namespace {

constexpr uint64_t kMinDevicePackets = 16'383;
constexpr uint64_t kMaxDevicePackets = 65'535;
constexpr uint64_t kPacketsPerXdpEdge = 16'384;  // the kernel's rings take 4,096 of them
constexpr uint64_t kEalMebibytes = 64;

// TAPs and files are edges of our own, and a verbs host is a node.
bool needs_driver(const control::Attachment& attachment) {
  if (control::is_builtin(attachment) || std::holds_alternative<control::VerbsHost>(attachment)) return false;
  const auto* const host = std::get_if<control::EdgeHost>(&attachment);
  if (host == nullptr) return true;
  return std::ranges::any_of(host->edges, [](const control::Edge& edge) {
    return !std::holds_alternative<control::TapEdge>(edge) && !std::holds_alternative<control::PcapEdge>(edge);
  });
}

}  // namespace

bool is_pci(const control::DpdkEdge& edge) {
  return edge.device.find(':') < edge.device.find(',');
}

std::string pci_address(const std::string& device) {
  std::string out = device.substr(0, device.find(','));
  if (out.starts_with("pci:")) out.erase(0, 4);
  return std::ranges::count(out, ':') == 1 ? "0000:" + out : out;
}

bool is_xdp(const control::DpdkEdge& edge) {
  return edge.device.starts_with("net_af_xdp");
}

int DeviceNeed::numa_node(const std::filesystem::path& root) const {
  std::vector<std::string> addresses;
  for (const std::string& device : pci) addresses.push_back(pci_address(device));
  return dataplane::numa_node_of(addresses, root);
}

DeviceNeed device_need(uint64_t edges, std::vector<std::string> pci, uint64_t xdp_edges) {
  DeviceNeed out{.pci = std::move(pci)};
  uint64_t mebibytes = kEalMebibytes + (edges > 0 ? 3 * kEalMebibytes : 0);
  if (!out.pci.empty()) {
    out.frame_packets = std::clamp(edges * kPacketsPerEdge, kMinDevicePackets, kMaxDevicePackets);
    mebibytes += out.frame_packets * PacketPool::memory_bytes(kFrameRoom) >> 20;
  }
  out.xdp_packets = xdp_edges * kPacketsPerXdpEdge;
  out.xdp_bytes = out.xdp_packets * PacketPool::memory_bytes(PacketPool::room_in_a_page());
  mebibytes += out.xdp_bytes >> 20;
  out.eal_mebibytes = static_cast<uint32_t>(mebibytes);
  return out;
}

DeviceNeed device_need(const control::Testbed& testbed, const Ranks& ranks) {
  uint64_t edges = 0;
  uint64_t xdp_edges = 0;
  bool drivers = false;
  std::vector<std::string> pci;
  for (uint32_t n = 0; n < testbed.fabric.nodes.size(); ++n) {
    const control::FabricNode& node = testbed.fabric.nodes[n];
    if (node.kind != control::NodeKind::kHost || control::is_builtin(node.attachment) || !ranks.is_here(n)) continue;
    edges += node.ports.size();
    drivers = drivers || needs_driver(node.attachment);
    const auto* const host = std::get_if<control::EdgeHost>(&node.attachment);
    if (host == nullptr) continue;
    for (const control::Edge& edge : host->edges) {
      const auto* const device = std::get_if<control::DpdkEdge>(&edge);
      if (device == nullptr) continue;
      if (is_pci(*device)) pci.push_back(device->device);
      xdp_edges += is_xdp(*device) ? 1 : 0;
    }
  }
  DeviceNeed out = device_need(edges, std::move(pci), xdp_edges);
  out.drivers = drivers;
  return out;
}

}  // namespace softspine::testbeds
