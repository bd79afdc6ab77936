// SPDX-License-Identifier: Apache-2.0
#include "control/imports/foreign_names.hpp"

#include <unordered_map>
#include <unordered_set>

#include "control/document/words.hpp"
#include "control/format/format.hpp"
#include "control/generators/draft.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::control {
namespace {

constexpr size_t kMaxNameBytes = 63;
constexpr size_t kMaxPortBytes = 31;

// Both with '_' for what a name of ours cannot have.
std::string as_name(std::string_view text) {
  std::string out(text.substr(0, kMaxNameBytes));
  for (size_t i = 0; i < out.size(); ++i) {
    if (!is_name(std::string(i == 0 ? "" : "a") + out[i])) out[i] = i == 0 ? 'x' : '_';
  }
  return out.empty() ? "x" : out;
}
std::string as_port(std::string_view text) {
  std::string out(text.substr(0, kMaxPortBytes));
  for (char& c : out) {
    if (!is_port_name(std::string(1, c))) c = '_';
  }
  return out;
}

std::string fitting_name(const ForeignNode& node) {
  if (!node.number) return as_name(node.name);
  const auto role = role_of(node.use);
  std::string_view prefix = "h";
  if (role) prefix = *role == Role::kAggregation ? row_of(*role)->names[1] : row_of(*role)->names[0];
  return std::string(prefix) + std::to_string(*node.number);
}

class ForeignNames {
 public:
  ForeignNames(Reader& reader, ForeignTopology& topology)
      : reader_(reader), topology_(topology), nodes_(topology.nodes), links_(topology.links) {}

  void name_nodes() {
    std::unordered_map<std::string, const ForeignNode*> taken;
    for (ForeignNode& node : nodes_) {
      std::string name = fitting_name(node);
      if (!node.number && name != node.name) note(node.place, shown(node.name) + " is called " + name + " here");
      node.name = std::move(name);
      const auto [other, is_new] = taken.emplace(node.name, &node);
      if (!is_new) {
        reader_.log().add(error_at(node.place, "the name " + node.name + " is that of the node in line " +
                                                   std::to_string(other->second->place.line)));
      }
    }
  }

  void name_ports() {
    std::vector<std::unordered_set<std::string>> taken(nodes_.size());
    std::vector<uint32_t> next(nodes_.size(), 0);
    std::vector<uint32_t> count(nodes_.size(), 0);
    const auto for_each_end = [&](auto&& see) {
      for (ForeignLink& link : links_) {
        see(link, link.a);
        see(link, link.b);
      }
    };
    for_each_end([&](const ForeignLink& link, ForeignEnd& end) {
      ++count[end.node];
      if (end.port.empty()) return;
      std::string port = as_port(end.port);
      if (port != end.port) note(link.place, "the port " + shown(end.port) + " is called " + port + " here");
      end.port = std::move(port);
      if (taken[end.node].insert(end.port).second) return;
      reader_.log().add(
          error_at(link.place, "the port " + nodes_[end.node].name + ":" + end.port + " has a link already"));
    });
    for_each_end([&](const ForeignLink&, ForeignEnd& end) {
      if (!end.port.empty()) return;
      const NodeKind kind = nodes_[end.node].use == NodeUse::kHost ? NodeKind::kHost : NodeKind::kSwitch;
      do end.port = port_name(kind, next[end.node]++);
      while (!taken[end.node].insert(end.port).second);
    });
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      if (count[n] <= dataplane::kMaxPorts) continue;
      reader_.log().add(error_at(nodes_[n].place, nodes_[n].name + " has " + std::to_string(count[n]) +
                                                      " links, at most " + std::to_string(dataplane::kMaxPorts)));
    }
  }

 private:
  void note(const Place& place, std::string message) { topology_.notes.push_back(error_at(place, std::move(message))); }

  Reader& reader_;
  ForeignTopology& topology_;
  std::vector<ForeignNode>& nodes_;
  std::vector<ForeignLink>& links_;
};

}  // namespace

void give_names(Reader& reader, ForeignTopology& topology) {
  ForeignNames names(reader, topology);
  names.name_nodes();
  names.name_ports();
}

}  // namespace softspine::control
