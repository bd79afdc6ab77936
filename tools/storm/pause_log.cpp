// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/pause_log.hpp"

#include <algorithm>
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
  Assembly(const PauseRecorder& recorded, const KnownFabric& known) : recorded_(recorded), known_(known) {
    for (const RecordedPort& port : recorded.ports()) add_captured(port);
  }

  void join_known();
  void join_described() {
    for (uint32_t i = 0; i < recorded_.ports().size(); ++i) {
      if (!recorded_.ports()[i].peer.empty())
        join_names(captured_name(recorded_.ports()[i]), recorded_.ports()[i].peer);
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
  // What a captured port is called, by whoever knows best.
  const std::string& captured_name(const RecordedPort& port) const {
    if (const auto it = known_.port_of_interface.find(port.name); it != known_.port_of_interface.end())
      return it->second;
    const auto it = known_.port_of_mac.find(port.mac);
    return port.mac != 0 && it != known_.port_of_mac.end() ? it->second : port.name;
  }
  void add_captured(const RecordedPort& port);
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
  uint32_t lone_port(const std::string& name, dataplane::Rate speed) {
    const uint32_t port = port_at(name, name, speed);
    log_.nodes[log_.ports[port].node].is_named = false;
    return port;
  }

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
  uint32_t port_of(const Sender& sender) const { return captured_[sender.port]; }
  void choose_places();
  // Its MAC is some port's, and the place where it was captured says less: not which way, or not of which link.
  bool goes_by_mac(const Sender& sender) const {
    const bool says_more = sender.way != Way::kUnknown && log_.ports[port_of(sender)].peer != kNone;
    return !says_more && known_.port_of_mac.contains(sender.mac);
  }
  bool is_outgoing(const Sender& sender) const {
    const uint64_t own = recorded_.ports()[sender.port].mac;
    return sender.way == Way::kOut || (sender.way == Way::kUnknown && own != 0 && own == sender.mac);
  }
  Ends ends_of(uint32_t index);
  Ends ends_of_unknown(const Sender& sender);

  const PauseRecorder& recorded_;
  const KnownFabric& known_;
  std::vector<uint32_t> captured_;           // ports of the log, by the recorder's
  std::set<uint64_t> is_of_several_places_;  // MACs, of those: at either end of their link, say
  std::vector<bool> is_elsewhere_;           // by sender: its frames count where they were captured too
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
      join_if_free(captured_[*ends.first.begin()], captured_[*ends.second.begin()]);
    }
  }
  std::vector<uint32_t> node_of;
  for (const uint32_t port : captured_) node_of.push_back(log_.ports[port].node);
  for (const auto& [a, b] : recorded_.macs().links(node_of)) join_if_free(captured_[a], captured_[b]);
}

void Assembly::add_captured(const RecordedPort& port) {
  const uint32_t number = port_named(captured_name(port), port.speed);
  captured_.push_back(number);
  log_.ports[number].is_captured = true;
  LogNode& node = log_.nodes[log_.ports[number].node];
  node.is_named = port.is_named || captured_name(port) != port.name;
  node.known_ports = std::max(node.known_ports, port.node_ports);
}

// The links of every node that has a port in the capture, or sent a pause frame that was captured.
void Assembly::join_known() {
  for (const Sender& sender : recorded_.senders()) {
    if (const auto it = known_.port_of_mac.find(sender.mac); it != known_.port_of_mac.end()) {
      port_named(it->second, recorded_.ports()[sender.port].speed);
    }
  }
  std::set<std::string> present;
  for (const LogNode& node : log_.nodes) present.insert(node.name);
  std::map<std::string, uint32_t> ports;
  for (const auto& [a, b] : known_.links) {
    ++ports[node_part(a)];
    ++ports[node_part(b)];
    if (!present.contains(node_part(a)) && !present.contains(node_part(b))) continue;
    join_if_free(port_named(a, speed_of(b)), port_named(b, speed_of(a)));
  }
  for (const auto& [name, tier] : known_.tiers) {
    const auto it = nodes_.find(name);
    if (it == nodes_.end()) continue;
    LogNode& node = log_.nodes[it->second];
    node.tier = tier;
    node.is_tier_known = true;
    node.known_ports = ports[name];
  }
}

