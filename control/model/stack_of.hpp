// SPDX-License-Identifier: Apache-2.0
// Whether the switches of a subnet are one system.
#pragma once

#include <algorithm>

#include "control/model/fabric.hpp"

namespace softspine::control {

// The stack that they are; null: none.
inline const Stack* stack_of(const Fabric& fabric, const Subnet& subnet) {
  const auto is_it = [&](const Stack& it) { return std::ranges::is_permutation(it.switches, subnet.switches); };
  const auto found = std::ranges::find_if(fabric.stacks, is_it);
  return found == fabric.stacks.end() ? nullptr : &*found;
}

}  // namespace softspine::control
