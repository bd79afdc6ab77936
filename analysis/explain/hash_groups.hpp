// SPDX-License-Identifier: Apache-2.0
// The groups among whose members a switch chooses: its ECMP groups and its LAGs that have two members at least. And how
// far they have shared the load, a row for each member:
//
//   group           "ecmp 3", by its number in the switch's tables; a LAG by its name
//   destinations    of an ECMP group: a subnet or a switch that is routed to it, and how many more are; "slice": of a
//                   pinned profile's
//   expected        the share of the group's buckets that lead to the member: what an even hash would give it
//   share           of what the ports of all members have sent since the start (bytes); over_expected: over `expected`
//   also_in         further groups of the same kind with this member: its port has sent for those, too
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/routing/routes.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "dataplane/forwarding/forwarding_state.hpp"

namespace softspine::analysis {

struct HashGroupMember {
  std::string name;             // of the port that stands for it in the routes: its own, or its LAG's first
  std::string to;               // the node at its other end
  std::vector<uint32_t> ports;  // that send for it, ascending; of hash_groups_of(): by their numbers at the switch
  uint32_t buckets = 0;
  friend bool operator==(const HashGroupMember&, const HashGroupMember&) = default;
};
struct HashGroup {
  std::string name;
  std::string mode;
  std::string destinations;
  bool is_lag = false;
  std::vector<HashGroupMember> members;  // in the order of their first ports
  friend bool operator==(const HashGroup&, const HashGroup&) = default;
};

std::vector<HashGroup> hash_groups_of(const control::Fabric& fabric, uint32_t node,
                                      const dataplane::ForwardingState& state, const control::RouteTable& routes);

struct PortSent {
  uint64_t packets = 0;
  uint64_t bytes = 0;
};
// `sent_by`: of a port of `ports`.
control::Json hash_group_rows(std::span<const HashGroup> groups, const std::function<PortSent(uint32_t port)>& sent_by);

}  // namespace softspine::analysis
