// SPDX-License-Identifier: Apache-2.0
#include "control/report/stack_json.hpp"

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::control {

Json stacks_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (const StackSnapshot& stack : snapshot.stacks) {
    Json members = Json::object();
    for (const StackMemberSnapshot& each : stack.members) {
      add_key(members, each.name,
              {{"role", name_of(each.role)},
               {"state", name_of(each.state)},
               {"disables", each.disables},
               {"takeovers", each.takeovers}});
    }
    add_key(out, stack.name,
            {{"peers", stack.peers},
             {"peer_losses", stack.peer_losses},
             {"split_brains", stack.split_brains},
             {"members", std::move(members)}});
  }
  return out;
}

std::string stacks_table(const FabricSnapshot& snapshot) {
  TextTable table{{"<STACK", "<PEER_LINK", "<SWITCH", "<ROLE", "<STATE", "DISABLES", "TAKEOVERS", "SPLIT_BRAINS"}};
  for (const StackSnapshot& stack : snapshot.stacks) {
    for (const StackMemberSnapshot& each : stack.members) {
      table.add({stack.name, stack.peers ? "alive" : "lost", each.name, std::string{name_of(each.role)},
                 std::string{name_of(each.state)}, grouped(each.disables), grouped(each.takeovers),
                 grouped(stack.split_brains)});
    }
  }
  return table.text();
}

std::vector<ReportField> stack_fields() {
  const std::string member = "stacks.*.members.*.";
  return {
      {"stacks.*.peers", "true or false", "Keepalives pass over the peer link."},
      {"stacks.*.peer_losses", "a count", "Times that the peer link went down, or none passed for keepalive_timeout."},
      {"stacks.*.split_brains", "a count", "Times that a switch became primary while the other one was, and lived."},
      {member + "role", "text", "primary or secondary, as the switch itself takes it."},
      {member + "state", "text",
       "active; alone: it holds its peer for lost; disabled: it has shut its ports to hosts; restoring: they open "
       "after delay_restore; down: all of its links are down."},
      {member + "disables", "a count",
       "Times that it shut its ports to hosts, since the peer link was lost and the primary lived."},
      {member + "takeovers", "a count", "Times that it became the primary, since no keepalive came."},
  };
}

}  // namespace softspine::control
