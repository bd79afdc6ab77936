// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/node_macs.hpp"

namespace softspine::analysis::storm {

NodeMacs::NodeMacs(const PauseRecorder& recorded, const KnownFabric& known, const std::vector<uint32_t>& captured,
                   const PauseLog& log)
    : recorded_(recorded), captured_(captured), log_(log), senders_(recorded.senders()), owners_(known.node_of_mac) {
  for (const auto& [mac, node] : known.node_of_mac) has_one_.insert(node);
  for (const Sender& it : senders_) sources_[it.port] += it.way == Way::kUnknown ? 1 : 0;
  find_own();
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (Sender& it : senders_) {
      if (it.way == Way::kUnknown && tells(it)) is_new = settle(it) || is_new;
    }
  }
}

const std::string* NodeMacs::there(const Sender& it) const {
  const uint32_t peer = log_.ports[captured_[it.port]].peer;
  return peer == kNone ? nullptr : &log_.node_name(peer);
}

bool NodeMacs::tells(const Sender& it) const {
  const bool is_an_end = !recorded_.ports()[it.port].is_shared && sources_.at(it.port) <= 2;
  return is_an_end && log_.nodes[log_.node_of(captured_[it.port])].is_named;
}

void NodeMacs::own(uint64_t mac, const std::string& node) {
  const auto [it, is_new] = owners_.try_emplace(mac, node);
  if (!is_new && it->second != node) it->second.clear();
}

void NodeMacs::find_own() {
  std::map<std::pair<uint64_t, std::string>, std::set<uint32_t>> left_by;      // ports
  std::map<std::pair<uint64_t, std::string>, std::set<std::string>> leads_to;  // nodes behind ports
  for (const Sender& it : senders_) {
    if (!tells(it)) continue;
    if (it.way == Way::kOut) left_by[{it.mac, here(it)}].insert(it.port);
    if (it.way == Way::kUnknown && there(it) != nullptr) leads_to[{it.mac, here(it)}].insert(*there(it));
  }
  for (const auto& [of, ports] : left_by) {
    own(of.first, of.second);
    if (ports.size() > 1) has_one_.insert(of.second);
  }
  for (const auto& [of, nodes] : leads_to) {
    if (nodes.size() < 2) continue;
    own(of.first, of.second);
    has_one_.insert(of.second);
  }
}

// Whether something new is known.
bool NodeMacs::settle(Sender& it) {
  const std::string* other = there(it);
  const auto known = owners_.find(it.mac);
  if (known != owners_.end()) {
    const bool is_own = known->second == here(it);
    const bool is_others = !known->second.empty() && (has_one_.contains(here(it)) || is_port_of_a_node(it) ||
                                                      (other != nullptr && *other == known->second));
    if (is_own || is_others) it.way = is_own ? Way::kOut : Way::kIn;
    return is_own || is_others;
  }
  const bool came_in = has_one_.contains(here(it));
  if (!came_in && (other == nullptr || !has_one_.contains(*other))) return false;
  it.way = came_in ? Way::kIn : Way::kOut;
  if (!came_in || other != nullptr) own(it.mac, came_in ? *other : here(it));
  return true;
}

}  // namespace softspine::analysis::storm
