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

// Of all steps so far: a step's.
Json a_step(const Json& time, const Json& steps) {
  return steps == 0 ? Json() : Json(time.get<int64_t>() / steps.get<int64_t>());
}

void add_groups(control::TextTable& table, const std::string& name, const Json& training) {
  const Json& steps = training["steps_done"];
  const Json& mean = training["mean"];
  for (const auto& [group, parts] : mean["groups"].items()) {
    table.add({name, training["ranks"].dump(), steps.dump(), short_time(training["step_ps"]),
               short_time(a_step(mean["compute_ps"], steps)), group, short_time(a_step(parts["exposed_ps"], steps)),
               short_time(a_step(parts["overlapped_ps"], steps)),
               control::grouped(parts["sent_bytes"].get<uint64_t>())});
  }
}

std::string longest_text(const Json& training) {
  const Json& wait = training["longest_wait"];
  if (wait.is_null()) return {};
  return fmt::format("  {} waited longest: {}, for {} of {}, its group {}, in step {}; least: {}\n",
                     wait["host"].get<std::string>(), short_time(wait["time_ps"]), wait["phase"].get<std::string>(),
                     wait["layer"].get<std::string>(), wait["group"].get<std::string>(), wait["step"].dump(),
                     training["least_exposed"]["host"].get<std::string>());
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
  return "\nTraining (a step's times, the mean over ranks and steps)\n" + table.text() + further;
}

}  // namespace softspine::tools
