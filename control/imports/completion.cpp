// SPDX-License-Identifier: Apache-2.0
#include "control/imports/completion.hpp"

#include <algorithm>
#include <deque>

#include "control/document/words.hpp"
#include "control/imports/foreign_names.hpp"

namespace softspine::control {
namespace {

class Completion {
 public:
  Completion(Reader& reader, const ImportOptions& options, ForeignTopology& topology)
      : reader_(reader), options_(options), topology_(topology), nodes_(topology.nodes), links_(topology.links) {}

  bool run() {
    const uint64_t before = reader_.log().count();
    apply_rules();
    decide_open();
    leave_out();
    if (nodes_.empty()) reader_.log().add(error_at(options_.place, "nothing is left to build: no node has a link"));
    give_roles();
    give_names(reader_, topology_);
    check_hosts();
    return reader_.log().count() == before;
  }

 private:
  void note(const Place& place, std::string message) { topology_.notes.push_back(error_at(place, std::move(message))); }
  bool is_switch(uint32_t n) const { return nodes_[n].use != NodeUse::kHost; }

  void apply_rules() {
    std::vector<bool> used(options_.rules.size(), false);
    for (ForeignNode& node : nodes_) {
      const auto rule_for = [&](std::string_view text) {
        for (size_t i = 0; i < options_.rules.size(); ++i) {
          if (!fits_rule(options_.rules[i].pattern, text)) continue;
          used[i] = true;
          node.use = options_.rules[i].use;
          if (node.use == NodeUse::kNothing) note(node.place, shown(node.name) + " is left out, as a rule says");
          return true;
        }
        return false;
      };
      if (!rule_for(node.name) && !node.kind.empty()) rule_for(node.kind);
    }
    for (size_t i = 0; i < used.size(); ++i) {
      if (used[i]) continue;
      reader_.log().add(error_at(
          options_.place, "no node has the name or kind " + shown(options_.rules[i].pattern) + ", which a rule names"));
    }
  }

  void decide_open() {
    std::vector<uint32_t> degree(nodes_.size(), 0);
    std::vector<bool> meets_open(nodes_.size(), false);
    for (const ForeignLink& link : links_) {
      for (const auto& [one, other] : {std::pair(link.a.node, link.b.node), std::pair(link.b.node, link.a.node)}) {
        ++degree[one];
        const NodeUse use = nodes_[other].use;
        if (use == NodeUse::kByLinks || use == NodeUse::kHost) meets_open[one] = true;
      }
    }
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].use != NodeUse::kByLinks) continue;
      const bool forwards = degree[n] > 1 && meets_open[n];
      nodes_[n].use = forwards ? NodeUse::kSwitch : NodeUse::kHost;
      if (forwards) note(nodes_[n].place, shown(nodes_[n].name) + " joins other nodes: taken for a switch");
    }
  }

  // Leaves out nodes that are not to be built, and nodes without links.
  void leave_out() {
    std::erase_if(links_, [&](const ForeignLink& link) {
      const bool out = nodes_[link.a.node].use == NodeUse::kNothing || nodes_[link.b.node].use == NodeUse::kNothing;
      if (!out) return false;
      note(link.place, "the link " + shown(nodes_[link.a.node].name) + " – " + shown(nodes_[link.b.node].name) +
                           " is left out with its end");
      ++topology_.links_left_out;
      return true;
    });
    std::vector<bool> joined(nodes_.size(), false);
    for (const ForeignLink& link : links_) joined[link.a.node] = joined[link.b.node] = true;
    std::vector<uint32_t> now(nodes_.size(), 0);
    std::vector<ForeignNode> kept;
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      now[n] = static_cast<uint32_t>(kept.size());
      if (joined[n]) {
        kept.push_back(std::move(nodes_[n]));
        continue;
      }
      if (nodes_[n].use != NodeUse::kNothing) note(nodes_[n].place, shown(nodes_[n].name) + " has no link: left out");
      ++topology_.nodes_left_out;
    }
    nodes_ = std::move(kept);
    for (ForeignLink& link : links_) {
      link.a.node = now[link.a.node];
      link.b.node = now[link.b.node];
    }
  }

  // From all hosts at once, outwards.
  std::vector<uint32_t> distances() const {
    std::vector<std::vector<uint32_t>> peers(nodes_.size());
    for (const ForeignLink& link : links_) {
      peers[link.a.node].push_back(link.b.node);
      peers[link.b.node].push_back(link.a.node);
    }
    std::vector<uint32_t> out(nodes_.size(), UINT32_MAX);
    std::deque<uint32_t> next;
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      if (is_switch(n)) continue;
      out[n] = 0;
      next.push_back(n);
    }
    while (!next.empty()) {
      const uint32_t n = next.front();
      next.pop_front();
      for (const uint32_t peer : peers[n]) {
        if (out[peer] != UINT32_MAX) continue;
        out[peer] = out[n] + 1;
        next.push_back(peer);
      }
    }
    return out;
  }

  void give_roles() {
    const std::vector<uint32_t> distance = distances();
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      ForeignNode& node = nodes_[n];
      if (node.use != NodeUse::kSwitch) continue;
      node.use = distance[n] == 2 ? NodeUse::kAggregation : distance[n] == 1 ? NodeUse::kTor : NodeUse::kCore;
      if (distance[n] == UINT32_MAX) {
        node.use = NodeUse::kTor;
        note(node.place, shown(node.name) + " has no host in reach: taken for a ToR");
      } else if (distance[n] > 3) {
        note(node.place, shown(node.name) + " is " + std::to_string(distance[n]) +
                             " links from the nearest host: taken for a core, as the tier below it");
      }
    }
  }

  // A host does not forward: two that are linked to each other can have no other link.
  void check_hosts() {
    std::vector<uint32_t> count(nodes_.size(), 0);
    for (const ForeignLink& link : links_) {
      ++count[link.a.node];
      ++count[link.b.node];
    }
    for (const ForeignLink& link : links_) {
      const uint32_t a = link.a.node;
      const uint32_t b = link.b.node;
      if (is_switch(a) || is_switch(b) || (count[a] == 1 && count[b] == 1)) continue;
      const ForeignNode& busy = nodes_[count[a] > 1 ? a : b];
      reader_.log().add(
          error_at(link.place, "joins two hosts, and " + busy.name +
                                   " has another link: hosts do not forward; a rule can make it a switch"));
    }
  }

  Reader& reader_;
  const ImportOptions& options_;
  ForeignTopology& topology_;
  std::vector<ForeignNode>& nodes_;
  std::vector<ForeignLink>& links_;
};

}  // namespace

bool complete(Reader& reader, const ImportOptions& options, ForeignTopology& topology) {
  return Completion(reader, options, topology).run();
}

}  // namespace softspine::control
