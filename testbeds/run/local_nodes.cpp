// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/local_nodes.hpp"

namespace softspine::testbeds {

using control::LinkEnd;
using dataplane::PortNo;
using dataplane::PortRef;

std::optional<PortRef> LocalNodes::at(LinkEnd end) const {
  if (switches_[end.node] != nullptr) return PortRef{switches_[end.node]->id(), PortNo{end.port}};
  if (hosts_[end.node] != nullptr) return PortRef{hosts_[end.node]->id(), PortNo{end.port}};
  const auto edge = edge_at_.find(end);
  return edge == edge_at_.end() ? std::nullopt : std::optional(PortRef{edge->second->id(), PortNo{0}});
}

PortRef LocalNodes::place_of(LinkEnd end) const {
  if (const auto here = at(end)) return *here;
  const auto edge = edge_elsewhere_.find(end);
  if (edge != edge_elsewhere_.end()) return {edge->second, PortNo{0}};
  return {dataplane::NodeId{end.node}, PortNo{end.port}};
}

dataplane::Transmitter* LocalNodes::transmitter_at(LinkEnd end) const {
  const auto found = at(end);
  return found ? &engine_.node(found->node).transmitter(found->port) : nullptr;
}

std::optional<uint32_t> LocalNodes::worker_at(LinkEnd end) const {
  const auto found = at(end);
  return found ? std::optional(engine_.worker_of(found->node)) : std::nullopt;
}

}  // namespace softspine::testbeds
