// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "control/config/qos_resolve.hpp"
#include "control/config/resolve.hpp"

namespace softspine::control {
namespace {

// The link at node:port.
std::optional<uint32_t> find_link(Reader& reader, NodeFinder& nodes, const Endpoint& end, Value where) {
  if (end.port.empty()) return std::nullopt;  // could not be read
  const auto node = nodes.find(end.node, where);
  if (!node) return std::nullopt;
  std::vector<std::string_view> known;
  for (const FabricPort& port : nodes.fabric().nodes[*node].ports) {
    if (port.name == end.port) return port.link;
    known.push_back(port.name);
  }
  if (nodes.names_known()) {
    reader.wrong(where, end.node + " has no link at " + shown(end.port) + reader.guess(end.port, known));
  }
  return std::nullopt;
}

// The change of a switch's profile.
std::optional<ProfileChange> find_change(Reader& reader, NodeFinder& nodes, const FaultRow& row,
                                         const std::vector<Profile>& profiles) {
  const auto node = nodes.find(*row.node, row.where.child("node"));
  const auto profile = std::ranges::find(profiles, *row.profile, &Profile::name);
  if (profile == profiles.end()) {
    std::vector<std::string_view> known;
    for (const Profile& each : profiles) known.push_back(each.name);
    reader.wrong(row.where.child("profile"),
                 "there is no profile " + shown(*row.profile) + reader.guess(*row.profile, known));
  }
  if (!node || profile == profiles.end()) return std::nullopt;
  const FabricNode& found = nodes.fabric().nodes[*node];
  if (const auto refused = why_not_change(profiles, found, *profile); !refused.empty()) {
    reader.wrong(row.where.child("profile"), refused);
    return std::nullopt;
  }
  return ProfileChange{*node, static_cast<uint32_t>(profile - profiles.begin())};
}

}  // namespace

std::vector<Fault> resolve_faults(Reader& reader, const std::vector<FaultRow>& rows, const RunConfig& run,
                                  const std::vector<Profile>& profiles, NodeFinder& nodes) {
  std::vector<Fault> out;
  for (const FaultRow& row : rows) {
    if (row.where.kind() != ValueKind::kMap) continue;
    Fault fault{.at = dataplane::Instant::at(row.at), .links = {}, .up = row.set == LinkState::kUp, .profile = {}};
    if (row.at >= run.duration) reader.wrong(row.where.child("at"), "never happens: the run ends before");
    if (row.profile && row.node) {
      fault.profile = find_change(reader, nodes, row, profiles);
    } else if (row.link) {
      if (const auto link = find_link(reader, nodes, *row.link, row.where.child("link"))) fault.links = {*link};
    } else if (row.node) {
      if (const auto node = nodes.find(*row.node, row.where.child("node"))) {
        for (const FabricPort& port : nodes.fabric().nodes[*node].ports) fault.links.push_back(port.link);
      }
    }
    std::ranges::sort(fault.links);
    out.push_back(std::move(fault));
  }
  std::ranges::stable_sort(out, {}, &Fault::at);
  return out;
}

}  // namespace softspine::control
