// SPDX-License-Identifier: Apache-2.0
// Strongly connected components of a directed graph, by Tarjan's algorithm (SIAM J. Comput. 1972), in time linear in
// vertices and edges. The search has a stack of its own and does not recurse: a chain of pauses may be long.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace softspine::analysis::storm {

// `successors` of a vertex, 0 … vertices − 1. Each member of a component leads to each other one; components of one
// vertex are left out.
std::vector<std::vector<uint32_t>> strong_components(uint32_t vertices,
                                                     const std::function<std::vector<uint32_t>(uint32_t)>& successors);

}  // namespace softspine::analysis::storm
