// SPDX-License-Identifier: Apache-2.0
#include "control/steps/step_history.hpp"

#include <algorithm>
#include <utility>

namespace softspine::control {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr uint32_t kPsnMask = (1U << 24) - 1;
constexpr uint16_t kNoPort = UINT16_MAX;

uint64_t part_key(uint32_t flow, uint64_t psn) {
  return uint64_t{flow} << 24 | (psn & kPsnMask);
}

StepKind span_kind_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::kCompute: return StepKind::kCompute;
    case OperationKind::kReduce: return StepKind::kReduce;
    case OperationKind::kSend: return StepKind::kSend;
    case OperationKind::kReceive: break;
  }
  return StepKind::kWait;
}

}  // namespace

StepHistory::StepHistory(const Fabric& fabric, std::vector<StepJob> jobs, std::vector<uint32_t> first_psns)
    : fabric_(fabric), first_psns_(std::move(first_psns)), posted_packets_(first_psns_.size()), looks_(fabric) {
  for (StepJob& job : jobs) {
    const size_t ranks = job.hosts.size();
    jobs_.push_back({.facts = std::move(job), .ranks = std::vector<Rank>(ranks)});
  }
}

uint64_t StepHistory::last_step_by(const Rank& rank, Instant at) {
  const uint64_t kept = std::min<uint64_t>(rank.done, kSteps);
  for (uint64_t i = 1; i <= kept; ++i) {
    if (rank.steps[(rank.done - i) % kSteps].at <= at) return rank.done - i;
  }
  return kNoStep;
}

const StepHistory::Step* StepHistory::find(const Rank& rank, uint64_t number) {
  if (number >= rank.done || number + kSteps < rank.done) return nullptr;
  return &rank.steps[number % kSteps];
}

void StepHistory::take(const StepRecord& record) {
  if (record.is_posted) return take_posted(record);
  Rank& rank = jobs_[record.job].ranks[record.rank];
  Step step{.kind = record.kind, .from = record.started, .at = record.at, .message = take_end(record)};
  step.before = record.kind == OperationKind::kReceive ? kNoStep : last_step_by(rank, record.started);
  rank.steps.resize(kSteps);
  rank.steps[rank.done++ % kSteps] = std::move(step);
  if (record.kind == OperationKind::kReceive) {
    if (record.alone > Duration{}) take_wait(record, rank);
  } else {
    rank.spans[static_cast<size_t>(span_kind_of(record.kind))].add(record.started, record.at);
  }
}

void StepHistory::take_posted(const StepRecord& record) {
  Message& message = messages_[{record.job, record.rank, record.peer, record.channel, record.message}];
  if (!message.fate) {
    message.fate = std::make_shared<MessageFate>(
        MessageFate{.from_rank = record.rank,
                    .to_rank = record.peer,
                    .channel = record.channel,
                    .bytes = record.bytes,
                    .started = record.started,
                    .posted = record.at,
                    .before = last_step_by(jobs_[record.job].ranks[record.rank], record.started)});
    auto& last = last_posted_[{record.job, record.rank, record.peer, record.channel}];
    if (last && last->arrived.is_never()) message.fate->message_before = last;
    last = message.fate;
  }
  ++message.fate->parts;
  message.fate->packets += record.packets;
  if (record.flow == StepRecord::kBesideFabric) return;
  posted_packets_[record.flow] += record.packets;
  message.parts.push_back(part_key(record.flow, first_psns_[record.flow] + posted_packets_[record.flow] - 1));
  parts_[message.parts.back()] = message.fate;
}

void StepHistory::take(const HopRecord& record) {
  const auto found = parts_.find(part_key(record.flow, record.psn));
  if (found == parts_.end()) return;
  MessageFate& fate = *found->second;
  fate.retransmitted_packets += record.retransmitted_packets;
  fate.naks += record.naks;
  fate.timeouts += record.timeouts;
  fate.cnps += record.cnps;
  auto hop = std::ranges::find(fate.hops, record.port, &HopFate::port);
  if (hop == fate.hops.end()) {
    if (fate.hops.size() == MessageFate::kHops) return;
    fate.hops.push_back({.port = record.port, .queue = record.queue, .priorities = record.priorities});
    hop = fate.hops.end() - 1;
  }
  hop->packets += record.packets;
  hop->stay = std::max(hop->stay, record.stay);
  // Parts pass side by side; one part passes again if it was lost.
  hop->paused = fate.parts > 1 ? std::max(hop->paused, record.paused) : hop->paused + record.paused;
}

void StepHistory::forget_those_before(MessageFate& message) {
  MessageFate* last = &message;
  for (size_t i = 0; i < MessageFate::kBefore && last != nullptr; ++i) last = last->message_before.get();
  if (last != nullptr) last->message_before.reset();
}

