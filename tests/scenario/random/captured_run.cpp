// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/captured_run.hpp"

#include <algorithm>
#include <string>

namespace softspine::tests {

using control::FlowSnapshot;
using control::LinkEnd;

CapturedRun::CapturedRun(const control::Testbed& of, const control::FabricSnapshot& seen, std::string_view capture)
    : testbed(of), snapshot(seen), captured(read_capture(capture)), end_ps(seen.instant.count_ps()) {
  const auto& nodes = testbed.fabric.nodes;
  std::map<std::string, LinkEnd> by_name;
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    for (uint16_t port = 0; port < nodes[node].ports.size(); ++port)
      by_name[testbed.fabric.name_of({node, port})] = {node, port};
  }
  for (const std::string& name : captured.interfaces) ends.push_back(by_name.at(name));
  follow_flows();
}

// A packet is known by its flow and PSN; of one that was sent again, the last copy that had left by then is the one
// that arrives.
void CapturedRun::follow_flows() {
  std::map<std::pair<FlowKey, uint32_t>, int64_t> born;
  for (const CapturedFrame& frame : captured.frames) {
    if (!frame.roce) continue;
    const FlowKey key{frame.roce->source, frame.roce->destination, frame.roce->qp};
    const LinkEnd from = sender_of(frame);
    const auto& sender = testbed.fabric.nodes[from.node];
    if (is_host(from) && sender.ipv4.value == frame.roce->source) {
      sent_[key].push_back({start_of(frame), frame.at_ps, frame.bytes});
      born[{key, frame.roce->psn}] = start_of(frame);
    }
    const LinkEnd to = testbed.fabric.peer_of(from);
    const auto& receiver = testbed.fabric.nodes[to.node];
    const int64_t at = arrival_of(frame);
    if (!is_host(to) || receiver.ipv4.value != frame.roce->destination || at > end_ps) continue;
    const auto found = born.find({key, frame.roce->psn});
    if (found != born.end()) arrived_[key].push_back({found->second, at});
  }
  for (auto& [key, arrivals] : arrived_) std::ranges::sort(arrivals, {}, &PacketArrival::at_ps);
}

CapturedRun::FlowKey CapturedRun::key_of(const FlowSnapshot& flow) const {
  const auto address = [&](const std::string& name) {
    return std::ranges::find(testbed.fabric.nodes, name, &control::FabricNode::name)->ipv4.value;
  };
  return {address(flow.source), address(flow.destination), flow.destination_qp};
}

const std::vector<PacketStart>& CapturedRun::sent(const FlowSnapshot& flow) const {
  static const std::vector<PacketStart> none;
  const auto found = sent_.find(key_of(flow));
  return found == sent_.end() ? none : found->second;
}

const std::vector<PacketArrival>& CapturedRun::arrived(const FlowSnapshot& flow) const {
  static const std::vector<PacketArrival> none;
  const auto found = arrived_.find(key_of(flow));
  return found == arrived_.end() ? none : found->second;
}

}  // namespace softspine::tests
