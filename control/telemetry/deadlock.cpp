// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/deadlock.hpp"

#include <algorithm>
#include <optional>

namespace softspine::control {
namespace {

using Queues = std::map<WaitingQueue, const dataplane::StuckQueue*>;
using Graph = std::map<WaitingQueue, std::vector<WaitingQueue>>;

// Who waits for whom, among queues that have not moved.
Graph waits_among(const Queues& queues, const Fabric& fabric) {
  Graph graph;
  for (const auto& [from, unused] : queues) {
    const LinkEnd peer = fabric.peer_of(from.port);
    std::vector<WaitingQueue>& next = graph[from];
    for (auto to = queues.lower_bound({{peer.node, 0}, 0}); to != queues.end() && to->first.port.node == peer.node;
         ++to) {
      const bool holds = std::ranges::binary_search(to->second->from, dataplane::PortNo{peer.port});
      if (holds && to->first.priority == from.priority) next.push_back(to->first);
    }
  }
  return graph;
}

// The shortest circle through `start`, if there is one: breadth first.
std::optional<std::vector<WaitingQueue>> circle_through(const WaitingQueue& start, const Graph& graph) {
  std::map<WaitingQueue, WaitingQueue> reached_from;
  std::vector<WaitingQueue> todo{start};
  for (size_t i = 0; i < todo.size(); ++i) {
    const WaitingQueue at = todo[i];
    for (const WaitingQueue& next : graph.at(at)) {
      if (next == start) {
        std::vector<WaitingQueue> circle{at};
        while (circle.back() != start) circle.push_back(reached_from.at(circle.back()));
        std::ranges::reverse(circle);
        return circle;
      }
      if (reached_from.emplace(next, at).second) todo.push_back(next);
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Deadlock> DeadlockWatch::look(const std::vector<StuckSwitch>& stuck, dataplane::Instant now) {
  Queues unmoved;
  std::map<WaitingQueue, uint64_t> sent;
  for (const StuckSwitch& at : stuck) {
    for (const dataplane::StuckQueue& queue : at.queues) {
      const WaitingQueue name{{at.node, queue.port.value()}, queue.priority.value()};
      sent[name] = queue.sent_packets;
      const auto before = sent_.find(name);
      if (before != sent_.end() && before->second == queue.sent_packets) unmoved[name] = &queue;
    }
  }
  sent_ = std::move(sent);
  const Graph graph = waits_among(unmoved, fabric_);
  std::set<std::vector<WaitingQueue>> standing;
  std::set<WaitingQueue> told;  // a queue in one circle is not asked for another
  for (const auto& [queue, unused] : graph) {
    if (told.contains(queue)) continue;
    if (auto circle = circle_through(queue, graph)) {
      std::ranges::rotate(*circle, std::ranges::min_element(*circle));
      told.insert(circle->begin(), circle->end());
      standing.insert(std::move(*circle));
    }
  }
  std::vector<Deadlock> fresh;
  for (const auto& circle : standing) {
    if (!known_.contains(circle)) fresh.push_back({now, circle});
  }
  known_ = std::move(standing);
  return fresh;
}

std::string Deadlock::text(const Fabric& fabric) const {
  std::string out;
  for (const WaitingQueue& queue : circle) out += fabric.name_of(queue.port) + " → ";
  out += fabric.nodes[circle.front().port.node].name;
  return out + ", priority " + std::to_string(circle.front().priority);
}

}  // namespace softspine::control
