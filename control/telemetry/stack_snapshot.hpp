// SPDX-License-Identifier: Apache-2.0
// How the stacks of a fabric are, and what they have been through (testbeds/run/stack_control.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace softspine::control {

enum class StackRole : uint8_t { kPrimary, kSecondary };

// kAlone: it forwards, and holds its peer for lost. kDisabled: it has shut its ports to hosts, since the peer link is
// lost and the primary lives. kRestoring: its ports to hosts open after delay_restore. kDown: all of its links are
// down.
enum class StackState : uint8_t { kActive, kAlone, kDisabled, kRestoring, kDown };

constexpr std::string_view name_of(StackRole role) {
  return role == StackRole::kPrimary ? "primary" : "secondary";
}
constexpr std::string_view name_of(StackState state) {
  constexpr std::array<std::string_view, 5> kNames{"active", "alone", "disabled", "restoring", "down"};
  return kNames[static_cast<size_t>(state)];
}

struct StackMemberSnapshot {
  std::string name;  // of the switch
  StackRole role = StackRole::kPrimary;
  StackState state = StackState::kActive;
  uint64_t disables = 0;   // times that it shut its ports to hosts, since the peer link was lost
  uint64_t takeovers = 0;  // times that it became the primary, since no keepalive came
};

struct StackSnapshot {
  std::string name;
  std::array<StackMemberSnapshot, 2> members;
  bool peers = true;          // keepalives pass over the peer link
  uint64_t peer_losses = 0;   // times that none did for keepalive_timeout, or that the link went down
  uint64_t split_brains = 0;  // takeovers while the other one was the primary and lived
};

}  // namespace softspine::control
