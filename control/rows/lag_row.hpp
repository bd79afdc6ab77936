// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/document/document.hpp"
#include "control/model/lag.hpp"

namespace softspine::control {

// A port of a node.
struct Endpoint {
  std::string node;
  std::string port;  // empty: the next free one
};

// Links between two switches that are one way for routes (control/model/lag.hpp).
struct LagRow {
  Value where;
  std::string name;
  std::vector<std::string> between;
  std::optional<std::vector<Endpoint>> members;
  uint32_t min_links = Lag{}.min_links;
  LagMode mode = Lag{}.mode;
  std::optional<bool> fast_rate;
  std::optional<uint8_t> retry_count;
  std::optional<bool> agreed;
};

}  // namespace softspine::control
