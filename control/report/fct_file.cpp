// SPDX-License-Identifier: Apache-2.0
#include "control/report/fct_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace softspine::control {
namespace {

constexpr uint32_t kFlowPort = 100;
constexpr int64_t kPsPerNs = 1'000;

std::unordered_map<std::string_view, uint32_t> ns3_addresses(const Fabric& fabric) {
  std::unordered_map<std::string_view, uint32_t> out;
  for (const FabricNode& node : fabric.nodes) {
    if (node.kind == NodeKind::kHost) out.emplace(node.name, 0x0b000001 + static_cast<uint32_t>(out.size()) * 256);
  }
  return out;
}

}  // namespace

std::string fct_text(const FabricSnapshot& snapshot, const Fabric& fabric) {
  const auto addresses = ns3_addresses(fabric);
  std::vector<std::pair<dataplane::Instant, const FlowSnapshot*>> ended;
  for (const FlowSnapshot& flow : snapshot.flows) {
    const auto& time = flow.open_loop ? flow.completion : flow.acked;
    if (time && flow.ideal > dataplane::Duration{}) ended.emplace_back(flow.first_sent + *time, &flow);
  }
  std::ranges::stable_sort(ended, {}, [](const auto& each) { return each.first; });
  std::string out;
  for (const auto& [end, flow] : ended) {
    out += fmt::format("{:08x} {:08x} {} {} {} {} {} {}\n", addresses.at(flow->source), addresses.at(flow->destination),
                       flow->source_port, kFlowPort, flow->message_bytes * flow->planned_messages,
                       flow->start.count_ps() / kPsPerNs, (end - flow->start).count_ps() / kPsPerNs,
                       (flow->ideal + flow->ideal_back).count_ps() / kPsPerNs);
  }
  return out;
}

}  // namespace softspine::control
