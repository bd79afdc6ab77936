// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/report/counters_reference.hpp"
#include "control/report/outline_models.hpp"
#include "control/report/report_fields.hpp"
#include "control/telemetry/json.hpp"
#include "testbeds/outside/outside_spec.hpp"
#include "testbeds/run/report_outline.hpp"
#include "testbeds/run/workload_flows.hpp"

namespace softspine::tools {

using control::Json;
using testbeds::OutsideOutcome;

namespace {

// By device, as the guest's kernel names them: its NICs', and rdma_rxe's hw_counters.
Json counters_of(const OutsideOutcome& outcome) {
  Json out = Json::object();
  for (const auto& [name, value] : outcome.counters) {
    const size_t space = name.find(' ');
    out[name.substr(0, space)][name.substr(space + 1)] = value;
  }
  return out;
}

Json command_json(const OutsideOutcome& outcome) {
  return {{"machine", outcome.machine},
          {"exit_status", outcome.exit_status ? Json(*outcome.exit_status) : Json()},
          {"timed_out", outcome.timed_out},
          {"stopped", outcome.stopped},
          {"problem", outcome.problem},
          {"seconds", outcome.seconds},
          {"stdout", outcome.stdout_path.string()},
          {"stderr", outcome.stderr_path.string()},
          {"counters", counters_of(outcome)}};
}

// The fields that are added here to report_json()'s.
std::vector<control::ReportField> own_fields() {
  return {
      {"notes.*", "text", "A sentence on what outside hosts run on."},
      {"settings.*", "text", "What `--set` put into the testbed: PATH=VALUE."},
      {"commands.*.machine", "text", "What the host outside is: a guest and its kind, a namespace, a device."},
      {"commands.*.exit_status", "a number", "Exit status of its command; none if it did not end by itself."},
      {"commands.*.timed_out", "true or false", "The command took longer than its `timeout`."},
      {"commands.*.stopped", "true or false", "The command was stopped, since the run ended before it."},
      {"commands.*.problem", "text", "What kept it from running or from ending."},
      {"commands.*.seconds", "s", "Wall time that the command took, without its host's boot."},
      {"commands.*.stdout", "text", "File with what it wrote to its standard output; empty without `run --folder`."},
      {"commands.*.stderr", "text", "File with what it wrote to its standard error; likewise."},
      {"commands.*.counters.*.*", "a count", "A guest's counters by device: its NICs', and those of rdma_rxe."},
      {"polarization.flows", "a count", "Flows of the workloads, followed through the hashes with every link up."},
      {"polarization.arrived", "a count", "Of these, those that arrive."},
      {"polarization.polarized", "true or false", "A tier is POLARIZED."},
      {"polarization.uneven", "true or false", "A tier is UNEVEN."},
      {"polarization.dependent", "true or false",
       "A tier is evenly loaded, though its choices depend on earlier ones."},
      {"polarization.worst_max_over_mean", "a ratio", "The worst tier's fullest link over what it should have."},
      {"polarization.tiers.*.tier", "text", "The tier: the switches of one role that choose in one direction."},
      {"polarization.tiers.*.verdict", "text",
       "POLARIZED, UNEVEN, more even than chance, as even as chance, evenly loaded, dependent, or not hashed."},
      {"polarization.tiers.*.flows", "a count", "Flows that came to a choice there."},
      {"polarization.tiers.*.distinct_keys", "a count", "Different keys that they have."},
      {"polarization.tiers.*.links", "a count", "Links among which they chose."},
      {"polarization.tiers.*.idle_links", "a count", "Of these, those without a flow."},
      {"polarization.tiers.*.idle_links_by_chance", "a count", "As many an ideal hash would leave idle, on average."},
      {"polarization.tiers.*.of_flows.max_over_mean", "a ratio", "The fullest link's flows over what it should have."},
      {"polarization.tiers.*.of_flows.by_chance", "a ratio", "The same for an ideal hash, on average."},
      {"polarization.tiers.*.of_bytes.max_over_mean", "a ratio", "Of bytes, where flows are of different sizes."},
      {"polarization.tiers.*.of_bytes.by_chance", "a ratio", "The same for an ideal hash, on average."},
      {"polarization.tiers.*.chi_square_over_chance", "a ratio", "The test's deviation over what chance gives."},
      {"polarization.tiers.*.cause.kind", "text", "Why the tier is uneven by itself."},
      {"polarization.tiers.*.cause.text", "text", "The same as a sentence."},
      {"expectations.*.held", "true or false", "The expectation held."},
      {"expectations.*.text", "text", "The expectation, and the value that was found."},
  };
}

void move_engine_last(Json& report) {
  if (!report.contains("engine")) return;
  Json engine = std::move(report["engine"]);
  report.erase("engine");
  report["engine"] = std::move(engine);
}

}  // namespace

control::RunFacts run_facts(const control::Testbed& testbed, bool interrupted) {
  return {.program = SOFTSPINE_VERSION,
          .testbed = testbed.name,
          .clock = testbed.run.clock == control::ClockKind::kWall ? "wall" : "virtual",
          .seed = testbed.run.seed,
          .dilation = testbed.run.dilation,
          .interrupted = interrupted};
}

Json run_report(const control::FabricSnapshot& snapshot, const control::Testbed& testbed,
                const std::vector<OutsideOutcome>& outcomes, const std::vector<std::string>& notes,
                control::IdleRows idle, bool interrupted) {
  Json report = control::report_json(snapshot, run_facts(testbed, interrupted), idle);
  report["notes"] = notes;
  if (!testbed.settings.empty()) report["settings"] = testbed.settings;
  for (const OutsideOutcome& outcome : outcomes) report["commands"][outcome.host] = command_json(outcome);
  move_engine_last(report);
  return report;
}

std::vector<std::string> failures_of(const std::vector<OutsideOutcome>& outcomes) {
  std::vector<std::string> out;
  for (const OutsideOutcome& outcome : outcomes) {
    if (outcome.succeeded()) continue;
    std::string why = "could not be run: " + outcome.problem;
    if (outcome.timed_out) {
      why = outcome.came_up ? fmt::format("was ended after {:.1f} s: its `timeout`", outcome.seconds)
                            : fmt::format("never began: its host had not booted after {:.0f} s", outcome.seconds);
    } else if (outcome.exit_status) {
      why = fmt::format("ended with status {}", *outcome.exit_status);
    }
    for (const std::string& line : outcome.last_words) why += " | " + line;
    out.push_back(fmt::format("{}: its command {}", outcome.host, why));
  }
  return out;
}

bool reads_idle_rows(const std::vector<control::Expectation>& expectations) {
  return std::ranges::any_of(expectations, [](const control::Expectation& expectation) {
    const std::string first = expectation.value.substr(0, expectation.value.find('.'));
    return first == "hosts" || first == "links" || first == "*";
  });
}

void add_verdicts(Json& report, const std::vector<control::Verdict>& verdicts) {
  Json list = Json::array();
  for (const control::Verdict& verdict : verdicts) list.push_back({{"held", verdict.held}, {"text", verdict.text}});
  report["expectations"] = std::move(list);
  move_engine_last(report);
}

std::string verdicts_text(const std::vector<control::Verdict>& verdicts) {
  if (verdicts.empty()) return {};
  const auto held = std::ranges::count_if(verdicts, &control::Verdict::held);
  std::string out = fmt::format("\nExpectations: {} of {} held\n", held, verdicts.size());
  for (const control::Verdict& verdict : verdicts)
    out += fmt::format("  {} {}\n", verdict.held ? "ok    " : "FAILED", verdict.text);
  return out;
}

Json counters_and_fields() {
  Json out = control::counters_reference();
  control::add_report_fields(out, control::report_fields());
  control::add_report_fields(out, own_fields());
  return out;
}

Json report_outline(const control::Testbed& testbed) {
  std::vector<OutsideOutcome> outcomes;
  for (uint32_t n = 0; n < testbed.fabric.nodes.size(); ++n) {
    const control::FabricNode& node = testbed.fabric.nodes[n];
    if (node.kind != control::NodeKind::kHost || control::is_builtin(node.attachment)) continue;
    if (testbeds::has_command(testbeds::outside_spec(testbed.fabric, n))) outcomes.push_back({.host = node.name});
  }
  Json report = run_report(testbeds::outline_of(testbed), testbed, outcomes, {});
  for (const OutsideOutcome& outcome : outcomes) report["commands"][outcome.host]["counters"] = {{"*", nullptr}};
  if (!testbed.workloads.empty())
    report[testbeds::kPolarizationSection] = testbeds::polarization_section_outline(testbed);
  control::add_models(report, control::report_fields());
  control::add_models(report, own_fields());
  return report;
}

}  // namespace softspine::tools
