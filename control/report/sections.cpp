// SPDX-License-Identifier: Apache-2.0
#include "control/report/sections.hpp"

#include <algorithm>

#include "control/report/collective_json.hpp"
#include "control/report/lag_counters.hpp"
#include "control/report/loss_window_json.hpp"
#include "control/report/notices.hpp"
#include "control/report/port_rows.hpp"
#include "control/report/section_parts.hpp"
#include "control/report/stack_json.hpp"
#include "control/report/trace_json.hpp"
#include "control/report/training_json.hpp"
#include "control/telemetry/event_lines.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/show_tables.hpp"
#include "control/traffic/pairs.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::control {

namespace {

// Parts of a row: they take what it names as constants.
template <Json (*J)(const FabricSnapshot&)>
Json made_by(const ReportInput& input) {
  return J(input.snapshot);
}
template <Json (*J)(const FabricSnapshot&, const IdleParts*)>
Json made_by(const ReportInput& input) {
  return J(input.snapshot, input.left_out());
}

std::string lags(const FabricSnapshot& snapshot) {
  return lags_table(snapshot);
}

// Outlines.
void add_flows(const Testbed& testbed, FabricSnapshot& out) {
  for (const Workload& workload : testbed.workloads)
    out.flows.push_back({.workload = workload.name, .listed = is_listed(workload.pattern)});
}
void add_links(const Testbed& testbed, FabricSnapshot& out) {
  for (const FabricLink& link : testbed.fabric.links) {
    out.links.push_back({.a = testbed.fabric.name_of(link.a), .b = testbed.fabric.name_of(link.b)});
  }
}
void add_stacks(const Testbed& testbed, FabricSnapshot& out) {
  for (const Stack& stack : testbed.fabric.stacks) {
    const auto member = [&](size_t i) {
      return StackMemberSnapshot{.name = testbed.fabric.nodes[stack.switches[i]].name};
    };
    out.stacks.push_back({.name = stack.name, .members = {member(0), member(1)}});
  }
}
void add_collectives(const Testbed& testbed, FabricSnapshot& out) {
  for (const CollectiveRun& run : testbed.collectives) {
    CollectiveSnapshot& into = out.collectives.emplace_back();
    into.name = run.name;
    for (const CollectiveShape& shape : run.shapes) into.sizes.push_back({.shape = shape});
  }
}
void add_trainings(const Testbed& testbed, FabricSnapshot& out) {
  for (const TrainingRun& run : testbed.trainings) {
    TrainingSnapshot& into = out.trainings.emplace_back();
    into.name = run.name;
    into.kinds = run.plan.kinds;
    into.steps.resize(run.iterations);
    into.longest_wait.host = "?";
  }
}
void add_traces(const Testbed& testbed, FabricSnapshot& out) {
  for (const TraceRun& run : testbed.traces) {
    out.traces.push_back({.name = run.name, .ranks = std::vector<TraceRankSnapshot>(run.ranks.size())});
  }
}
void add_engineering(const Testbed& testbed, FabricSnapshot& out) {
  if (testbed.engineering) out.engineering.emplace();
}
void add_events(const Testbed& testbed, FabricSnapshot& out) {
  if (testbed.run.telemetry.events_file.empty()) return;
  out.events = EventLogSnapshot{.lines = std::vector<uint64_t>(event_facts().size())};
}

constexpr Section kSections[] = {
    {.key = "softspine",
     .json = [](const ReportInput& in) { return Json{{"version", in.facts.program}, {"format", kReportFormat}}; },
     .fields = program_fields,
     .chapter = Chapter::kRun},
    {.key = "testbed",
     .json = [](const ReportInput& in) { return Json(in.facts.testbed); },
     .fields = []() -> Fields { return {{"testbed", "text", "Name of the testbed."}}; },
     .chapter = Chapter::kRun},
    {.key = "clock",
     .json = [](const ReportInput& in) { return Json(in.facts.clock); },
     .fields = []() -> Fields { return {{"clock", "text", "virtual or wall."}}; },
     .chapter = Chapter::kRun},
    {.key = "seed",
     .json = [](const ReportInput& in) { return Json(in.facts.seed); },
     .fields = []() -> Fields { return {{"seed", "a count", "Seed of everything that is random in the run."}}; },
     .chapter = Chapter::kRun},
    {.key = "duration_ps",
     .json = [](const ReportInput& in) { return Json(in.snapshot.instant.count_ps()); },
     .fields = []() -> Fields { return {{"duration_ps", "ps", "Emulated time that has passed."}}; },
     .chapter = Chapter::kRun},
    {.key = "interrupted",
     .json = [](const ReportInput& in) { return Json(in.facts.interrupted); },
     .fields = []() -> Fields {
       return {{"interrupted", "true or false", "A signal, or an error, ended the run before its end."}};
     },
     .chapter = Chapter::kRun},
    {.key = "totals", .json = made_by<totals_json>, .fields = total_fields},
    {.key = "flows",
     .json = made_by<workloads_json>,
     .fields = flow_fields,
     .outline = add_flows,
     .view = {.words = "flows",
              .help = "built-in traffic: what was sent, what arrived, how late",
              .table = flows_table}},
    {.key = "collectives",
     .json = made_by<collectives_json>,
     .fields = collective_fields,
     .is_there = [](const FabricSnapshot& snapshot) { return !snapshot.collectives.empty(); },
     .outline = add_collectives,
     .view = {.words = "collectives",
              .help = "time, algorithm and bus bandwidth of each size, by nccl-tests' definitions",
              .table = collectives_table}},
    {.key = "training",
     .json = made_by<trainings_json>,
     .fields = training_fields,
     .is_there = [](const FabricSnapshot& snapshot) { return !snapshot.trainings.empty(); },
     .outline = add_trainings,
     .view = {.words = "training",
              .help = "what steps took, and what they waited for, by kind of group",
              .table = trainings_table}},
    {.key = "traces",
     .json = made_by<traces_json>,
     .fields = trace_fields,
     .is_there = [](const FabricSnapshot& snapshot) { return !snapshot.traces.empty(); },
     .outline = add_traces,
     .view = {.words = "traces", .help = "how far the ranks of recorded work are", .table = traces_table}},
    {.key = "switches", .json = made_by<switches_json>, .fields = switch_fields},
    {.key = "ports", .json = made_by<ports_json>, .fields = port_fields},
    {.key = "links",
     .json = made_by<links_json>,
     .fields = link_fields,
     .outline = add_links,
     .view = {.words = "links",
              .help = "up or down, and what was lost on them",
              .table = links_table,
              .keep = keep_links_of}},
    {.key = "lags",
     .json = made_by<lags_json>,
     .fields = lag_fields,
     .view = {.words = "lags", .help = "members of each LAG, and what went by each", .table = lags}},
    {.key = "hosts", .json = made_by<hosts_json>, .fields = host_fields},
    {.key = "idle",
     .json =
         [](const ReportInput& in) { return Json{{"hosts", in.idle.hosts.size()}, {"links", in.idle.links.size()}}; },
     .fields = idle_fields,
     .chapter = Chapter::kRun},
    {.key = "edges",
     .json = made_by<edges_json>,
     .fields = edge_fields,
     .view = {.words = "nics", .help = "of hosts that are outside: pauses, CNPs, what waits", .table = nics_table}},
    {.key = "losses", .json = made_by<losses_json>, .fields = loss_fields, .chapter = Chapter::kRun},
    {.key = "stalled", .json = made_by<stalled_json>, .fields = stalled_fields, .chapter = Chapter::kRun},
    {.key = "faults", .json = made_by<faults_json>, .fields = fault_fields},
    {.key = "unexplained_losses", .json = made_by<unexplained_json>, .fields = []() -> Fields { return {}; }},
    {.key = "deadlocks", .json = made_by<deadlocks_json>, .fields = deadlock_fields, .chapter = Chapter::kRun},
    {.key = "stacks",
     .json = made_by<stacks_json>,
     .fields = stack_fields,
     .outline = add_stacks,
     .view = {.words = "stacks",
              .help = "pairs of ToRs that are one system: roles, states, whether they hear each other",
              .table = stacks_table}},
    {.key = "errors",
     .json = [](const ReportInput& in) { return errors_json(in.snapshot.errors); },
     .fields = error_fields,
     .chapter = Chapter::kRun},
    {.key = "notices",
     .json = [](const ReportInput& in) { return Json(notices_of(in.snapshot)); },
     .fields = notice_fields,
     .chapter = Chapter::kRun},
    {.key = "engine",
     .json = [](const ReportInput& in) { return engine_json(in.snapshot.engine, in.facts); },
     .fields = engine_fields,
     .chapter = Chapter::kMachine},
    {.key = "engineering",
     .json = [](const ReportInput& in) { return engineering_json(*in.snapshot.engineering); },
     .fields = engineering_fields,
     .chapter = Chapter::kRun,
     .is_there = [](const FabricSnapshot& snapshot) { return snapshot.engineering.has_value(); },
     .outline = add_engineering},
    {.key = "events",
     .json = made_by<events_json>,
     .fields = event_fields,
     .is_there = [](const FabricSnapshot& snapshot) { return snapshot.events.has_value(); },
     .outline = add_events,
     .view = {.words = "events",
              .help = "lines of the event log by kind, if the run writes one",
              .table = events_table}},
};

}  // namespace

std::span<const Section> sections() {
  return kSections;
}

const Section& section_of(std::string_view key) {
  const Section* const found = std::ranges::find(kSections, key, &Section::key);
  SOFTSPINE_CHECK(found != std::end(kSections), key.size(), std::size(kSections));
  return *found;
}

void keep_links_of(FabricSnapshot& snapshot, const std::string& node) {
  std::erase_if(snapshot.links,
                [&](const LinkSnapshot& it) { return !it.a.starts_with(node + ":") && !it.b.starts_with(node + ":"); });
}

}  // namespace softspine::control
