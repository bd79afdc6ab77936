// SPDX-License-Identifier: Apache-2.0
// Which names a user may choose for what reports show: such a name is part of a counter's path.
#pragma once

#include <string>

#include "control/format/table.hpp"

namespace softspine::control {

inline const Limits<std::string> kNames = held_to<std::string>([](const std::string& name) {
  return is_name(name) ? "" : shown(name) + " is no name: letters, digits, '_' and '-', at most 63";
});

}  // namespace softspine::control
