// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/pause_log.hpp"

#include <map>
#include <set>
#include <unordered_map>

#include "tools/storm/tiers.hpp"

namespace softspine::tools::storm {

std::string node_part(const std::string& port_name) {
  return port_name.substr(0, port_name.rfind(':'));
}

uint32_t PauseLog::add_node(const std::string& name) {
  nodes.push_back({.name = name});
  return static_cast<uint32_t>(nodes.size() - 1);
}

uint32_t PauseLog::add_port(const std::string& name, uint32_t node, dataplane::Rate speed) {
  const auto port = static_cast<uint32_t>(ports.size());
  ports.push_back({.name = name, .node = node, .speed = speed});
  nodes[node].ports.push_back(port);
  return port;
}

void PauseLog::join(uint32_t a, uint32_t b) {
  ports[a].peer = b;
  ports[b].peer = a;
}

namespace {

// Puts a PauseLog together. Ports of the recorder keep their numbers; what is made up comes behind them.
class Assembly {
 public:
  explicit Assembly(const PauseRecorder& recorded) : recorded_(recorded) {
    for (const RecordedPort& port : recorded.ports()) port_named(port.name, port.speed);
  }

  void join_known(const KnownFabric& known) {
    for (const auto& [a, b] : known.links) join_names(a, b);
    for (const auto& [name, tier] : known.tiers) {
      if (const auto it = nodes_.find(name); it != nodes_.end()) log_.nodes[it->second].tier = tier;
    }
  }
  void join_described() {
    for (const RecordedPort& port : recorded_.ports()) {
      if (!port.peer.empty()) join_names(port.name, port.peer);
    }
  }
  void join_by_frames();
  void add_pauses();
  PauseLog finish();

 private:
  struct Ends {
    uint32_t from = kNone;  // kNone: leave these pauses out
    uint32_t to = kNone;
  };
  uint32_t node_named(const std::string& name) {
    const auto [it, is_new] = nodes_.try_emplace(name, static_cast<uint32_t>(log_.nodes.size()));
    return is_new ? log_.add_node(name) : it->second;
  }
  uint32_t port_named(const std::string& name, dataplane::Rate speed = {}) {
    return port_at(name, node_part(name), speed);
  }
  uint32_t port_at(const std::string& name, const std::string& node, dataplane::Rate speed) {
    const auto [it, is_new] = ports_.try_emplace(name, static_cast<uint32_t>(log_.ports.size()));
    return is_new ? log_.add_port(name, node_named(node), speed) : it->second;
  }
  // A port that is its node, under a name with colons in it.
  uint32_t lone_port(const std::string& name, dataplane::Rate speed) { return port_at(name, name, speed); }

  void join_names(const std::string& a, const std::string& b) {
    const bool any = ports_.contains(a) || ports_.contains(b);
    if (any && a != b) join_if_free(port_named(a, speed_of(b)), port_named(b, speed_of(a)));
  }
  dataplane::Rate speed_of(const std::string& name) const {
    const auto it = ports_.find(name);
    return it == ports_.end() ? dataplane::Rate{} : log_.ports[it->second].speed;
  }
  void join_if_free(uint32_t a, uint32_t b) {
    if (log_.ports[a].peer == kNone && log_.ports[b].peer == kNone) log_.join(a, b);
  }
  uint32_t peer_or_made_up(uint32_t port, const std::string& name) {
    if (log_.ports[port].peer == kNone) log_.join(port, lone_port(name, log_.ports[port].speed));
    return log_.ports[port].peer;
  }
  bool is_outgoing(const Sender& sender) const {
    const uint64_t own = recorded_.ports()[sender.port].mac;
    return sender.way == Way::kOut || (sender.way == Way::kUnknown && own != 0 && own == sender.mac);
  }
  Ends ends_of(const Sender& sender);
  Ends ends_of_unknown(const Sender& sender);

