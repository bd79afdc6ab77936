// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/fabric_report.hpp"

#include <fmt/format.h>

#include "control/routing/path_counts.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::tools {

using control::Json;
using control::StagedFabric;

namespace {

const char* word_of(control::Blocking blocking) {
  switch (blocking) {
    case control::Blocking::kStrict: return "strict";
    case control::Blocking::kRearrangeable: return "rearrangeable";
    case control::Blocking::kBlocking: break;
  }
  return "blocking";
}

std::string condition_of(const StagedFabric& it) {
  if (it.channels == 0) return "blocking: links between stages are slower than inputs";
  const auto least_strict = fmt::format("m >= {}", it.least_strict());
  const auto least_rearrangeable = fmt::format("m >= {}", it.least_rearrangeable());
  switch (it.blocking()) {
    case control::Blocking::kStrict: return "nonblocking in the strict sense (" + least_strict + ")";
    case control::Blocking::kRearrangeable:
      return fmt::format("rearrangeable ({}), not nonblocking in the strict sense ({})", least_rearrangeable,
                         least_strict);
    case control::Blocking::kBlocking: break;
  }
  return fmt::format("blocking: rearrangeable would be {}, nonblocking in the strict sense {}", least_rearrangeable,
                     least_strict);
}

// The choices on the longest ways: "chosen on the way: 24 of 48 ports x 24 of 48 ports; 2,304 by all ports of these
// switches"
std::string choices_text(const Json& from) {
  if (from.empty() || from[0]["choices"].empty()) return "";
  std::string out;
  for (const Json& hop : from[0]["choices"]) {
    out += fmt::format("{}{} of {} ports", out.empty() ? "chosen on the way: " : " x ",
                       control::grouped(hop["links"].get<uint64_t>()), control::grouped(hop["ports"].get<uint64_t>()));
  }
  return out + fmt::format("; {} by all ports of these switches\n",
                           control::grouped(from[0]["product_of_ports"].get<uint64_t>()));
}

}  // namespace

Json paths_json(const control::Fabric& fabric) {
  const auto counts = control::count_paths(fabric);
  if (!counts) return {};
  Json from = Json::array();
  for (const control::PathCount& each : counts->from) {
    Json choices = Json::array();
    for (const control::HopChoice& hop : each.choices) choices.push_back({{"links", hop.links}, {"ports", hop.ports}});
    from.push_back({{"switches", each.switches},
                    {"paths", each.paths},
                    {"tors", each.tors},
                    {"choices", std::move(choices)},
                    {"product_of_links", each.product_of_links()},
                    {"product_of_ports", each.product_of_ports()}});
  }
  return {{"to", fabric.nodes[counts->to].name}, {"from", from}, {"tors_without_way", counts->tors_without_way}};
}

std::string paths_text(const Json& paths) {
  if (paths.is_null()) return "";
  std::string out = "paths to " + paths["to"].get<std::string>();
  const char* before = ": ";
  for (const Json& each : paths["from"]) {
    const auto tors = each["tors"].get<uint32_t>();
    out += fmt::format("{}{} over {} switch{} from {} ToR{}", before, control::grouped(each["paths"].get<uint64_t>()),
                       each["switches"].get<uint32_t>(), each["switches"] == 1 ? "" : "es", tors, tors == 1 ? "" : "s");
    before = ", ";
  }
  const auto without = paths["tors_without_way"].get<uint32_t>();
  out += (without == 0 ? "" : fmt::format(", none from {}", without)) + "\n";
  return out + choices_text(paths["from"]);
}

Json staged_json(const std::vector<StagedFabric>& staged) {
  Json out = Json::array();
  for (const StagedFabric& it : staged) {
    Json row{{"name", it.name}, {"inputs", it.inputs}, {"outputs", it.outputs}};
    if (!it.is_crossbar()) {
      row.update({{"m", it.m}, {"n", it.n}, {"r", it.r}, {"channels", it.channels}});
      row.update({{"least_m_strict", it.least_strict()}, {"least_m_rearrangeable", it.least_rearrangeable()}});
    }
    row.update({{"blocking", word_of(it.blocking())}, {"crosspoints", it.crosspoints()}});
    out.push_back(std::move(row));
  }
  return out;
}

std::string staged_text(const std::vector<StagedFabric>& staged) {
  std::string out;
  for (const StagedFabric& it : staged) {
    const std::string name = it.name.empty() ? "" : it.name + ": ";
    if (it.is_crossbar()) {
      out += fmt::format("{}crossbar, {} x {}: nonblocking, {} crosspoints\n", name, it.inputs, it.outputs,
                         control::grouped(it.crosspoints()));
      continue;
    }
    const uint64_t crossbar = uint64_t{it.inputs} * it.outputs;
    out += fmt::format("{}three-stage Clos, m {}, n {}, r {}: {}; {} crosspoints, a crossbar has {}\n", name, it.m,
                       it.n, it.r, condition_of(it), control::grouped(it.crosspoints()), control::grouped(crossbar));
  }
  return out;
}

}  // namespace softspine::tools
