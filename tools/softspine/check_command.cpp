// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/check_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <ranges>
#include <tuple>

#include "control/compile/headroom_check.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "control/traces/recorded_work.hpp"
#include "dataplane/flow_control/link_modes.hpp"
#include "testbeds/run/packet_need.hpp"
#include "tools/softspine/fabric_report.hpp"
#include "tools/softspine/job_report.hpp"
#include "tools/softspine/polarization_hint.hpp"
#include "tools/softspine/rank_report.hpp"
#include "tools/softspine/service_report.hpp"
#include "tools/softspine/summary/summary_words.hpp"
#include "tools/softspine/tables_report.hpp"
#include "tools/softspine/threshold_report.hpp"
#include "tools/softspine/views/run_report.hpp"

namespace softspine::tools {

using control::Json;

namespace {

struct CheckArguments {
  std::string file;
  control::Overrides overrides;
  bool json = false;
  bool nodes = false;
  bool schema = false;
  bool counters = false;
  bool strict = false;
  uint32_t ranks = 0;  // 0: not asked for
};

std::string duration_text(dataplane::Duration duration) {
  return control::print_quantity(duration.count_ps(), control::kDurationQuantity);
}
std::string rate_text(dataplane::Rate rate) {
  return control::print_quantity(static_cast<int64_t>(rate.count_bps()), control::kRateQuantity);
}

std::string duration_limit(const control::Testbed& testbed) {
  return testbed.run.is_limited() ? duration_text(testbed.run.duration) + " at most" : "until it is stopped";
}

Json nodes_of(const control::Fabric& fabric) {
  Json nodes = Json::array();
  for (const control::FabricNode& node : fabric.nodes) {
    Json ports = Json::array();
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const auto index = static_cast<uint32_t>(&node - fabric.nodes.data());
      const control::FabricLink& link = fabric.links[node.ports[p].link];
      ports.push_back({{"name", node.ports[p].name},
                       {"mac", to_string(node.ports[p].mac)},
                       {"peer", fabric.name_of(fabric.peer_of({index, p}))},
                       {"rate_bps", link.rate.count_bps()},
                       {"propagation_ps", link.propagation.count_ps()},
                       {"mtu_bytes", link.mtu}});
    }
    nodes.push_back({{"name", node.name},
                     {"role", control::name_of(node.role)},
                     {"ipv4", to_string(node.ipv4)},
                     {"ipv6", to_string(node.ipv6)},
                     {"clock_ppm", node.clock.count_ppb() / 1e3},
                     {"ports", std::move(ports)}});
  }
  return nodes;
}

Json engineering_json(const control::Testbed& testbed) {
  if (!testbed.engineering) return {};
  Json at = Json::array();
  for (const uint32_t node : testbed.engineering->switches) at.push_back(testbed.fabric.nodes[node].name);
  return {{"interval_ps", testbed.engineering->interval.count_ps()},
          {"delay_ps", testbed.engineering->delay.count_ps()},
          {"utilisation", testbed.engineering->utilisation},
          {"at", std::move(at)}};
}

void print_engineering(const control::Testbed& testbed) {
  if (!testbed.engineering) return;
  const control::EngineeringConfig& it = *testbed.engineering;
  fmt::print("traffic engineering: flows of {} ToR{} measured every {}, placed {} later, links filled to {:.3g} %\n",
             it.switches.size(), it.switches.size() == 1 ? "" : "s", short_time(it.interval.count_ps()),
             short_time(it.delay.count_ps()), 100 * it.utilisation);
}

// Connections of collectives, trainings and traces are workloads, too, but nobody wrote them.
size_t written_workloads(const control::Testbed& testbed) {
  size_t of_ranks = testbed.traces.size();
  for (const control::CollectiveRun& run : testbed.collectives) of_ranks += run.traffic.clears ? 2 : 1;
  for (const control::TrainingRun& run : testbed.trainings) of_ranks += run.traffic.clears ? 2 : 1;
  return testbed.workloads.size() - of_ranks;
}

Json traces_json(const control::Testbed& testbed) {
  Json out = Json::object();
  for (const control::TraceRun& run : testbed.traces) {
    const control::TraceTotals& totals = run.work->totals;
    control::add_key(out, run.name,
                     {{"file", run.file},
                      {"ranks", run.ranks.size()},
                      {"sends", totals.sends},
                      {"receives", totals.receives},
                      {"computations", totals.computes},
                      {"wildcards", totals.wildcards},
                      {"needs", totals.needs},
                      {"sent_bytes", totals.sent_bytes},
                      {"to_itself", totals.to_itself},
                      {"compute_ns", totals.compute_ns},
                      {"cpus", totals.cpus},
                      {"nics", totals.nics},
                      {"pairs", run.work->pairs.size()}});
  }
  return out;
}

Json summary_of(const control::Testbed& testbed) {
  std::map<std::string, uint64_t> roles;
  uint64_t outside = 0;
  for (const control::FabricNode& node : testbed.fabric.nodes) {
    ++roles[control::name_of(node.role)];
    if (node.kind == control::NodeKind::kHost && !control::is_builtin(node.attachment)) ++outside;
  }
  Json out{{"name", testbed.name},
           {"clock", testbed.run.clock == control::ClockKind::kWall ? "wall" : "virtual"},
           {"duration_ps", testbed.run.is_limited() ? Json(testbed.run.duration.count_ps()) : Json()},
           {"seed", testbed.run.seed},
           {"workers", testbed.run.workers},
           {"dilation", testbed.run.dilation},
           {"clock_ppm", testbed.run.clock_ppm},
           {"start_jitter", testbed.run.start_jitter_millionths / 1e6}};
  out["nodes"] = roles;
  out["outside_hosts"] = outside;
  out["links"] = testbed.fabric.links.size();
  out["subnets"] = testbed.fabric.subnets.size();
  out["paths"] = paths_json(testbed.fabric);
  out["stages"] = staged_json(testbed.staged);
  out["jobs"] = jobs_json(testbed.jobs);
  out["workloads"] = written_workloads(testbed);
  out["collectives"] = testbed.collectives.size();
  out["trainings"] = testbed.trainings.size();
  out["traces"] = traces_json(testbed);
  out["overrides"] = testbed.overrides.size();
  out["traffic_engineering"] = engineering_json(testbed);
  out["faults"] = testbed.faults.size() + testbed.host_faults.size() + testbed.port_faults.size();
  out["expectations"] = testbed.expectations.size();
  const testbeds::PacketNeed need = testbeds::packet_need(testbed);
  out["packet_memory"] = {{"packets_at_most", need.packets},
                          {"bytes_at_most", need.bytes},
                          {"limit_bytes", testbeds::packet_memory_limit(testbed)}};
  return out;
}

void print_links(const control::Fabric& fabric) {
  std::map<std::string, uint64_t> kinds;
  for (const control::FabricLink& link : fabric.links) {
    control::Role a = fabric.nodes[link.a.node].role;
    control::Role b = fabric.nodes[link.b.node].role;
    if (b == control::Role::kTor || a == control::Role::kHost) std::swap(a, b);
    ++kinds[fmt::format("{}–{}, {}, {} away, mtu {} B{}", control::name_of(a), control::name_of(b),
                        rate_text(link.rate), short_time(link.propagation.count_ps()), link.mtu,
                        dataplane::row_of(link.parameters.flow_control).said)];
  }
  for (const auto& [kind, count] : kinds) fmt::print("  {:>6} links {}\n", count, kind);
}

void print_memory(const Json& memory) {
  const auto need = memory["bytes_at_most"].get<uint64_t>();
  const auto limit = memory["limit_bytes"].get<uint64_t>();
  fmt::print("packet memory: at most {} packets under way, {}; there are {}{}\n",
             control::grouped(memory["packets_at_most"].get<uint64_t>()), short_number(static_cast<double>(need), "B"),
             short_number(static_cast<double>(limit), "B"),
             need > limit ? ": should that be too little, the run ends with an error" : "");
}

void print_count(uint64_t count, const char* what) {
  fmt::print("  {:>6} {}{}\n", count, what, count == 1 ? "" : "s");
}

// What a trace holds, and what of it chooses nothing here.
void print_traces(const control::Testbed& testbed) {
  using control::grouped;
  if (!testbed.traces.empty()) print_count(testbed.traces.size(), "trace");
  for (const control::TraceRun& run : testbed.traces) {
    const control::TraceTotals& totals = run.work->totals;
    fmt::print(
        "         {}: {} ranks on up to {} cpus each; {} sends of {} B in all between {} pairs, {} receives, "
        "{} computations of {} in all, {} needs\n",
        run.name, run.ranks.size(), totals.cpus, grouped(totals.sends), grouped(totals.sent_bytes),
        grouped(run.work->pairs.size()), grouped(totals.receives), grouped(totals.computes),
        short_time(static_cast<int64_t>(std::min<uint64_t>(totals.compute_ns, INT64_MAX / 1'000)) * 1'000),
        grouped(totals.needs));
    if (totals.wildcards > 0)
      fmt::print("         {} receives take any source or any tag\n", grouped(totals.wildcards));
    if (totals.to_itself > 0)
      fmt::print("         {} sends are of a rank to itself: they take no time\n", grouped(totals.to_itself));
    if (run.format == control::TraceFormat::kHtsim)
      fmt::print("         its starts are taken as {}: start_unit\n",
                 run.start_unit == control::StartUnit::kMicroseconds ? "microseconds" : "picoseconds");
    if (totals.nics > 1) fmt::print("         it names {} NICs a rank: all are its host's\n", totals.nics);
  }
}

void print_summary(const control::Testbed& testbed) {
  const Json summary = summary_of(testbed);
  fmt::print("{}: {} clock, {}, seed {}, {} worker{}{}\n", testbed.name, summary["clock"].get<std::string>(),
             duration_limit(testbed), testbed.run.seed, testbed.run.workers, testbed.run.workers == 1 ? "" : "s",
             testbed.run.dilation == 1 ? "" : fmt::format(", {} times slower than configured", testbed.run.dilation));
  const auto print_nodes = [&summary](std::string_view role) {
    if (summary["nodes"].contains(role)) fmt::print("  {:>6} {}\n", summary["nodes"][role].get<uint64_t>(), role);
  };
  for (const control::RoleRow& row : std::views::reverse(control::kSwitchRoles)) print_nodes(row.word);
  print_nodes(control::kHostWord);
  print_links(testbed.fabric);
  if (const auto outside = summary["outside_hosts"].get<uint64_t>(); outside > 0) {
    fmt::print("  {:>6} hosts are outside: guests, namespaces or edges\n", outside);
  }
  print_count(testbed.fabric.subnets.size(), "subnet");
  print_count(summary["workloads"].get<uint64_t>(), "workload");
  if (!testbed.collectives.empty()) print_count(testbed.collectives.size(), "collective");
  if (!testbed.trainings.empty()) print_count(testbed.trainings.size(), "training");
  print_traces(testbed);
  if (!testbed.overrides.empty()) print_count(testbed.overrides.size(), "override");
  print_count(summary["faults"].get<uint64_t>(), "fault");
  print_count(testbed.expectations.size(), "expectation");
  fmt::print("{}{}", paths_text(summary["paths"]), staged_text(testbed.staged));
  fmt::print("{}", jobs_text(testbed.jobs));
  print_engineering(testbed);
  print_memory(summary["packet_memory"]);
}

std::string bytes_text(uint64_t bytes) {
  return control::grouped(bytes) + " B";
}

void print_headroom(const control::HeadroomCheck& check) {
  for (const control::ShortHeadroom& each : check.too_little) {
    const std::string others = each.ports.size() == 1 ? "" : fmt::format(" and {} more", each.ports.size() - 1);
    fmt::print("too little headroom: {}{}, {} and {} of cable, MTU {} B: {} of {} (profile {}) needs {}, has {}: {}\n",
               each.ports.front(), others, rate_text(each.rate), short_time(each.propagation.count_ps()), each.mtu,
               "xoff", each.buffer_profile, each.profile, bytes_text(each.needed_bytes), bytes_text(each.has_bytes),
               each.enough_from == 0 ? std::string("lossless frames may be dropped")
                                     : fmt::format("enough only for frames of {} B and more", each.enough_from));
  }
  if (check.judged > 0 && check.too_little.empty()) {
    fmt::print("headroom: enough for each of {} lossless priority groups, by its port's rate, length and MTU\n",
               check.judged);
  }
  // Alike at most switches of a profile.
  std::map<std::tuple<std::string, uint64_t, uint64_t>, std::vector<std::string>> pools;
  for (const control::SharedHeadroom& each : check.shared) {
    pools[{each.pool, each.promised_bytes, each.has_bytes}].push_back(each.node);
  }
  for (const auto& [pool, nodes] : pools) {
    const auto& [name, promised, has] = pool;
    const std::string others = nodes.size() == 1 ? "" : fmt::format(" and {} more", nodes.size() - 1);
    fmt::print("shared headroom of {}{}, {}: {} promised, {} there: {:.2f} times\n", nodes.front(), others, name,
               bytes_text(promised), bytes_text(has), static_cast<double>(promised) / static_cast<double>(has));
  }
}

Json headroom_json(const control::HeadroomCheck& check) {
  Json too_little = Json::array();
  for (const control::ShortHeadroom& each : check.too_little) {
    too_little.push_back({{"profile", each.profile},
                          {"buffer_profile", each.buffer_profile},
                          {"file", each.place.file},
                          {"line", each.place.line},
                          {"ports", each.ports},
                          {"rate_bps", each.rate.count_bps()},
                          {"propagation_ps", each.propagation.count_ps()},
                          {"mtu_bytes", each.mtu},
                          {"has_bytes", each.has_bytes},
                          {"needed_bytes", each.needed_bytes},
                          {"enough_from_frame_bytes", each.enough_from == 0 ? Json{} : Json(each.enough_from)}});
  }
  Json shared = Json::array();
  for (const control::SharedHeadroom& each : check.shared) {
    shared.push_back({{"node", each.node},
                      {"pool", each.pool},
                      {"promised_bytes", each.promised_bytes},
                      {"has_bytes", each.has_bytes}});
  }
  return {{"judged_groups", check.judged}, {"too_little", too_little}, {"shared", shared}};
}

void print_nodes(const control::Fabric& fabric) {
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    fmt::print("{} {} {} {}, clock {:+.3f} ppm\n", node.name, control::name_of(node.role), to_string(node.ipv4),
               to_string(node.ipv6), node.clock.count_ppb() / 1e3);
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      fmt::print("  {:<12} {}  {:>9}  {}\n", node.ports[p].name, to_string(node.ports[p].mac),
                 rate_text(fabric.links[node.ports[p].link].rate), fabric.name_of(fabric.peer_of({n, p})));
    }
  }
}

// A user who has misspelt a name wants to see those that there are.
void print_nodes_of_wrong(const std::optional<control::Fabric>& fabric, const CheckArguments& arguments) {
  if (fabric && arguments.json) {
    fmt::print("{}\n", Json{{"fabric", nodes_of(*fabric)}}.dump(2));
  } else if (fabric) {
    print_nodes(*fabric);
  }
}

Status check(const CheckArguments& arguments) {
  if (arguments.schema) {
    fmt::print("{}", control::testbed_schema());
    return Status::kDone;
  }
  if (arguments.counters) {
    fmt::print("{}\n", counters_and_fields().dump(2));
    return Status::kDone;
  }
  if (arguments.file.empty()) throw CLI::RequiredError("FILE");
  const auto testbed = checked_testbed(arguments.file, arguments.overrides);
  if (!testbed) {
    const Status status = print_errors(testbed.error().errors, arguments.file);
    if (arguments.nodes) print_nodes_of_wrong(testbed.error().fabric, arguments);
    return status;
  }
  const auto review = reviewed(*testbed);
  if (!review) return review.error();
  const control::HeadroomCheck headroom = control::check_headroom(*testbed);
  const bool clean = headroom.too_little.empty() && review->warnings.empty();
  const Status verdict = arguments.strict && !clean ? Status::kUnexpected : Status::kDone;
  if (arguments.json) {
    Json out = summary_of(*testbed);
    out["headroom"] = headroom_json(headroom);
    out["headrooms"] = headrooms_json(control::headrooms_of(*testbed));
    out["ignored"] = ignored_json(testbed->ignored);
    out["polarized"] = polarized_json(polarized_tiers(*testbed));
    out["thresholds"] = thresholds_json(control::thresholds_of(*testbed));
    out["service"] = service_json(*testbed, *review);
    out["warnings"] = warnings_json(review->warnings);
    if (arguments.ranks > 0) out["ranks"] = ranks_json(*testbed, arguments.ranks);
    if (arguments.nodes) out["fabric"] = nodes_of(testbed->fabric);
    fmt::print("{}\n", out.dump(2));
    return verdict;
  }
  print_summary(*testbed);
  fmt::print("{}", polarized_text(polarized_tiers(*testbed), arguments.file));
  fmt::print("{}", ignored_text(testbed->ignored));
  print_headroom(headroom);
  fmt::print("{}", headrooms_text(control::headrooms_of(*testbed)));
  fmt::print("{}", thresholds_text(control::thresholds_of(*testbed)));
  fmt::print("{}", service_text(*testbed, *review));
  if (arguments.ranks > 0) fmt::print("{}", ranks_text(*testbed, arguments.ranks));
  if (arguments.nodes) print_nodes(testbed->fabric);
  return verdict;
}

}  // namespace

