// SPDX-License-Identifier: Apache-2.0
// `softspine show flow paths`: the built-in hosts' flows, or those that leave by one port, with the ports of their
// ways as the switches' tables are now.
//
//   flows, followed   all that were asked for; of these, those whose way is known (FlowPaths has limits)
//   found             those that leave by the port, or are followed; sent_bytes: of all of them together
//   rows              the `most` that have sent most
//   state             not begun, goes on, ended, or why it is stalled
//   end               "arrives", or what becomes of its packets on the way
#pragma once

#include "tools/softspine/views/show_views.hpp"

namespace softspine::tools {

control::Json flow_paths_json(ShownPaths shown);
std::string flow_paths_text(const control::Json& shown);

}  // namespace softspine::tools
