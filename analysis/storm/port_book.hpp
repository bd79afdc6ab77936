// SPDX-License-Identifier: Apache-2.0
// Nodes and ports of a log that is being put together, by their names: each name is one port.
#pragma once

#include <string>
#include <unordered_map>

#include "analysis/storm/pause_log.hpp"

namespace softspine::analysis::storm {

class PortBook {
 public:
  PauseLog log;

  bool has_port(const std::string& name) const { return ports_.contains(name); }
  // kNone: no node has this name.
  uint32_t find_node(const std::string& name) const {
    const auto it = nodes_.find(name);
    return it == nodes_.end() ? kNone : it->second;
  }
  uint32_t port(const std::string& name, dataplane::Rate speed = {}) { return port_at(name, node_part(name), speed); }
  uint32_t port_at(const std::string& name, const std::string& node, dataplane::Rate speed) {
    const auto [it, is_new] = ports_.try_emplace(name, static_cast<uint32_t>(log.ports.size()));
    return is_new ? log.add_port(name, node_number(node), speed) : it->second;
  }
  // A port of a node whose name was made up here.
  uint32_t made_up_port(const std::string& name, const std::string& node, dataplane::Rate speed) {
    const uint32_t made = port_at(name, node, speed);
    log.nodes[log.ports[made].node].is_named = false;
    return made;
  }
  dataplane::Rate speed_of(const std::string& name) const {
    const auto it = ports_.find(name);
    return it == ports_.end() ? dataplane::Rate{} : log.ports[it->second].speed;
  }
  void join(const std::string& a, const std::string& b) { log.join(port(a, speed_of(b)), port(b, speed_of(a))); }

 private:
  uint32_t node_number(const std::string& name) {
    const auto [it, is_new] = nodes_.try_emplace(name, static_cast<uint32_t>(log.nodes.size()));
    return is_new ? log.add_node(name) : it->second;
  }

  std::unordered_map<std::string, uint32_t> nodes_;
  std::unordered_map<std::string, uint32_t> ports_;
};

}  // namespace softspine::analysis::storm
