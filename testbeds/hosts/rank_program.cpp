// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/rank_program.hpp"

#include <algorithm>

#include "dataplane/units/check.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::testbeds {

using namespace dataplane;
using control::Operation;
using control::OperationKind;
using Job = RankProxy::Job;
using Role = RankConnections::Role;
using OperationState = OpenOperation::State;

namespace {

// Rounded up to a picosecond.
Duration time_of_reduction(uint64_t bytes, uint64_t bytes_per_second) {
  constexpr uint64_t kSecond = 1'000'000'000'000;
  if (bytes_per_second == 0) return {};
  return Duration::ps(static_cast<int64_t>((Uint128{bytes} * kSecond + bytes_per_second - 1) / bytes_per_second));
}

std::vector<uint32_t> windows_of(const RankConfig& config) {
  std::vector<uint32_t> out{config.window};
  out.insert(out.end(), config.further_windows.begin(), config.further_windows.end());
  return out;
}

}  // namespace

// An operation has one thing at a time for each of its parts in the proxy's line, and a receive its clear-to-send.
RankProgram::RankProgram(const RankConfig& config, RoceHost& host, control::WorkLines& lines,
                         OperationObserver* observer)
    : config_(config),
      host_(host),
      work_(lines),
      observer_(observer),
      lines_(lines.lines()),
      window_(windows_of(config)),
      connections_(config.connections, config.scaling),
      proxy_(config.costs, uint64_t{window_.places()} * (connections_.most_parts() + 1)) {
  SOFTSPINE_CHECK(lines_.size() == config.further_windows.size() + 1, lines_.size(), config.further_windows.size());
  const uint64_t parts = uint64_t{window_.places()} * connections_.most_parts();
  SOFTSPINE_CHECK(parts <= UINT32_MAX, window_.places(), connections_.most_parts());
  timers_.reserve(window_.places());
  leaving_.reserve(parts);
}

void RankProgram::start_at(Instant at) {
  SOFTSPINE_CHECK(state_ == State::kReady, at.count_ps(), 0);
  start_ = at;
  host_.listen(*this);
  host_.wake_at(*this, at);
}

void RankProgram::woken(Instant now) noexcept {
  if (state_ == State::kReady && start_ <= now) {
    state_ = State::kRunning;
  }
  if (state_ != State::kRunning) return;
  for (; timers_.next() <= now; timers_.pop()) window_.put_ready(timers_.top_id());
  for (; leaving_.next() <= now; leaving_.pop()) take_sent(leaving_.top_id(), now);
  work(now);
}

// Everything that can be done at this instant. Whatever it does may come back as an event: that is done here, too.
void RankProgram::work(Instant now) noexcept {
  if (is_working_) return;
  is_working_ = true;
  for (;;) {
    open_more();
    if (window_.has_ready()) {
      go_on(window_.take_ready(), now);
    } else if (proxy_.next() <= now) {
      do_job(proxy_.take(), now);
    } else {
      break;
    }
  }
  is_working_ = false;
  if (has_ended()) {
    state_ = State::kEnded;
    counters_.ended = now;
  }
  wake_again();
}

void RankProgram::wake_again() noexcept {
  host_.wake_at(*this, std::min({timers_.next(), leaving_.next(), proxy_.next()}));
}

// What one line gives may be what another one waits for.
void RankProgram::open_more() noexcept {
  for (bool has_opened = true; has_opened;) {
    has_opened = false;
    for (uint32_t line = 0; line < lines_.size(); ++line) {
      while (open_next(line)) has_opened = lines_.size() > 1;
    }
  }
}

bool RankProgram::open_next(uint32_t line) noexcept {
  Line& it = lines_[line];
  if (it.has_ended) return false;
  if (!it.has_next) {
    it.next = {};
    const auto answer = work_.next(line, it.next);
    it.has_ended = answer == control::WorkLines::Answer::kEnded;
    if (answer != control::WorkLines::Answer::kGiven) return false;
    it.has_next = true;
  }
  if (!window_.fits(it.next)) return false;
  it.has_next = false;
  open(it.next);
  return true;
}

