// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/ideal_time.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "dataplane/packet/wire.hpp"
#include "testbeds/hosts/frame_template.hpp"

namespace softspine::testbeds {

using control::Fabric;
using control::FabricLink;
using control::NodeKind;
using control::PlannedFlow;
using dataplane::Duration;

namespace {

using Path = std::vector<const FabricLink*>;

// The nodes at a host's ports. Hosts that have the same ones go the same ways, but for their own links.
std::vector<uint32_t> peers_of(const Fabric& fabric, uint32_t host) {
  std::vector<uint32_t> out;
  for (uint16_t p = 0; p < fabric.nodes[host].ports.size(); ++p) out.push_back(fabric.peer_of({host, p}).node);
  return out;
}

// Shortest ways from such hosts to all others; no host forwards.
class WaysFrom {
 public:
  WaysFrom(const Fabric& fabric, const std::vector<uint32_t>& peers) : fabric_(fabric), reached_(fabric.nodes.size()) {
    std::vector<uint32_t> open;
    const auto reach = [&](uint32_t node, Reached by) {
      if (reached_[node].is_reached) return;
      reached_[node] = by;
      open.push_back(node);
    };
    for (uint16_t p = 0; p < peers.size(); ++p) reach(peers[p], {.is_reached = true, .first_port = p});
    for (size_t i = 0; i < open.size(); ++i) {
      const uint32_t node = open[i];
      if (fabric.nodes[node].kind == NodeKind::kHost) continue;
      for (uint16_t p = 0; p < fabric.nodes[node].ports.size(); ++p)
        reach(fabric.peer_of({node, p}).node,
              {.is_reached = true, .by = &fabric.links[fabric.nodes[node].ports[p].link], .from = node});
    }
  }

  // Of one of these hosts; empty: there is none.
  Path path(uint32_t host, uint32_t to) const {
    Path out;
    if (!reached_[to].is_reached) return out;
    uint32_t node = to;
    for (; reached_[node].by != nullptr; node = reached_[node].from) out.push_back(reached_[node].by);
    out.push_back(&fabric_.links[fabric_.nodes[host].ports[reached_[node].first_port].link]);
    std::ranges::reverse(out);
    return out;
  }

 private:
  struct Reached {
    bool is_reached = false;
    uint16_t first_port = 0;         // of the host, if it is at a port of it
    const FabricLink* by = nullptr;  // null: it is
    uint32_t from = 0;
  };
  const Fabric& fabric_;
  std::vector<Reached> reached_;
};

// The frames of a flow: of each message the first, those in the middle, the last.
struct Frames {
  uint32_t first = 0;
  uint32_t middle = 0;
  uint32_t last = 0;
  uint64_t middles = 0;  // of a message
  uint64_t messages = 0;
  bool single = false;

  // All packets but the very first and the very last.
  Duration rest_on(const FabricLink& link) const {
    const Duration one = link.rate.time_of_frame(first);
    const Duration end = link.rate.time_of_frame(last);
    const Duration message = one + link.rate.time_of_frame(middle) * static_cast<int64_t>(middles);
    return (message + (single ? Duration{} : end)) * static_cast<int64_t>(messages) - one - end;
  }
};

Frames frames_of(const PlannedFlow& plan) {
  const control::FlowConfig& flow = plan.flow;
  const uint32_t packets = packets_per_message(flow);
  const auto frame = [&](uint64_t payload) {
    control::FlowConfig one = flow;
    one.message_bytes = payload;
    return dataplane::ethernet::kBytes + largest_packet_bytes(one);
  };
  const uint32_t reth = flow.verb == control::Verb::kWrite ? dataplane::reth::kBytes : 0;
  Frames out{.messages = flow.messages, .single = packets == 1};
  out.first = frame(std::min<uint64_t>(flow.message_bytes, flow.mtu));
  out.middle = packets == 1 ? out.first : frame(flow.mtu) - reth;
  out.last = packets == 1 ? out.first : frame(flow.message_bytes - uint64_t{packets - 1} * flow.mtu) - reth;
  out.middles = packets > 2 ? packets - 2 : 0;
  return out;
}

uint32_t acknowledgement_bytes(const PlannedFlow& plan) {
  control::FlowConfig empty = plan.flow;
  empty.verb = control::Verb::kSend;
  empty.message_bytes = 0;
  return dataplane::ethernet::kBytes + largest_packet_bytes(empty) + dataplane::aeth::kBytes;
}

// When all packets but the last have left the last of these links.
Duration others_end(std::span<const FabricLink* const> path, const Frames& frames) {
  Duration full;
  for (const FabricLink* link : path) full += link->rate.time_of_frame(frames.middle);
  Duration first;
  Duration longest;
  for (const FabricLink* link : path) {
    full -= link->rate.time_of_frame(frames.middle);
    first += link->rate.time_of_frame(frames.first);
    longest = std::max(longest, first + frames.rest_on(*link) + full);
  }
  return longest;
}

Duration there(const Path& path, const Frames& frames) {
  const bool single = frames.single && frames.messages == 1;
  Duration end;
  Duration propagation;
  for (size_t i = 0; i < path.size(); ++i) {
    if (!single) end = std::max(end, others_end(std::span(path).first(i + 1), frames));
    end += path[i]->rate.time_of_frame(frames.last);
    propagation += path[i]->propagation;
  }
  return propagation + end;
}

Duration back(const Path& path, uint32_t bytes) {
  Duration out;
  for (const FabricLink* link : path) out = out + link->propagation + link->rate.time_of_frame(bytes);
  return out;
}

bool has_ideal(const PlannedFlow& plan) {
  return plan.flow.messages != 0 && plan.flow.queue_depth == 0 && plan.flow.message_bytes != 0;
}

}  // namespace

// One search for each set of hosts with the same peers, of which there is one a rack.
std::vector<IdealTime> ideal_times(const Fabric& fabric, const std::vector<PlannedFlow>& flows) {
  std::vector<IdealTime> out(flows.size());
  std::map<std::vector<uint32_t>, std::vector<size_t>> by_peers;
  for (size_t i = 0; i < flows.size(); ++i) {
    if (has_ideal(flows[i])) by_peers[peers_of(fabric, flows[i].source)].push_back(i);
  }
  for (const auto& [peers, numbers] : by_peers) {
    const WaysFrom ways(fabric, peers);
    for (const size_t i : numbers) {
      const Path path = ways.path(flows[i].source, flows[i].destination);
      if (path.empty()) continue;
      out[i].there = there(path, frames_of(flows[i]));
      if (flows[i].flow.transport == control::TransportKind::kReliable)
        out[i].back = back(path, acknowledgement_bytes(flows[i]));
    }
  }
  return out;
}

}  // namespace softspine::testbeds
