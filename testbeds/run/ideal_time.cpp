// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/ideal_time.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "dataplane/packet/wire.hpp"
#include "testbeds/hosts/frame_template.hpp"

namespace softspine::testbeds {

using control::Fabric;
using control::FabricLink;
using control::LinkEnd;
using control::NodeKind;
using control::PlannedFlow;
using dataplane::Duration;

namespace {

using Path = std::vector<const FabricLink*>;

// Shortest ways from one host to all others; no host forwards.
class WaysOfHost {
 public:
  WaysOfHost(const Fabric& fabric, uint32_t host)
      : fabric_(fabric), host_(host), came_by_(fabric.nodes.size(), nullptr), came_from_(fabric.nodes.size(), host) {
    std::vector<uint32_t> open{host};
    for (size_t i = 0; i < open.size(); ++i) {
      const uint32_t node = open[i];
      if (node != host && fabric.nodes[node].kind == NodeKind::kHost) continue;
      for (uint16_t p = 0; p < fabric.nodes[node].ports.size(); ++p) {
        const uint32_t peer = fabric.peer_of({node, p}).node;
        if (peer == host || came_by_[peer] != nullptr) continue;
        came_by_[peer] = &fabric.links[fabric.nodes[node].ports[p].link];
        came_from_[peer] = node;
        open.push_back(peer);
      }
    }
  }

  Path to(uint32_t node) const {
    Path out;
    for (; node != host_ && came_by_[node] != nullptr; node = came_from_[node]) out.push_back(came_by_[node]);
    std::ranges::reverse(out);
    return out;
  }

 private:
  const Fabric& fabric_;
  uint32_t host_;
  std::vector<const FabricLink*> came_by_;
  std::vector<uint32_t> came_from_;
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

std::vector<IdealTime> ideal_times(const Fabric& fabric, const std::vector<PlannedFlow>& flows) {
  std::vector<IdealTime> out(flows.size());
  std::vector<size_t> by_source(flows.size());
  std::iota(by_source.begin(), by_source.end(), size_t{0});
  std::ranges::stable_sort(by_source, {}, [&](size_t i) { return flows[i].source; });
  std::optional<WaysOfHost> ways;
  uint32_t source = control::kNone;
  for (const size_t i : by_source) {
    const PlannedFlow& plan = flows[i];
    if (!has_ideal(plan)) continue;
    if (plan.source != source) ways.emplace(fabric, source = plan.source);
    const Path path = ways->to(plan.destination);
    if (path.empty()) continue;
    const bool answers = plan.flow.transport == control::TransportKind::kReliable;
    out[i].there = there(path, frames_of(plan));
    if (answers) out[i].back = back(path, acknowledgement_bytes(plan));
  }
  return out;
}

}  // namespace softspine::testbeds