bool RankProgram::has_ended() const {
  return window_.size() == 0 && std::ranges::all_of(lines_, &Line::has_ended);
}

void RankProgram::open(const Operation& op) noexcept {
  const uint32_t place = window_.open(op);
  counters_.most_open = std::max(counters_.most_open, window_.size());
  OpenOperation& it = window_[place];
  if (op.kind == OperationKind::kSend || op.kind == OperationKind::kReceive) {
    const bool sends = op.kind == OperationKind::kSend;
    it.connection = connections_.find(op.peer, op.channel);
    Connection& connection = connections_[it.connection];
    SOFTSPINE_CHECK(!(sends ? connection.out.empty() : connection.arrived.empty()), op.peer, op.channel);
    SOFTSPINE_CHECK(op.bytes <= control::kMaxMessageBytes, op.bytes, op.peer);
    uint64_t& opened = sends ? connection.sends_opened : connection.receives_opened;
    it.message = opened;
    ++opened;
    it.parts = sends ? connections_.parts_out(connection) : connections_.parts_in(connection);
    (sends ? connection.sends : connection.receives).push(window_, place);
  }
  if (it.needs == 0) be_free(place);
}

// It needs nothing more.
void RankProgram::be_free(uint32_t place) noexcept {
  OpenOperation& it = window_[place];
  it.state = OperationState::kFree;
  if (it.kind != OperationKind::kReceive) return window_.put_ready(place);
  if (connections_[it.connection].receives.first == place) window_.put_ready(place);
}

void RankProgram::go_on(uint32_t place, Instant now) noexcept {
  switch (window_[place].state) {
    case OperationState::kFree: return start(place, now);
    case OperationState::kStepping: return stepped(place);
    case OperationState::kPosting: return post_next(place, now);
    default: return finish(place, now);  // its time is over
  }
}

void RankProgram::start(uint32_t place, Instant now) noexcept {
  OpenOperation& it = window_[place];
  it.started = now;
  counters_.times.begin(it.kind, now);
  switch (it.kind) {
    case OperationKind::kSend:
      it.state = OperationState::kStepping;
      return config_.costs.step > Duration{} ? timers_.push(now + config_.costs.step, place) : stepped(place);
    case OperationKind::kReceive: return start_receive(place, now);
    case OperationKind::kReduce:
      reduced_ = std::max(reduced_, now) + time_of_reduction(it.bytes, config_.reduce_bytes_per_second);
      return take_time(place, reduced_, now);
    case OperationKind::kCompute: return take_time(place, now + host_.config().parameters.computing(it.time), now);
  }
}

void RankProgram::take_time(uint32_t place, Instant until, Instant now) noexcept {
  window_[place].state = OperationState::kUnderWay;
  until > now ? timers_.push(until, place) : finish(place, now);
}

void RankProgram::stepped(uint32_t place) noexcept {
  window_[place].state = OperationState::kStepped;
  offer_send(connections_[window_[place].connection]);
}

// The first send of the connection may be posted, if nothing keeps it.
void RankProgram::offer_send(const Connection& connection) noexcept {
  const uint32_t place = connection.sends.first;
  if (connection.sends.empty() || window_[place].state != OperationState::kStepped) return;
  if (connection.asks_for_clear && connection.granted <= window_[place].message) return;
  if (!connections_.has_room(connection, window_[place].message)) return;
  window_[place].state = OperationState::kPosting;
  window_.put_ready(place);
}

