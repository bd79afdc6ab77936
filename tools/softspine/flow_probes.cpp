// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/flow_probes.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "control/explain/probe.hpp"
#include "dataplane/edge/pcap_reader.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/units/rng.hpp"
#include "testbeds/run/traffic.hpp"

namespace softspine::tools {

using control::FlowProbe;
using control::LinkEnd;
using control::Probe;

namespace {

constexpr uint32_t kMaxRandomFlows = 10'000'000;

FlowProbe flow_of(control::Walker& walker, const Probe& probe) {
  const control::Fabric& fabric = walker.testbed().fabric;
  const LinkEnd sender{probe.from, probe.port};
  return {frame_of(fabric, probe, walker.router_mac(fabric.peer_of(sender).node)), sender};
}

// Hosts by address, as bytes.
std::unordered_map<std::string, uint32_t> hosts_by_address(const control::Fabric& fabric) {
  std::unordered_map<std::string, uint32_t> out;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    if (node.kind != control::NodeKind::kHost) continue;
    char v4[4];
    dataplane::store32(reinterpret_cast<uint8_t*>(v4), node.ipv4.value);
    out.emplace(std::string(v4, 4), n);
    out.emplace(std::string(node.ipv6.bytes.begin(), node.ipv6.bytes.end()), n);
  }
  return out;
}

// Everything that a hash may look at and that is the same for a flow's packets.
std::string identity_of(const dataplane::Packet& packet) {
  const dataplane::PacketMeta& meta = packet.meta();
  const char* data = reinterpret_cast<const char*>(packet.data());
  const bool is_ipv6 = (meta.flags & dataplane::kIsIpv6) != 0;
  std::string out(data + meta.l3_offset + (is_ipv6 ? dataplane::ipv6::kSource : dataplane::ipv4::kSource),
                  is_ipv6 ? 32 : 8);
  out += static_cast<char>(meta.ip_protocol);
  if ((meta.flags & (dataplane::kIsUdp | dataplane::kIsTcp)) != 0) out.append(data + meta.l4_offset, 4);
  if ((meta.flags & dataplane::kIsRoce) != 0)
    out.append(data + meta.l4_offset + dataplane::udp::kBytes + dataplane::bth::kDestinationQp, 3);
  return out;
}

}  // namespace

FlowProbes workload_flows(control::Walker& walker) {
  const auto plan = testbeds::plan_traffic(walker.testbed());
  if (!plan) return std::unexpected(plan.error());
  std::vector<FlowProbe> out;
  for (const testbeds::PlannedFlow& flow : *plan) {
    Probe probe{.from = flow.source, .to = flow.destination};
    probe.port = static_cast<uint16_t>(flow.flow.id % walker.testbed().fabric.nodes[flow.source].ports.size());
    probe.source_port = flow.flow.source_port;
    probe.qp = flow.flow.destination_qp;
    out.push_back(flow_of(walker, probe));
  }
  return out;
}

FlowProbes captured_flows(control::Walker& walker, const std::string& path) {
  auto reader = dataplane::PcapReader::open(path);
  if (!reader) return std::unexpected(path + ": " + reader.error().message);
  const auto hosts = hosts_by_address(walker.testbed().fabric);
  std::vector<FlowProbe> out;
  std::set<std::string> seen;
  dataplane::ScratchPacket scratch;
  dataplane::RecordedFrame frame;
  while (reader->next(frame)) {
    const uint32_t stored = std::min(frame.captured, dataplane::kMaxFrameBytes);
    dataplane::Packet& packet = scratch.load({frame.bytes, stored}, stored);
    dataplane::parse(packet);
    if ((packet.meta().flags & (dataplane::kIsIpv4 | dataplane::kIsIpv6)) == 0) continue;
    const std::string identity = identity_of(packet);
    const bool is_ipv6 = (packet.meta().flags & dataplane::kIsIpv6) != 0;
    const auto host = hosts.find(identity.substr(0, is_ipv6 ? 16 : 4));
    if (host == hosts.end() || !seen.insert(identity).second) continue;
    out.push_back({{frame.bytes, frame.bytes + stored}, {host->second, 0}});
  }
  if (!reader->error().empty()) return std::unexpected(path + ": " + reader->error());
  return out;
}

FlowProbes random_flows(control::Walker& walker, uint32_t count, uint64_t seed) {
  const control::Fabric& fabric = walker.testbed().fabric;
  if (count > kMaxRandomFlows) return std::unexpected("at most " + std::to_string(kMaxRandomFlows) + " random flows");
  std::vector<uint32_t> hosts;
  std::set<uint32_t> racks;
  const auto rack_of = [&fabric](uint32_t host) { return fabric.peer_of({host, 0}).node; };
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind != control::NodeKind::kHost) continue;
    hosts.push_back(n);
    racks.insert(rack_of(n));
  }
  if (racks.size() < 2) return std::unexpected("random flows need hosts in two racks");
  dataplane::Rng rng{seed, 0};
  std::vector<FlowProbe> out;
  while (out.size() < count) {
    Probe probe{.from = hosts[rng.below(hosts.size())], .to = hosts[rng.below(hosts.size())]};
    if (rack_of(probe.from) == rack_of(probe.to)) continue;
    probe.port = static_cast<uint16_t>(rng.below(fabric.nodes[probe.from].ports.size()));
    const auto source_qp = static_cast<uint32_t>(17 + rng.below(4'096));
    probe.qp = static_cast<uint32_t>(17 + rng.below(4'096));
    probe.source_port = testbeds::rxe_source_port(source_qp, probe.qp);
    out.push_back(flow_of(walker, probe));
  }
  return out;
}

}  // namespace softspine::tools
