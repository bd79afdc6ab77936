// SPDX-License-Identifier: Apache-2.0
#include "control/topology/node_sets.hpp"

#include <algorithm>
#include <optional>

#include "control/document/words.hpp"
#include "control/topology/job_sets.hpp"
#include "control/topology/name_patterns.hpp"

namespace softspine::control {
namespace {

constexpr std::string_view kRail = "rail ";
constexpr std::string_view kServer = "server ";
constexpr std::string_view kBehind = ":*";

NamedNodes none(std::string why, std::string_view unknown = "", NamedNodes::Of of = NamedNodes::Of::kNode) {
  return {.nodes = {}, .wrong = std::move(why), .unknown = std::string(unknown), .of = of};
}

constexpr const char* kTooMany = "is one set of too many: together they cost too much to look up";

}  // namespace

NodeSets::NodeSets(const Fabric& fabric) : fabric_(fabric) {
  names_.reserve(fabric.nodes.size());
  for (uint32_t i = 0; i < fabric.nodes.size(); ++i) {
    by_name_.emplace(fabric.nodes[i].name, i);
    names_.push_back(fabric.nodes[i].name);
  }
}

bool NodeSets::is_set(std::string_view text) {
  return text.find("..") != std::string_view::npos || text.find_first_of("*: ") != std::string_view::npos;
}

std::vector<std::string_view> NodeSets::names_of_servers() const {
  std::vector<std::string_view> out;
  for (const FabricNode& node : fabric_.nodes) {
    if (node.kind == NodeKind::kHost && (out.empty() || out.back() != node.server)) out.push_back(node.server);
  }
  return out;
}

std::vector<std::string_view> NodeSets::names_of_jobs() const {
  std::vector<std::string_view> out;
  for (const Job& job : jobs_) out.push_back(job.name);
  return out;
}

bool NodeSets::may_scan() {
  if (budget_ < fabric_.nodes.size()) return false;
  budget_ -= fabric_.nodes.size();
  return true;
}

NamedNodes NodeSets::find(std::string_view text, Among among) {
  constexpr uint64_t kCostOfMember = 64;
  NamedNodes out = look_up(text, among);
  const uint64_t cost = out.nodes.size() < 2 ? 0 : out.nodes.size() * kCostOfMember;
  if (cost > budget_) return none(kTooMany);
  budget_ -= cost;
  return out;
}

NamedNodes NodeSets::look_up(std::string_view text, Among among) {
  if (const auto found = by_name_.find(text); found != by_name_.end())
    return {.nodes = {found->second}, .wrong = {}, .unknown = {}};
  if (!is_set(text)) return none("there is no node " + shown(text), text);
  if (is_job_set(text)) {
    JobMembers found = find_in_jobs(text, jobs_, fabric_);
    if (!found.nodes.empty()) return {.nodes = std::move(found.nodes), .wrong = {}, .unknown = {}};
    return none(std::move(found.wrong), found.unknown, NamedNodes::Of::kJob);
  }
  if (const size_t dots = text.find(".."); dots != std::string_view::npos)
    return range(text.substr(0, dots), text.substr(dots + 2));
  if (text.starts_with(kRail)) return rail(text.substr(kRail.size()));
  if (text.starts_with(kServer)) return servers(text.substr(kServer.size()));
  if (text.ends_with(kBehind)) return behind(text.substr(0, text.size() - kBehind.size()));
  return like(text, among);
}

NamedNodes NodeSets::range(std::string_view first, std::string_view last) const {
  const auto range = names_between(first, last);
  if (!range) return none("a range has two names that differ in one number, such as h1..h8");
  const uint32_t steps = std::max(range->first, range->last) - std::min(range->first, range->last);
  NamedNodes out;
  for (uint32_t i = 0; i <= steps; ++i) {
    const uint32_t number = range->first <= range->last ? range->first + i : range->first - i;
    const std::string name = std::string(range->before) + std::to_string(number) + std::string(range->after);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return none("there is no node " + shown(name), name);
    out.nodes.push_back(found->second);
  }
  return out;
}

NamedNodes NodeSets::rail(std::string_view number) {
  if (!may_scan()) return none(kTooMany);
  const auto wanted = number_in(number);
  NamedNodes out;
  uint32_t most = 0;
  for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
    const uint32_t rail = fabric_.nodes[n].rail;
    most = std::max(most, rail);
    if (wanted && rail == *wanted && rail != 0) out.nodes.push_back(n);
  }
  if (!out.nodes.empty()) return out;
  return none("there is no rail " + shown(number) +
              (most == 0 ? ": no server has several NICs" : ": they are 1 to " + std::to_string(most)));
}

NamedNodes NodeSets::behind(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return none("there is no node " + shown(name), name);
  NamedNodes out;
  const FabricNode& node = fabric_.nodes[found->second];
  if (node.kind != NodeKind::kSwitch) return none(shown(name) + " is no switch that hosts could be linked to");
  for (uint16_t p = 0; p < node.ports.size(); ++p) {
    const uint32_t peer = fabric_.peer_of({found->second, p}).node;
    const bool known = !out.nodes.empty() && out.nodes.back() == peer;  // by several links
    if (fabric_.nodes[peer].kind == NodeKind::kHost && !known) out.nodes.push_back(peer);
  }
  std::ranges::sort(out.nodes);
  const auto repeated = std::ranges::unique(out.nodes);
  out.nodes.erase(repeated.begin(), repeated.end());
  return out.nodes.empty() ? none("no host is linked to " + shown(name)) : out;
}

NamedNodes NodeSets::servers(std::string_view pattern) {
  if (!may_scan()) return none(kTooMany);
  NamedNodes out;
  for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
    const FabricNode& node = fabric_.nodes[n];
    if (node.kind == NodeKind::kHost && is_like(node.server, pattern)) out.nodes.push_back(n);
  }
  return out.nodes.empty() ? none("there is no server " + shown(pattern), pattern, NamedNodes::Of::kServer) : out;
}

NamedNodes NodeSets::like(std::string_view pattern, Among among) {
  if (pattern.find_first_of(": ") != std::string_view::npos)
    return none(shown(pattern) + " is no set: h1..h8, rail 1, tor2:*, server s1-*, job NAME, or a name with *");
  if (!may_scan()) return none(kTooMany);
  NamedNodes out;
  bool is_switch = false;  // who names switches has not mistyped a host
  for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
    if (!is_like(names_[n], pattern)) continue;
    if (among == Among::kHosts && fabric_.nodes[n].kind != NodeKind::kHost) {
      is_switch = true;
    } else {
      out.nodes.push_back(n);
    }
  }
  if (!out.nodes.empty()) return out;
  const char* what = among == Among::kHosts ? "host" : "node";
  return none("no " + std::string(what) + "'s name is like " + shown(pattern), is_switch ? "" : pattern);
}

}  // namespace softspine::control
