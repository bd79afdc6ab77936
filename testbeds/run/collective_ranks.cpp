// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/collective_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/collectives/collective_work.hpp"

namespace softspine::testbeds {

using control::CollectiveRun;
using control::OperationKind;
using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr uint32_t kUsualWindow = 1024;

uint32_t window_of(const CollectiveRun& run, uint32_t rank) {
  uint32_t out = kUsualWindow;
  for (const control::CollectiveShape& shape : run.shapes) out = std::max(out, least_window(shape, rank));
  return out;
}

std::string text_of(const UnfinishedOperation& op) {
  using Reason = UnfinishedOperation::Reason;
  const bool sends = op.kind == OperationKind::kSend;
  if (!sends && op.kind != OperationKind::kReceive) return "its own work";
  const std::string what = fmt::format("{} of {} bytes {} rank {} on channel {}", sends ? "send" : "receive", op.bytes,
                                       sends ? "to" : "from", op.peer, op.channel);
  switch (op.reason) {
    case Reason::kAcknowledgement: return what + ": acknowledgement";
    case Reason::kClear: return what + ": clear-to-send";
    default: return what;
  }
}

void add_counts(const RankCounters& counters, uint64_t unclaimed, control::CollectiveSnapshot& out) {
  constexpr auto kSends = static_cast<size_t>(OperationKind::kSend);
  constexpr auto kReceives = static_cast<size_t>(OperationKind::kReceive);
  out.messages_sent += counters.done[kSends];
  out.messages_received += counters.done[kReceives];
  out.scale_up_messages += counters.scale_up_messages;
  out.scale_up_bytes += counters.scale_up_bytes;
  out.messages_unclaimed += unclaimed;
  out.received_bytes += counters.bytes[kReceives];
  out.clears_sent += counters.clears_sent;
  out.clears_received += counters.clears_received;
  out.most_open = std::max(out.most_open, counters.most_open);
}

control::RankTimes times_of(const RankProgram& program, const std::string& host) {
  const OperationTimes& times = program.counters().times;
  return {.host = host,
          .waited = times.of_receives_alone(),
          .sending = times.of(OperationKind::kSend),
          .receiving = times.of(OperationKind::kReceive),
          .reducing = times.of(OperationKind::kReduce),
          .posting = program.proxy_busy()};
}

}  // namespace

struct CollectiveRanks::Facts {
  uint32_t rank = 0;
  RankCounters counters;
  uint64_t unclaimed = 0;
  control::RankTimes times;
  std::vector<Duration> collectives;  // the time of each that has ended
  bool has_ended = false;
  std::string waits;  // empty: for nothing
};

class CollectiveRanks::RankHere final : public OperationObserver {
 public:
  RankHere(const CollectiveRun& run, uint32_t rank, const RankConfig& config, RoceHost& host,
           std::unique_ptr<RankRecorder> recorder)
      : rank_(rank),
        stream_(run, rank),
        line_(stream_),
        recorder_(std::move(recorder)),
        program_(config, host, line_, this) {
    joints_.reserve(run.shapes.size() * run.iterations + 1);
  }

  uint32_t rank() const { return rank_; }
  RankProgram& program() { return program_; }
  const RankProgram& program() const { return program_; }
  size_t ended() const { return joints_.empty() ? 0 : joints_.size() - 1; }  // collectives
  Duration time_of(size_t collective) const { return joints_[collective + 1].started - joints_[collective].done; }

  // Joints are all that takes time and is no work on bytes.
  void done(const OpenOperation& operation, Instant now) noexcept override {
    if (operation.kind == OperationKind::kCompute) joints_.push_back({operation.started, now});
    if (recorder_) recorder_->done(operation, now, program_.counters().times.of_receives_alone());
  }
  void posted(const OpenOperation& operation) noexcept override {
    if (recorder_) recorder_->posted(operation);
  }

 private:
  uint32_t rank_;
  control::CollectiveSequence stream_;
  control::OneLine line_;
  struct Joint {
    Instant started;
    Instant done;
  };
  std::vector<Joint> joints_;
  std::unique_ptr<RankRecorder> recorder_;  // null: nobody asks
  RankProgram program_;
};

