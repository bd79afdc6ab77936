// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/deadlock.hpp"

#include <algorithm>
#include <optional>

namespace softspine::control {
namespace {

using Queues = std::set<WaitingQueue>;
using Graph = std::map<WaitingQueue, std::vector<WaitingQueue>>;

// Whom each could be waiting for, by who its neighbours are and the priority alone.
Graph possible_waits(const Queues& queues, const Fabric& fabric) {
  Graph graph;
  for (const WaitingQueue& from : queues) {
    const uint32_t peer = fabric.peer_of(from.port).node;
    std::vector<WaitingQueue>& next = graph[from];
    for (auto to = queues.lower_bound({{peer, 0}, 0}); to != queues.end() && to->port.node == peer; ++to) {
      if (to->priority == from.priority) next.push_back(*to);
    }
  }
  return graph;
}

// Leaves out who waits for nobody, and who waits only for such: no circle goes through them.
void drop_dead_ends(Graph& graph) {
  while (std::erase_if(graph, [](const auto& waits) { return waits.second.empty(); }) != 0) {
    for (auto& waits : graph) std::erase_if(waits.second, [&](const WaitingQueue& to) { return !graph.contains(to); });
  }
}

// The graph of waits among queues that have not moved; queues that can't be in a circle may be left out.
Graph waits_among(const Queues& queues, const DeadlockWatch::Sources& sources, const Fabric& fabric) {
  Graph graph = possible_waits(queues, fabric);
  drop_dead_ends(graph);
  std::map<WaitingQueue, std::vector<dataplane::PortNo>> known;
  for (const auto& waits : graph) known.emplace(waits.first, sources(waits.first));
  for (auto& [from, next] : graph) {
    const dataplane::PortNo in{fabric.peer_of(from.port).port};
    std::erase_if(next, [&](const WaitingQueue& to) { return !std::ranges::binary_search(known.at(to), in); });
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

std::vector<Deadlock> DeadlockWatch::look(const std::vector<StuckSwitch>& stuck, const Sources& sources,
                                          dataplane::Instant now) {
  Queues unmoved;
  std::map<WaitingQueue, uint64_t> sent;
  for (const StuckSwitch& at : stuck) {
    for (const dataplane::StuckQueue& queue : at.queues) {
      const WaitingQueue name{{at.node, queue.port.value()}, queue.priority.value()};
      sent[name] = queue.sent_packets;
      const auto before = sent_.find(name);
      if (before != sent_.end() && before->second == queue.sent_packets) unmoved.insert(name);
    }
  }
  sent_ = std::move(sent);
  const Graph graph = waits_among(unmoved, sources, fabric_);
  std::set<std::vector<WaitingQueue>> standing;
  std::set<WaitingQueue> in_circles;  // a queue in one circle is not asked for another
  for (const auto& [queue, unused] : graph) {
    if (in_circles.contains(queue)) continue;
    if (auto circle = circle_through(queue, graph)) {
      std::ranges::rotate(*circle, std::ranges::min_element(*circle));
      in_circles.insert(circle->begin(), circle->end());
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
