// SPDX-License-Identifier: Apache-2.0
// Names instead of numbers: the history as others read it.
#include <algorithm>

#include "control/steps/step_history.hpp"

namespace softspine::control {

class StepWords {
 public:
  explicit StepWords(const StepHistory& history) : history_(history), fabric_(history.fabric_) {}

  StepsSnapshot all() const {
    StepsSnapshot out;
    for (const StepHistory::Job& job : history_.jobs_) out.jobs.push_back(steps_of(job));
    return out;
  }

  FoundWait wait_of(const StepRecord& record, const StepHistory::Wait& wait, const StepHistory::CauseKey& cause) const {
    const StepHistory::Job& job = history_.jobs_[record.job];
    const auto& longest = job.ranks[record.rank].longest;
    return {.job = record.job,
            .rank = record.rank,
            .wait = wait_of(job, wait),
            .at = name_of(std::get<1>(cause)),
            .by = name_of(std::get<2>(cause)),
            .is_longest = longest.empty() || longest[0].to - longest[0].from < wait.to - wait.from};
  }

 private:
  // A node alone, if there is no such port.
  std::string name_of(LinkEnd end) const {
    if (end.node == kNone) return {};
    const FabricNode& node = fabric_.nodes[end.node];
    return end.port < node.ports.size() ? fabric_.name_of(end) : node.name;
  }
  const std::string& host_of(const StepHistory::Job& job, uint32_t rank) const {
    return fabric_.nodes[job.facts.hosts[rank]].name;
  }

  JobSteps steps_of(const StepHistory::Job& job) const {
    JobSteps out{.name = job.facts.name, .is_training = job.facts.is_training};
    for (uint32_t r = 0; r < job.ranks.size(); ++r) {
      const StepHistory::Rank& rank = job.ranks[r];
      if (rank.done == 0) continue;
      RankSteps& into = out.ranks.emplace_back();
      into = {.rank = r, .host = host_of(job, r), .waited = rank.waited, .waits = rank.waits};
      for (size_t kind = 0; kind < rank.spans.size(); ++kind) into.spans[kind] = rank.spans[kind].all();
      for (const StepHistory::Wait& wait : rank.longest) into.longest.push_back(wait_of(job, wait));
    }
    for (const auto& [key, count] : job.causes) {
      const auto& [cause, what, root] = key;
      out.causes.push_back({cause, name_of(what), name_of(root), count.waited, count.waits});
    }
    std::ranges::stable_sort(out.causes, std::greater{}, &CauseOfWaits::waited);
    return out;
  }

  StepWait wait_of(const StepHistory::Job& job, const StepHistory::Wait& wait) const {
    StepWait out{.from = wait.from, .to = wait.to, .reason = reason_of(job, wait.reason)};
    if (!wait.message) return out;
    out.peer = wait.message->from_rank;
    out.peer_host = host_of(job, out.peer);
    out.channel = wait.message->channel;
    out.bytes = wait.message->bytes;
    return out;
  }

  WaitReason reason_of(const StepHistory::Job& job, const StepHistory::Reason& reason) const {
    WaitReason out{.cause = reason.cause,
                   .time = reason.time,
                   .rank = reason.rank,
                   .host = host_of(job, reason.rank),
                   .ranks_back = reason.ranks_back};
    if (reason.message) add_message(job, *reason.message, out);
    if (reason.hop != nullptr) {
      out.port = fabric_.name_of(reason.hop->port);
      out.queue = reason.hop->queue;
      out.longest_stay = reason.hop->stay;
      out.paused = reason.hop->paused;
    }
    for (const uint32_t node : reason.pausers.nodes) out.paused_by.push_back(fabric_.nodes[node].name);
    if (reason.pausers.congested) out.congested_port = fabric_.name_of(*reason.pausers.congested);
    out.congested_stay = reason.pausers.stay;
    return out;
  }

  void add_message(const StepHistory::Job& job, const MessageFate& message, WaitReason& out) const {
    out.to_rank = message.to_rank;
    out.to_host = host_of(job, message.to_rank);
    out.channel = message.channel;
    out.bytes = message.bytes;
    out.started = message.started;
    out.posted = message.posted;
    out.arrived = message.arrived;
    out.retransmitted_packets = message.retransmitted_packets;
    out.naks = message.naks;
    out.timeouts = message.timeouts;
    out.cnps = message.cnps;
    const HopFate* const lossy = lossy_hop_of(message, out.lost_packets);
    if (lossy != nullptr) out.lost_behind = fabric_.name_of(lossy->port);
  }

  const StepHistory& history_;
  const Fabric& fabric_;
};

FoundWait StepHistory::in_words(const StepRecord& record, const Wait& wait, const CauseKey& cause) const {
  return StepWords{*this}.wait_of(record, wait, cause);
}

std::shared_ptr<const StepsSnapshot> StepHistory::snapshot() const {
  return std::make_shared<const StepsSnapshot>(StepWords{*this}.all());
}

}  // namespace softspine::control