CollectiveRanks::CollectiveRanks(const control::Testbed& testbed, const LocalNodes& nodes, RankLinks& links,
                                 StepLog& steps)
    : testbed_(testbed), nodes_(nodes), links_(links), steps_(steps) {}

CollectiveRanks::~CollectiveRanks() = default;

void CollectiveRanks::start() {
  for (const CollectiveRun& run : testbed_.collectives) {
    const size_t job = ranks_here_.size();
    auto& here = ranks_here_.emplace_back();
    std::vector<RankConfig> configs = links_.configs_of(run.traffic);
    for (uint32_t rank = 0; rank < configs.size(); ++rank) {
      RoceHost* const host = nodes_.host_at(run.traffic.hosts[rank]);
      if (host == nullptr) continue;
      configs[rank].window = window_of(run, rank);
      auto recorder = steps_.recorder_of(job, rank, configs[rank]);
      here.push_back(std::make_unique<RankHere>(run, rank, configs[rank], *host, std::move(recorder)));
      here.back()->program().start_at(Instant{});
    }
  }
}

void CollectiveRanks::snapshot(control::FabricSnapshot& out) {
  for (size_t i = 0; i < testbed_.collectives.size(); ++i) {
    const CollectiveRun& run = testbed_.collectives[i];
    std::vector<Facts> here;
    for (const auto& rank : ranks_here_[i]) here.push_back(facts_of(run, *rank));
    out.collectives.push_back(copy(run, nodes_.ranks().collect_all(here, &Facts::rank)));
  }
}

CollectiveRanks::Facts CollectiveRanks::facts_of(const CollectiveRun& run, const RankHere& rank) const {
  const RankProgram& program = rank.program();
  Facts out{.rank = rank.rank(),
            .counters = program.counters(),
            .unclaimed = program.unclaimed_messages(),
            .times = times_of(program, testbed_.fabric.nodes[run.traffic.hosts[rank.rank()]].name),
            .collectives = {},
            .has_ended = program.state() == RankProgram::State::kEnded,
            .waits = {}};
  for (size_t i = 0; i < rank.ended(); ++i) out.collectives.push_back(rank.time_of(i));
  if (out.has_ended) return out;
  if (const auto open = program.unfinished(); !open.empty()) out.waits = text_of(open.front());
  return out;
}

control::CollectiveSnapshot CollectiveRanks::copy(const CollectiveRun& run, const std::vector<Facts>& ranks) {
  control::CollectiveSnapshot out{.name = run.name};
  for (size_t s = 0; s < run.shapes.size(); ++s) out.sizes.push_back(copy_size(run, s, ranks));
  for (const Facts& rank : ranks) {
    add_counts(rank.counters, rank.unclaimed, out);
    const control::RankTimes& times = rank.times;
    if (out.least_wait.host.empty() || times.waited < out.least_wait.waited) out.least_wait = times;
    if (out.longest_wait.host.empty() || times.waited > out.longest_wait.waited) out.longest_wait = times;
    if (rank.has_ended) {
      const Instant ended = rank.counters.ended;
      out.ended = out.ranks_done == 0 ? ended : std::max(out.ended, ended);
      ++out.ranks_done;
    } else if (!rank.waits.empty()) {
      out.waiting.push_back({rank.rank, rank.times.host, rank.waits});
    }
  }
  return out;
}

control::CollectiveSizeSnapshot CollectiveRanks::copy_size(const CollectiveRun& run, size_t size,
                                                           const std::vector<Facts>& ranks) {
  control::CollectiveSizeSnapshot out{.shape = run.shapes[size]};
  Duration sum;
  for (uint32_t i = 0; i < run.iterations; ++i) {
    const size_t collective = size * run.iterations + i;
    if (ranks.empty() ||
        std::ranges::any_of(ranks, [&](const Facts& it) { return it.collectives.size() <= collective; })) {
      break;
    }
    Duration all;
    for (const Facts& rank : ranks) all = all + rank.collectives[collective];
    const Duration mean = all / static_cast<int64_t>(ranks.size());
    out.shortest = out.done == 0 ? mean : std::min(out.shortest, mean);
    out.longest = std::max(out.longest, mean);
    sum = sum + mean;
    ++out.done;
  }
  if (out.done > 0) out.mean = sum / static_cast<int64_t>(out.done);
  return out;
}

}  // namespace softspine::testbeds
