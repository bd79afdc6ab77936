// SPDX-License-Identifier: Apache-2.0
#include "control/steps/port_looks.hpp"

#include <algorithm>
#include <utility>

namespace softspine::control {

using dataplane::Duration;
using dataplane::Instant;

PortLooks::PortLooks(const Fabric& fabric) : fabric_(fabric), ports_(fabric) {}

void PortLooks::add(Instant at, std::vector<PortLook> ports) {
  looks_.push_back({at, std::move(ports)});
  if (looks_.size() > kKept) looks_.pop_front();
}

// Up to the last look.
Duration PortLooks::stopped(size_t port, uint8_t priorities, Instant from) const {
  const PortLook* before = nullptr;
  for (const Look& look : looks_) {
    if (before != nullptr && look.at > from) break;
    if (look.at <= from || looks_.size() == kKept) before = &look.ports[port];
  }
  Duration out;
  for (size_t p = 0; p < 8; ++p) {
    if ((priorities >> p & 1) == 0) continue;
    const Duration at_begin = before == nullptr ? Duration{} : before->stopped[p];
    out = std::max(out, looks_.back().ports[port].stopped[p] - at_begin);
  }
  return out;
}

Duration PortLooks::longest_stay(size_t port, Instant from) const {
  Duration out;
  for (const Look& look : looks_) {
    if (look.at > from) out = std::max(out, look.ports[port].longest_stay);
  }
  return out;
}

Pausers PortLooks::pausers_of(LinkEnd port, uint8_t priorities, Instant from) const {
  Pausers out;
  while (!looks_.empty()) {
    const LinkEnd peer = fabric_.peer_of(port);
    if (std::ranges::find(out.nodes, peer.node) != out.nodes.end()) break;
    out.nodes.push_back(peer.node);
    if (fabric_.nodes[peer.node].kind == NodeKind::kHost) break;
    Duration most;
    Duration paused;
    for (uint16_t p = 0; p < fabric_.nodes[peer.node].ports.size(); ++p) {
      if (p == peer.port) continue;
      const size_t index = ports_.of({peer.node, p});
      const Duration stop = stopped(index, priorities, from);
      const Duration stay = longest_stay(index, from);
      if (std::max(stop, stay) <= most) continue;
      most = std::max(stop, stay);
      paused = stop;
      out.congested = LinkEnd{peer.node, p};
      out.stay = stay;
    }
    if (most == Duration{} || paused * 2 < most) break;
    port = *out.congested;
    out.congested.reset();
  }
  return out;
}

}  // namespace softspine::control
