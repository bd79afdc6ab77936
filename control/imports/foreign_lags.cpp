// SPDX-License-Identifier: Apache-2.0
#include "control/imports/foreign_lags.hpp"

#include <algorithm>

#include "control/format/format.hpp"

namespace softspine::control {

std::vector<NamedLag> lags_of(const ForeignTopology& topology) {
  std::vector<std::vector<const ForeignLink*>> members(topology.lags.size());
  for (const ForeignLink& link : topology.links) {
    if (link.lag) members[*link.lag].push_back(&link);
  }
  std::vector<NamedLag> out;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].empty()) continue;
    const ForeignLag& lag = topology.lags[i];
    const ForeignNode& first = topology.nodes[members[i].front()->a.node];
    const ForeignNode& second = topology.nodes[members[i].front()->b.node];
    if (first.use == NodeUse::kHost || second.use == NodeUse::kHost) continue;
    NamedLag& made = out.emplace_back(NamedLag{.name = first.name + "-" + lag.name,
                                               .between = {first.name, second.name},
                                               .ports = {},
                                               .fast_rate = lag.fast_rate,
                                               .place = lag.place});
    if (!is_name(made.name)) made.name = "lag" + std::to_string(i + 1);
    for (const ForeignLink* link : members[i]) made.ports.push_back(link->a.port);
    made.min_links = std::min(lag.min_links, static_cast<uint32_t>(made.ports.size()));
  }
  return out;
}

}  // namespace softspine::control
