// SPDX-License-Identifier: Apache-2.0
// A testbed file drawn from a seed, for breadth where random_testbed.hpp has depth: the generators, links and faults
// that it draws none of. Classic Clos networks, crossbars, stars, 2-ary fat trees, front-ends, DCN+; LAGs, stacks of
// dual ToRs, bonds, jobs; one-way and dead links, drained ones, flaps, ports that send nothing.
#pragma once

#include <cstdint>
#include <string>

namespace softspine::tests {

std::string random_fabric(uint64_t seed);

}  // namespace softspine::tests
