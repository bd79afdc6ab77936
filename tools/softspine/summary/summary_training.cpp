// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_training.hpp"

#include <fmt/format.h>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "tools/softspine/summary/summary_traces.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

void add_groups(control::TextTable& table, const std::string& name, const Json& training) {
  const Json& mean = training["mean"];
  for (const auto& [group, parts] : mean["groups"].items()) {
    const Json& bytes = parts["sent_bytes"];
    table.add({name, training["ranks"].dump(), training["steps_done"].dump(), short_time(training["step_ps"]),
               short_time(mean["compute_ps"]), group, short_time(parts["exposed_ps"]),
               short_time(parts["overlapped_ps"]), bytes.is_null() ? "–" : control::grouped(bytes.get<uint64_t>())});
  }
}

// The mean is rounded down by some picoseconds, and is the least only if all ranks waited alike.
std::string least_text(const Json& training) {
  const Json& least = training["least_exposed"];
  if (least["host"].is_null()) return {};
  if (least["exposed_ps"].get<int64_t>() >= training["mean"]["exposed_ps"].get<int64_t>())
    return "; all ranks waited alike in a step";
  return fmt::format("; {} waited least in a step", least["host"].get<std::string>());
}

std::string longest_text(const Json& training) {
  const Json& wait = training["longest_wait"];
  if (wait.is_null()) return {};
  return fmt::format("  longest wait: {} at {}, for {} of {}, its group {}, in step {}{}\n",
                     short_time(wait["time_ps"]), wait["host"].get<std::string>(), wait["phase"].get<std::string>(),
                     wait["layer"].get<std::string>(), wait["group"].get<std::string>(), wait["step"].dump(),
                     least_text(training));
}

}  // namespace

std::string training_text(const Json& report) {
  if (!report.contains("training")) return {};
  control::TextTable table{
      {"<training", "ranks", "steps", "step", "compute", "<group", "exposed", "overlapped", "sent bytes"}};
  std::string further;
  for (const auto& [name, training] : report["training"].items()) {
    add_groups(table, name, training);
    further += longest_text(training);
    further += waiting_text(name, training["waiting"], training["ranks"]);
  }
  return "\nTraining (a step, the mean over ranks and steps)\n" + table.text() + further;
}

}  // namespace softspine::tools
