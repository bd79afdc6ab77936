// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "control/config/resolve.hpp"

namespace softspine::control {
namespace {

// The link at node:port.
std::optional<uint32_t> find_link(Reader& reader, NodeFinder& nodes, const Endpoint& end, Value where) {
  if (end.port.empty()) return std::nullopt;  // could not be read
  const auto node = nodes.find(end.node, where);
  if (!node) return std::nullopt;
  std::vector<std::string_view> known;
  for (const FabricPort& port : nodes.fabric().nodes[*node].ports) {
    if (port.name == end.port) return port.link;
    known.push_back(port.name);
  }
  if (nodes.names_known()) {
    reader.wrong(where, end.node + " has no link at " + shown(end.port) + reader.guess(end.port, known));
  }
  return std::nullopt;
}

}  // namespace

std::vector<Fault> resolve_faults(Reader& reader, const std::vector<FaultRow>& rows, const RunConfig& run,
                                  NodeFinder& nodes) {
  std::vector<Fault> out;
  for (const FaultRow& row : rows) {
    if (row.where.kind() != ValueKind::kMap) continue;
    Fault fault{.at = dataplane::Instant::at(row.at), .up = row.set == LinkState::kUp};
    if (row.at >= run.duration) reader.wrong(row.where.child("at"), "never happens: the run ends before");
    if (row.link) {
      if (const auto link = find_link(reader, nodes, *row.link, row.where.child("link"))) fault.links = {*link};
    } else if (row.node) {
      if (const auto node = nodes.find(*row.node, row.where.child("node"))) {
        for (const FabricPort& port : nodes.fabric().nodes[*node].ports) fault.links.push_back(port.link);
      }
    }
    std::ranges::sort(fault.links);
    out.push_back(std::move(fault));
  }
  std::ranges::stable_sort(out, {}, &Fault::at);
  return out;
}

}  // namespace softspine::control
