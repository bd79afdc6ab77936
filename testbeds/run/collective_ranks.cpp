// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/collective_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "control/collectives/collective_work.hpp"
#include "dataplane/units/check.hpp"

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

void add_counts(const RankProgram& program, control::CollectiveSnapshot& out) {
  const RankCounters& counters = program.counters();
  constexpr auto kSends = static_cast<size_t>(OperationKind::kSend);
  constexpr auto kReceives = static_cast<size_t>(OperationKind::kReceive);
  out.messages_sent += counters.done[kSends];
  out.messages_received += counters.done[kReceives];
  out.scale_up_messages += counters.scale_up_messages;
  out.scale_up_bytes += counters.scale_up_bytes;
  out.messages_unclaimed += program.unclaimed_messages();
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

// By rank, peer and channel.
class CollectiveRanks::ConnectionTable {
 public:
  explicit ConnectionTable(size_t ranks) : found_(ranks) {}

  RankConnection& at(uint32_t rank, uint32_t peer, uint32_t channel) {
    RankConnection& out = found_[rank][{peer, channel}];
    out.peer = peer;
    out.channel = channel;
    out.depth = control::kPostedMessages;
    out.clear_depth = control::kPostedMessages;
    return out;
  }
  std::vector<std::vector<RankConnection>> take() {
    std::vector<std::vector<RankConnection>> out(found_.size());
    for (size_t rank = 0; rank < found_.size(); ++rank) {
      for (auto& [key, connection] : found_[rank]) out[rank].push_back(std::move(connection));
    }
    return out;
  }

 private:
  std::vector<std::map<std::pair<uint32_t, uint32_t>, RankConnection>> found_;
};

class CollectiveRanks::RankHere final : public OperationObserver {
 public:
  RankHere(const CollectiveRun& run, uint32_t rank, const RankConfig& config, RoceHost& host)
      : rank_(rank), stream_(run, rank), line_(stream_), program_(config, host, line_, this) {
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
  RankProgram program_;
};

CollectiveRanks::CollectiveRanks(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows)
    : testbed_(testbed), nodes_(nodes), flows_(flows), scale_up_(testbed) {}

CollectiveRanks::~CollectiveRanks() = default;

void CollectiveRanks::start() {
  nodes_.for_each_host([](uint32_t, const RoceHost& host) {
    if (ScaleUpPort* const port = host.scale_up()) port->number_from(host.flow_count(), host.sink_count());
  });
  ScaleUpSinks sinks;
  for (const CollectiveRun& run : testbed_.collectives) {
    auto& here = ranks_here_.emplace_back();
    std::vector<std::vector<RankConnection>> connections = connections_of(run, sinks);
    for (uint32_t rank = 0; rank < run.ranks.size(); ++rank) {
      RoceHost* const host = nodes_.host_at(run.ranks[rank]);
      if (host == nullptr) continue;
      const control::Workload& workload = testbed_.workloads[run.workload];
      RankConfig config{.window = window_of(run, rank),
                        .reduce_bytes_per_second = static_cast<uint64_t>(run.reduce_rate.count_bps()) / 8,
                        .costs = {.post = run.post_cost},
                        .scaling = workload.scaling == control::Scaling::kSplit ? QueuePairScaling::kSplit
                                                                                : QueuePairScaling::kRoundRobin,
                        .clear_bytes = control::kClearBytes,
                        .connections = std::move(connections[rank])};
      here.push_back(std::make_unique<RankHere>(run, rank, config, *host));
      here.back()->program().start_at(Instant{});
    }
  }
}

size_t CollectiveRanks::first_flow_of(uint32_t workload) const {
  size_t out = 0;
  while (flows_.plan(out).workload != workload) ++out;
  return out;
}

// By rank. A pair's flows stand one behind the other, in the order of the pairs.
std::vector<std::vector<RankConnection>> CollectiveRanks::connections_of(const CollectiveRun& run,
                                                                         ScaleUpSinks& sinks) const {
  ConnectionTable table(run.ranks.size());
  connect_by_fabric(run, table);
  connect_by_scale_up(run, sinks, table);
  return table.take();
}

void CollectiveRanks::connect_by_fabric(const CollectiveRun& run, ConnectionTable& table) const {
  if (run.channel.empty()) return;
  const size_t first = first_flow_of(run.workload);
  const size_t first_clear = run.clears ? first_flow_of(*run.clears) : 0;
  const uint32_t qps = testbed_.workloads[run.workload].qps;
  for (size_t pair = 0; pair < run.channel.size(); ++pair) {
    const auto& [from, to, channel] = std::tie(run.from_rank[pair], run.to_rank[pair], run.channel[pair]);
    if (run.clears) {
      const size_t flow = first_clear + pair;
      if (const auto& source = flows_.source(flow)) table.at(to, from, channel).clear_flow = source->number;
      if (const auto& sink = flows_.sink(flow)) table.at(from, to, channel).clear_sink = sink->number;
    }
    for (uint32_t qp = 0; qp < qps; ++qp) {
      const size_t flow = first + pair * qps + qp;
      if (const auto& source = flows_.source(flow)) table.at(from, to, channel).flows.push_back(source->number);
      if (const auto& sink = flows_.sink(flow)) table.at(to, from, channel).sinks.push_back(sink->number);
    }
  }
}

// A sink's index at its host follows from the plan alone, so that a sender knows it wherever the sink is.
void CollectiveRanks::connect_by_scale_up(const CollectiveRun& run, ScaleUpSinks& sinks, ConnectionTable& table) const {
  const auto connect = [&](uint32_t from, uint32_t to, auto&& flow_is, auto&& sink_is) {
    const uint32_t sender = run.ranks[from];
    const uint32_t receiver = run.ranks[to];
    const uint32_t sink = sinks[receiver]++;
    if (ScaleUpPort* const port = scale_up_of(sender)) flow_is(port->add_flow(scale_up_.port(sender, receiver), sink));
    if (ScaleUpPort* const port = scale_up_of(receiver)) sink_is(port->add_sink());
  };
  for (const auto& [from, to, channel] : run.scale_up) {
    RankConnection& out = table.at(from, to, channel);
    RankConnection& in = table.at(to, from, channel);
    out.is_scale_up = in.is_scale_up = true;
    connect(
        from, to, [&](uint32_t flow) { out.flows.push_back(flow); }, [&](uint32_t sink) { in.sinks.push_back(sink); });
    if (!run.clears) continue;
    connect(to, from, [&](uint32_t flow) { in.clear_flow = flow; }, [&](uint32_t sink) { out.clear_sink = sink; });
  }
}

ScaleUpPort* CollectiveRanks::scale_up_of(uint32_t node) const {
  RoceHost* const host = nodes_.host_at(node);
  return host == nullptr ? nullptr : host->scale_up();
}

void CollectiveRanks::snapshot(control::FabricSnapshot& out) {
  for (size_t i = 0; i < testbed_.collectives.size(); ++i) {
    out.collectives.push_back(copy(testbed_.collectives[i], ranks_here_[i]));
  }
}

control::CollectiveSnapshot CollectiveRanks::copy(const CollectiveRun& run, const Ranks& ranks) const {
  control::CollectiveSnapshot out{.name = run.name};
  for (size_t s = 0; s < run.shapes.size(); ++s) out.sizes.push_back(copy_size(run, s, ranks));
  for (const auto& rank : ranks) {
    const std::string& host = testbed_.fabric.nodes[run.ranks[rank->rank()]].name;
    add_counts(rank->program(), out);
    const control::RankTimes times = times_of(rank->program(), host);
    if (out.least_wait.host.empty() || times.waited < out.least_wait.waited) out.least_wait = times;
    if (out.longest_wait.host.empty() || times.waited > out.longest_wait.waited) out.longest_wait = times;
    if (rank->program().state() == RankProgram::State::kEnded) {
      const Instant ended = rank->program().counters().ended;
      out.ended = out.ranks_done == 0 ? ended : std::max(out.ended, ended);
      ++out.ranks_done;
      continue;
    }
    const std::vector<UnfinishedOperation> open = rank->program().unfinished();
    if (open.empty()) continue;
    out.waiting.push_back({rank->rank(), host, text_of(open.front())});
  }
  return out;
}

control::CollectiveSizeSnapshot CollectiveRanks::copy_size(const CollectiveRun& run, size_t size, const Ranks& ranks) {
  control::CollectiveSizeSnapshot out{.shape = run.shapes[size]};
  Duration sum;
  for (uint32_t i = 0; i < run.iterations; ++i) {
    const size_t collective = size * run.iterations + i;
    if (ranks.empty() || std::ranges::any_of(ranks, [&](const auto& it) { return it->ended() <= collective; })) break;
    Duration all;
    for (const auto& rank : ranks) all = all + rank->time_of(collective);
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