// Of a send or receive: its message. Both ends keep it; what its parts still do is nobody's any more.
std::shared_ptr<const MessageFate> StepHistory::take_end(const StepRecord& record) {
  const bool receives = record.kind == OperationKind::kReceive;
  if (!receives && record.kind != OperationKind::kSend) return nullptr;
  const uint32_t from = receives ? record.peer : record.rank;
  const uint32_t to = receives ? record.rank : record.peer;
  const auto found = messages_.find({record.job, from, to, record.channel, record.message});
  if (found == messages_.end()) return nullptr;
  Message& message = found->second;
  std::shared_ptr<MessageFate> out = message.fate;
  if (receives) {
    out->arrived = record.at;
    forget_those_before(*out);
    for (const uint64_t key : message.parts) parts_.erase(key);
  }
  if (std::exchange(message.is_half_done, true)) messages_.erase(found);
  return out;
}

void StepHistory::take_wait(const StepRecord& record, Rank& rank) {
  const Step& step = rank.steps[(rank.done - 1) % kSteps];
  const Instant from = record.at - record.alone;
  rank.spans[static_cast<size_t>(StepKind::kWait)].add(from, record.at);
  rank.waited += record.alone;
  ++rank.waits;
  Job& job = jobs_[record.job];
  Reason reason = reason_of(record.job, record.rank, step, from);
  const CauseKey key = key_of(job, reason);
  CauseCount& count = job.causes[key];
  count.waited += record.alone;
  ++count.waits;
  if (on_wait_) on_wait_(in_words(record, {from, record.at, step.message, reason}, key));
  auto& longest = rank.longest;
  if (longest.size() == kLongest && longest.back().to - longest.back().from >= record.alone) return;
  if (longest.size() == kLongest) longest.pop_back();
  const auto shorter =
      std::ranges::find_if(longest, [&](const Wait& wait) { return wait.to - wait.from < record.alone; });
  longest.insert(shorter, {from, record.at, step.message, std::move(reason)});
}

// The step's share of what lies behind `from`.
void StepHistory::consider(const Step& step, uint32_t rank, uint32_t back, Instant from, Reason& best) const {
  for (auto message = step.message; message && !message->arrived.is_never() && message->arrived > from;
       message = message->message_before) {
    const auto delay = delay_of(*message, fabric_, from);
    if (delay && delay->time > best.time)
      best = {delay->cause, delay->time, message->from_rank, back, message, delay->hop, {}};
  }
  if (step.message) return;
  const Duration time = step.at - std::max(step.from, from);
  if (time <= best.time) return;
  best = {.cause = step.kind == OperationKind::kReduce ? WaitCause::kReduce : WaitCause::kCompute,
          .time = time,
          .rank = rank,
          .ranks_back = back};
}

// see(step, rank, ranks back), from the receive back to what ended before `from`; it may end that by false.
template <typename See>
void StepHistory::follow(uint32_t job, uint32_t rank, const Step& last, Instant from, See&& see) const {
  const Step* step = &last;
  uint32_t back = 0;
  for (uint32_t i = 0; i < kFollowed && step != nullptr && step->at > from; ++i) {
    const bool comes = step->kind == OperationKind::kReceive;
    if (comes && !step->message) return;
    if (comes) ++back;
    if (!see(*step, rank, back)) return;
    if (comes) rank = step->message->from_rank;
    const Instant began = comes ? step->message->started : step->from;
    if (began <= from) return;
    step = find(jobs_[job].ranks[rank], comes ? step->message->before : step->before);
  }
}

StepHistory::Reason StepHistory::reason_of(uint32_t job, uint32_t rank, const Step& last, Instant from) const {
  Reason best;
  follow(job, rank, last, from, [&](const Step& step, uint32_t at, uint32_t back) {
    consider(step, at, back, from, best);
    return true;
  });
  const Duration wait = last.at - from;
  if (best.time == Duration{}) {
    follow(job, rank, last, Instant{},
           [&](const Step& step, uint32_t, uint32_t back) { return !consider_earlier(step, back, wait, best); });
  }
  if (best.cause == WaitCause::kPause)
    best.pausers = looks_.pausers_of(best.hop->port, best.hop->priorities, best.message->posted);
  if (best.time > Duration{}) return best;
  if (!last.message) return {.cause = WaitCause::kUnknown};
  return {.cause = WaitCause::kTransfer,
          .time = wait,
          .rank = last.message->from_rank,
          .ranks_back = 1,
          .message = last.message};
}

// The ranks may have been late since before the wait: true if a message was, by what it met, for half as long.
bool StepHistory::consider_earlier(const Step& step, uint32_t back, Duration wait, Reason& best) const {
  if (!step.message || step.message->arrived.is_never()) return false;
  const auto delay = delay_of(*step.message, fabric_, Instant{});
  if (!delay || delay->hop == nullptr || delay->time * 2 < wait) return false;
  best = {delay->cause, std::min(delay->time, wait), step.message->from_rank, back, step.message, delay->hop, {}};
  return true;
}

// A host stands for its rank.
StepHistory::CauseKey StepHistory::key_of(const Job& job, const Reason& reason) const {
  const auto host = [](uint32_t node) { return LinkEnd{node, kNoPort}; };
  const LinkEnd what = reason.hop != nullptr ? reason.hop->port : host(job.facts.hosts[reason.rank]);
  LinkEnd root = host(kNone);
  if (!reason.pausers.nodes.empty()) root = host(reason.pausers.nodes.back());
  if (reason.pausers.congested) root = *reason.pausers.congested;
  return {reason.cause, what, root};
}

}  // namespace softspine::control