void RankProgram::post_next(uint32_t place, Instant now) noexcept {
  OpenOperation& it = window_[place];
  Connection& connection = connections_[it.connection];
  connection.sends.pop(window_);
  it.state = OperationState::kUnderWay;
  it.queue_pair = connections_.choose(connection, it.message);
  it.posted = now;
  if (observer_ != nullptr) observer_->posted(it);
  for (uint32_t part = 0; part < it.parts; ++part) {
    connections_.begin_part(connection, it, part);
    ask(Job::kPost, place, connection, now);
  }
  offer_send(connection);
}

void RankProgram::start_receive(uint32_t place, Instant now) noexcept {
  OpenOperation& it = window_[place];
  Connection& connection = connections_[it.connection];
  connection.receives.pop(window_);
  connection.expected.push(window_, place);
  ++connection.receives_started;
  it.state = OperationState::kUnderWay;
  if (connection.clear_flow != RankConnection::kNone) ask(Job::kClear, it.connection, connection, now);
  for (uint32_t i = connections_.arrived_parts(connection, it.message); i > 0; --i)
    ask(Job::kReceived, place, connection, now);
  offer_receive(connection);
}

void RankProgram::offer_receive(const Connection& connection) noexcept {
  if (connection.receives.empty()) return;
  const uint32_t place = connection.receives.first;
  if (window_[place].state == OperationState::kFree) window_.put_ready(place);
}

// Of the proxy, but for what goes beside the fabric.
void RankProgram::ask(Job job, uint32_t of, const Connection& connection, Instant now) noexcept {
  connection.is_scale_up ? do_job({job, of}, now) : proxy_.ask(job, of, now);
}

void RankProgram::do_job(const RankProxy::Entry& entry, Instant now) noexcept {
  switch (entry.job) {
    case Job::kPost: return post_part(entry.of, now);
    case Job::kClear: return post_clear(connections_[entry.of], now);
    case Job::kSent:
    case Job::kReceived: return end_part(entry.of, now);
  }
}

void RankProgram::post_part(uint32_t place, Instant now) noexcept {
  OpenOperation& it = window_[place];
  const Connection& connection = connections_[it.connection];
  const uint32_t part = it.next_part++;
  const uint32_t flow = connection.out[connections_.queue_pair_out(it, part)].flow;
  const uint64_t bytes = connections_.bytes_out(connection, it, part);
  const bool has_room = host_.post(flow, bytes, tag_of(place, part), now);
  SOFTSPINE_CHECK(has_room, flow, bytes);
}

void RankProgram::post_clear(Connection& connection, Instant now) noexcept {
  if (connection.clears_under_way == connection.clear_depth) {
    ++connection.clears_owed;
    return;
  }
  ++connection.clears_under_way;
  ++counters_.clears_sent;
  const bool has_room = host_.post(connection.clear_flow, config_.clear_bytes, 0, now);
  SOFTSPINE_CHECK(has_room, connection.clear_flow, connection.clears_under_way);
}

void RankProgram::end_part(uint32_t place, Instant now) noexcept {
  OpenOperation& it = window_[place];
  if (--it.parts > 0) return;
  if (it.kind == OperationKind::kReceive) connections_[it.connection].expected.remove(window_, place);
  finish(place, now);
}

void RankProgram::finish(uint32_t place, Instant now) noexcept {
  const OpenOperation& it = window_[place];
  ++counters_.done[static_cast<size_t>(it.kind)];
  counters_.bytes[static_cast<size_t>(it.kind)] += it.bytes;
  if (it.kind == OperationKind::kSend && connections_[it.connection].is_scale_up) {
    ++counters_.scale_up_messages;
    counters_.scale_up_bytes += it.bytes;
  }
  counters_.times.end(it.kind, now);
  if (observer_ != nullptr) observer_->done(it, now);
  window_.close(place, [this](uint32_t who) { be_free(who); });
}

