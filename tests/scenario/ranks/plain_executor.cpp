// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/ranks/plain_executor.hpp"

#include <algorithm>

namespace softspine::testbeds {

using control::OperationKind;

namespace {

bool is_message(const ScriptedOperation& op) {
  return op.kind == OperationKind::kSend || op.kind == OperationKind::kReceive;
}

}  // namespace

PlainExecutor::PlainExecutor(const std::vector<Script>& scripts, const RankSetup& setup)
    : setup_(setup), ranks_(scripts.size()), pairs_(scripts.size() * scripts.size() * setup.channels) {
  for (size_t r = 0; r < scripts.size(); ++r) {
    ranks_[r].script = &scripts[r];
    ranks_[r].states.resize(scripts[r].size());
    ranks_[r].started.resize(scripts[r].size());
    ranks_[r].is_open.resize(scripts[r].size());
    uint64_t index = 0;
    for (size_t n = 0; n < scripts[r].size(); ++n) {
      if (n > 0 && scripts[r][n].line != scripts[r][n - 1].line) index = 0;
      ranks_[r].numbers.push_back(control::number_in(scripts[r][n].line, index++));
    }
  }
}

void PlainExecutor::run() {
  for (uint32_t r = 0; r < ranks_.size(); ++r) work(r, 0);
  while (!events_.empty()) {
    const Event first = *events_.begin();
    while (!events_.empty() && first.kind == Kind::kTimer && events_.begin()->at == first.at &&
           events_.begin()->kind == first.kind && events_.begin()->where == first.where) {
      const Event timer = *events_.begin();
      events_.erase(events_.begin());
      handle(timer);
    }
    if (first.kind == Kind::kTimer) {
      work(first.rank, first.at);
      continue;
    }
    events_.erase(events_.begin());
    handle(first);
  }
}

void PlainExecutor::handle(const Event& event) {
  Rank& rank = ranks_[event.rank];
  if (event.kind == Kind::kTimer) {
    const uint64_t number = event.message.number;
    if ((*rank.script)[number].kind == OperationKind::kSend) {
      rank.asked.emplace_back('d', number);
    } else {
      rank.states[number] = State::kOver;
    }
    return;
  }
  if (event.kind == Kind::kDeparture) return depart(event.rank, event.at);
  Event next = event;
  if (event.is_at_crossbar) {
    rank.port_free = std::max(rank.port_free, event.at) + event.frame_ps;
    next.at = rank.port_free + setup_.propagation.count_ps();
    next.is_at_crossbar = false;
    next.where = 0;
    next.order = order_++;
    events_.insert(next);
    return;
  }
  if (!event.is_last) return;
  const uint32_t from = event.message.to;  // turned round on the way: who sent it
  Pair& in = pair(from, event.rank, event.message.channel);
  if (event.message.is_clear) {
    ++pair(event.rank, from, event.message.channel).granted;
  } else {
    const uint64_t index = in.arrived++;
    for (uint64_t n = 0; n < rank.script->size(); ++n) {
      const ScriptedOperation& op = (*rank.script)[n];
      if (op.kind == OperationKind::kReceive && op.peer == from && op.channel == event.message.channel &&
          rank.states[n] == State::kUnderWay && index_of(rank, n) == index)
        rank.asked.emplace_back('d', n);
    }
  }
  work(event.rank, event.at);
}

void PlainExecutor::depart(uint32_t self, int64_t now) {
  Rank& rank = ranks_[self];
  rank.departs = false;
  if (rank.turns.empty()) return;
  std::deque<Message>& queue = *rank.turns.front();
  rank.turns.pop_front();
  Message& message = queue.front();
  const auto payload = static_cast<uint32_t>(std::min<uint64_t>(message.left, setup_.mtu));
  const uint32_t bytes = std::max(RankFabric::frame_bytes(payload, !message.is_begun), 60U) + 24;
  const auto frame_ps =
      static_cast<int64_t>(bytes * 8'000'000ULL / (setup_.rate.count_bps() / 1'000'000));  // whole at these rates
  message.left -= payload;
  message.is_begun = true;
  rank.nic_free = now + frame_ps;
  Message turned = message;
  turned.to = self;
  const bool is_last = message.left == 0;
  events_.insert({.at = rank.nic_free + setup_.propagation.count_ps(),
                  .kind = Kind::kArrival,
                  .where = self,
                  .order = order_++,
                  .rank = message.to,
                  .is_at_crossbar = true,
                  .is_last = is_last,
                  .frame_ps = frame_ps,
                  .message = turned});
  if (is_last) {
    if (!message.is_clear) at(rank.nic_free, Kind::kTimer, self, message.number);
    queue.pop_front();
  }
  if (!queue.empty()) rank.turns.push_back(&queue);
  at(rank.nic_free, Kind::kDeparture, self, 0);
  rank.departs = true;
}

void PlainExecutor::at(int64_t instant, Kind kind, uint32_t rank, uint64_t number) {
  Event event{.at = instant, .kind = kind, .where = rank, .order = order_++, .rank = rank};
  event.message.number = number;
  events_.insert(event);
}

void PlainExecutor::post(uint32_t self, std::deque<Message>& queue, const Message& message, int64_t now) {
  Rank& rank = ranks_[self];
  if (queue.empty()) rank.turns.push_back(&queue);
  queue.push_back(message);
  if (rank.departs) return;
  rank.departs = true;
  at(std::max(now, rank.nic_free), Kind::kDeparture, self, 0);
}

void PlainExecutor::work(uint32_t self, int64_t now) {
  Rank& rank = ranks_[self];
  for (;;) {
    open_more(rank);
    uint64_t number = 0;
    while (number < rank.states.size() && !(rank.is_open[number] && may_go_on(rank, self, number))) ++number;
    if (number < rank.states.size()) {
      go_on(rank, self, number, now);
    } else if (!rank.asked.empty()) {
      do_asked(rank, self, now);
    } else {
      return;
    }
  }
}

void PlainExecutor::open_more(Rank& rank) const {
  for (bool has_opened = true; has_opened;) {
    has_opened = false;
    for (uint64_t n = 0; n < rank.is_open.size(); ++n) {
      if (rank.is_open[n] || !may_open(rank, n)) continue;
      rank.is_open[n] = has_opened = true;
    }
  }
}

// All before it in its line are, all that it needs is, and its line's window has room.
bool PlainExecutor::may_open(const Rank& rank, uint64_t place) const {
  uint32_t open = 0;
  for (uint64_t n = 0; n < place; ++n) {
    if ((*rank.script)[n].line != (*rank.script)[place].line) continue;
    if (!rank.is_open[n]) return false;
    open += rank.states[n] != State::kDone ? 1 : 0;
  }
  return open < setup_.rank.window &&
         std::ranges::all_of((*rank.script)[place].needs,
                             [&](uint64_t need) { return rank.is_open[place_of(rank, need)]; });
}

uint64_t PlainExecutor::place_of(const Rank& rank, uint64_t number) {
  return static_cast<uint64_t>(std::ranges::find(rank.numbers, number) - rank.numbers.begin());
}

uint64_t PlainExecutor::index_of(const Rank& rank, uint64_t number) const {
  const ScriptedOperation& it = (*rank.script)[number];
  return static_cast<uint64_t>(std::count_if(
      rank.script->begin(), rank.script->begin() + static_cast<ptrdiff_t>(number), [&](const ScriptedOperation& op) {
        return op.kind == it.kind && op.peer == it.peer && op.channel == it.channel;
      }));
}

// One before it on its connection that is not further than that.
bool PlainExecutor::has_before_it(const Rank& rank, uint64_t number, State upto) const {
  const ScriptedOperation& it = (*rank.script)[number];
  for (uint64_t n = 0; n < number; ++n) {
    const ScriptedOperation& op = (*rank.script)[n];
    if (op.kind == it.kind && op.peer == it.peer && op.channel == it.channel && rank.states[n] <= upto) return true;
  }
  return false;
}

bool PlainExecutor::may_go_on(const Rank& rank, uint32_t self, uint64_t number) {
  const ScriptedOperation& op = (*rank.script)[number];
  const State state = rank.states[number];
  if (state == State::kOver) return true;
  if (state == State::kStepped) {
    if (has_before_it(rank, number, State::kStepped)) return false;
    return !setup_.admission || pair(self, op.peer, op.channel).granted > index_of(rank, number);
  }
  if (state != State::kHeld) return false;
  const auto is_done = [&](uint64_t need) { return rank.states[place_of(rank, need)] == State::kDone; };
  if (!std::ranges::all_of(op.needs, is_done)) return false;
  for (uint64_t n = 0; op.after_all && n < number; ++n) {
    if ((*rank.script)[n].line == op.line && rank.states[n] != State::kDone) return false;
  }
  return op.kind != OperationKind::kReceive || !has_before_it(rank, number, State::kHeld);
}

void PlainExecutor::go_on(Rank& rank, uint32_t self, uint64_t number, int64_t now) {
  const ScriptedOperation& op = (*rank.script)[number];
  State& state = rank.states[number];
  if (state == State::kOver) return finish(rank, number, now);
  if (state == State::kStepped) {
    state = State::kUnderWay;
    rank.asked.emplace_back('p', number);
    return;
  }
  rank.started[number] = now;
  if (op.kind == OperationKind::kSend) {
    state = State::kStepped;
    return;
  }
  state = State::kUnderWay;
  if (is_message(op)) {
    if (setup_.admission) rank.asked.emplace_back('c', number);
    if (pair(op.peer, self, op.channel).arrived > index_of(rank, number)) rank.asked.emplace_back('d', number);
    return;
  }
  int64_t over = now + op.time.count_ps();
  if (op.kind == OperationKind::kReduce)
    over = rank.reduced = std::max(rank.reduced, now) +
                          static_cast<int64_t>(op.bytes * (1'000'000'000'000 / setup_.rank.reduce_bytes_per_second));
  over > now ? at(over, Kind::kTimer, self, number) : finish(rank, number, now);
}

void PlainExecutor::do_asked(Rank& rank, uint32_t self, int64_t now) {
  const auto [what, number] = rank.asked.front();
  rank.asked.pop_front();
  if (what == 'd') return finish(rank, number, now);
  const ScriptedOperation& op = (*rank.script)[number];
  const bool is_clear = what == 'c';
  Pair& out = is_clear ? pair(op.peer, self, op.channel) : pair(self, op.peer, op.channel);
  const uint64_t bytes = is_clear ? setup_.rank.clear_bytes : op.bytes;
  post(self, is_clear ? out.clears : out.data, {op.peer, op.channel, is_clear, number, bytes, false}, now);
}

void PlainExecutor::finish(Rank& rank, uint64_t number, int64_t now) {
  rank.states[number] = State::kDone;
  rank.done.push_back(
      {rank.numbers[number], dataplane::Instant::at_ps(rank.started[number]), dataplane::Instant::at_ps(now)});
}

}  // namespace softspine::testbeds
