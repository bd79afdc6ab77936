// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/trace_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/traces/recorded_work.hpp"
#include "control/traffic/flow.hpp"

namespace softspine::testbeds {

using control::OperationKind;
using control::TraceRun;

namespace {

std::string any_or(uint32_t number) {
  return number == UINT32_MAX ? "any" : std::to_string(number);
}

// A place in the trace: of GOAL a line, of Chakra a node.
std::string place_of(const UnfinishedTraceOperation& op, control::TraceFormat format) {
  return fmt::format("{} {}", format == control::TraceFormat::kChakra ? "node" : "line", op.line);
}

std::string text_of(const UnfinishedTraceOperation& op, control::TraceFormat format) {
  if (!op.waits_for_message) return fmt::format("its own work ({})", place_of(op, format));
  return fmt::format("receive of {} bytes from rank {}, tag {} ({})", op.bytes, any_or(op.peer), any_or(op.tag),
                     place_of(op, format));
}

// What a rank that has not ended waits for: a message, if it waits for one.
std::string waits_for(const TraceProgram& program, const TraceRun& run) {
  if (program.state() == TraceProgram::State::kFailed) return "nothing any more: a connection has failed";
  const std::vector<UnfinishedTraceOperation> open = program.unfinished();
  const auto message = std::ranges::find_if(open, &UnfinishedTraceOperation::waits_for_message);
  std::string out = message != open.end() ? text_of(*message, run.format)
                    : open.empty()        ? "its start"
                                          : text_of(open.front(), run.format);
  if (program.is_window_full()) out += fmt::format("; all {} open_operations are taken", run.window);
  return out;
}

void add_counts_of(const TraceCounters& counters, uint64_t unclaimed, control::TraceSnapshot& out) {
  for (const uint64_t done : counters.done) out.operations_done += done;
  out.messages_sent += counters.acknowledged;
  out.messages_received += counters.done[static_cast<size_t>(OperationKind::kReceive)];
  out.messages_unclaimed += unclaimed;
  out.messages_longer += counters.longer;
  out.received_bytes += counters.received_bytes;
  out.opened_late += counters.opened_late;
  out.most_open = std::max(out.most_open, counters.most_open);
  out.most_kept = std::max(out.most_kept, counters.most_kept);
}

}  // namespace

struct TraceRanks::Facts {
  uint32_t rank = 0;
  TraceCounters counters;
  uint64_t unclaimed = 0;
  std::string waits;  // empty: it has ended
};

class TraceRanks::RankHere final {
 public:
  RankHere(const control::RecordedWork& work, const TraceRankConfig& config, RoceHost& host)
      : rank_(config.rank), stream_(work, rank_), program_(config, host, stream_) {}

  uint32_t rank() const { return rank_; }
  TraceProgram& program() { return program_; }
  const TraceProgram& program() const { return program_; }

 private:
  uint32_t rank_;
  control::RecordedStream stream_;
  TraceProgram program_;
};

TraceRanks::TraceRanks(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows)
    : testbed_(testbed), nodes_(nodes), flows_(flows) {}

TraceRanks::~TraceRanks() = default;

void TraceRanks::start() {
  for (const TraceRun& run : testbed_.traces) {
    auto& here = ranks_here_.emplace_back();
    std::vector<std::vector<TraceConnection>> connections = connections_of(run);
    for (uint32_t rank = 0; rank < run.ranks.size(); ++rank) {
      RoceHost* const host = nodes_.host_at(run.ranks[rank]);
      if (host == nullptr) continue;
      const control::RecordedRank& recorded = run.work->ranks()[rank];
      const auto operations = static_cast<uint32_t>(std::min<uint64_t>(recorded.operations, run.window));
      const TraceRankConfig config{.rank = rank,
                                   .window = std::max(operations, 1U),
                                   .cpus = recorded.cpus,
                                   .costs = {.post = run.post_cost, .receive = run.receive_cost, .byte = run.byte_cost},
                                   .connections = std::move(connections[rank])};
      here.push_back(std::make_unique<RankHere>(*run.work, config, *host));
      here.back()->program().start_at(run.start);
    }
  }
}

// By rank, each by peer. The workload's flows are in the order of the work's pairs.
std::vector<std::vector<TraceConnection>> TraceRanks::connections_of(const TraceRun& run) const {
  size_t flow = 0;
  while (flows_.plan(flow).workload != run.workload) ++flow;
  std::vector<std::vector<TraceConnection>> out(run.ranks.size());
  for (const control::TracePair& pair : run.work->pairs) {
    if (const auto& source = flows_.source(flow))
      out[pair.from].push_back({.peer = pair.to, .flow = source->number, .depth = control::kPostedMessages});
    if (const auto& sink = flows_.sink(flow)) out[pair.to].push_back({.peer = pair.from, .sink = sink->number});
    ++flow;
  }
  for (auto& connections : out)
    std::ranges::sort(connections, {}, [](const TraceConnection& it) { return std::pair(it.peer, it.flow); });
  return out;
}

void TraceRanks::snapshot(control::FabricSnapshot& out) {
  for (size_t i = 0; i < testbed_.traces.size(); ++i) {
    std::vector<Facts> here;
    for (const auto& rank : ranks_here_[i]) {
      const TraceProgram& program = rank->program();
      const bool has_ended = program.state() == TraceProgram::State::kEnded;
      here.push_back({.rank = rank->rank(),
                      .counters = program.counters(),
                      .unclaimed = program.unclaimed_messages(),
                      .waits = has_ended ? "" : waits_for(program, testbed_.traces[i])});
    }
    out.traces.push_back(copy(testbed_.traces[i], nodes_.ranks().collect_all(here, &Facts::rank)));
  }
}

control::TraceSnapshot TraceRanks::copy(const TraceRun& run, const std::vector<Facts>& ranks) const {
  control::TraceSnapshot out{.name = run.name, .operations = run.work->totals.operations()};
  for (const uint32_t node : run.ranks) out.ranks.push_back({.host = testbed_.fabric.nodes[node].name});
  for (const Facts& rank : ranks) {
    control::TraceRankSnapshot& into = out.ranks[rank.rank];
    add_counts_of(rank.counters, rank.unclaimed, out);
    into.waited = rank.counters.times.of_receives_alone();
    if (!rank.waits.empty()) {
      out.waiting.push_back({rank.rank, into.host, rank.waits});
      continue;
    }
    into.ended = rank.counters.ended;
    out.ended = out.ranks_done == 0 ? into.ended : std::max(out.ended, into.ended);
    ++out.ranks_done;
  }
  return out;
}

}  // namespace softspine::testbeds
