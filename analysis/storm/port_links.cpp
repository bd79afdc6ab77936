// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/port_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "analysis/storm/node_macs.hpp"

namespace softspine::analysis::storm {

void PortLinks::join() {
  join_known();
  join_described();
  join_by_frames();
  join_by_copies();
}

void PortLinks::note_contradiction(const std::string& what) {
  if (book_.log.contradiction.empty()) book_.log.contradiction = what;
}

// The links of every node that has a port in the capture, or sent a pause frame that was captured.
void PortLinks::join_known() {
  for (const Sender& sender : recorded_.senders()) {
    if (const auto it = known_.port_of_mac.find(sender.mac); it != known_.port_of_mac.end()) {
      book_.port(it->second, recorded_.ports()[sender.port].speed);
    }
  }
  std::set<std::string> present;
  for (const Sender& sender : recorded_.senders()) {
    if (const auto it = known_.node_of_mac.find(sender.mac); it != known_.node_of_mac.end()) present.insert(it->second);
  }
  for (const LogNode& node : book_.log.nodes) present.insert(node.name);
  std::map<std::string, uint32_t> ports;
  for (const auto& [a, b] : known_.links) {
    ++ports[node_part(a)];
    ++ports[node_part(b)];
    if (present.contains(node_part(a)) || present.contains(node_part(b))) book_.join(a, b);
  }
  for (const auto& [name, tier] : known_.tiers) {
    const uint32_t number = book_.find_node(name);
    if (number == kNone) continue;
    LogNode& node = book_.log.nodes[number];
    node.tier = tier;
    node.is_tier_known = true;
    if (node.known_ports != 0 && node.known_ports != ports[name]) {
      note_contradiction(
          fmt::format("{} has {} ports in the capture, {} in the testbed", name, node.known_ports, ports[name]));
    }
    node.known_ports = ports[name];
  }
}

void PortLinks::join_described() {
  for (uint32_t i = 0; i < captured_.size(); ++i) {
    const RecordedPort& port = recorded_.ports()[i];
    if (port.peer.empty()) continue;
    const auto renamed = known_.port_of_interface.find(port.peer);
    const std::string& said = renamed == known_.port_of_interface.end() ? port.peer : renamed->second;
    const std::string name = book_.log.name(captured_[i]);
    book_.join(name, said);
    const uint32_t peer = book_.log.ports[captured_[i]].peer;
    if (peer != kNone && book_.log.name(peer) == said) continue;
    const uint32_t taken_by = book_.log.ports[book_.port(said)].peer;
    if (peer != kNone) {
      note_contradiction(fmt::format("{} is linked to {} or to {}", name, said, book_.log.name(peer)));
    } else {
      note_contradiction(fmt::format("{} is linked to {}, and that to {}", name, said,
                                     taken_by == kNone ? said : book_.log.name(taken_by)));
    }
  }
}

// A pause frame is never forwarded: who sent a MAC's and who received them are neighbours, if there is one of each.
void PortLinks::join_by_frames() {
  std::map<uint64_t, std::pair<std::set<uint32_t>, std::set<uint32_t>>> by_mac;  // sent at, received at
  for (const Sender& sender : recorded_.senders()) {
    if (recorded_.ports()[sender.port].is_shared) continue;
    if (sender.way == Way::kOut) by_mac[sender.mac].first.insert(sender.port);
    if (sender.way == Way::kIn) by_mac[sender.mac].second.insert(sender.port);
  }
  for (const auto& [mac, ends] : by_mac) {
    if (ends.first.size() == 1 && ends.second.size() == 1) {
      book_.log.join(captured_[*ends.first.begin()], captured_[*ends.second.begin()]);
    }
  }
  std::vector<uint32_t> node_of;
  for (const uint32_t port : captured_) node_of.push_back(book_.log.ports[port].node);
  for (const auto& [a, b] : recorded_.macs().links(node_of)) {
    if (recorded_.ports()[a].is_shared || recorded_.ports()[b].is_shared) continue;
    book_.log.join(captured_[a], captured_[b]);
  }
}

bool PortLinks::may_be_ends(const Sender& a, const Sender& b) const {
  if (a.port == b.port || (a.way == Way::kUnknown) != (b.way == Way::kUnknown)) return false;
  if (a.way == b.way && a.way != Way::kUnknown) return false;
  for (const Sender* it : {&a, &b}) {
    const uint32_t port = captured_[it->port];
    const LogNode& node = book_.log.nodes[book_.log.node_of(port)];
    if (recorded_.ports()[it->port].is_shared || book_.log.ports[port].peer != kNone) return false;
    // Else two taps of one link, for all we know, or two ports of one node.
    if (it->way == Way::kUnknown && (!node.is_named || node.name == book_.log.name(port))) return false;
  }
  return book_.log.node_of(captured_[a.port]) != book_.log.node_of(captured_[b.port]);
}

// Places of two nodes that saw the same frames.
std::vector<PortLinks::Copies> PortLinks::copies() const {
  const NodeMacs macs{recorded_, known_, captured_, book_.log};
  const std::vector<Sender>& senders = macs.senders();
  struct Found {
    dataplane::Duration apart;
    size_t sources = 0;
    bool are_ways_known = false;
  };
  std::map<std::pair<uint32_t, uint32_t>, Found> found;  // by ports
  recorded_.copies().for_each_pair([&](uint32_t i, uint32_t j) {
    if (!may_be_ends(senders[i], senders[j])) return;
    const auto apart = recorded_.copies().apart(i, j);
    if (!apart || *apart > kMaxApart) return;
    Found& it = found[std::minmax({captured_[senders[i].port], captured_[senders[j].port]})];
    it.apart = std::max(it.apart, *apart);
    ++it.sources;
    it.are_ways_known = it.are_ways_known || senders[i].way != Way::kUnknown;
  });
  std::vector<Copies> out;
  for (const auto& [ports, it] : found) {
    if (it.are_ways_known || it.sources > 1) out.push_back({.a = ports.first, .b = ports.second, .apart = it.apart});
  }
  return out;
}

// A joined port is nobody else's end any more, so an ambiguous one may be clear then.
void PortLinks::join_by_copies() {
  constexpr int kMaxRounds = 16;
  std::vector<Copies> left = copies();
  bool found = true;
  for (int round = 0; found && round < kMaxRounds; ++round) {
    std::map<uint32_t, std::multiset<dataplane::Duration>> of_port;
    for (const Copies& it : left) {
      of_port[it.a].insert(it.apart);
      of_port[it.b].insert(it.apart);
    }
    const auto is_clear = [&](uint32_t port, dataplane::Duration apart) {
      const auto& all = of_port.at(port);
      return apart == *all.begin() && (all.size() == 1 || *std::next(all.begin()) > apart + kClearly);
    };
    found = false;
    for (const Copies& it : left) {
      if (is_clear(it.a, it.apart) && is_clear(it.b, it.apart)) found = book_.log.join(it.a, it.b) || found;
    }
    std::erase_if(left, [this](const Copies& it) {
      return book_.log.ports[it.a].peer != kNone || book_.log.ports[it.b].peer != kNone;
    });
  }
}

}  // namespace softspine::analysis::storm
