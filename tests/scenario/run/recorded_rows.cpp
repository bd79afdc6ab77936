// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/run/recorded_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/explain/hash_groups.hpp"
#include "control/model/port_numbers.hpp"
#include "control/steps/wait_text.hpp"
#include "testbeds/run/link_control.hpp"

namespace softspine::testbeds {

using namespace control;

namespace {

std::vector<std::string> groups_of(uint32_t node, const std::vector<analysis::HashGroup>& groups,
                                   const PortNumbers& ports) {
  std::vector<std::string> out;
  for (const analysis::HashGroup& group : groups) {
    for (const analysis::HashGroupMember& member : group.members) {
      for (const uint32_t port : member.ports) {
        out.push_back(fmt::format("{}|{:d}|{}|{}|{}|{}|{}", group.name, group.is_lag, group.mode, group.destinations,
                                  ports.of({node, static_cast<uint16_t>(port)}), member.name, member.buckets));
      }
    }
  }
  return out;
}

void compare(std::vector<std::string>& out, const std::string& what, const std::vector<std::string>& found,
             const std::vector<std::string>& wanted) {
  if (found != wanted)
    out.push_back(
        fmt::format("{}: {} is recorded, and it was {}", what, fmt::join(found, "; "), fmt::join(wanted, "; ")));
}

std::string steps_of(const RankSteps& rank) {
  std::string out = fmt::format("{}|{}", rank.waits, rank.waited.count_ps());
  for (const auto& spans : rank.spans) {
    out +=
        spans.empty() ? "|null|null" : fmt::format("|{}|{}", spans.front().from.count_ps(), spans.back().to.count_ps());
  }
  return out;
}

}  // namespace

std::vector<std::string> differences_of_groups(RecordingReader& rows, RunningFabric& fabric) {
  std::vector<std::string> out;
  auto& links = fabric.part<LinkControl>();
  const Fabric& of = fabric.testbed().fabric;
  const PortNumbers ports{of};
  const auto tables = links.tables();
  for (uint32_t n = 0; n < of.nodes.size(); ++n) {
    if (of.nodes[n].kind != NodeKind::kSwitch) continue;
    auto found = rows.rows(
        fmt::format("SELECT g.name, is_lag, mode, destinations, port_id, member, buckets FROM hash_groups AS g "
                    "JOIN hash_group_members USING(hash_group_id) WHERE hash_table_id = "
                    "(SELECT max(hash_table_id) FROM hash_tables WHERE node_id = {}) ORDER BY hash_group_id, port_id",
                    n));
    auto wanted = groups_of(n, analysis::hash_groups_of(of, n, *tables[n], links.routes(n)), ports);
    for (auto* each : {&found, &wanted}) std::ranges::sort(*each);
    compare(out, of.nodes[n].name, found, wanted);
  }
  return out;
}

std::vector<std::string> differences_of_steps(RecordingReader& rows, const StepsSnapshot& steps) {
  std::vector<std::string> out;
  for (size_t j = 0; j < steps.jobs.size(); ++j) {
    const JobSteps& job = steps.jobs[j];
    std::vector<std::string> begun;
    for (const RankSteps& rank : job.ranks) {
      const std::string of_it = fmt::format(" WHERE job_id = {} AND rank = {}", j, rank.rank);
      const std::string what = fmt::format("{}, rank {}", job.name, rank.rank);
      begun.push_back(std::to_string(rank.rank));
      std::string sums = "SELECT count(*), CAST(total(t_ps - from_ps) AS INTEGER)";
      for (const auto& kind : kStepWords) {
        for (const char* edge : {"min(from_ps)", "max(to_ps)"}) {
          sums += fmt::format(
              ", (SELECT {} FROM rank_spans WHERE job = '{}' AND rank = {} AND kind = '{}' AND to_ps > from_ps)", edge,
              job.name, rank.rank, kind);
        }
      }
      compare(out, what, rows.rows(sums + " FROM rank_waits" + of_it), {steps_of(rank)});
      compare(out, what,
              rows.rows("SELECT count(waited_ps), CAST(total(waited_ps) AS INTEGER) FROM rank_steps" + of_it),
              {fmt::format("{}|{}", rank.waits, rank.waited.count_ps())});
      if (rank.longest.empty()) continue;
      const StepWait& wait = rank.longest[0];
      compare(out, what,
              rows.rows("SELECT from_ps, t_ps, peer, bytes, reason FROM rank_waits" + of_it +
                        " AND reason IS NOT NULL ORDER BY wait_id DESC LIMIT 1"),
              {fmt::format("{}|{}|{}|{}|{}", wait.from.count_ps(), wait.to.count_ps(), wait.peer, wait.bytes,
                           reason_text(wait.reason))});
    }
    compare(out, job.name,
            rows.rows(fmt::format("SELECT DISTINCT rank FROM rank_steps WHERE job_id = {} ORDER BY rank", j)), begun);
    std::vector<std::string> causes;
    for (const CauseOfWaits& it : job.causes) {
      causes.push_back(fmt::format("{}|{}|{}|{}|{}", kWaitCauseWords[static_cast<size_t>(it.cause)], it.what, it.root,
                                   it.waits, it.waited.count_ps()));
    }
    auto found = rows.rows(
        fmt::format("SELECT cause, cause_at, cause_by, count(*), sum(t_ps - from_ps) FROM rank_waits WHERE job_id = {} "
                    "GROUP BY cause, cause_at, cause_by",
                    j));
    for (auto* each : {&found, &causes}) std::ranges::sort(*each);
    compare(out, job.name + ", causes", found, causes);
  }
  return out;
}

}  // namespace softspine::testbeds
