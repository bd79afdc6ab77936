// SPDX-License-Identifier: Apache-2.0
#include "control/report/training_json.hpp"

#include <fmt/format.h>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::control {
namespace {

// Null before each rank has ended a step.
Json parts_json(const TrainingSnapshot& training, const TrainingParts& parts, bool is_of_a_rank) {
  const auto known = [&](const auto& value) { return training.steps.empty() ? Json() : Json(value); };
  Json groups = Json::object();
  for (const GroupKind kind : training.kinds) {
    const auto index = static_cast<size_t>(kind);
    add_key(groups, std::string(word_for(kind)),
            {{"exposed_ps", known(parts.exposed[index].count_ps())},
             {"overlapped_ps", known(parts.overlapped[index].count_ps())},
             {"sent_bytes", known(parts.sent_bytes[index])}});
  }
  Json out = Json::object();
  if (is_of_a_rank) add_key(out, "host", known(parts.host));
  add_key(out, "compute_ps", known(parts.compute.count_ps()));
  add_key(out, "exposed_ps", known(parts.all_exposed().count_ps()));
  add_key(out, "groups", std::move(groups));
  return out;
}

Json steps_json(const TrainingSnapshot& training) {
  Json out = Json::object();
  for (size_t step = 0; step < training.steps.size(); ++step) {
    const TrainingStepSnapshot& it = training.steps[step];
    add_key(out, std::to_string(step),
            {{"time_ps", it.mean.count_ps()},
             {"time_min_ps", it.shortest.count_ps()},
             {"time_max_ps", it.longest.count_ps()}});
  }
  return out;
}

Json wait_json(const TrainingWait& wait) {
  if (wait.host.empty()) return {};
  return {{"host", wait.host},   {"time_ps", wait.time.count_ps()}, {"step", wait.step},
          {"layer", wait.layer}, {"phase", word_for(wait.phase)},   {"group", word_for(wait.group)}};
}

dataplane::Duration mean_step(const TrainingSnapshot& training) {
  dataplane::Duration sum;
  for (const TrainingStepSnapshot& step : training.steps) sum += step.mean;
  return training.steps.empty() ? sum : sum / static_cast<int64_t>(training.steps.size());
}

void add_part_fields(std::vector<ReportField>& out, const std::string& of, const std::string& who) {
  const std::string begin = "training.*." + of + ".";
  out.push_back({begin + "compute_ps", "ps",
                 "For how long " + who + " computed in a step; null, as all of these, if none has ended."});
  out.push_back(
      {begin + "exposed_ps", "ps", "For how long " + who + " did nothing in a step but wait for collectives."});
  const std::string group = begin + "groups.*.";
  out.push_back({group + "exposed_ps", "ps", "Of that: for those of one kind of group, as " + who + " waited."});
  out.push_back({group + "overlapped_ps", "ps", "For how long they went on beside other things, as " + who + " saw."});
  out.push_back(
      {group + "sent_bytes", "bytes", "Bytes that " + who + " sent in them in a step, beside the fabric too."});
}

}  // namespace

Json trainings_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (const TrainingSnapshot& training : snapshot.trainings) {
    Json waiting = Json::array();
    for (const WaitingRank& each : training.waiting)
      waiting.push_back({{"rank", each.rank}, {"host", each.host}, {"for", each.what}});
    const bool has_step = !training.steps.empty();
    add_key(out, training.name,
            {{"ranks", training.ranks},
             {"tensor_parallel", training.sizes.tensor},
             {"expert_parallel", training.sizes.expert},
             {"data_parallel", training.ranks / training.sizes.tensor},
             {"iterations", training.iterations},
             {"steps_done", training.steps.size()},
             {"ranks_done", training.ranks_done},
             {"ended_ps", training.ended.is_never() ? Json() : Json(training.ended.count_ps())},
             {"step_ps", has_step ? Json(mean_step(training).count_ps()) : Json()},
             {"steps", steps_json(training)},
             {"mean", parts_json(training, training.mean, false)},
             {"slowest", parts_json(training, training.slowest, true)},
             {"least_exposed", parts_json(training, training.least_exposed, true)},
             {"longest_wait", wait_json(training.longest_wait)},
             {"waiting", std::move(waiting)}});
  }
  return out;
}

