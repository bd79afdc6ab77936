// SPDX-License-Identifier: Apache-2.0
// `softspine show hash groups`: the groups among whose members a switch chooses, and how far they have shared the load.
// A row for each member.
//
//   group           "ecmp 3", by its number in the switch's tables; a LAG by its name
//   destinations    of an ECMP group: a subnet or a switch that is routed to it, and how many more are; "slice": of a
//                   pinned profile's
//   expected        the share of the group's buckets that lead to the member: what an even hash would give it
//   share           of what the ports of all members have sent since the start (bytes); over_expected: over `expected`
//   also_in         further groups of the same kind with this member: its port has sent for those, too
#pragma once

#include "tools/softspine/views/show_views.hpp"

namespace softspine::tools {

control::Json hash_groups_json(const ShownSwitch& shown);

}  // namespace softspine::tools
