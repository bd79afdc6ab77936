// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/training_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/training/step_times.hpp"
#include "control/training/training_lines.hpp"

namespace softspine::testbeds {

using control::GroupKind;
using control::OperationKind;
using control::TrainingParts;
using control::TrainingRun;
using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr uint32_t kStepWindow = 16;  // computations and waits follow each other: one would do
constexpr uint32_t kUsualLineWindow = 1024;

std::vector<uint32_t> line_windows(const TrainingRun& run, uint32_t rank) {
  std::vector<uint32_t> out = control::TrainingLines::least_windows(run, rank);
  for (uint32_t& window : out) window = std::max(window, kUsualLineWindow);
  return out;
}

// The first that stands still for others; else the rank's own work.
std::string text_of(const std::vector<UnfinishedOperation>& open) {
  const auto is_message = [](const UnfinishedOperation& op) {
    const bool goes = op.reason != UnfinishedOperation::Reason::kNeeds;
    return goes && (op.kind == OperationKind::kSend || op.kind == OperationKind::kReceive);
  };
  const auto found = std::ranges::find_if(open, is_message);
  if (found == open.end()) return "its own work";
  const bool sends = found->kind == OperationKind::kSend;
  const auto kind = static_cast<GroupKind>(found->channel / TrainingRun::kMaxChannels);
  return fmt::format("{} of {} bytes {} rank {} on channel {} of its group {}", sends ? "send" : "receive",
                     found->bytes, sends ? "to" : "from", found->peer, found->channel % TrainingRun::kMaxChannels,
                     word_for(kind));
}

}  // namespace

struct TrainingRanks::Facts {
  uint32_t rank = 0;
  std::vector<Duration> steps;
  bool has_ended = false;
  Instant ended;
  std::string waits;  // empty: for nothing
  TrainingParts parts;
  control::LongestWait longest_wait;
};

class TrainingRanks::RankHere final : public OperationObserver {
 public:
  RankHere(const TrainingRun& run, uint32_t rank, const RankConfig& config, RoceHost& host,
           std::unique_ptr<RankRecorder> recorder)
      : rank_(rank),
        run_(run),
        lines_(run, rank),
        times_(run),
        recorder_(std::move(recorder)),
        program_(config, host, lines_, this) {}

  uint32_t rank() const { return rank_; }
  RankProgram& program() { return program_; }
  const RankProgram& program() const { return program_; }
  const control::StepTimes& times() const { return times_; }

  void done(const OpenOperation& operation, Instant now) noexcept override {
    const uint32_t line = control::line_of(operation.number);
    if (operation.kind == OperationKind::kCompute) times_.done(line, operation.started, now);
    if (operation.kind == OperationKind::kSend) times_.sent(line, operation.bytes);
    if (recorder_) recorder_->done(operation, now, program_.counters().times.of_receives_alone());
  }
  void posted(const OpenOperation& operation) noexcept override {
    if (recorder_) recorder_->posted(operation);
  }

  TrainingParts parts(const std::string& host) const {
    TrainingParts out{.host = host, .compute = times_.compute()};
    for (const GroupKind kind : run_.plan.kinds) {
      const control::KindTimes times = times_.of(kind);
      const auto index = static_cast<size_t>(kind);
      out.exposed[index] = times.exposed;
      out.overlapped[index] = times.overlapped;
      out.sent_bytes[index] = times.sent_bytes;
    }
    return out;
  }

 private:
  uint32_t rank_;
  const TrainingRun& run_;
  control::TrainingLines lines_;
  control::StepTimes times_;
  std::unique_ptr<RankRecorder> recorder_;  // null: nobody asks
  RankProgram program_;
};

TrainingRanks::TrainingRanks(const control::Testbed& testbed, const LocalNodes& nodes, RankLinks& links, StepLog& steps)
    : testbed_(testbed), nodes_(nodes), links_(links), steps_(steps) {}

TrainingRanks::~TrainingRanks() = default;

void TrainingRanks::start() {
  for (const TrainingRun& run : testbed_.trainings) {
    const size_t job = testbed_.collectives.size() + ranks_here_.size();
    auto& here = ranks_here_.emplace_back();
    std::vector<RankConfig> configs = links_.configs_of(run.traffic);
    for (uint32_t rank = 0; rank < configs.size(); ++rank) {
      RoceHost* const host = nodes_.host_at(run.traffic.hosts[rank]);
      if (host == nullptr) continue;
      configs[rank].window = kStepWindow;
      configs[rank].further_windows = line_windows(run, rank);
      auto recorder = steps_.recorder_of(job, rank, configs[rank]);
      here.push_back(std::make_unique<RankHere>(run, rank, configs[rank], *host, std::move(recorder)));
      here.back()->program().start_at(Instant{});
    }
  }
}