std::string trainings_table(const FabricSnapshot& snapshot) {
  TextTable table{
      {"<TRAINING", "RANKS", "STEPS", "STEP_US", "COMPUTE_US", "<GROUP", "EXPOSED_US", "OVERLAPPED_US", "SENT_BYTES"}};
  for (const TrainingSnapshot& training : snapshot.trainings) {
    const bool has_step = !training.steps.empty();
    const auto us = [&](dataplane::Duration time) {
      return has_step ? fmt::format("{:.2f}", static_cast<double>(time.count_ps()) / 1e6) : "-";
    };
    for (const GroupKind kind : training.kinds) {
      const auto index = static_cast<size_t>(kind);
      table.add({training.name, std::to_string(training.ranks), std::to_string(training.steps.size()),
                 us(mean_step(training)), us(training.mean.compute), std::string(word_for(kind)),
                 us(training.mean.exposed[index]), us(training.mean.overlapped[index]),
                 has_step ? grouped(training.mean.sent_bytes[index]) : "-"});
    }
  }
  return table.text();
}

std::vector<ReportField> training_fields() {
  std::vector<ReportField> out{
      {"training.*.ranks", "a count", "Ranks, one a host."},
      {"training.*.tensor_parallel", "a count", "Ranks of a tensor-parallel group."},
      {"training.*.expert_parallel", "a count", "Ranks that the experts of a layer are spread over."},
      {"training.*.data_parallel", "a count", "Ranks of a data-parallel group."},
      {"training.*.iterations", "a count", "Steps to do."},
      {"training.*.steps_done", "a count", "Steps that all ranks have ended."},
      {"training.*.ranks_done", "a count", "Ranks that have ended all steps."},
      {"training.*.ended_ps", "ps", "Instant at which the last of these ranks ended; null if there is none."},
      {"training.*.step_ps", "ps", "Time of a step: the mean over ranks and steps; null if none has ended."},
      {"training.*.steps.*.time_ps", "ps", "Time of that step: the mean over ranks."},
      {"training.*.steps.*.time_min_ps", "ps", "Likewise: at the quickest rank."},
      {"training.*.steps.*.time_max_ps", "ps", "Likewise: at the slowest rank."},
      {"training.*.slowest.host", "text",
       "The rank whose step took longest, in the mean over its steps; null if none has ended."},
      {"training.*.least_exposed.host", "text",
       "The rank that waited least for collectives: others wait for it, unless all wait alike."},
      {"training.*.longest_wait.host", "text", "The rank that waited longest for one collective."},
      {"training.*.longest_wait.time_ps", "ps", "For how long that one did nothing else."},
      {"training.*.longest_wait.step", "a count", "The step in which that was, from 0."},
      {"training.*.longest_wait.layer", "text", "The layer whose collective that was."},
      {"training.*.longest_wait.phase", "text", "Its phase: forward, input_gradient or weight_gradient."},
      {"training.*.longest_wait.group", "text", "Its group: tensor, data, expert or data_of_experts."},
      {"training.*.waiting.*.rank", "a count", "A rank that has not ended."},
      {"training.*.waiting.*.host", "text", "The host of that rank."},
      {"training.*.waiting.*.for", "text", "The first message that it waits for, and of which group's."},
  };
  add_part_fields(out, "mean", "the ranks, in the mean,");
  add_part_fields(out, "slowest", "the slowest rank");
  add_part_fields(out, "least_exposed", "the rank that waited least");
  return out;
}

}  // namespace softspine::control
