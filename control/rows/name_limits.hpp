// SPDX-License-Identifier: Apache-2.0
// What may be a name of the user's choosing that stands in reports: also a counter's path.
#pragma once

#include <string>

#include "control/format/table.hpp"

namespace softspine::control {

inline const Limits<std::string> kNames = held_to<std::string>([](const std::string& name) {
  return is_name(name) ? "" : shown(name) + " is no name: letters, digits, '_' and '-', at most 63";
});

}  // namespace softspine::control
