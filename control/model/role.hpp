// SPDX-License-Identifier: Apache-2.0
// The roles of a fabric's switches. Each is declared here, and only here; files, routes, reports, `storm` and the
// picture take from its row what they need. The pipeline of a role: testbeds/run/assembly.cpp, which does not compile
// without one for each row.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace softspine::control {

// Hosts have no role; kHost is the value of whatever is no switch.
enum class Role : uint8_t { kTor, kAggregation, kCore, kHost };

struct RoleRow {
  Role role;
  std::string_view word;  // in testbed files and reports
  // How far above the hosts, which are tier 0. Routes lead up to a higher tier, then down.
  int tier;
  bool bridges_hosts;  // its hosts share a VLAN, which it bridges; of the others each port is routed
  // Words in node names that stand for the role: generated names, and those that people give.
  std::array<std::string_view, 5> names;
  std::string_view profile_key;  // what `roles: {WORD: …}` sets
  std::string_view label;        // at the edge of a picture, for all of the tier
};

// The rows stand by tier, in the order of Role.
inline constexpr std::array kSwitchRoles{RoleRow{.role = Role::kTor,
                                                 .word = "tor",
                                                 .tier = 1,
                                                 .bridges_hosts = true,
                                                 .names = {"tor", "leaf", "edge", "rtsw", "rack"},
                                                 .profile_key = "profile of ToRs",
                                                 .label = "ToRs"},
                                         RoleRow{.role = Role::kAggregation,
                                                 .word = "aggregation",
                                                 .tier = 2,
                                                 .bridges_hosts = false,
                                                 .names = {"aggregation", "agg", "spine", "ctsw"},
                                                 .profile_key = "profile of aggregation switches",
                                                 .label = "spine / agg."},
                                         RoleRow{.role = Role::kCore,
                                                 .word = "core",
                                                 .tier = 3,
                                                 .bridges_hosts = false,
                                                 .names = {"core", "atsw", "superspine"},
                                                 .profile_key = "profile of core switches",
                                                 .label = "cores"}};
inline constexpr std::string_view kHostWord = "host";
inline constexpr int kHostTier = 0;
inline constexpr int kTopTier = std::ranges::max(kSwitchRoles, {}, &RoleRow::tier).tier;

static_assert(
    [] {
      for (size_t i = 0; i < kSwitchRoles.size(); ++i) {
        if (kSwitchRoles[i].role != static_cast<Role>(i) || kSwitchRoles[i].tier <= kHostTier) return false;
      }
      return kSwitchRoles.size() == static_cast<size_t>(Role::kHost);
    }(),
    "each role has the row of its number, above the hosts");

constexpr const RoleRow* row_of(Role role) {
  return role == Role::kHost ? nullptr : &kSwitchRoles[static_cast<size_t>(role)];
}
constexpr int tier_of(Role role) {
  const RoleRow* row = row_of(role);
  return row == nullptr ? kHostTier : row->tier;
}
constexpr bool bridges_hosts(Role role) {
  const RoleRow* row = row_of(role);
  return row != nullptr && row->bridges_hosts;
}
inline std::string name_of(Role role) {
  const RoleRow* row = row_of(role);
  return std::string(row == nullptr ? kHostWord : row->word);
}
// The tier of a switch whose role a report gives as a word.
constexpr std::optional<int> tier_of_word(std::string_view word) {
  for (const RoleRow& row : kSwitchRoles) {
    if (row.word == word) return row.tier;
  }
  return {};
}

}  // namespace softspine::control
