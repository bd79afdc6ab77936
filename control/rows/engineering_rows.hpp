// SPDX-License-Identifier: Apache-2.0
// The rows of overrides and of the controller that computes some, as they are written.
#pragma once

#include <optional>
#include <string>

#include "control/format/format.hpp"
#include "control/model/engineering.hpp"

namespace softspine::control {

// A port of the switch, or a node that is linked to it, is named by a word.
struct OverrideRow {
  Value where;
  std::string at;
  std::optional<std::string> from;
  OneOrMore<std::string> to;
  std::string via;
};

struct EngineeringRow {
  Value where;
  dataplane::Duration interval = EngineeringConfig{}.interval;
  dataplane::Duration delay = EngineeringConfig{}.delay;
  std::optional<OneOrMore<std::string>> at;
  Share utilisation{1'000'000};
};

}  // namespace softspine::control