  const PauseRecorder& recorded_;
  PauseLog log_;
  std::unordered_map<std::string, uint32_t> nodes_;
  std::unordered_map<std::string, uint32_t> ports_;
  std::set<uint32_t> sends_;  // ports whose own pause frames were captured as they left
  std::map<uint32_t, std::vector<uint64_t>>
      unknown_way_;  // by port: source MACs of pause frames that go who knows where
};

// A pause frame is never forwarded: who sent a MAC's and who received them are neighbours, if there is one of each.
void Assembly::join_by_frames() {
  std::map<uint64_t, std::pair<std::set<uint32_t>, std::set<uint32_t>>> by_mac;  // sent at, received at
  for (const Sender& sender : recorded_.senders()) {
    if (sender.way == Way::kOut) by_mac[sender.mac].first.insert(sender.port);
    if (sender.way == Way::kIn) by_mac[sender.mac].second.insert(sender.port);
  }
  for (const auto& [mac, ends] : by_mac) {
    if (ends.first.size() == 1 && ends.second.size() == 1 && *ends.first.begin() != *ends.second.begin()) {
      join_if_free(*ends.first.begin(), *ends.second.begin());
    }
  }
  std::vector<uint32_t> node_of;
  for (const LogPort& port : log_.ports) node_of.push_back(port.node);
  for (const auto& [a, b] : recorded_.macs().links(node_of)) join_if_free(a, b);
}

Assembly::Ends Assembly::ends_of(const Sender& sender) {
  if (is_outgoing(sender)) return {sender.port, peer_or_made_up(sender.port, "peer of " + log_.name(sender.port))};
  if (sender.way == Way::kUnknown) return ends_of_unknown(sender);
  const uint32_t peer = log_.ports[sender.port].peer;
  if (peer != kNone && sends_.contains(peer)) return {};  // the same frames were captured where they were sent
  return {peer_or_made_up(sender.port, mac_text(sender.mac)), sender.port};
}

// A capture at one port that does not say which way frames went. One source: it pauses the captured port. Two: the
// two ends of its link pause each other. More: a mirror of several ports, whose partners are unknown.
Assembly::Ends Assembly::ends_of_unknown(const Sender& sender) {
  const std::vector<uint64_t>& macs = unknown_way_[sender.port];
  const dataplane::Rate speed = log_.ports[sender.port].speed;
  if (macs.size() == 1) return {peer_or_made_up(sender.port, mac_text(sender.mac)), sender.port};
  const uint32_t from = lone_port(mac_text(sender.mac), speed);
  if (macs.size() == 2) return {from, peer_or_made_up(from, mac_text(macs[macs[0] == sender.mac ? 1 : 0]))};
  return {from, peer_or_made_up(from, "peer of " + mac_text(sender.mac))};
}

void Assembly::add_pauses() {
  for (const Sender& sender : recorded_.senders()) {
    if (is_outgoing(sender)) {
      sends_.insert(sender.port);
    } else if (sender.way == Way::kUnknown) {
      unknown_way_[sender.port].push_back(sender.mac);
    }
  }
  std::vector<Ends> ends;
  for (const Sender& sender : recorded_.senders()) ends.push_back(ends_of(sender));
  for (const RecordedPause& pause : recorded_.pauses()) {
    const auto [from, to] = ends[pause.sender];
    if (from == kNone) continue;
    log_.pauses.push_back({.from = from, .to = to, .priority = pause.priority, .span = pause.span});
  }
}

PauseLog Assembly::finish() {
  log_.begin = recorded_.first();
  log_.end = recorded_.last();
  guess_tiers(log_);
  return std::move(log_);
}

}  // namespace

PauseLog assemble_log(const PauseRecorder& recorded, const KnownFabric& known) {
  Assembly assembly{recorded};
  assembly.join_known(known);
  assembly.join_described();
  assembly.join_by_frames();
  assembly.add_pauses();
  return assembly.finish();
}

}  // namespace softspine::tools::storm
