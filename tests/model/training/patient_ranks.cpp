// SPDX-License-Identifier: Apache-2.0
#include "tests/model/training/patient_ranks.hpp"

#include <algorithm>

namespace softspine::tests {

using control::OperationKind;

namespace {

bool is_message(const control::Operation& op) {
  return op.kind == OperationKind::kSend || op.kind == OperationKind::kReceive;
}

}  // namespace

PatientRanks::PatientRanks(const control::TrainingRun& run, uint64_t seed) : random_(seed) {
  for (uint32_t rank = 0; rank < run.traffic.hosts.size(); ++rank) {
    Rank& it = ranks_.emplace_back();
    it.work = std::make_unique<control::TrainingLines>(run, rank);
    it.lines.resize(it.work->lines());
    const std::vector<uint32_t> least = control::TrainingLines::least_windows(run, rank);
    for (size_t line = 1; line < it.lines.size(); ++line) it.lines[line].window = least[line - 1];
  }
}

bool PatientRanks::open_more(Rank& rank) {
  bool has_opened = false;
  for (uint32_t line = 0; line < rank.lines.size(); ++line) {
    while (open_next(rank, line)) has_opened = true;
  }
  return has_opened;
}

bool PatientRanks::open_next(Rank& rank, uint32_t number) {
  Line& line = rank.lines[number];
  if (!line.next) {
    if (line.has_ended) return false;
    control::Operation op;
    const auto answer = rank.work->next(number, op);
    line.has_ended = answer == control::WorkLines::Answer::kEnded;
    if (answer != control::WorkLines::Answer::kGiven) return false;
    line.next = std::make_unique<Open>(Open{op, {op.needs.begin(), op.needs.end()}});
    if (op.line != number) fault_ = "an operation of another line";
  }
  const auto was_opened = [&](uint64_t need) {
    return control::index_of(need) < rank.lines[control::line_of(need)].opened;
  };
  if (line.open.size() == line.window || !std::ranges::all_of(line.next->needs, was_opened)) return false;
  line.next->number = control::number_in(number, line.opened++);
  rank.open.insert(line.next->number);
  line.open.push_back(std::move(*line.next));
  line.next.reset();
  return true;
}

bool PatientRanks::is_ready(const Rank& rank, const Line& line, const Open& op) {
  if (op.has_started) return false;
  if (op.operation.after_all && line.open.front().number != op.number) return false;
  if (is_message(op.operation)) {
    // Those of a connection start in their order.
    for (const Open& other : line.open) {
      const control::Operation& before = other.operation;
      if (other.number == op.number) break;
      const bool is_alike = before.kind == op.operation.kind && before.peer == op.operation.peer &&
                            before.channel == op.operation.channel;
      if (is_alike && !other.has_started) return false;
    }
  }
  return std::ranges::none_of(op.needs, [&](uint64_t need) { return rank.open.contains(need); });
}

std::string PatientRanks::run() {
  std::vector<uint32_t> order(ranks_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  for (bool goes_on = true; goes_on && fault_.empty();) {
    goes_on = false;
    std::ranges::shuffle(order, random_);
    for (const uint32_t r : order) {
      Rank& rank = ranks_[r];
      goes_on |= open_more(rank);
      std::vector<std::pair<uint32_t, uint64_t>> ready;
      for (uint32_t line = 0; line < rank.lines.size(); ++line) {
        for (const Open& op : rank.lines[line].open) {
          if (is_ready(rank, rank.lines[line], op)) ready.emplace_back(line, op.number);
        }
      }
      if (ready.empty()) continue;
      goes_on = true;
      const auto [line, number] = ready[random_() % ready.size()];
      auto& open = rank.lines[line].open;
      start(r, *std::ranges::find(open, number, &Open::number));
    }
  }
  for (uint32_t r = 0; r < ranks_.size() && fault_.empty(); ++r) {
    if (!ranks_[r].open.empty()) fault_ = "rank " + std::to_string(r) + " waits for ever";
  }
  return fault_;
}

void PatientRanks::start(uint32_t rank, Open& op) {
  const control::Operation& it = op.operation;
  if (!is_message(it)) return finish(rank, op.number);
  op.has_started = true;
  if (it.kind == OperationKind::kSend) {
    sent_bytes_[it.channel / control::TrainingRun::kMaxChannels] += it.bytes;
    Link& link = links_[{rank, it.peer, it.channel}];
    link.sends.push_back({rank, op.number, it.bytes});
    return match(link);
  }
  Link& link = links_[{it.peer, rank, it.channel}];
  link.receives.push_back({rank, op.number, it.bytes});
  match(link);
}

void PatientRanks::match(Link& link) {
  while (!link.sends.empty() && !link.receives.empty()) {
    const End send = link.sends.front();
    const End receive = link.receives.front();
    link.sends.pop_front();
    link.receives.pop_front();
    if (send.bytes != receive.bytes) fault_ = "a message has other bytes than its receive";
    finish(send.rank, send.number);
    finish(receive.rank, receive.number);
  }
}

void PatientRanks::finish(uint32_t rank, uint64_t number) {
  auto& open = ranks_[rank].lines[control::line_of(number)].open;
  open.erase(std::ranges::find(open, number, &Open::number));
  ranks_[rank].open.erase(number);
}

}  // namespace softspine::tests
