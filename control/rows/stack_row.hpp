// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/document/document.hpp"
#include "control/model/stack.hpp"

namespace softspine::control {

struct StackRow {
  Value where;
  std::vector<std::string> switches;
  std::optional<std::string> primary;
  bool management = Stack{}.management;
  dataplane::Duration keepalive_interval = Stack{}.keepalive_interval;
  dataplane::Duration keepalive_timeout = Stack{}.keepalive_timeout;
  dataplane::Duration hold_timeout = Stack{}.hold_timeout;
  dataplane::Duration delay_restore = Stack{}.delay_restore;
};

}  // namespace softspine::control
