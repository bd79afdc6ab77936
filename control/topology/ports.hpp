// SPDX-License-Identifier: Apache-2.0
// Gives every link end of a draft a port: names where the file has none, numbers in the order of the names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/document/reader.hpp"
#include "control/generators/draft.hpp"

namespace softspine::control {

struct PlannedPort {
  std::string name;
  uint32_t link = 0;
  bool is_b = false;  // which end of the link
};

// The ports, by node of the draft. Reports a port that is used twice, and more ports than a node can have.
std::vector<std::vector<PlannedPort>> plan_ports(Reader& reader, const Draft& draft);

// Whether port `a` comes before `b`: "Ethernet8" before "Ethernet12".
bool port_before(std::string_view a, std::string_view b);

}  // namespace softspine::control
