// SPDX-License-Identifier: Apache-2.0
// The nodes of a fabric that run here, in this process; a part of a run reaches every node through this.
//
// The fabric (control/model) has all nodes; a node of it that runs elsewhere is not found here. So whatever control
// decides (routes, states of links, roles), it decides for all nodes, by the fabric; it acts on the nodes that are
// here, and of these alone it knows counters.
//
// A host outside is one edge for each of its ports; a switch and a built-in host are one node with all their ports.
// The nodes are the engine's. From engine actions, or while nothing runs.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "control/model/fabric.hpp"
#include "dataplane/edge/nic.hpp"
#include "dataplane/engine/engine.hpp"
#include "pipelines/switch.hpp"
#include "testbeds/hosts/roce_host.hpp"
#include "testbeds/run/ranks.hpp"

namespace softspine::testbeds {

class LocalNodes {
 public:
  // Both must outlive it. No node is here yet.
  LocalNodes(const control::Fabric& fabric, dataplane::Engine& engine, Ranks ranks = {})
      : fabric_(fabric),
        engine_(engine),
        ranks_(std::move(ranks)),
        switches_(fabric.nodes.size()),
        hosts_(fabric.nodes.size()) {}

  // Called before the first window, once for each. `node`: its number in the fabric.
  void add(uint32_t node, pipelines::Switch& it) { switches_[node] = &it; }
  void add(uint32_t node, RoceHost& it) { hosts_[node] = &it; }
  void add(control::LinkEnd end, dataplane::Nic& it) {
    edges_.push_back({end, &it});
    edge_at_[end] = &it;
  }
  // A host outside that another rank has: the engine's node of one of its ports.
  void add_elsewhere(control::LinkEnd end, dataplane::NodeId it) { edge_elsewhere_[end] = it; }

  dataplane::Engine& engine() const { return engine_; }
  const Ranks& ranks() const { return ranks_; }

  // Null: the node is of another kind, or not here.
  pipelines::Switch* switch_at(uint32_t node) const { return switches_[node]; }
  RoceHost* host_at(uint32_t node) const { return hosts_[node]; }
  // The engine's node and port, the port's sender, and its worker's number; none: the node is not here.
  std::optional<dataplane::PortRef> at(control::LinkEnd end) const;
  dataplane::Transmitter* transmitter_at(control::LinkEnd end) const;
  std::optional<uint32_t> worker_at(control::LinkEnd end) const;
  // The engine's node and port also of a node elsewhere: its place in the numbering.
  dataplane::PortRef place_of(control::LinkEnd end) const;

  // Calls, in the fabric's order, f(number of the node, switch).
  template <typename F>
  void for_each_switch(F&& f) const {
    for_each_of(switches_, f);
  }
  // Calls, in the fabric's order, f(number of the node, host).
  template <typename F>
  void for_each_host(F&& f) const {
    for_each_of(hosts_, f);
  }
  // First ports of all hosts outside in the fabric's order, then further ones: f(end, NIC).
  template <typename F>
  void for_each_edge(F&& f) const {
    for (const auto& [end, nic] : edges_) f(end, *nic);
  }
  // In the fabric's order: f(end, its sender).
  template <typename F>
  void for_each_port(F&& f) const {
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      for (uint16_t p = 0; p < fabric_.nodes[n].ports.size(); ++p) {
        if (dataplane::Transmitter* const sender = transmitter_at({n, p})) f(control::LinkEnd{n, p}, *sender);
      }
    }
  }
  // The far ends of links that lead to another rank's nodes: f(end, its sender as it stands here). What such a link had
  // under way when it went down is counted there.
  template <typename F>
  void for_each_end_elsewhere(F&& f) const {
    if (ranks_.is_alone()) return;
    for (const control::FabricLink& link : fabric_.links) {
      for (const auto& [end, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)}) {
        if (ranks_.is_here(end.node) || !ranks_.is_here(other.node)) continue;
        const dataplane::PortRef place = place_of(end);
        f(end, engine_.node(place.node).transmitter(place.port));
      }
    }
  }

 private:
  template <typename T, typename F>
  static void for_each_of(const std::vector<T*>& nodes, F& f) {
    for (uint32_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n] != nullptr) f(n, *nodes[n]);
    }
  }

  const control::Fabric& fabric_;
  dataplane::Engine& engine_;
  Ranks ranks_;
  std::vector<pipelines::Switch*> switches_;  // by node of the fabric
  std::vector<RoceHost*> hosts_;              // by node of the fabric
  std::vector<std::pair<control::LinkEnd, dataplane::Nic*>> edges_;
  std::map<control::LinkEnd, dataplane::Nic*> edge_at_;
  std::map<control::LinkEnd, dataplane::NodeId> edge_elsewhere_;
};

}  // namespace softspine::testbeds
