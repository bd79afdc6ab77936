// SPDX-License-Identifier: Apache-2.0
// The prefixes that a file gives hosts by `subnet` at their switch: usable ones, which neither overlap each other nor
// what addresses are planned from. All others are reported as errors.
#pragma once

#include <optional>
#include <vector>

#include "control/topology/expand.hpp"

namespace softspine::control {

struct GivenSubnet {
  std::optional<Ipv4Prefix> v4;
  std::optional<Ipv6Prefix> v6;
  Value v4_where;
  Value v6_where;
};

// By the fabric's subnets, whose hosts and switches are known by then.
std::vector<GivenSubnet> read_subnets(Reader& reader, const Expanded& expanded);

}  // namespace softspine::control
