// SPDX-License-Identifier: Apache-2.0
#include "control/topology/port_channels.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace softspine::control {
namespace {

// A port channel of one switch, over links that this fabric has.
struct End {
  const PortChannel* channel = nullptr;
  uint32_t node = 0;
  uint32_t peer = 0;
  std::vector<uint32_t> links;  // ascending
};

class PortChannelJoiner {
 public:
  PortChannelJoiner(Reader& reader, const std::vector<Profile>& profiles, Fabric& fabric)
      : reader_(reader), profiles_(profiles), fabric_(fabric) {
    for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
      if (channels_of(n) == nullptr) continue;
      for (const PortChannel& channel : *channels_of(n)) find_end(n, channel);
    }
  }

  void join() {
    for (const End& end : ends_) {
      if (std::ranges::any_of(end.links, [this](uint32_t link) { return fabric_.links[link].lag != kNone; })) continue;
      const auto other = std::ranges::find_if(
          ends_, [&](const End& each) { return each.node == end.peer && each.links == end.links; });
      if (other == ends_.end() && channels_of(end.peer) != nullptr) {
        warn(end, "is no LAG: the other end's port channels do not have the same links", words_of_peer(end));
      } else {
        add(end, other == ends_.end() ? nullptr : &*other);
      }
    }
    report();
  }

 private:
  // A warning about one port channel, at all nodes that have it.
  struct Warning {
    std::vector<uint32_t> nodes;
    std::string whose;  // names that it is about, at the first of them
  };
  // Null: its configuration has no LAGs, or there is none.
  const std::vector<PortChannel>* channels_of(uint32_t node) const {
    const uint32_t profile = fabric_.nodes[node].profile;
    return profile == kNone ? nullptr : profiles_[profile].port_channels.get();
  }

  void find_end(uint32_t node, const PortChannel& channel) {
    End end{.channel = &channel, .node = node, .links = {}};
    std::set<uint32_t> peers;
    const auto& ports = fabric_.nodes[node].ports;
    for (const PortChannel::Member& member : channel.members) {
      const auto port = std::ranges::find(ports, member.port, &FabricPort::name);
      if (port == ports.end()) continue;  // of a switch that has more ports than are linked here
      end.links.push_back(port->link);
      peers.insert(fabric_.peer_of({node, static_cast<uint16_t>(port - ports.begin())}).node);
    }
    if (channel.members.empty()) return warn(end, "is no LAG: PORTCHANNEL_MEMBER has no port of it");
    if (end.links.empty()) return warn(end, "is no LAG: none of its ports has a link here");
    std::ranges::sort(end.links);
    end.peer = *peers.begin();
    const auto is_of_file = [this](uint32_t link) { return fabric_.links[link].lag != kNone; };
    if (std::ranges::all_of(end.links, is_of_file)) return;
    if (peers.size() > 1) return warn(end, "is no LAG: its members lead to several nodes", names_of(peers));
    if (fabric_.nodes[end.peer].kind == NodeKind::kHost)
      return warn(end, "is no LAG: it leads to a host, whose bond is a 'bond'", fabric_.nodes[end.peer].name);
    if (const auto link = std::ranges::find_if(end.links, is_of_file); link != end.links.end()) {
      return warn(end, "is no LAG: some of its links are in a LAG of topology.lags",
                  fabric_.lags[fabric_.links[*link].lag].name);
    }
    const auto kind_of = [this](uint32_t link) {
      const FabricLink& its = fabric_.links[link];
      return std::tuple(its.rate.count_bps(), its.mtu, its.parameters.flow_control);
    };
    const auto differs = [&](uint32_t link) { return kind_of(link) != kind_of(end.links.front()); };
    if (std::ranges::any_of(end.links, differs))
      return warn(end, "is no LAG: its members differ in rate, MTU or flow control", fabric_.nodes[end.peer].name);
    check_name(end);
    ends_.push_back(std::move(end));
  }

