// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/group_log.hpp"

#include <utility>

namespace softspine::testbeds {

using analysis::HashGroup;
using control::RecordedGroup;
using control::RecordedGroups;
using dataplane::Instant;

namespace {

RecordedGroup recorded(uint32_t node, const HashGroup& group) {
  RecordedGroup out{.name = group.name, .mode = group.mode, .destinations = group.destinations, .is_lag = group.is_lag};
  for (const analysis::HashGroupMember& member : group.members) {
    RecordedGroup::Member& into = out.members.emplace_back();
    into = {.name = member.name, .buckets = member.buckets};
    for (const uint32_t port : member.ports) into.ports.push_back({node, static_cast<uint16_t>(port)});
  }
  return out;
}

}  // namespace

void GroupLog::open(std::shared_ptr<control::Recording> into, uint64_t most_members) {
  most_members_ = most_members;
  into_ = std::move(into);
  known_.resize(testbed_.fabric.nodes.size());
}

void GroupLog::look(const PathTables& tables, Instant now) {
  for (uint32_t n = 0; n < known_.size() && members_ <= most_members_; ++n) {
    if (tables.states[n] == known_[n].state) continue;
    known_[n].state = tables.states[n];
    look_at_switch(n, now);
  }
}

void GroupLog::look_at_switch(uint32_t node, Instant now) {
  Known& known = known_[node];
  std::vector<HashGroup> groups = analysis::hash_groups_of(testbed_.fabric, node, *known.state, links_.routes(node));
  if (groups == known.groups) return;
  known.groups = std::move(groups);
  RecordedGroups out{.node = node};
  for (const HashGroup& group : known.groups) {
    out.groups.push_back(recorded(node, group));
    members_ += group.members.size();
  }
  into_->add_groups(now, std::move(out));
  if (members_ > most_members_) into_->add_groups(now, {.node = std::nullopt});
}

}  // namespace softspine::testbeds
