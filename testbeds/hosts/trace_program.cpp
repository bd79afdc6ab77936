// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/trace_program.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/units/check.hpp"

namespace softspine::testbeds {

using namespace dataplane;
using control::OperationKind;

TraceProgram::TraceProgram(const TraceRankConfig& config, RoceHost& host, control::TraceStream& stream,
                           TraceObserver* observer)
    : config_(config),
      host_(host),
      stream_(stream),
      observer_(observer),
      window_(config.window),
      traced_(config.window),
      matcher_(config.window),
      cpus_(std::max(config.cpus, 1U)),
      unposted_(config.window) {
  for (const TraceConnection& each : config.connections) {
    const auto index = static_cast<uint32_t>(connections_.size());
    connections_.push_back({.of = each});
    if (each.flow != TraceConnection::kNone) enter(flows_, each.flow, index);
    if (each.sink != TraceConnection::kNone) enter(sinks_, each.sink, index);
  }
  for (uint32_t i = 0; i < config.window; ++i) unposted_[i].next = std::exchange(free_unposted_, i);
  timers_.reserve(config.window);
}

void TraceProgram::enter(std::vector<uint32_t>& ends, uint32_t number, uint32_t connection) {
  if (number >= ends.size()) ends.resize(size_t{number} + 1, kNone);
  ends[number] = connection;
}

void TraceProgram::start_at(Instant at) {
  SOFTSPINE_CHECK(state_ == State::kReady, at.count_ps(), 0);
  start_ = at;
  host_.listen(*this);
  host_.wake_at(*this, at);
}

void TraceProgram::woken(Instant now) noexcept {
  if (state_ == State::kReady && start_ <= now) state_ = State::kRunning;
  if (state_ != State::kRunning) return;
  for (; timers_.next() <= now; timers_.pop()) window_.put_ready(timers_.top_id());
  work(now);
}

// Everything that can be done at this instant.
void TraceProgram::work(Instant now) noexcept {
  if (is_working_ || state_ != State::kRunning) return;
  is_working_ = true;
  for (;;) {
    open_more(now);
    if (!window_.has_ready()) break;
    go_on(window_.take_ready(), now);
  }
  is_working_ = false;
  if (has_stream_ended_ && window_.size() == 0) {
    state_ = State::kEnded;
    counters_.ended = now;
  }
  host_.wake_at(*this, timers_.next());
}

void TraceProgram::open_more(Instant now) noexcept {
  while (!has_stream_ended_) {
    if (!has_next_) has_next_ = stream_.next(next_);
    has_stream_ended_ = !has_next_;
    if (!has_next_ || !has_room()) return;
    has_next_ = false;
    open(now);
  }
}

void TraceProgram::open(Instant now) noexcept {
  const uint32_t place = window_.open(next_, next_.needs_started);
  counters_.most_open = std::max(counters_.most_open, window_.size());
  SOFTSPINE_CHECK(next_.cpu < cpus_.size(), next_.cpu, next_.line);
  traced_[place] = {.peer = next_.peer, .tag = next_.tag, .cpu = next_.cpu, .line = next_.line};
  if (window_[place].needs != 0) return;
  counters_.opened_late += now > start_ ? 1 : 0;
  be_free(place);
}

// It needs nothing more.
void TraceProgram::be_free(uint32_t place) noexcept {
  traced_[place].phase = Phase::kFree;
  window_.put_ready(place);
}

void TraceProgram::go_on(uint32_t place, Instant now) noexcept {
  switch (traced_[place].phase) {
    case Phase::kFree: return start(place, now);
    case Phase::kTurn: return begin(place, now);
    default: return end(place, now);  // its time is over
  }
}

void TraceProgram::start(uint32_t place, Instant now) noexcept {
  Traced& it = traced_[place];
  if (window_[place].kind != OperationKind::kReceive) return ask_cpu(place, now);
  set_started(place, now);
  it.phase = Phase::kPosted;
  if (const auto message = matcher_.post(place, it.peer, it.tag)) take_message(place, *message, now);
}

void TraceProgram::set_started(uint32_t place, Instant now) noexcept {
  window_[place].started = now;
  counters_.times.begin(window_[place].kind, now);
  window_.start(place, [this](uint32_t who) { be_free(who); });
}

void TraceProgram::ask_cpu(uint32_t place, Instant now) noexcept {
  Cpu& cpu = cpus_[traced_[place].cpu];
  if (!std::exchange(cpu.is_busy, true)) return begin(place, now);
  traced_[place].phase = Phase::kWaiting;
  cpu.line.push(window_, place);
}

void TraceProgram::begin(uint32_t place, Instant now) noexcept {
  if (window_[place].kind != OperationKind::kReceive) set_started(place, now);
  traced_[place].phase = Phase::kRunning;
  const Duration cost = cost_of(place);
  cost > Duration{} ? timers_.push(now + cost, place) : end(place, now);
}

Duration TraceProgram::cost_of(uint32_t place) const {
  const OpenOperation& op = window_[place];
  if (op.kind == OperationKind::kCompute) return host_.config().parameters.computing(op.time);
  const auto more = static_cast<int64_t>(op.bytes - std::min<uint64_t>(op.bytes, 1));
  return (op.kind == OperationKind::kSend ? config_.costs.post : config_.costs.receive) + config_.costs.byte * more;
}

// Done; its cpu goes to who has asked next.
void TraceProgram::end(uint32_t place, Instant now) noexcept {
  const OpenOperation& op = window_[place];
  const Traced& it = traced_[place];
  Cpu& cpu = cpus_[it.cpu];
  cpu.is_busy = !cpu.line.empty();
  if (cpu.is_busy) {
    const uint32_t next = cpu.line.pop(window_);
    traced_[next].phase = Phase::kTurn;
    window_.put_ready(next);
  }
  if (op.kind == OperationKind::kSend) post(place, now);
  ++counters_.done[static_cast<size_t>(op.kind)];
  counters_.times.end(op.kind, now);
  if (observer_ != nullptr) observer_->done(op.number, it.peer, it.tag, op.started, now);
  window_.close(place, [this](uint32_t who) { be_free(who); });
}

void TraceProgram::take_message(uint32_t place, const MessageMatcher::Message& message, Instant now) noexcept {
  OpenOperation& op = window_[place];
  Traced& it = traced_[place];
  counters_.longer += message.bytes > op.bytes ? 1 : 0;
  counters_.received_bytes += message.bytes;
  op.bytes = message.bytes;
  it.peer = message.source;
  it.tag = message.tag;
  ask_cpu(place, now);
}

void TraceProgram::arrive(const MessageMatcher::Message& message, Instant now) noexcept {
  if (observer_ != nullptr) observer_->arrived(message, now);
  const uint32_t place = matcher_.arrive(message);
  counters_.most_kept = std::max(counters_.most_kept, matcher_.kept());
  if (place != MessageMatcher::kNone) take_message(place, message, now);
}

TraceProgram::Connection& TraceProgram::connection_to(uint32_t peer) {
  const auto at = std::ranges::lower_bound(connections_, peer, {}, [](const Connection& it) { return it.of.peer; });
  SOFTSPINE_CHECK(at != connections_.end() && at->of.peer == peer && at->of.flow != TraceConnection::kNone, peer,
                  config_.rank);
  return *at;
}

void TraceProgram::post(uint32_t place, Instant now) noexcept {
  const uint64_t bytes = window_[place].bytes;
  const Traced& it = traced_[place];
  if (it.peer == config_.rank) return arrive({it.peer, it.tag, bytes}, now);
  Connection& connection = connection_to(it.peer);
  const uint32_t at = free_unposted_;
  free_unposted_ = unposted_[at].next;
  ++unposted_count_;
  unposted_[at] = {bytes, it.tag, kNone};
  (connection.first_unposted == kNone ? connection.first_unposted : unposted_[connection.last_unposted].next) = at;
  connection.last_unposted = at;
  post_waiting(connection, now);
}

void TraceProgram::post_waiting(Connection& connection, Instant now) noexcept {
  while (connection.first_unposted != kNone && connection.under_way < connection.of.depth) {
    const uint32_t at = connection.first_unposted;
    const Unposted it = unposted_[at];
    connection.first_unposted = it.next;
    unposted_[at].next = std::exchange(free_unposted_, at);
    --unposted_count_;
    ++connection.under_way;
    const bool has_room = host_.post(connection.of.flow, it.bytes, it.tag, now);
    SOFTSPINE_CHECK(has_room, connection.of.flow, it.bytes);
  }
}

void TraceProgram::completed(uint32_t flow, uint64_t /*tag*/, Instant now) noexcept {
  if (flow >= flows_.size() || flows_[flow] == kNone || state_ == State::kFailed) return;
  Connection& connection = connections_[flows_[flow]];
  --connection.under_way;
  ++counters_.acknowledged;
  post_waiting(connection, now);
  work(now);
}

void TraceProgram::received(uint32_t sink, uint64_t /*number*/, Instant now) noexcept {
  if (sink >= sinks_.size() || sinks_[sink] == kNone) return;
  Connection& connection = connections_[sinks_[sink]];
  const uint64_t bytes = host_.received(sink).bytes;
  arrive({connection.of.peer, host_.sinks().immediate(), bytes - std::exchange(connection.received_bytes, bytes)}, now);
  work(now);
}

void TraceProgram::failed(uint32_t flow, Instant now) noexcept {
  if (flow >= flows_.size() || flows_[flow] == kNone || state_ != State::kRunning) return;
  state_ = State::kFailed;
  counters_.ended = now;
  host_.wake_at(*this, Instant::never());
}

std::vector<UnfinishedTraceOperation> TraceProgram::unfinished() const {
  std::vector<UnfinishedTraceOperation> all;
  window_.for_each([&](const OpenOperation& op) {
    const Traced& it = traced_[window_.find(op.number)];
    if (it.phase == Phase::kHeld) return;
    all.push_back({.kind = op.kind,
                   .number = op.number,
                   .line = it.line,
                   .bytes = op.bytes,
                   .peer = it.peer,
                   .tag = it.tag,
                   .waits_for_message = it.phase == Phase::kPosted});
  });
  std::ranges::sort(all, {}, &UnfinishedTraceOperation::number);
  return all;
}

}  // namespace softspine::testbeds
