// SPDX-License-Identifier: Apache-2.0
// What the nodes of another system's file become here, where the user decides it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "control/model/role.hpp"

namespace softspine::control {

// What a node of the file becomes.
enum class NodeUse : uint8_t {
  kHost,
  kSwitch,
  kTor,
  kAggregation,
  kCore,
  kNothing,  // nothing: it is left out, and its links
  kByLinks,  // a host if it has one link, or links to switches alone; else a switch. No rule says so, only readers.
};

// "linux=switch": nodes whose name, number or kind is this; * stands for anything.
struct NodeRule {
  std::string pattern;
  NodeUse use = NodeUse::kHost;
};

// The words of rules, as "linux=switch".
inline constexpr std::array<std::pair<std::string_view, NodeUse>, 6> kNodeUses{{{"host", NodeUse::kHost},
                                                                                {"switch", NodeUse::kSwitch},
                                                                                {"tor", NodeUse::kTor},
                                                                                {"aggregation", NodeUse::kAggregation},
                                                                                {"core", NodeUse::kCore},
                                                                                {"none", NodeUse::kNothing}}};

// Nothing if it is none.
std::optional<NodeRule> parse_node_rule(std::string_view text);
std::string to_string(const NodeRule& rule);

// '*' stands for any number of any letters.
bool fits_rule(std::string_view pattern, std::string_view text);

inline std::optional<Role> role_of(NodeUse use) {
  switch (use) {
    case NodeUse::kTor: return Role::kTor;
    case NodeUse::kAggregation: return Role::kAggregation;
    case NodeUse::kCore: return Role::kCore;
    default: return std::nullopt;
  }
}

}  // namespace softspine::control