void add_check_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command = app.add_subcommand("check", "everything wrong with a testbed file, or what it would build");
  command->footer(
      "Examples:\n"
      "  softspine check testbeds/two-tier.yaml\n"
      "  softspine check two-tier.yaml --nodes          every node, port, address and peer\n"
      "  softspine check two-tier.yaml --json | jq .nodes\n"
      "  softspine check two-tier.yaml --ranks 4        how mpirun -n 4 softspine run would spread it\n"
      "  softspine check --schema > testbed.schema.json  for an editor");
  command->add_option("FILE", arguments->file, "a testbed file");
  add_overrides(*command, arguments->overrides);
  command->add_flag("--json", arguments->json, "for programs");
  command->add_flag("--strict", arguments->strict,
                    "fail (status 1) if there are warnings, or lossless ports have too little headroom");
  command->add_flag("--nodes", arguments->nodes,
                    "every node with its ports and addresses, also if something else in the file is wrong");
  command
      ->add_option("--ranks", arguments->ranks,
                   "how it would be spread over so many ranks: links that are cut, windows, the parts")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--schema", arguments->schema, "the JSON Schema of testbed files, and nothing else");
  command->add_flag(
      "--counters", arguments->counters,
      "every counter with its unit, meaning and names in report, SAI and Prometheus, every other field of the "
      "report, and nothing else");
  command->callback([arguments, &status] { status = check(*arguments); });
}

}  // namespace softspine::tools
