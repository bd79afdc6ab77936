// SPDX-License-Identifier: Apache-2.0
// The user's rules for what the nodes of another system's file become here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "control/model/role.hpp"

namespace softspine::control {

// The result for a node of the file. A switch with a role has a value of its own for each role (use_of).
enum class NodeUse : uint8_t {
  kHost,
  kSwitch,
  kNothing,  // nothing: it is left out, and its links
  kByLinks,  // a host if it has one link, or links to switches alone; else a switch. Only readers use it, no rule.
  kFirstRole,
  kTor = kFirstRole + static_cast<uint8_t>(Role::kTor),
  kAggregation = kFirstRole + static_cast<uint8_t>(Role::kAggregation),
  kCore = kFirstRole + static_cast<uint8_t>(Role::kCore),
};
constexpr NodeUse use_of(Role role) {
  return static_cast<NodeUse>(static_cast<uint8_t>(NodeUse::kFirstRole) + static_cast<uint8_t>(role));
}
constexpr std::optional<Role> role_of(NodeUse use) {
  if (use < NodeUse::kFirstRole) return std::nullopt;
  return static_cast<Role>(static_cast<uint8_t>(use) - static_cast<uint8_t>(NodeUse::kFirstRole));
}

// "linux=switch": nodes whose name, number or kind is this; * stands for anything.
struct NodeRule {
  std::string pattern;
  NodeUse use = NodeUse::kHost;
};

// The words of rules, as "linux=switch": the roles by their own words (role.hpp).
inline constexpr auto kNodeUses = [] {
  std::array<std::pair<std::string_view, NodeUse>, kSwitchRoles.size() + 3> out{
      {{"host", NodeUse::kHost}, {"switch", NodeUse::kSwitch}}};
  for (size_t i = 0; i < kSwitchRoles.size(); ++i) out[i + 2] = {kSwitchRoles[i].word, use_of(kSwitchRoles[i].role)};
  out.back() = {"none", NodeUse::kNothing};
  return out;
}();

// "WHAT=USE (host, switch, …, none)", for complaints.
inline constexpr auto kNodeRuleForm = [] {
  std::array<char, 128> out{};
  size_t at = 0;
  const auto add = [&](std::string_view text) {
    for (const char c : text) out[at++] = c;
  };
  add("WHAT=USE (");
  for (const auto& [word, use] : kNodeUses) {
    if (word != kNodeUses.front().first) add(", ");
    add(word);
  }
  add(")");
  return out;
}();

inline constexpr const char* kNodeRuleHelp =
    "WHAT=USE: what nodes of this name, number or kind (* for anything) are: host, switch, the word of a role, or "
    "none; the first rule that fits counts";

// Nothing if it is none.
std::optional<NodeRule> parse_node_rule(std::string_view text);
std::string to_string(const NodeRule& rule);

// '*' stands for any number of any letters.
bool fits_rule(std::string_view pattern, std::string_view text);

}  // namespace softspine::control
