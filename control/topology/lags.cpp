// SPDX-License-Identifier: Apache-2.0
#include "control/topology/lags.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

class LagJoiner {
 public:
  LagJoiner(Reader& reader, Fabric& fabric) : reader_(reader), fabric_(fabric) {
    for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
      by_name_.emplace(fabric.nodes[n].name, n);
      if (fabric.nodes[n].kind == NodeKind::kSwitch) switches_.push_back(fabric.nodes[n].name);
    }
  }

  void add(const LagRow& row) {
    if (row.between.size() != 2) return;  // has been reported
    Lag lag{.name = row.name, .min_links = row.min_links, .mode = row.mode, .agreed = row.agreed.value_or(false)};
    lag.fast_rate.fill(row.fast_rate.value_or(false));
    lag.retry_count = row.retry_count.value_or(lag.retry_count);
    const auto number = static_cast<uint32_t>(fabric_.lags.size());
    const auto [same, is_new] = lag_names_.emplace(row.name, number);
    if (!is_new) reader_.fail(row.where.child("name"), "there is another LAG " + shown(row.name));
    for (const auto& [key, given] :
         {std::pair("fast_rate", row.fast_rate.has_value()), std::pair("agreed", row.agreed.has_value()),
          std::pair("retry_count", row.retry_count.has_value())}) {
      if (given && row.mode != LagMode::kLacp) reader_.fail(row.where.child(key), "goes with 'mode: lacp' only");
    }
    if (!find_ends(row, lag)) return;
    const bool is_named = check_name(row, lag);
    if (!find_links(row, lag)) return;
    std::ranges::sort(lag.links);
    if (!check(row, lag) || !is_new || !is_named) return;
    for (const uint32_t link : lag.links) {
      fabric_.links[link].lag = number;
      for (const LinkEnd end : {fabric_.links[link].a, fabric_.links[link].b})
        lag.ports[end.node == lag.nodes[0] ? 0 : 1].push_back(end.port);
    }
    for (auto& ports : lag.ports) std::ranges::sort(ports);
    fabric_.lags.push_back(std::move(lag));
  }

 private:
  bool find_ends(const LagRow& row, Lag& lag) {
    const std::vector<Value> places = row.where.child("between").each();
    bool good = true;
    for (size_t i = 0; i < 2; ++i) {
      const auto found = by_name_.find(row.between[i]);
      if (found != by_name_.end() && fabric_.nodes[found->second].kind == NodeKind::kSwitch) {
        lag.nodes[i] = found->second;
      } else if (found != by_name_.end()) {
        good = reader_.fail(places[i], row.between[i] + " is a host: its bond is a 'bond', not a LAG");
      } else {
        good = reader_.fail(places[i],
                            "there is no switch " + shown(row.between[i]) + reader_.guess(row.between[i], switches_));
      }
    }
    if (good && lag.nodes[0] == lag.nodes[1])
      return reader_.fail(row.where.child("between"), "names " + row.between[0] + " twice");
    return good;
  }

  // Overrides name nodes, ports and LAGs alike.
  bool check_name(const LagRow& row, const Lag& lag) {
    const Value where = row.where.child("name");
    if (by_name_.contains(lag.name)) return reader_.fail(where, "is the name of a node");
    for (const uint32_t n : lag.nodes) {
      const FabricNode& node = fabric_.nodes[n];
      if (std::ranges::find(node.ports, lag.name, &FabricPort::name) != node.ports.end())
        return reader_.fail(where, "is the name of a port of " + node.name);
    }
    return true;
  }

  bool joins(const FabricLink& link, const Lag& lag) const {
    return (link.a.node == lag.nodes[0] && link.b.node == lag.nodes[1]) ||
           (link.b.node == lag.nodes[0] && link.a.node == lag.nodes[1]);
  }

  bool find_links(const LagRow& row, Lag& lag) {
    if (row.members) {
      const Value members = row.where.child("members");
      const std::vector<Value> places = members.each();
      bool good = !row.members->empty() || reader_.fail(members, "names no port");
      for (size_t i = 0; i < row.members->size(); ++i) {
        const Value place = places.size() == row.members->size() ? places[i] : members;  // imported ones have none
        const auto link = find_member((*row.members)[i], place, lag);
        if (link && std::ranges::find(lag.links, *link) != lag.links.end())
          good = reader_.fail(place, "its link is named twice");
        good = good && link;
        if (link) lag.links.push_back(*link);
      }
      return good;
    }
    for (uint32_t l = 0; l < fabric_.links.size(); ++l) {
      if (joins(fabric_.links[l], lag)) lag.links.push_back(l);
    }
    return !lag.links.empty() ||
           reader_.fail(row.where.child("between"), "no link joins " + row.between[0] + " and " + row.between[1]);
  }

  std::optional<uint32_t> find_member(const Endpoint& member, Value where, const Lag& lag) {
    if (member.node.empty()) return std::nullopt;  // could not be read
    const std::vector<std::string_view> ends{fabric_.nodes[lag.nodes[0]].name, fabric_.nodes[lag.nodes[1]].name};
    const auto end = std::ranges::find(ends, member.node);
    if (end == ends.end()) {
      reader_.fail(where, "must be a port of " + std::string(ends[0]) + " or " + std::string(ends[1]) + ", not of " +
                              shown(member.node) + reader_.guess(member.node, ends));
      return std::nullopt;
    }
    const FabricNode& node = fabric_.nodes[lag.nodes[static_cast<size_t>(end - ends.begin())]];
    std::vector<std::string_view> joining;
    for (const FabricPort& port : node.ports) {
      if (port.link != kNone && joins(fabric_.links[port.link], lag)) joining.push_back(port.name);
    }
    const auto port = std::ranges::find(node.ports, member.port, &FabricPort::name);
    if (port == node.ports.end()) {
      const std::string such = joining.empty() ? "" : " such as " + node.name + ":" + std::string(joining[0]);
      reader_.fail(where, member.port.empty()
                              ? "expected NODE:PORT" + such + ", found " + shown(member.node)
                              : node.name + " has no port " + shown(member.port) + reader_.guess(member.port, joining));
      return std::nullopt;
    }
    if (joins(fabric_.links[port->link], lag)) return port->link;
    const auto at = static_cast<uint16_t>(port - node.ports.begin());
    const LinkEnd peer = fabric_.peer_of({by_name_.at(node.name), at});
    reader_.fail(where, "leads to " + fabric_.nodes[peer.node].name + ": a LAG's members join the same two switches");
    return std::nullopt;
  }

  bool check(const LagRow& row, const Lag& lag) {
    const Value where = row.members ? row.where.child("members") : row.where.child("between");
    bool good = true;
    for (const uint32_t link : lag.links) {
      const uint32_t other = fabric_.links[link].lag;
      if (other == kNone) continue;
      good = reader_.fail(where, fabric_.name_of(fabric_.links[link].a) + " is in " + fabric_.lags[other].name +
                                     " already: a link is in one LAG");
    }
    const auto kind_of = [this](uint32_t link) {
      const FabricLink& its = fabric_.links[link];
      return std::tuple(its.rate.count_bps(), its.mtu, its.parameters.flow_control);
    };
    const auto other =
        std::ranges::find_if(lag.links, [&](uint32_t link) { return kind_of(link) != kind_of(lag.links.front()); });
    if (other != lag.links.end()) {
      good = reader_.fail(where, fabric_.name_of(fabric_.links[lag.links.front()].a) + " and " +
                                     fabric_.name_of(fabric_.links[*other].a) +
                                     " differ: a LAG's members have one rate, MTU and flow control");
    }
    if (lag.min_links > lag.links.size()) {
      good = reader_.fail(row.where.child("min_links"),
                          "is more than the " + std::to_string(lag.links.size()) + " links that " + lag.name + " has");
    }
    return good;
  }

  Reader& reader_;
  Fabric& fabric_;
  std::map<std::string, uint32_t> by_name_;
  std::map<std::string, uint32_t> lag_names_;
  std::vector<std::string_view> switches_;
};

}  // namespace

void join_lags(Reader& reader, const std::vector<LagRow>& rows, Fabric& fabric) {
  if (rows.empty()) return;
  LagJoiner joiner(reader, fabric);
  for (const LagRow& row : rows) joiner.add(row);
}

}  // namespace softspine::control
