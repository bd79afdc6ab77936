// SPDX-License-Identifier: Apache-2.0
// A testbed in which files stand for some hosts, drawn from a seed: racks of a few hosts, one or two of them on two
// racks, edges of every zero and offset, links that fail. What enters is that of edge_files.hpp.
#pragma once

#include <cstdint>
#include <string>

namespace softspine::tests {

// A testbed file, as JSON.
std::string random_edges(uint64_t seed);

}  // namespace softspine::tests
