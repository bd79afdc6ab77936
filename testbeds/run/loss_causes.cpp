// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/loss_causes.hpp"

#include <algorithm>
#include <ranges>

#include "control/routing/routes.hpp"

namespace softspine::testbeds {

using control::DropPlace;
using control::ExplainedDrop;
using control::LinkEnd;
using dataplane::DropReason;
using dataplane::LossKind;
using dataplane::LossRecord;

namespace {

bool is_of(const std::vector<LinkEnd>& ports, uint32_t node) {
  return std::ranges::any_of(ports, [node](LinkEnd end) { return end.node == node; });
}
bool has(const std::vector<LinkEnd>& ports, LinkEnd end) {
  return std::ranges::binary_search(ports, end);
}

}  // namespace

LossCauses::LossCauses(const control::Fabric& fabric, const RunFlows& flows)
    : fabric_(fabric), flows_(flows), usable_(fabric.links.size(), true) {
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind != control::NodeKind::kHost) continue;
    by_ipv4_.emplace(fabric.nodes[n].ipv4, n);
    by_ipv6_.emplace(fabric.nodes[n].ipv6, n);
  }
}

void LossCauses::begin(uint32_t fault, FaultScope scope) {
  std::ranges::sort(scope.ports);
  open_.push_back({fault, std::move(scope)});
  known_.clear();
}

void LossCauses::set_links(const std::vector<bool>& usable) {
  usable_ = usable;
  known_.clear();
}

void LossCauses::followed(uint32_t fault) {
  for (Open& each : open_) each.followed = each.followed || each.fault == fault;
  known_.clear();
}

void LossCauses::forget(uint32_t fault) {
  std::erase_if(open_, [fault](const Open& each) { return each.fault == fault; });
  known_.clear();
}

std::optional<uint32_t> LossCauses::of(const LossRecord& record) {
  for (const Open& each : open_ | std::views::reverse) {
    if (explains(each.scope, record)) return each.fault;
  }
  if (record.kind != LossKind::kDropped || !dataplane::is_of_routes(record.reason)) return std::nullopt;
  const auto host = destination_of(record);
  if (!host) return std::nullopt;
  const auto [known, is_new] = known_.try_emplace({record.node, *host});
  if (is_new) known->second = by_routes(record.node, *host);
  return known->second;
}

bool LossCauses::takes_down(const FaultScope& scope, LinkEnd end) const {
  return scope.losses().takes_links_down && end.port < fabric_.nodes[end.node].ports.size() &&
         std::ranges::binary_search(scope.links, fabric_.port(end).link);
}

bool LossCauses::explains(const FaultScope& scope, const LossRecord& record) const {
  const LinkEnd end{record.node, record.out_port};
  const auto explains_it = [&](const ExplainedDrop& drop) { return explains_drop(scope, drop, record); };
  switch (record.kind) {
    case LossKind::kDropped:
      return (record.reason == DropReason::kLinkDown && takes_down(scope, end)) ||
             std::ranges::any_of(scope.losses().drops, explains_it);
    case LossKind::kLinkDown: return takes_down(scope, end);
    case LossKind::kVanished:
    case LossKind::kDamaged: return scope.losses().kills_frames && has(scope.ports, end);
  }
  return false;
}

bool LossCauses::explains_drop(const FaultScope& scope, const ExplainedDrop& drop, const LossRecord& record) const {
  if (record.reason != drop.reason) return false;
  const size_t ports = fabric_.nodes[record.node].ports.size();
  const auto leads_to_scope = [&](uint16_t port) {
    return port < ports && has(scope.ports, fabric_.peer_of({record.node, port}));
  };
  switch (drop.place) {
    case DropPlace::kCameIn: return has(scope.ports, {record.node, record.in_port});
    case DropPlace::kWentOut: return has(scope.ports, {record.node, record.out_port});
    case DropPlace::kCameFrom: return leads_to_scope(record.in_port);
    case DropPlace::kWentTo: return leads_to_scope(record.out_port);
    case DropPlace::kInTheirOwner: return is_of(scope.ports, record.node);
  }
  return false;
}

bool LossCauses::joins(const FaultScope& scope, uint32_t node, uint32_t host) const {
  const auto& ports = fabric_.nodes[host].ports;
  for (uint16_t p = 0; p < ports.size(); ++p) {
    if (fabric_.peer_of({host, p}).node == node && std::ranges::binary_search(scope.links, ports[p].link)) return true;
  }
  return false;
}

std::optional<uint32_t> LossCauses::by_routes(uint32_t node, uint32_t host) const {
  for (const Open& each : open_ | std::views::reverse) {
    if (joins(each.scope, node, host)) return each.fault;
  }
  std::vector<bool> links = usable_;
  if (fabric_.nodes[host].subnet == control::kNone) return std::nullopt;
  const bool has_one_now = control::has_route(fabric_, links, node, host);
  std::optional<uint32_t> latest;
  for (const Open& each : open_ | std::views::reverse) {
    if (each.scope.links.empty()) continue;
    latest = latest.value_or(each.fault);
    if (has_one_now && !each.followed) return each.fault;
    if (has_one_now) continue;
    for (const uint32_t link : each.scope.links) links[link] = true;
    if (control::has_route(fabric_, links, node, host)) return each.fault;
  }
  return has_one_now ? latest : std::nullopt;
}

std::optional<uint32_t> LossCauses::destination_of(const LossRecord& record) const {
  if (record.flow < flows_.size()) return flows_.plan(record.flow).destination;
  const auto in = [](const auto& hosts, const auto& address) {
    const auto found = hosts.find(address);
    return found == hosts.end() ? std::nullopt : std::optional<uint32_t>(found->second);
  };
  const auto& b = record.destination;
  if (record.has_ipv4) {
    return in(by_ipv4_, control::Ipv4Address{uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3]});
  }
  return record.has_ipv6 ? in(by_ipv6_, control::Ipv6Address{b}) : std::nullopt;
}

}  // namespace softspine::testbeds
