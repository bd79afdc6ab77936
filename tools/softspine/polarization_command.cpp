// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/polarization_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analysis/explain/polarization_picture.hpp"
#include "analysis/explain/polarization_report.hpp"
#include "analysis/reading/captured_flows.hpp"
#include "analysis/reading/flow_probes.hpp"
#include "control/telemetry/json.hpp"
#include "testbeds/run/workload_flows.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/picture_file.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/links_down.hpp"
#include "tools/softspine/views/run_report.hpp"

namespace softspine::tools {

using analysis::Walker;
using control::Json;

namespace {

struct PolarizationArguments {
  std::string file;
  std::vector<std::string> pcap;
  std::string from;
  std::string picture;
  std::vector<std::string> down;
  std::vector<std::string> fail_if;
  uint32_t random = 0;
  uint64_t seed = 1;
  bool json = false;
  bool no_cures = false;
};

// A note beside the results names the capture's packets that are no flow.
analysis::FlowProbes flows_of_captures(const PolarizationArguments& arguments, Walker& walker) {
  auto captured = analysis::captured_flows(walker, arguments.pcap, arguments.from);
  if (!captured) return std::unexpected(captured.error());
  const std::string left_out = analysis::left_out_text(*captured);
  if (!left_out.empty()) complain("softspine: {}\n", left_out);
  return std::move(captured->flows);
}

// The testbed's own flows, with every link up: those that its expectations are about.
bool is_as_configured(const PolarizationArguments& arguments) {
  return arguments.pcap.empty() && arguments.random == 0 && arguments.down.empty();
}

analysis::FlowProbes flows_for(const PolarizationArguments& arguments, Walker& walker) {
  if (!arguments.pcap.empty()) return flows_of_captures(arguments, walker);
  if (!arguments.from.empty()) return std::unexpected("--from goes with --pcap");
  if (arguments.random > 0) return analysis::random_flows(walker, arguments.random, arguments.seed);
  auto flows = testbeds::workload_flows(walker);
  if (flows.empty()) return std::unexpected("the testbed has no workload: give --random N or --pcap FILE");
  return flows;
}

constexpr const char* kPolarized = "polarized";
constexpr const char* kUneven = "uneven";

// Those of the testbed's expectations that are about this.
std::vector<control::Verdict> verdicts_on(const PolarizationArguments& arguments,
                                          const std::vector<control::Expectation>& expectations,
                                          const analysis::Polarization& found) {
  if (!is_as_configured(arguments)) return {};
  const control::Json report{{testbeds::kPolarizationSection, polarization_values(found)}};
  std::vector<control::Verdict> out = judge(expectations, report);
  std::erase_if(out, [](const control::Verdict& it) { return !testbeds::is_about_polarization(*it.expectation); });
  return out;
}

// A check that saw nothing has not passed.
Status judged(const std::vector<std::string>& fail_if, const analysis::Polarization& found) {
  if (!fail_if.empty() && (found.arrived == 0 || !found.is_judged())) {
    complain("softspine: --fail-if: {}\n", found.arrived == 0 ? "no flow arrives" : "no flow had a choice by a hash");
    return Status::kUnexpected;
  }
  const auto is_asked = [&fail_if](const char* word) { return std::ranges::find(fail_if, word) != fail_if.end(); };
  const bool fails = (is_asked(kPolarized) && found.is(analysis::TierVerdict::kPolarized)) ||
                     (is_asked(kUneven) && found.is(analysis::TierVerdict::kUneven));
  return fails ? Status::kUnexpected : Status::kDone;
}

void print_polarization(const PolarizationArguments& arguments, const control::Testbed& testbed,
                        const analysis::Polarization& found, const std::vector<analysis::Cure>& cures,
                        const std::vector<control::Verdict>& verdicts) {
  if (arguments.json) {
    Json out = polarization_json(testbed, found, cures);
    if (!verdicts.empty()) add_verdicts(out, verdicts);
    fmt::print("{}\n", out.dump(2));
    return;
  }
  fmt::print("{}", polarization_text(testbed, found));
  if (!arguments.no_cures) fmt::print("{}", cures_text(testbed, found, cures));
  fmt::print("{}", verdicts_text(verdicts));
}

Status polarization(const PolarizationArguments& arguments) {
  const auto testbed = read_testbed(arguments.file, {});
  if (!testbed) return testbed.error();
  const auto up = links_without(testbed->fabric, arguments.down);
  if (!up) return wrong_input(up.error());
  Walker walker{*testbed, *up};
  const auto flows = flows_for(arguments, walker);
  if (!flows) return wrong_input(flows.error());
  const analysis::Polarization found = polarization_of(walker, *flows);
  const auto cures = arguments.no_cures ? std::vector<analysis::Cure>{} : find_cures(walker, *flows, found);
  if (!arguments.picture.empty()) {
    const auto written = write_picture(arguments.picture, polarization_picture(testbed->fabric, found));
    if (!written) {
      complain("softspine: {}\n", written.error());
      return Status::kUnexpected;
    }
  }
  const auto verdicts = verdicts_on(arguments, testbed->expectations, found);
  print_polarization(arguments, *testbed, found, cures, verdicts);
  return std::ranges::all_of(verdicts, &control::Verdict::held) ? judged(arguments.fail_if, found)
                                                                : Status::kUnexpected;
}

}  // namespace

void add_polarization_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<PolarizationArguments>();
  CLI::App* command = app.add_subcommand("polarization", "how the flows spread over the links, and what would help");
  command->footer(
      "Examples:\n"
      "  softspine polarization testbeds/polarized.yaml\n"
      "  softspine polarization two-tier.yaml --random 10000 --picture links.png\n"
      "  softspine polarization replay.yaml --pcap replay/in.pcap --json | jq .tiers[].verdict\n"
      "  softspine polarization fabric.yaml --pcap a.pcap --pcap b.pcap --from tor1:Ethernet0\n"
      "  softspine polarization fabric.yaml --random 10000 --fail-if polarized    exit status 1 if it is\n"
      "Expectations on `polarization.…` in the testbed's `expect:` are judged, too, if its own flows are looked at.\n"
      "An ideal hash does not spread few flows evenly either: its figures stand beside. A fabric of ideal hashes is\n"
      "called uneven or polarized at most once in a thousand times. --fail-if also fails if nothing can be judged.");
  command->add_option("FILE", arguments->file, "a testbed file")->required();
  CLI::Option* random =
      command->add_option("--random", arguments->random, "so many random flows, instead of the testbed's workload")
          ->check(CLI::Range(1, 10'000'000));
  command->add_option("--pcap", arguments->pcap, "the flows of a capture, sliced or tagged, too; several")
      ->excludes(random);
  command->add_option("--from", arguments->from, "where a capture's packets come in: a host, or SWITCH:PORT");
  command->add_option("--seed", arguments->seed, "of random flows")->needs(random);
  command->add_option("--down", arguments->down, "a link that is down, NODE:PORT; several");
  command->add_option("--picture", arguments->picture, ".svg or .png: every link by tier, coloured by its load")
      ->check([](const std::string& path) { return wrong_picture_name(path); });
  command->add_option("--fail-if", arguments->fail_if, "exit status 1 if it is: polarized, uneven; several")
      ->check(CLI::IsMember({kPolarized, kUneven}));
  command->add_flag("--no-cures", arguments->no_cures, "only judge, look for no cures");
  command->add_flag("--json", arguments->json, "for programs, with every switch and link");
  command->callback([arguments, &status] { status = polarization(*arguments); });
}

}  // namespace softspine::tools
