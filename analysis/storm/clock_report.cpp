// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/clock_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::analysis::storm {

using control::grouped;
using control::Json;
using control::TextTable;
using dataplane::Duration;

namespace {

std::string skew_text(double seconds) {
  constexpr double kDay = 86'400;
  if (std::abs(seconds) > 100 * kDay) return fmt::format("{:+.0f} days", seconds / kDay);
  const std::string text = time_text(Duration::ps(std::llround(seconds * 1e12)));
  return seconds > 0 ? "+" + text : text;
}

// Two crystals differ by as much anyhow: a drift that is known to no less is not known.
std::string drift_text(const ClockFact& it) {
  constexpr double kUnknown = 100e-6;
  return it.drift_uncertainty >= kUnknown
             ? "not known"
             : fmt::format("{:+.2f} ±{:.2g} ppm", it.drift * 1e6, it.drift_uncertainty * 1e6);
}

}  // namespace

std::string clocks_text(const std::vector<ClockFact>& clocks) {
  TextTable table{{"<CAPTURE", "CLOCK", "DRIFT", "WITHIN", "PACKETS", "<COMPARED WITH"}};
  for (const ClockFact& it : clocks) {
    if (it.compared_with.empty()) {
      table.add({it.file, "0", "", "", "", "the time is its clock's"});
    } else {
      table.add({it.file, skew_text(it.skew_seconds), drift_text(it), "±" + time_text(it.uncertainty),
                 grouped(it.packets), it.compared_with});
    }
  }
  return "Clocks, by packets that two captures saw\n" + indented(table.text());
}

Json clocks_json(const std::vector<ClockFact>& clocks) {
  Json out = Json::array();
  for (const ClockFact& it : clocks) {
    out.push_back({{"file", it.file},
                   {"skew_seconds", it.skew_seconds},
                   {"drift_ppm", it.drift * 1e6},
                   {"drift_uncertainty_ppm", it.drift_uncertainty * 1e6},
                   {"uncertainty_ps", it.uncertainty.count_ps()},
                   {"compared_with", it.compared_with.empty() ? Json(nullptr) : Json(it.compared_with)},
                   {"packets", it.packets}});
  }
  return out;
}

}  // namespace softspine::analysis::storm
