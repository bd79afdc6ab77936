// SPDX-License-Identifier: Apache-2.0
// The LAGs of an imported topology as `topology: lags:` has them, once its nodes and ports have their names
// (completion.hpp). Links that were left out since, and nodes that are hosts after all, are in none.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "control/imports/foreign_topology.hpp"

namespace softspine::control {

struct NamedLag {
  std::string name;
  std::array<std::string, 2> between;
  std::vector<std::string> ports;  // of the first
  uint32_t min_links = 1;
  bool fast_rate = false;
  Place place;
};

std::vector<NamedLag> lags_of(const ForeignTopology& topology);

}  // namespace softspine::control