// Of a sender whose place says nothing, and whose frames were captured in several, the place where they left counts, or
// else the one that has most of them. The others are dealt with by their way.
void Assembly::choose_places() {
  std::vector<uint64_t> frames(recorded_.senders().size());
  for (const RecordedPause& pause : recorded_.pauses()) frames[pause.sender] += pause.span.frames;
  std::map<uint64_t, uint32_t> chosen;  // by MAC
  is_elsewhere_.assign(frames.size(), false);
  for (uint32_t i = 0; i < frames.size(); ++i) {
    const Sender& sender = recorded_.senders()[i];
    if (sender.way != Way::kUnknown && !goes_by_mac(sender)) continue;
    const auto [it, is_first] = chosen.try_emplace(sender.mac, i);
    if (is_first) continue;
    is_of_several_places_.insert(sender.mac);
    const Sender& other = recorded_.senders()[it->second];
    const bool is_better =
        std::pair{is_outgoing(sender), frames[i]} > std::pair{is_outgoing(other), frames[it->second]};
    is_elsewhere_[is_better ? it->second : i] = true;
    if (is_better) it->second = i;
  }
}

Assembly::Ends Assembly::ends_of(uint32_t index) {
  const Sender& sender = recorded_.senders()[index];
  if (is_elsewhere_[index]) return {};
  const uint32_t here = port_of(sender);
  if (goes_by_mac(sender)) {
    const std::string& name = known_.port_of_mac.at(sender.mac);
    const uint32_t from = port_named(name, log_.ports[here].speed);
    return {from, peer_or_made_up(from, "peer of " + name)};
  }
  if (is_outgoing(sender)) return {here, peer_or_made_up(here, "peer of " + log_.name(here))};
  if (sender.way == Way::kUnknown) return ends_of_unknown(sender);
  const uint32_t peer = log_.ports[here].peer;
  if (peer != kNone && sends_.contains(peer)) return {};  // the same frames were captured where they were sent
  return {peer_or_made_up(here, mac_text(sender.mac)), here};
}

// A capture at one port that does not say which way frames went. One source: it pauses the captured port. Two: the
// two ends of its link pause each other. More, or a source that was captured elsewhere too: partners are unknown.
Assembly::Ends Assembly::ends_of_unknown(const Sender& sender) {
  const std::vector<uint64_t>& macs = unknown_way_[sender.port];
  const uint32_t here = port_of(sender);
  const dataplane::Rate speed = log_.ports[here].speed;
  if (macs.size() == 1 && !is_of_several_places_.contains(sender.mac))
    return {peer_or_made_up(here, mac_text(sender.mac)), here};
  const uint32_t from = lone_port(mac_text(sender.mac), speed);
  if (macs.size() == 2) return {from, peer_or_made_up(from, mac_text(macs[macs[0] == sender.mac ? 1 : 0]))};
  return {from, peer_or_made_up(from, "peer of " + mac_text(sender.mac))};
}

void Assembly::add_pauses() {
  choose_places();
  for (const Sender& sender : recorded_.senders()) {
    if (is_outgoing(sender)) {
      sends_.insert(port_of(sender));
    } else if (sender.way == Way::kUnknown) {
      unknown_way_[sender.port].push_back(sender.mac);
    }
  }
  std::vector<Ends> ends;
  for (uint32_t i = 0; i < recorded_.senders().size(); ++i) ends.push_back(ends_of(i));
  for (const RecordedPause& pause : recorded_.pauses()) {
    const auto [from, to] = ends[pause.sender];
    if (from == kNone) continue;
    log_.pauses.push_back({.from = from, .to = to, .priority = pause.priority, .span = pause.span});
  }
}

PauseLog Assembly::finish() {
  log_.missed_frames = recorded_.tally().missed;
  log_.begin = recorded_.first();
  log_.end = recorded_.last();
  guess_tiers(log_);
  return std::move(log_);
}

}  // namespace

PauseLog assemble_log(const PauseRecorder& recorded, const KnownFabric& known) {
  Assembly assembly{recorded, known};
  assembly.join_known();
  assembly.join_described();
  assembly.join_by_frames();
  assembly.add_pauses();
  return assembly.finish();
}

}  // namespace softspine::tools::storm
