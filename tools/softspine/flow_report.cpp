// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/flow_report.hpp"

#include <fmt/format.h>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "control/traces/recorded_work.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::grouped;
using control::Json;

std::string flows_text(const control::SimaiFlows& flows) {
  const control::RecordedWork& work = *flows.work;
  std::string kinds;
  for (const auto& [word, count] : flows.connections)
    kinds += (kinds.empty() ? "" : ", ") + grouped(count) + " " + word;
  return fmt::format(
      "{} of {} B in all, in {}; {}, of which {} talk\n"
      "  connections: {}\n"
      "  waits of a flow for another: {}; flows with a delay: {}\n"
      "  messages of no bytes, which tell nodes what is over: {}\n",
      counted(flows.flows, "flow"), grouped(work.totals.sent_bytes), counted(flows.layers, "layer"),
      counted(work.ranks().size(), "rank"), counted(work.pairs.size(), "pair"), kinds, grouped(flows.waits),
      grouped(flows.delayed), grouped(flows.notices));
}

Json flows_json(const control::SimaiFlows& flows) {
  const control::RecordedWork& work = *flows.work;
  return {{"flows", flows.flows},         {"bytes", work.totals.sent_bytes}, {"layers", flows.layers},
          {"ranks", work.ranks().size()}, {"pairs", work.pairs.size()},      {"connections", flows.connections},
          {"waits", flows.waits},         {"delayed", flows.delayed},        {"notices", flows.notices}};
}

}  // namespace softspine::tools