void RankProgram::completed(uint32_t flow, uint64_t tag, Instant now) noexcept {
  const RankConnections::End end = connections_.end_of_flow(flow);
  if (end.role == Role::kForeign || state_ != State::kRunning) return;
  Connection& connection = connections_[end.connection];
  if (end.role == Role::kClear) {
    --connection.clears_under_way;
    if (connection.clears_owed > 0) {
      --connection.clears_owed;
      post_clear(connection, now);
    }
    return;
  }
  if (now > host_.now()) {
    leaving_.push(now, part_of(tag));
    return wake_again();
  }
  take_sent(part_of(tag), now);
  work(now);
}

void RankProgram::take_sent(uint32_t part_of_place, Instant now) noexcept {
  const uint32_t place = part_of_place / connections_.most_parts();
  const OpenOperation& it = window_[place];
  Connection& connection = connections_[it.connection];
  connections_.end_part(connection, it, part_of_place % connections_.most_parts());
  offer_send(connection);
  ask(Job::kSent, place, connection, now);
}

// Messages may come before the program has started: they are counted, as those without a receive are.
void RankProgram::received(uint32_t sink, uint64_t number, Instant now) noexcept {
  const RankConnections::End end = connections_.end_of_sink(sink);
  if (end.role == Role::kForeign) return;
  Connection& connection = connections_[end.connection];
  if (end.role == Role::kClear) {
    connection.granted = number + 1;
    ++counters_.clears_received;
    offer_send(connection);
  } else {
    const uint64_t message = connections_.arrive(connection, end.queue_pair, number, host_.sinks().immediate());
    if (message < connection.receives_started && state_ == State::kRunning)
      ask(Job::kReceived, connection.expected.find(window_, message), connection, now);
  }
  if (state_ == State::kRunning) work(now);
}

void RankProgram::failed(uint32_t flow, Instant now) noexcept {
  if (connections_.end_of_flow(flow).role == Role::kForeign || state_ != State::kRunning) return;
  state_ = State::kFailed;
  counters_.ended = now;
  host_.wake_at(*this, Instant::never());
}

UnfinishedOperation::Reason RankProgram::reason_of(const OpenOperation& op) const {
  using Reason = UnfinishedOperation::Reason;
  if (op.state == OperationState::kHeld) return Reason::kNeeds;
  if (op.state == OperationState::kStepping) return Reason::kTime;
  if (op.kind == OperationKind::kCompute || op.kind == OperationKind::kReduce) return Reason::kTime;
  const Connection& connection = connections_[op.connection];
  const bool sends = op.kind == OperationKind::kSend;
  if (op.state == OperationState::kFree) return Reason::kOrder;
  if (op.state == OperationState::kUnderWay) {
    if (sends) return op.next_part < connections_.parts_out(connection) ? Reason::kProxy : Reason::kAcknowledgement;
    const bool has_come = connections_.arrived_parts(connection, op.message) == connections_.parts_in(connection);
    return has_come ? Reason::kProxy : Reason::kMessage;
  }
  if (window_[connection.sends.first].number != op.number) return Reason::kOrder;
  return connection.asks_for_clear && connection.granted <= op.message ? Reason::kClear : Reason::kRoom;
}

std::vector<UnfinishedOperation> RankProgram::unfinished() const {
  std::vector<UnfinishedOperation> all;
  window_.for_each([&](const OpenOperation& op) {
    UnfinishedOperation& it = all.emplace_back();
    it = {.number = op.number, .kind = op.kind, .reason = reason_of(op), .bytes = op.bytes};
    if (op.kind == OperationKind::kCompute || op.kind == OperationKind::kReduce) return;
    it.peer = connections_[op.connection].peer;
    it.channel = connections_[op.connection].channel;
  });
  std::ranges::sort(all, {}, &UnfinishedOperation::number);
  return all;
}

uint64_t RankProgram::unclaimed_messages() const {
  uint64_t all = 0;
  for (uint32_t i = 0; i < connections_.count(); ++i) all += connections_.unclaimed(connections_[i]);
  return all;
}

}  // namespace softspine::testbeds
