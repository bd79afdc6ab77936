// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/traces/plain_matcher.hpp"

#include <algorithm>

namespace softspine::testbeds {

using control::OperationKind;
using dataplane::Duration;
using dataplane::Instant;

PlainMatcher::PlainMatcher(uint32_t rank, const TracedRank& operations, uint32_t window, const TraceCosts& costs,
                           std::vector<Arrival> arrivals)
    : rank_(rank),
      operations_(operations),
      window_(window),
      costs_(costs),
      arrivals_(std::move(arrivals)),
      doing_(operations.size()),
      cpus_(64) {}

void PlainMatcher::run() {
  settle();
  for (size_t next = 0;;) {
    Instant first = next < arrivals_.size() ? arrivals_[next].at : Instant::never();
    for (const Doing& each : doing_) {
      if (each.at == At::kRuns) first = std::min(first, each.ends);
    }
    if (first.is_never()) break;
    now_ = first;
    bool ended = false;
    for (Doing& each : doing_) {
      if (each.at != At::kRuns || each.ends > now_) continue;
      each.at = At::kOver;
      ended = true;
    }
    if (ended) {
      settle();
    } else {
      come(arrivals_[next++]);
      settle();
    }
  }
  for (const size_t receive : posted_) waiting.push_back(receive);
  std::ranges::sort(waiting);
}

void PlainMatcher::settle() {
  for (;;) {
    open();
    size_t number = 0;
    while (number < opened_ && !may_go_on(number)) ++number;
    if (number == opened_) return;
    go_on(number);
  }
}

void PlainMatcher::open() {
  const auto count = [&] { return std::ranges::count_if(doing_, &Doing::is_open); };
  while (opened_ < doing_.size() && static_cast<size_t>(count()) < window_) doing_[opened_++].is_open = true;
}

bool PlainMatcher::is_free(size_t number) const {
  const TracedOperation& op = operations_[number];
  return std::ranges::all_of(op.needs, [&](uint64_t need) { return doing_[need].at == At::kDone; }) &&
         std::ranges::all_of(op.needs_started, [&](uint64_t need) { return doing_[need].has_started; });
}

bool PlainMatcher::may_go_on(size_t number) const {
  const Doing& it = doing_[number];
  if (it.at == At::kHeld) return is_free(number);
  return it.at == At::kHasCpu || it.at == At::kOver;
}

void PlainMatcher::go_on(size_t number) {
  Doing& it = doing_[number];
  if (it.at == At::kHasCpu) return begin(number);
  if (it.at == At::kOver) return end(number);
  if (operations_[number].kind != OperationKind::kReceive) return ask_cpu(number);
  it.has_started = true;
  it.started = now_;
  const auto found = std::ranges::find_if(kept_, [&](const Arrival& message) { return fits(number, message); });
  if (found == kept_.end()) {
    it.at = At::kPosted;
    posted_.push_back(number);
    return;
  }
  it.message = *found;
  kept_.erase(found);
  ask_cpu(number);
}

bool PlainMatcher::fits(size_t receive, const Arrival& message) const {
  const TracedOperation& op = operations_[receive];
  return (op.peer == control::kAnyRank || op.peer == message.source) &&
         (op.tag == control::kAnyTag || op.tag == message.tag);
}

void PlainMatcher::come(const Arrival& message) {
  const auto found = std::ranges::find_if(posted_, [&](size_t receive) { return fits(receive, message); });
  if (found == posted_.end()) return kept_.push_back(message);
  const size_t receive = *found;
  posted_.erase(found);
  doing_[receive].message = message;
  ask_cpu(receive);
}

void PlainMatcher::ask_cpu(size_t number) {
  auto& line = cpus_[operations_[number].cpu];
  line.push_back(number);
  doing_[number].at = At::kAsksForCpu;
  if (line.size() == 1) begin(number);
}

Duration PlainMatcher::cost(size_t number) const {
  const TracedOperation& op = operations_[number];
  if (op.kind == OperationKind::kCompute) return op.time;
  const bool sends = op.kind == OperationKind::kSend;
  const uint64_t bytes = sends ? op.bytes : doing_[number].message.bytes;
  const Duration first = sends ? costs_.post : costs_.receive;
  return bytes < 2 ? first : first + costs_.byte * static_cast<int64_t>(bytes - 1);
}

void PlainMatcher::begin(size_t number) {
  Doing& it = doing_[number];
  if (operations_[number].kind != OperationKind::kReceive) {
    it.has_started = true;
    it.started = now_;
  }
  it.ends = now_ + cost(number);
  it.at = At::kRuns;
  if (it.ends == now_) end(number);
}

void PlainMatcher::end(size_t number) {
  const TracedOperation& op = operations_[number];
  Doing& it = doing_[number];
  it.at = At::kDone;
  it.is_open = false;
  auto& line = cpus_[op.cpu];
  line.pop_front();
  if (!line.empty()) doing_[line.front()].at = At::kHasCpu;
  if (op.kind == OperationKind::kSend && op.peer == rank_) come({rank_, op.tag, op.bytes, now_});
  const bool receives = op.kind == OperationKind::kReceive;
  done.push_back(
      {number, receives ? it.message.source : op.peer, receives ? it.message.tag : op.tag, it.started, now_});
}

}  // namespace softspine::testbeds
