// SPDX-License-Identifier: Apache-2.0
#include "control/record/recorded_changes.hpp"

#include "control/steps/wait_text.hpp"

namespace softspine::control {

void RecordedChanges::write(std::span<const Since<RecordedWay>> ways) {
  if (ways.empty()) return;
  Statement row{into_, "INSERT INTO flow_ways VALUES(?1, ?2, ?3, ?4, ?5)"};
  Statement port{into_, "INSERT INTO flow_way_ports VALUES(?1, ?2, ?3)"};
  for (const auto& [t_ps, way] : ways) {
    row.add(++ways_).add(t_ps);
    way.flow ? row.add(*way.flow) : row.add_null();
    row.add(int64_t{way.is_drawn}).add(way.end).done();
    int64_t hop = 0;
    for (const LinkEnd end : way.ports) port.add(ways_).add(hop++).add(ports_.of(end)).done();
  }
}

void RecordedChanges::write(std::span<const Since<RecordedGroups>> groups) {
  if (groups.empty()) return;
  Statement table{into_, "INSERT INTO hash_tables VALUES(?1, ?2, ?3)"};
  Statement row{into_, "INSERT INTO hash_groups VALUES(?1, ?2, ?3, ?4, ?5, ?6)"};
  Statement port{into_, "INSERT INTO hash_group_members VALUES(?1, ?2, ?3, ?4)"};
  for (const auto& [t_ps, of] : groups) {
    table.add(++hash_tables_).add(t_ps);
    (of.node ? table.add(*of.node) : table.add_null()).done();
    for (const RecordedGroup& group : of.groups) {
      row.add(++hash_groups_).add(hash_tables_).add(group.name).add(int64_t{group.is_lag});
      row.add(group.mode).add(group.destinations).done();
      for (const RecordedGroup::Member& member : group.members) {
        for (const LinkEnd end : member.ports) {
          port.add(hash_groups_).add(ports_.of(end)).add(member.name).add(member.buckets).done();
        }
      }
    }
  }
}

void RecordedChanges::write(std::span<const FoundWait> waits) {
  if (waits.empty()) return;
  Statement row{into_, "INSERT INTO rank_waits VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"};
  for (const FoundWait& each : waits) {
    const StepWait& wait = each.wait;
    row.add(wait.to.count_ps()).add(each.job).add(each.rank).add(wait.from.count_ps());
    row.add(wait.peer).add(wait.channel).add(wait.bytes);
    row.add(kWaitCauseWords[static_cast<size_t>(wait.reason.cause)]).add(each.at).add(each.by);
    row.add(wait.reason.time.count_ps());
    (each.is_longest ? row.add(reason_text(wait.reason)) : row.add_null()).done();
  }
}

void record_jobs(Database& into, std::span<const StepJob> jobs, bool explained) {
  Statement job{into, "INSERT INTO jobs VALUES(?1, ?2, ?3, ?4)"};
  Statement rank{into, "INSERT INTO job_ranks VALUES(?1, ?2, ?3)"};
  for (size_t i = 0; i < jobs.size(); ++i) {
    job.add(uint64_t{i}).add(jobs[i].name).add(jobs[i].is_training ? "training" : "collective");
    job.add(int64_t{explained}).done();
    for (size_t r = 0; r < jobs[i].hosts.size(); ++r)
      rank.add(uint64_t{i}).add(uint64_t{r}).add(jobs[i].hosts[r]).done();
  }
}

}  // namespace softspine::control
