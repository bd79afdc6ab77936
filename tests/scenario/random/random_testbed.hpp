// SPDX-License-Identifier: Apache-2.0
// A testbed file drawn from a seed: small, short, and as mixed as files can be. One of four generators (the others, and
// further faults: random_fabric.hpp); links by PFC or credit; plain queues, small shared buffers, lossless ones, marks,
// a watchdog; every way to choose a next hop; open loop and reliable traffic, with and without DCQCN; faults at
// instants to the picosecond.
#pragma once

#include <cstdint>
#include <string>

namespace softspine::tests {

struct RandomTestbed {
  std::string text;             // a testbed file
  bool keeps_lossless = false;  // headroom is by the formula, and nothing in it breaks the formula's conditions
};

RandomTestbed random_testbed(uint64_t seed);

}  // namespace softspine::tests
