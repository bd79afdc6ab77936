// SPDX-License-Identifier: Apache-2.0
#include "analysis/playback/recorded_groups.hpp"

#include <algorithm>
#include <vector>

#include "control/telemetry/json.hpp"

namespace softspine::analysis {

using control::Database;
using control::Json;
using control::Statement;

namespace {

// The rows of members come by group, then by port: a member's ports may have others between them.
std::vector<HashGroup> groups_at(Database& recording, int64_t node, int64_t at_ps) {
  std::vector<HashGroup> out;
  Statement query{recording,
                  "SELECT hash_group_id, hash_groups.name, is_lag, mode, destinations, member, peers.name, "
                  "hash_group_members.port_id, "
                  "buckets FROM hash_groups JOIN hash_group_members USING(hash_group_id) JOIN ports USING(port_id) "
                  "JOIN ports AS other ON other.port_id = ports.peer_port_id "
                  "JOIN nodes AS peers ON peers.node_id = other.node_id WHERE hash_table_id = (SELECT "
                  "max(hash_table_id) FROM hash_tables WHERE node_id = ?1 AND t_ps <= ?2) "
                  "ORDER BY hash_group_id, hash_group_members.port_id"};
  query.add(node).add(at_ps);
  int64_t last = -1;
  while (query.next()) {
    if (query.number(0) != last) {
      out.push_back({.name = query.text(1),
                     .mode = query.text(3),
                     .destinations = query.text(4),
                     .is_lag = query.number(2) != 0});
    }
    last = query.number(0);
    std::vector<HashGroupMember>& members = out.back().members;
    const std::string name = query.text(5);
    auto member = std::ranges::find(members, name, &HashGroupMember::name);
    if (member == members.end()) {
      const auto buckets = static_cast<uint32_t>(query.number(8));
      member = members.insert(member, {.name = name, .to = query.text(6), .ports = {}, .buckets = buckets});
    }
    member->ports.push_back(static_cast<uint32_t>(query.number(7)));
  }
  return out;
}

}  // namespace

Json recorded_hash_groups(Database& recording, const std::string& node, int64_t at_ps,
                          const std::function<PortSent(uint32_t port)>& sent_by) {
  Statement found{recording, "SELECT node_id FROM nodes WHERE kind = 'switch' AND name = ?1"};
  if (!found.add(node).next()) return nullptr;
  return hash_group_rows(groups_at(recording, found.number(0), at_ps), sent_by);
}

}  // namespace softspine::analysis