void TrainingRanks::snapshot(control::FabricSnapshot& out) {
  for (size_t i = 0; i < testbed_.trainings.size(); ++i) {
    const TrainingRun& run = testbed_.trainings[i];
    std::vector<Facts> here;
    for (const auto& rank : ranks_here_[i]) here.push_back(facts_of(run, *rank));
    out.trainings.push_back(copy(run, nodes_.ranks().collect_all(here, &Facts::rank)));
  }
}

TrainingRanks::Facts TrainingRanks::facts_of(const TrainingRun& run, const RankHere& rank) const {
  const RankProgram& program = rank.program();
  Facts out{.rank = rank.rank(),
            .steps = rank.times().steps(),
            .has_ended = program.state() == RankProgram::State::kEnded,
            .ended = program.counters().ended,
            .waits = {},
            .parts = rank.parts(testbed_.fabric.nodes[run.traffic.hosts[rank.rank()]].name),
            .longest_wait = rank.times().longest_wait()};
  if (out.has_ended) return out;
  if (const auto open = program.unfinished(); !open.empty()) out.waits = text_of(open);
  return out;
}

control::TrainingSnapshot TrainingRanks::copy(const TrainingRun& run, const std::vector<Facts>& ranks) {
  control::TrainingSnapshot out{.name = run.name,
                                .sizes = run.sizes,
                                .ranks = run.traffic.hosts.size(),
                                .iterations = run.iterations,
                                .kinds = run.plan.kinds};
  size_t steps = ranks.empty() ? 0 : SIZE_MAX;
  for (const Facts& rank : ranks) {
    steps = std::min(steps, rank.steps.size());
    if (rank.has_ended) {
      out.ended = out.ranks_done == 0 ? rank.ended : std::max(out.ended, rank.ended);
      ++out.ranks_done;
    } else if (!rank.waits.empty()) {
      out.waiting.push_back({rank.rank, rank.parts.host, rank.waits});
    }
  }
  for (size_t step = 0; step < steps; ++step) {
    control::TrainingStepSnapshot& of_all = out.steps.emplace_back();
    of_all.shortest = Duration::max();
    for (const Facts& rank : ranks) {
      const Duration time = rank.steps[step];
      of_all.mean += time;
      of_all.shortest = std::min(of_all.shortest, time);
      of_all.longest = std::max(of_all.longest, time);
    }
    of_all.mean = of_all.mean / static_cast<int64_t>(ranks.size());
  }
  copy_longest_wait(run, ranks, out);
  if (!out.steps.empty()) copy_parts(ranks, out);
  return out;
}

void TrainingRanks::copy_longest_wait(const TrainingRun& run, const std::vector<Facts>& ranks,
                                      control::TrainingSnapshot& out) {
  for (const Facts& rank : ranks) {
    const control::LongestWait& wait = rank.longest_wait;
    if (wait.time <= out.longest_wait.time) continue;
    const control::TrainingAction& action = run.plan.actions[wait.action];
    out.longest_wait = {rank.parts.host, wait.time,   wait.step, run.plan.layers[action.layer],
                        action.phase,    action.group};
  }
}

// All of them have ended a step.
void TrainingRanks::copy_parts(const std::vector<Facts>& ranks, control::TrainingSnapshot& out) {
  for (const Facts& rank : ranks) {
    const TrainingParts& parts = rank.parts;
    const Duration taken = parts.compute + parts.all_exposed();
    if (out.slowest.host.empty() || taken > out.slowest.compute + out.slowest.all_exposed()) out.slowest = parts;
    if (out.least_exposed.host.empty() || parts.all_exposed() < out.least_exposed.all_exposed())
      out.least_exposed = parts;
    out.mean.compute += parts.compute;
    for (size_t kind = 0; kind < control::kGroupKinds; ++kind) {
      out.mean.exposed[kind] += parts.exposed[kind];
      out.mean.overlapped[kind] += parts.overlapped[kind];
      out.mean.sent_bytes[kind] += parts.sent_bytes[kind];
    }
  }
  const auto count = static_cast<int64_t>(ranks.size());
  out.mean.compute = out.mean.compute / count;
  for (size_t kind = 0; kind < control::kGroupKinds; ++kind) {
    out.mean.exposed[kind] = out.mean.exposed[kind] / count;
    out.mean.overlapped[kind] = out.mean.overlapped[kind] / count;
    out.mean.sent_bytes[kind] /= ranks.size();
  }
}

}  // namespace softspine::testbeds
