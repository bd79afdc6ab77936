// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/reproduce/trial_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::tools {

using control::Json;

namespace {

// JSON has no NaN.
Json json_of(double value) {
  return std::isnan(value) ? Json() : Json(value);
}

std::string title_of(const Experiment& it) {
  return fmt::format("{}: {}, {}: {}", it.name, it.paper, it.figure, it.shows);
}

Json cells_json(const Trial& trial) {
  const Grid& theirs = trial.experiment->published;
  Json out = Json::array();
  for (size_t row = 0; row < theirs.rows.size(); ++row) {
    for (size_t column = 0; column < theirs.columns.size(); ++column) {
      const double ours = trial.found.mean.at(row, column);
      const double published = theirs.at(row, column);
      out.push_back({{"row", theirs.rows[row]},
                     {"column", theirs.columns[column]},
                     {"published", json_of(published)},
                     {"ours", json_of(ours)},
                     {"deviation", json_of(trial.found.deviation.at(row, column))},
                     {"least", json_of(trial.found.least.at(row, column))},
                     {"most", json_of(trial.found.most.at(row, column))},
                     {"ratio", published == 0 ? Json() : json_of(ours / published)}});
    }
  }
  return out;
}

std::string table_text(const Trial& trial) {
  control::TextTable table{{"<WHAT", "<AT", "PAPER", "OURS", "DEVIATION", "LEAST", "MOST", "RATIO"}};
  for (std::vector<std::string>& line : trial_lines(trial)) table.add(std::move(line));
  return table.text();
}

std::string claims_text(const Trial& trial) {
  const auto held = std::ranges::count(trial.claims, true, &Judged::held);
  std::string out = fmt::format("Shape: {} of {} claims hold\n", held, trial.claims.size());
  for (const Judged& it : trial.claims) {
    out += fmt::format("  {}  {}\n", it.held ? "holds" : "NOT  ", it.claim->text);
    if (!it.held && !it.claim->reason.empty()) out += fmt::format("         since {}\n", it.claim->reason);
  }
  return out;
}

std::string_view size_word(TrialSize size) {
  return size == TrialSize::kWhole ? "whole" : "small";
}

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size >= 1'000 ? 0 : size >= 10 ? 1 : 2);
}

std::string ratio_text(double ours, double theirs) {
  return theirs == 0 || std::isnan(ours / theirs) ? "-" : fmt::format("{:.2f}", ours / theirs);
}

std::vector<std::vector<std::string>> trial_lines(const Trial& trial) {
  const Grid& theirs = trial.experiment->published;
  std::vector<std::vector<std::string>> out;
  for (size_t row = 0; row < theirs.rows.size(); ++row) {
    for (size_t column = 0; column < theirs.columns.size(); ++column) {
      std::vector<std::string>& line = out.emplace_back();
      line = {theirs.rows[row], theirs.columns[column], number_text(theirs.at(row, column))};
      for (const Grid* each : {&trial.found.mean, &trial.found.deviation, &trial.found.least, &trial.found.most})
        line.push_back(number_text(each->at(row, column)));
      line.push_back(ratio_text(trial.found.mean.at(row, column), theirs.at(row, column)));
    }
  }
  return out;
}

std::string effort_text(const Trial& trial) {
  return fmt::format("{} seed{}, {} run{}, {:.0f} s, {}", trial.seeds, trial.seeds == 1 ? "" : "s", trial.runs,
                     trial.runs == 1 ? "" : "s", trial.seconds, size_word(trial.size));
}

std::string trial_text(const Trial& trial) {
  const Experiment& it = *trial.experiment;
  std::string out =
      fmt::format("{}\n{}{}; {}; the paper's: {}\n\n{}\n{}", title_of(it), trial.was_interrupted ? "Interrupted: " : "",
                  effort_text(trial), it.unit, it.how_read, table_text(trial), claims_text(trial));
  out += "Assumed:\n";
  for (const std::string_view assumed : it.assumed) out += fmt::format("  - {}\n", assumed);
  return out;
}

Json trial_json(const Trial& trial) {
  const Experiment& it = *trial.experiment;
  Json claims = Json::array();
  for (const Judged& each : trial.claims) {
    claims.push_back({{"claim", each.claim->text}, {"holds", each.held}, {"reason_if_not", each.claim->reason}});
  }
  return {{"name", it.name},
          {"paper", it.paper},
          {"figure", it.figure},
          {"shows", it.shows},
          {"unit", it.unit},
          {"how_read", it.how_read},
          {"size", size_word(trial.size)},
          {"seeds", trial.seeds},
          {"runs", trial.runs},
          {"seconds", trial.seconds},
          {"interrupted", trial.was_interrupted},
          {"holds", trial.holds()},
          {"cells", cells_json(trial)},
          {"claims", std::move(claims)},
          {"assumed", it.assumed}};
}

std::string experiment_list(const std::vector<Experiment>& experiments) {
  control::TextTable table{{"<EXPERIMENT", "<PAPER", "<FIGURE", "SEEDS", "<TAKES", "<SHOWS"}};
  for (const Experiment& it : experiments) {
    table.add({std::string(it.name), std::string(it.paper), std::string(it.figure), std::to_string(it.seeds),
               std::string(it.takes), std::string(it.shows)});
  }
  return table.text();
}

Json experiments_json(const std::vector<Experiment>& experiments) {
  Json out = Json::array();
  for (const Experiment& it : experiments) {
    Json claims = Json::array();
    for (const Claim& claim : it.claims) claims.push_back(claim.text);
    out.push_back({{"name", it.name},
                   {"paper", it.paper},
                   {"figure", it.figure},
                   {"shows", it.shows},
                   {"seeds", it.seeds},
                   {"takes", it.takes},
                   {"claims", std::move(claims)}});
  }
  return out;
}

}  // namespace softspine::tools
