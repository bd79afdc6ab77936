// SPDX-License-Identifier: Apache-2.0
#include "control/training/training_lines.hpp"

#include <algorithm>

#include "control/collectives/collective_work.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::control {

using Kind = TrainingAction::Kind;

TrainingLines::TrainingLines(const TrainingRun& run, uint32_t rank) : run_(run), rank_(rank) {
  const ParallelGroups groups(static_cast<uint32_t>(run.traffic.hosts.size()), run.sizes);
  for (const GroupKind kind : run.plan.kinds) {
    Line& line = beside_.emplace_back();
    line.kind = kind;
    line.group = groups.of(kind, rank);
    line.shapes = &run.shapes[static_cast<size_t>(kind)][groups.number_of(kind, rank)];
  }
  for (uint32_t i = 0; i < run.plan.actions.size(); ++i) {
    const TrainingAction& action = run.plan.actions[i];
    if (action.kind != Kind::kBegin) {
      ++of_a_step_;
      continue;
    }
    Line& line = line_of_kind(action.group);
    line.actions.push_back(i);
    line.needed.push_back(of_a_step_);
  }
  for (Line& line : beside_) line.ends.resize(line.actions.size());
}

TrainingLines::Line& TrainingLines::line_of_kind(GroupKind kind) {
  return *std::ranges::find(beside_, kind, &Line::kind);
}

WorkLines::Answer TrainingLines::next(uint32_t line, Operation& out) noexcept {
  return line == 0 ? next_of_step(out) : next_beside(line, beside_[line - 1], out);
}

WorkLines::Answer TrainingLines::next_of_step(Operation& out) {
  out = {.kind = OperationKind::kCompute, .after_all = true};
  if (!has_started_) {
    has_started_ = true;
    out.time = run_.start - dataplane::Instant{};
    return Answer::kGiven;
  }
  for (; passed_ < actions_in_all(); ++passed_) {
    const TrainingAction& action = run_.plan.actions[passed_ % run_.plan.actions.size()];
    if (action.kind == Kind::kBegin) continue;
    if (action.kind == Kind::kCompute) {
      out.time = action.time;
    } else {
      const Line& line = line_of_kind(action.group);
      const uint64_t collective = passed_ / run_.plan.actions.size() * line.actions.size() + action.begun - 1;
      if (line.ended <= collective) return Answer::kLater;
      needs_.assign(1, line.ends[line.of_step(collective)]);
      out.needs = needs_;
    }
    ++passed_;
    return Answer::kGiven;
  }
  return Answer::kEnded;
}

WorkLines::Answer TrainingLines::next_beside(uint32_t number, Line& line, Operation& out) {
  if (line.is_between()) return begin(line, out);
  if (!line.current->next(out)) {
    end(number, line, out);
    return Answer::kGiven;
  }
  line.needs.clear();
  for (const uint64_t need : out.needs) line.needs.push_back(number_in(number, line.before + need));
  // What follows a begin at once waits for it.
  if (line.needs.empty()) line.needs.push_back(number_in(number, line.before - 1));
  out.needs = line.needs;
  out.line = number;
  if (out.kind == OperationKind::kSend || out.kind == OperationKind::kReceive) {
    out.peer = line.group.rank(out.peer);
    out.channel += TrainingRun::first_channel(line.kind);
  }
  ++line.given;
  return Answer::kGiven;
}

WorkLines::Answer TrainingLines::begin(Line& line, Operation& out) {
  if (line.begun == line.actions.size() * run_.iterations) return Answer::kEnded;
  const size_t place = line.of_step(line.begun);
  const uint64_t step = line.begun / line.actions.size();
  const uint32_t action = line.actions[place];
  if (passed_ <= step * run_.plan.actions.size() + action) return Answer::kLater;
  out = {.kind = OperationKind::kCompute, .after_all = true};
  out.line = static_cast<uint32_t>(&line - beside_.data()) + 1;
  line.needs.assign(1, number_in(0, step * of_a_step_ + line.needed[place]));
  out.needs = line.needs;
  line.current = stream_of((*line.shapes)[run_.plan.actions[action].collective], line.group.position_of(rank_));
  line.before = ++line.given;
  ++line.begun;
  return Answer::kGiven;
}

void TrainingLines::end(uint32_t number, Line& line, Operation& out) {
  out = {.kind = OperationKind::kCompute, .after_all = true};
  out.line = number;
  line.ends[line.of_step(line.ended)] = number_in(number, line.given++);
  ++line.ended;
  line.current.reset();
}

std::vector<uint32_t> TrainingLines::least_windows(const TrainingRun& run, uint32_t rank) {
  const ParallelGroups groups(static_cast<uint32_t>(run.traffic.hosts.size()), run.sizes);
  std::vector<uint32_t> out;
  for (const GroupKind kind : run.plan.kinds) {
    uint32_t& least = out.emplace_back(1);
    const uint32_t position = groups.of(kind, rank).position_of(rank);
    for (const CollectiveShape& shape : run.shapes[static_cast<size_t>(kind)][groups.number_of(kind, rank)])
      least = std::max(least, least_window(shape, position));
  }
  return out;
}

}  // namespace softspine::control
