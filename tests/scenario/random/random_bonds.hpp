// SPDX-License-Identifier: Apache-2.0
// A testbed of hosts with two ports, drawn from a seed: one plane or two, bonds of every kind, reliable connections in
// a lossless fabric, and links of hosts and switches that are cut and repaired at instants to the picosecond. All are
// repaired long before the run ends, and a connection has more patience than that takes.
#pragma once

#include <cstdint>
#include <string>

namespace softspine::tests {

// A testbed file. No connection whose peer can be reached once everything is repaired gives up.
std::string random_bonds(uint64_t seed);

}  // namespace softspine::tests
