// SPDX-License-Identifier: Apache-2.0
// A testbed of hosts' bonds and switches' LAGs that run LACP, and a sequence of failures, drawn from a seed.
//
//   0 s          bonds have agreed, and some of the LAGs
//   begin        flows between all hosts; 5 s later things begin to fail
//   quiet        nothing more happens, and every timer of LACP has run out: links that work are used, others not
//   repaired     everything is
//   healed       every timer has run out again: all links are used
//   end
#pragma once

#include <cstdint>
#include <string>

#include "dataplane/units/time.hpp"

namespace softspine::tests {

struct LacpSequence {
  std::string text;  // a testbed file
  dataplane::Instant begin;
  dataplane::Instant quiet;
  dataplane::Instant repaired;
  dataplane::Instant healed;
  dataplane::Instant end;
};

LacpSequence draw_lacp_sequence(uint64_t seed);

}  // namespace softspine::tests
