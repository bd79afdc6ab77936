// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/rank_report.hpp"

#include <fmt/format.h>

#include <optional>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "testbeds/run/rank_plan.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;
using testbeds::RankPart;
using testbeds::RankPlan;

namespace {

// By the wall clock; nothing on the virtual one, which waits.
std::optional<int64_t> meeting_at_most_ps(const control::Testbed& testbed, const RankPlan& plan) {
  if (testbed.run.clock != control::ClockKind::kWall) return std::nullopt;
  return plan.window.count_ps() * testbed.run.dilation;
}

}  // namespace

Json ranks_json(const control::Testbed& testbed, uint32_t ranks) {
  const RankPlan plan = testbeds::plan_ranks(testbed, ranks);
  const std::optional<int64_t> at_most = meeting_at_most_ps(testbed, plan);
  Json parts = Json::array();
  for (const RankPart& part : plan.parts) {
    parts.push_back({{"switches", part.switches},
                     {"hosts", part.hosts},
                     {"ports", part.ports},
                     {"rate_bps", part.rate.count_bps()}});
  }
  return {{"links", plan.links},
          {"cut_links", plan.cut_links},
          {"window_ps", plan.window.count_ps()},
          {"shortest_cut_ps", plan.cut_links == 0 ? Json{} : Json(plan.shortest_cut.count_ps())},
          {"meeting_at_most_ps", at_most ? Json(*at_most) : Json{}},
          {"imbalance", plan.imbalance()},
          {"parts", std::move(parts)},
          {"not_there", testbeds::not_over_ranks(testbed)}};
}

std::string ranks_text(const control::Testbed& testbed, uint32_t ranks) {
  const RankPlan plan = testbeds::plan_ranks(testbed, ranks);
  std::string out = fmt::format(
      "over {} ranks: {} of {} links are cut, a meeting every {}; the largest part is {:.2f} times the mean\n", ranks,
      control::grouped(plan.cut_links), control::grouped(plan.links), short_time(plan.window.count_ps()),
      plan.imbalance());
  for (size_t r = 0; r < plan.parts.size(); ++r) {
    const RankPart& part = plan.parts[r];
    out += fmt::format("  rank {:<4} {:>6} switches {:>8} hosts {:>9} ports{}\n", r, control::grouped(part.switches),
                       control::grouped(part.hosts), control::grouped(part.ports),
                       part.ports == 0 ? ": nothing to do" : "");
  }
  if (const auto at_most = meeting_at_most_ps(testbed, plan)) {
    out += fmt::format("  on the wall clock, at a dilation of {}, a meeting may take {}\n", testbed.run.dilation,
                       short_time(*at_most));
  }
  for (const std::string& each : testbeds::not_over_ranks(testbed)) out += "  " + each + "\n";
  return out;
}

}  // namespace softspine::tools
