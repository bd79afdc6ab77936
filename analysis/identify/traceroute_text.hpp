// SPDX-License-Identifier: Apache-2.0
// Observations from traceroutes: the address that answered at one distance is the link that the switch before it took.
//
//   traceroute        a line with the command itself, as a shell's `set -x` prints it, and then its output. The command
//                     has to name the flow: -s ADDRESS --sport=PORT -p PORT, with -U or -T; else each probe is a flow
//                     of its own, which the output does not show
//   paris-traceroute  its first line has addresses and ports
//   dublin-traceroute its JSON has them with each probe
//
// Several may follow each other in a file. A trace whose flow is not known is counted; hops that did not answer, and
// other lines, are passed over. Which switch is asked is said by `hop`: the distance of its next hops.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "analysis/identify/observations.hpp"
#include "control/document/error.hpp"

namespace softspine::analysis {

struct TracesRead {
  uint64_t traces = 0;
  uint64_t without_flow = 0;
};

std::expected<TracesRead, control::Errors> read_traceroutes(std::string_view text, const std::string& file,
                                                            uint32_t hop, ObservationCollector& out);

}  // namespace softspine::analysis
