// SPDX-License-Identifier: Apache-2.0
#include "control/load/load.hpp"

#include <algorithm>

#include "control/compile/dscp_choice.hpp"
#include "control/document/text_file.hpp"
#include "control/load/guest_parts.hpp"
#include "control/load/hash_check.hpp"
#include "control/load/include.hpp"
#include "control/load/planned_collectives.hpp"
#include "control/load/qos_resolve.hpp"
#include "control/load/resolve.hpp"
#include "control/load/trace_files.hpp"
#include "control/load/without_effect.hpp"
#include "control/routing/plane_leaks.hpp"
#include "control/rows/tables.hpp"
#include "control/topology/stacks.hpp"

namespace softspine::control {
namespace {

// The limits of the table `run`.
void check_overrides(Reader& reader, const Overrides& over) {
  const auto check = [&](std::optional<uint64_t> given, uint64_t least, uint64_t most, std::string_view what) {
    if (!given || (*given >= least && *given <= most)) return;
    reader.fail({}, std::string(what) + " must be from " + std::to_string(least) + " to " + std::to_string(most) +
                        ", not " + std::to_string(*given));
  };
  check(over.workers, 1, kMaxWorkers, "workers");
  check(over.dilation, 1, kMaxDilation, "dilation");
  check(over.clock_ppm, 0, dataplane::kMaxClockPpm, "clock_ppm");
  if (over.start_jitter) check(over.start_jitter->millionths, 0, 1'000'000, "start_jitter, in millionths,");
  if (over.duration && *over.duration < dataplane::Duration::ps(1)) reader.fail({}, "duration must be at least 1ps");
}

dataplane::Duration usual_duration(ClockKind clock) {
  return clock == ClockKind::kWall ? dataplane::Duration::max() : RunConfig{}.duration;
}

TelemetryConfig resolve_telemetry(const TelemetryRow& row) {
  const Position counters = row.where.child("counters").at();
  return {.counters_file = row.counters_file,
          .sample_interval = row.sample_interval,
          .counters = row.counters,
          .events_file = row.events_file,
          .line = counters.line,
          .column = counters.column};
}

RunConfig resolve_run(Reader& reader, const RunRow& row, const Overrides& over, const Fabric& fabric) {
  RunConfig out{
      .seed = over.seed.value_or(row.seed),
      .workers = over.workers.value_or(row.workers),
      .dilation = over.dilation.value_or(row.dilation),
      .clock_ppm = over.clock_ppm.value_or(row.clock_ppm),
      .start_jitter_millionths = static_cast<uint32_t>(over.start_jitter.value_or(row.start_jitter).millionths),
      .memory_bytes = row.memory ? row.memory->count : 0};
  out.telemetry = resolve_telemetry(row.telemetry);
  const auto outside =
      std::ranges::find_if(fabric.nodes, [](const FabricNode& n) { return needs_wall_clock(n.attachment); });
  const bool has_outside = outside != fabric.nodes.end();
  check_overrides(reader, over);
  const auto given = over.clock ? over.clock : row.clock;
  out.clock = given.value_or(has_outside ? ClockKind::kWall : ClockKind::kVirtual);
  out.duration = over.duration.value_or(row.duration.value_or(usual_duration(out.clock)));
  // Unknown: then nothing lies behind its end.
  if (!over.duration && reader.is_invalid(row.where.child("duration"))) out.duration = dataplane::Duration::max();
  if (has_outside && out.clock == ClockKind::kVirtual) {
    reader.fail(over.clock ? Value{} : row.where.child("clock"),
                "the virtual clock cannot hold " + outside->name + ", which lives in wall time: clock must be wall");
  }
  if (out.clock == ClockKind::kVirtual && out.dilation > 1) {
    reader.fail(over.dilation ? Value{} : row.where.child("dilation"), "only the wall clock can be dilated");
  }
  return out;
}

std::vector<PortFault> damaged_links(const Expanded& expanded) {
  std::vector<PortFault> out;
  for (const DamagedLink& damaged : expanded.damaged) {
    const FabricLink& link = expanded.fabric.links[damaged.link];
    out.push_back({.ports = {link.a, link.b}, .damaged_millionths = damaged.millionths});
  }
  return out;
}

void draw_clocks(const RunConfig& run, Fabric& fabric) {
  fabric.clock_ppm = run.clock_ppm;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n)
    fabric.nodes[n].clock = dataplane::ClockOffset::drawn(run.seed, n, run.clock_ppm);
}

// The profiles that the file names outside of `profiles`.
std::vector<std::string_view> wanted_profiles(const TestbedRow& row) {
  std::vector<std::string_view> out;
  const auto add = [&](const std::optional<std::string>& name) {
    if (name) out.push_back(*name);
  };
  for (const auto profile_of : kProfileOfRole) add(row.roles.*profile_of);
  if (row.topology) {
    for (const auto& node : row.topology->nodes.items) add(node.value.profile);
  }
  for (const FaultRow& fault : row.faults) add(fault.profile);
  return out;
}

bool meets_in_core(const FabricSpec& spec) {
  const auto* hpn = std::get_if<Hpn>(&spec);
  return hpn != nullptr && hpn->shares_cores();
}
// Where a testbed has planes meet on purpose.
bool planes_meet_in_core(const TestbedRow& row) {
  if (row.fabric.given) return meets_in_core(row.fabric.value);
  return std::ranges::any_of(row.fabrics.items, [](const auto& item) { return meets_in_core(item.value.value); });
}

void check_planes(Reader& reader, const TestbedRow& row, Value root, const Fabric& fabric) {
  const auto way = find_plane_leak(fabric, planes_meet_in_core(row));
  if (!way) return;
  std::string by;
  for (const uint32_t node : *way) by += (by.empty() ? "" : " → ") + fabric.nodes[node].name;
  reader.warn(root.child(row.fabric.given ? "fabric" : "fabrics"),
              "planes leak: what leaves a NIC on plane " + std::to_string(fabric.nodes[way->front()].plane + 1) +
                  " may arrive on plane " + std::to_string(fabric.nodes[way->back()].plane + 1) + ", by " + by);
}

std::unexpected<Refused> refused(Errors errors, std::optional<Fabric> fabric = std::nullopt) {
  return std::unexpected(Refused{.errors = std::move(errors), .fabric = std::move(fabric)});
}

// The fabric is good to look at as soon as the names of its nodes are known.
std::optional<Fabric> known_fabric(Expanded& expanded) {
  if (!expanded.names_known || expanded.fabric.nodes.empty()) return std::nullopt;
  return std::move(expanded.fabric);
}

std::expected<Testbed, Refused> parse(std::string_view text, std::string_view name, const Overrides& overrides) {
  Reader reader{std::string(name)};
  auto document = Document::parse(text, name, reader.log());
  if (!document) return refused(reader.finish());
  document = with_settings(std::move(document), overrides.settings, reader.log());
  TestbedRow row;
  Format<TestbedRow>::read(reader, document->root(), row);
  if (document->root().kind() != ValueKind::kMap) return refused(reader.finish());
  add_included(reader, row);
  if (!row.fabric.given && row.fabrics.items.empty() && !row.topology)
    reader.fail(document->root(), "nothing to build: 'fabric', 'fabrics' or 'topology' is missing");

  Testbed out{.name = row.name, .file = std::string(name)};
  out.fabric_place = place_of(document->root().child(row.fabric.given ? "fabric" : "fabrics"));
  out.profiles = resolve_profiles(reader, row.profiles, wanted_profiles(row));
  Expanded expanded = expand(reader, row, out.profiles);
  resolve_guests(reader, expanded);
  check_groups(reader, row, out.profiles, expanded.fabric);
  out.run = resolve_run(reader, row.run, overrides, expanded.fabric);
  draw_clocks(out.run, expanded.fabric);
  NodeFinder nodes(reader, expanded);
  resolve_servers(reader, row.topology, nodes, expanded.fabric);
  read_plans(reader, row.collectives);
  TraceFiles traces(reader);
  if (expanded.names_known) out.jobs = resolve_jobs(reader, row, out.run.seed, expanded.fabric, traces);
  nodes.set_jobs(out.jobs);
  out.workloads = resolve_workloads(reader, row, out.run, nodes);
  resolve_collectives(reader, row.collectives, expanded.fabric, out);
  resolve_trainings(reader, row.training, expanded.fabric, out);
  resolve_traces(reader, row.traces, traces, out);
  out.overrides = resolve_overrides(reader, row.overrides, nodes);
  out.engineering = resolve_engineering(reader, row.engineering, out.run, nodes);
  out.port_faults = damaged_links(expanded);
  resolve_faults(reader, row.faults, out, nodes);
  check_qos(reader, out.profiles, expanded.fabric);
  out.convergence = row.convergence;
  out.convergence_per_hop = row.convergence_per_hop;
  out.detection = resolve_detection(row.detection);
  out.expectations = resolve_expectations(reader, row.expect);
  Errors errors = reader.finish();
  if (!errors.empty()) return refused(std::move(errors), known_fabric(expanded));
  out.fabric = std::move(expanded.fabric);
  out.staged = std::move(expanded.staged);
  check_planes(reader, row, document->root(), out.fabric);
  find_without_effect(reader, row, out, expanded.rows);
  find_slow_stacks(reader, row, out);
  for (const Setting& setting : overrides.settings) out.settings.push_back(text_of(setting));
  out.warnings = reader.warnings();
  out.ignored = reader.ignored();
  out.inputs = reader.inputs();
  choose_dscps(out);
  return out;
}

std::expected<Testbed, Errors> without_fabric(std::expected<Testbed, Refused> read) {
  if (!read) return std::unexpected(std::move(read.error().errors));
  return std::move(*read);
}

}  // namespace

std::expected<Testbed, Refused> load_testbed_or_fabric(const std::string& path, const Overrides& overrides) {
  const auto text = read_text_file(path);
  if (!text) return refused({{path, "", 0, 0, text.error()}});
  return parse(*text, path, overrides);
}

std::expected<Testbed, Errors> load_testbed(const std::string& path, const Overrides& overrides) {
  return without_fabric(load_testbed_or_fabric(path, overrides));
}

std::expected<Testbed, Errors> parse_testbed(std::string_view text, std::string_view name, const Overrides& overrides) {
  return without_fabric(parse(text, name, overrides));
}

std::string testbed_schema() {
  SchemaBook book;
  const Json root = Tables<TestbedRow>::table().schema(book);
  Json out{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "softspine testbed"}};
  out.update(root);
  out["$defs"] = book.definitions();
  return out.dump(2) + "\n";
}

}  // namespace softspine::control