  // join_lags() has put those of the file there.
  void check_name(const End& end) {
    const auto has_name = [&end](const Lag& lag) {
      return lag.name == end.channel->name && std::ranges::find(lag.nodes, end.node) != lag.nodes.end();
    };
    if (std::ranges::any_of(fabric_.lags, has_name))
      warn(end, "has the name of a LAG of topology.lags, which is what overrides mean by it");
  }

  std::string names_of(const std::set<uint32_t>& nodes) const {
    std::string out;
    for (const uint32_t n : nodes) out += (out.empty() ? "" : ", ") + fabric_.nodes[n].name;
    return out;
  }

  // Those of the other end that have some of the links.
  std::string words_of_peer(const End& end) const {
    std::string out = fabric_.nodes[end.peer].name;
    const char* between = ": ";
    for (const End& each : ends_) {
      if (each.node != end.peer || each.peer != end.node) continue;
      out += std::exchange(between, ", ") + each.channel->name;
    }
    return out;
  }

  void add(const End& end, const End* other) {
    const auto number = static_cast<uint32_t>(fabric_.lags.size());
    Lag lag{.name = fabric_.nodes[end.node].name + ":" + end.channel->name,
            .nodes = {end.node, end.peer},
            .links = end.links,
            .min_links = end.channel->min_links,
            .mode = LagMode::kLacp,
            .agreed = true};
    for (size_t i = 0; i < 2; ++i) {
      const PortChannel* channel = i == 0 ? end.channel : other == nullptr ? nullptr : other->channel;
      lag.fast_rate[i] = (channel == nullptr ? end.channel : channel)->fast_rate;
      if (channel == nullptr) continue;
      lag.own_name[i] = channel->name;
      lag.lacp_key[i] = channel->lacp_key;
      lag.min_links = std::max(lag.min_links, channel->min_links);
    }
    for (const uint32_t link : lag.links) {
      fabric_.links[link].lag = number;
      for (const LinkEnd at : {fabric_.links[link].a, fabric_.links[link].b})
        lag.ports[lag.end_at(at.node)].push_back(at.port);
    }
    for (auto& ports : lag.ports) std::ranges::sort(ports);
    if (lag.min_links > lag.links.size())
      warn(end, "is down from the start: min_links is more than the links that it has here");
    fabric_.lags.push_back(std::move(lag));
  }

  // One warning stands for all switches that share a profile.
  void warn(const End& end, const char* what, const std::string& whose = {}) {
    Warning& warning = warnings_[{end.channel, what}];
    if (warning.nodes.empty()) warning.whose = whose;
    warning.nodes.push_back(end.node);
  }
  void report() {
    std::map<std::tuple<std::string, int, int, std::string>, Error> sorted;
    for (const auto& [key, warning] : warnings_) {
      const auto& [channel, what] = key;
      const std::string first = fabric_.nodes[warning.nodes.front()].name;
      std::string text = first;
      if (warning.nodes.size() > 1) text += " and " + std::to_string(warning.nodes.size() - 1) + " more";
      std::string whose;
      if (!warning.whose.empty())
        whose = " (" + (warning.nodes.size() > 1 ? "at " + first + " " : "") + warning.whose + ")";
      const Place& at = channel->place;
      sorted.emplace(std::tuple(at.file, at.line, at.column, what),
                     error_at(at, "at " + text + " " + channel->name + " " + what + whose));
    }
    for (auto& [key, error] : sorted) reader_.warn(std::move(error));
  }

  Reader& reader_;
  const std::vector<Profile>& profiles_;
  Fabric& fabric_;
  std::vector<End> ends_;
  std::map<std::pair<const PortChannel*, std::string>, Warning> warnings_;
};

}  // namespace

void join_port_channels(Reader& reader, const std::vector<Profile>& profiles, Fabric& fabric) {
  if (std::ranges::none_of(profiles, [](const Profile& profile) { return profile.port_channels != nullptr; })) return;
  PortChannelJoiner(reader, profiles, fabric).join();
}

}  // namespace softspine::control
