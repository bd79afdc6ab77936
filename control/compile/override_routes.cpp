// SPDX-License-Identifier: Apache-2.0
#include "control/compile/override_routes.hpp"

#include <algorithm>
#include <set>

namespace softspine::control {

namespace dp = dataplane;

namespace {

dp::Prefix cut_to(dp::Prefix prefix, uint8_t length) {
  prefix.length = length;
  for (size_t byte = 0; byte < prefix.address.size(); ++byte) {
    const size_t first = 8 * byte;
    if (first >= length) {
      prefix.address[byte] = 0;
    } else if (first + 8 > length) {
      prefix.address[byte] &= static_cast<uint8_t>(0xff << (first + 8 - length));
    }
  }
  return prefix;
}

class OverrideCompiler {
 public:
  OverrideCompiler(const PlannedRoutes& routes, std::span<const PortOverride> overrides) : routes_(routes) {
    for (const PortOverride& each : overrides) {
      by_prefix_[each.to].push_back(&each);
      lengths_.insert(each.to.length);
    }
    for (auto& [prefix, list] : by_prefix_) std::ranges::stable_sort(list, {}, &PortOverride::number);
    for (const auto& [prefix, route] : routes) route_lengths_.insert(prefix.length);
  }

  // Prefixes that need a set: those named, and the routes inside them.
  std::vector<dp::Prefix> prefixes() const {
    std::set<dp::Prefix> out;
    for (const auto& [prefix, list] : by_prefix_) out.insert(prefix);
    for (const auto& [prefix, route] : routes_) {
      const auto covers = [&](uint8_t length) {
        return length <= prefix.length && by_prefix_.contains(cut_to(prefix, length));
      };
      if (std::ranges::any_of(lengths_, covers)) out.insert(prefix);
    }
    return {out.begin(), out.end()};
  }

  PlannedRoute below(const dp::Prefix& prefix) const {
    for (auto length = route_lengths_.rbegin(); length != route_lengths_.rend(); ++length) {
      if (*length > prefix.length) continue;
      const auto found = routes_.find(cut_to(prefix, *length));
      if (found != routes_.end()) return found->second;
    }
    return {};
  }

  // The chosen overrides by port, the longest prefix first.
  std::map<uint16_t, const PortOverride*> chosen_for(const dp::Prefix& prefix) const {
    std::map<uint16_t, const PortOverride*> out;
    for (auto length = lengths_.rbegin(); length != lengths_.rend(); ++length) {
      if (*length > prefix.length) continue;
      const auto found = by_prefix_.find(cut_to(prefix, *length));
      if (found == by_prefix_.end()) continue;
      for (const PortOverride* each : found->second) out.emplace(each->in_port, each);
    }
    return out;
  }

 private:
  const PlannedRoutes& routes_;
  std::map<dp::Prefix, std::vector<const PortOverride*>> by_prefix_;
  std::set<uint8_t> lengths_;        // of overrides
  std::set<uint8_t> route_lengths_;  // of routes
};

}  // namespace

void add_overrides(PlannedRoutes& routes, std::span<const PortOverride> overrides,
                   const std::function<uint32_t(uint16_t port)>& hop_at, dp::OverrideTable& table) {
  if (overrides.empty()) return;
  const OverrideCompiler compiler(routes, overrides);
  PlannedRoutes made;
  for (const dp::Prefix& prefix : compiler.prefixes()) {
    const PlannedRoute below = compiler.below(prefix);
    const bool is_own =
        below.value != dp::PrefixTrie::kMiss && dp::RouteValue{below.value}.kind() == dp::RouteKind::kLocal;
    if (is_own) continue;
    std::vector<dp::OverrideEntry> entries;
    for (const auto& [in_port, each] : compiler.chosen_for(prefix)) {
      const bool leads = below.ports != nullptr && std::ranges::binary_search(*below.ports, each->out_port);
      entries.push_back({.in_port = in_port,
                         .out_port = each->out_port,
                         .next_hop = leads ? hop_at(each->out_port) : dp::OverrideEntry::kWithdrawn,
                         .number = each->number});
    }
    const uint32_t set = table.add(below.value, std::move(entries));
    made[prefix] = {dp::RouteValue{dp::RouteKind::kOverride, set}.packed(), below.ports};
  }
  for (const auto& [prefix, route] : made) routes[prefix] = route;
}

}  // namespace softspine::control
