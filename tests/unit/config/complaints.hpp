// SPDX-License-Identifier: Apache-2.0
// Testbed texts for tests: what the reader says about them, line by line, what it makes of them, and pieces to build
// them from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/load/load.hpp"

namespace softspine::tests {

using Complaints = std::vector<std::string>;

// "LINE path: message" for each error, in the reader's order; none: the text is good.
Complaints complaints_about(std::string_view text, const control::Overrides& overrides = {});

// The testbed; fails the test, saying why, if there is none.
control::Testbed read_well(std::string_view text, const control::Overrides& overrides = {});

// By its name, which has to be there.
const control::FabricNode& node_of(const control::Testbed& testbed, std::string_view name);

// Two ToRs (tor1, tor2), one spine, two hosts on each ToR (h1 … h4). Takes lines 1 to 3.
inline constexpr std::string_view kSmallFabric =
    "name: small\n"
    "fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2,\n"
    "  host_link: {rate: 100Gbps, length: 5m}, fabric_link: {rate: 400Gbps, length: 40m}}\n";

// The small fabric and, from line 4 on, this.
std::string with_fabric(std::string_view rest);

}  // namespace softspine::tests
