// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_report.hpp"

#include <algorithm>

#include "testbeds/outside/outside_spec.hpp"
#include "testbeds/run/report_outline.hpp"

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

void move_engine_last(Json& report) {
  Json engine = std::move(report["engine"]);
  report.erase("engine");
  report["engine"] = std::move(engine);
}

}  // namespace

control::RunFacts run_facts(const control::Testbed& testbed) {
  return {.testbed = testbed.name,
          .clock = testbed.run.clock == control::ClockKind::kWall ? "wall" : "virtual",
          .seed = testbed.run.seed,
          .dilation = testbed.run.dilation};
}

Json run_report(const control::FabricSnapshot& snapshot, const control::Testbed& testbed,
                const std::vector<OutsideOutcome>& outcomes, const std::vector<std::string>& notes) {
  Json report = control::report_json(snapshot, run_facts(testbed));
  report["notes"] = notes;
  for (const OutsideOutcome& outcome : outcomes) report["commands"][outcome.host] = command_json(outcome);
  move_engine_last(report);
  return report;
}

void add_verdicts(Json& report, const std::vector<control::Verdict>& verdicts) {
  Json list = Json::array();
  for (const control::Verdict& verdict : verdicts) list.push_back({{"held", verdict.held}, {"text", verdict.text}});
  report["expectations"] = std::move(list);
  move_engine_last(report);
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
  return report;
}

}  // namespace softspine::tools
