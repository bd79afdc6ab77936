// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/compare_captures.hpp"

#include <fmt/format.h>

#include "analysis/explain/comparison_report.hpp"
#include "analysis/reading/sightings.hpp"
#include "control/telemetry/json.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/reading_progress.hpp"
#include "tools/command/wrong_input.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kFlowsShown = 25;

}  // namespace

ExitStatus compare_captures(const AgainstArguments& arguments, const std::string& from, analysis::Walker& walker,
                            bool json) {
  const control::Fabric& fabric = walker.testbed().fabric;
  std::vector<analysis::CaptureSource> sources;
  for (const std::string& text : arguments.captures) {
    auto source = analysis::capture_source(fabric, text);
    if (!source) return wrong_input("--against: " + source.error());
    sources.push_back(std::move(*source));
  }
  const auto sightings = [&] {
    ReadingProgress shown;
    return analysis::read_sightings(
        walker, sources, {.ports_file = arguments.ports, .from = from, .progress = [&shown](const auto&... read) {
                            shown.show(read...);
                          }});
  }();
  if (!sightings) return wrong_input(sightings.error());
  const std::string left_out = analysis::left_out_text(*sightings);
  if (sightings->flows.empty()) return wrong_input("no flow in the captures. " + left_out);
  if (!left_out.empty()) complain("softspine: {}\n", left_out);
  const analysis::PathComparison found = compare_with(walker, sightings->flows);
  if (json) {
    control::Json out{{"captured_ports", sightings->ports.size()}};
    out.update(comparison_json(fabric, sightings->flows, found));
    fmt::print("{}\n", out.dump(2));
  } else {
    fmt::print("{} ports captured, ", sightings->ports.size());
    fmt::print("{}", comparison_text(fabric, sightings->flows, found, arguments.all ? SIZE_MAX : kFlowsShown));
  }
  if (found.count(analysis::FlowVerdict::kDiffers) > 0) return ExitStatus::kUnexpected;
  if (found.count(analysis::FlowVerdict::kAgrees) > 0) return ExitStatus::kDone;
  return wrong_input("the captures decide nothing: no flow was seen to leave a switch that had a choice");
}

}  // namespace softspine::tools
