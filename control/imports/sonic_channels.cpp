// SPDX-License-Identifier: Apache-2.0
#include "control/imports/sonic_channels.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "control/document/words.hpp"
#include "control/imports/entries.hpp"

namespace softspine::control {
namespace {

// As SONiC has it, 0 and nothing are 1.
uint32_t min_links_of(Reader& reader, Value row) {
  const auto value = entry(row, "min_links");
  if (!value) return 1;
  const std::string_view text = value->kind() == ValueKind::kScalar ? value->text() : "";
  uint32_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) reader.wrong_type(*value, "a number");
  return std::max(1U, number);
}

class Joiner {
 public:
  Joiner(const std::vector<const SonicChannels*>& by_node, ForeignTopology& topology)
      : by_node_(by_node), topology_(topology) {
    for (uint32_t i = 0; i < topology.links.size(); ++i) {
      for (const ForeignEnd* end : {&topology.links[i].a, &topology.links[i].b}) {
        if (const auto channel = channel_at(*end)) links_of_[{end->node, *channel}].push_back(i);
      }
    }
  }

  // Links begin at the switch whose file comes first, and so do its channels here.
  void run() {
    for (const auto& [of, links] : links_of_) {
      if (!topology_.links[links.front()].lag) add(of, links);
    }
  }

 private:
  using Of = std::pair<uint32_t, size_t>;  // a node, and a channel of it
  using Links = std::vector<uint32_t>;

  std::optional<size_t> channel_at(const ForeignEnd& end) const {
    const SonicChannels* its = end.node < by_node_.size() ? by_node_[end.node] : nullptr;
    if (its == nullptr) return std::nullopt;
    const auto found = its->of_port.find(end.port);
    return found == its->of_port.end() ? std::nullopt : std::optional(found->second);
  }
  const ForeignEnd& peer_of(uint32_t link, uint32_t node) const {
    const ForeignLink& its = topology_.links[link];
    return its.a.node == node ? its.b : its.a;
  }
  void note(Value at, std::string_view name, const std::string& what) {
    topology_.notes.push_back(error_at(place_of(at), shown(name) + " " + what));
  }

  // Why they are none; empty: they are one.
  std::string why_not(const Of& of, const Links& links) const {
    const uint32_t peer = peer_of(links.front(), of.first).node;
    const ForeignLink& first = topology_.links[links.front()];
    for (const uint32_t link : links) {
      const ForeignLink& its = topology_.links[link];
      if (peer_of(link, of.first).node != peer) return "is no LAG: its members lead to several nodes";
      if (its.rate != first.rate || its.mtu != first.mtu) return "is no LAG: its members differ in rate or MTU";
    }
    if (topology_.nodes[peer].use == NodeUse::kHost) return "is no LAG: it leads to a host, whose bond is a 'bond'";
    if (by_node_[peer] == nullptr) return "";
    const Links* others = other_end(of, links);
    if (others != nullptr && *others == links) return "";
    return "is no LAG: the file of " + shown(topology_.nodes[peer].name) + " does not have the same links in one";
  }
  const Links* other_end(const Of& of, const Links& links) const {
    const ForeignEnd& peer = peer_of(links.front(), of.first);
    const auto channel = channel_at(peer);
    return channel ? &links_of_.at({peer.node, *channel}) : nullptr;
  }

  void add(const Of& of, const Links& links) {
    const SonicChannel& mine = by_node_[of.first]->channels[of.second];
    if (const std::string why = why_not(of, links); !why.empty()) return note(mine.at, mine.name, why);
    ForeignLag lag{.name = std::string(mine.name),
                   .min_links = mine.min_links,
                   .fast_rate = mine.fast_rate,
                   .place = place_of(mine.at)};
    const ForeignEnd& peer = peer_of(links.front(), of.first);
    if (const auto channel = channel_at(peer)) {
      const SonicChannel& theirs = by_node_[peer.node]->channels[*channel];
      lag.min_links = std::max(lag.min_links, theirs.min_links);
      lag.fast_rate = lag.fast_rate || theirs.fast_rate;
      if (mine.fast_rate != theirs.fast_rate) note(mine.at, mine.name, "has the fast rate at both ends here");
    }
    if (lag.min_links > links.size()) {
      note(mine.at, mine.name, "has fewer links here than its min_links, " + std::to_string(lag.min_links));
      lag.min_links = static_cast<uint32_t>(links.size());
    }
    for (const uint32_t link : links) topology_.links[link].lag = static_cast<uint32_t>(topology_.lags.size());
    topology_.lags.push_back(std::move(lag));
  }

  const std::vector<const SonicChannels*>& by_node_;
  ForeignTopology& topology_;
  std::map<Of, Links> links_of_;  // ascending
};

}  // namespace

SonicChannels read_sonic_channels(Reader& reader, Value root) {
  SonicChannels out;
  std::unordered_map<std::string_view, size_t> by_name;
  if (const auto table = entry(root, "PORTCHANNEL"); is_map(table)) {
    for_each_entry(*table, [&](Value name, Value row) {
      if (name.kind() != ValueKind::kScalar) return;
      by_name.emplace(name.text(), out.channels.size());
      out.channels.push_back({.name = name.text(),
                              .min_links = min_links_of(reader, row),
                              .fast_rate = text_at(row, "fast_rate") == "true",
                              .at = name});
    });
  }
  if (const auto table = entry(root, "PORTCHANNEL_MEMBER"); is_map(table)) {
    for_each_entry(*table, [&](Value key, Value) {
      const std::string_view text = key.kind() == ValueKind::kScalar ? key.text() : "";
      const size_t bar = text.find('|');
      const auto channel = by_name.find(text.substr(0, bar));
      if (bar == text.npos || channel == by_name.end()) {
        reader.fail(key, "must be a name of PORTCHANNEL, '|' and a port, not " + shown(text));
      } else if (!out.of_port.emplace(text.substr(bar + 1), channel->second).second) {
        reader.fail(key, "the port is in another port channel already: a port is in one LAG");
      }
    });
  }
  return out;
}

void join_sonic_channels(const std::vector<const SonicChannels*>& by_node, ForeignTopology& topology) {
  Joiner(by_node, topology).run();
}

}  // namespace softspine::control
