// SPDX-License-Identifier: Apache-2.0
#include "tests/model/collectives/symbolic_ranks.hpp"

#include <algorithm>
#include <utility>

#include "control/model/collective_plan.hpp"

namespace softspine::tests {
namespace {

using control::Collective;
using control::DataPlace;
using control::OperationKind;

uint64_t block_of(const control::CollectiveShape& shape) {
  return shape.bytes / shape.ranks;
}

uint64_t output_bytes(const control::CollectiveShape& shape) {
  switch (shape.collective) {
    case Collective::kReduceScatter: return block_of(shape);
    case Collective::kAllGather:
    case Collective::kAllToAll: return block_of(shape) * shape.ranks;
    default: return shape.bytes;
  }
}

uint64_t scratch_bytes(const control::CollectiveShape& shape, uint32_t rank) {
  if (!shape.plan) return shape.bytes;
  return shape.bytes / shape.plan->chunks * shape.plan->ranks[rank].scratch_chunks;
}

}  // namespace

SymbolicRanks::SymbolicRanks(const control::CollectiveShape& shape, uint64_t seed) : shape_(shape), random_(seed) {
  const auto drawn = [&](uint64_t bytes) {
    Values values(bytes);
    for (auto& value : values) value = random_();
    return values;
  };
  for (uint32_t r = 0; r < shape.ranks; ++r) {
    Rank& rank = ranks_.emplace_back();
    rank.stream = control::stream_of(shape, r);
    rank.window = control::least_window(shape, r);
    const bool gathers = shape.collective == Collective::kAllGather;
    rank.memory[DataPlace::kInput] = inputs_.emplace_back(drawn(gathers ? block_of(shape) : shape.bytes));
    rank.memory[DataPlace::kOutput] = drawn(output_bytes(shape));
    rank.memory[DataPlace::kScratch] = drawn(scratch_bytes(shape, r));
    if (shape.plan && shape.plan->in_place) put_in_place(r);
    awake_.push_back(r);
  }
}

// The input stands in the output, at its place, or the output in the input.
void SymbolicRanks::put_in_place(uint32_t rank) {
  const Values& input = inputs_[rank];
  Values& output = ranks_[rank].memory[DataPlace::kOutput];
  if (shape_.collective == Collective::kReduceScatter) return;
  const uint64_t begin = shape_.collective == Collective::kAllGather ? block_of(shape_) * rank : 0;
  std::ranges::copy(input, output.begin() + static_cast<std::ptrdiff_t>(begin));
}

std::string SymbolicRanks::run() {
  while (error_.empty() && !awake_.empty()) {
    const size_t drawn = random_() % awake_.size();
    const uint32_t rank = awake_[drawn];
    pull(ranks_[rank]);
    const auto ready = ready_of(ranks_[rank]);
    if (ready.empty()) {
      awake_.erase(awake_.begin() + static_cast<std::ptrdiff_t>(drawn));
    } else {
      start(rank, ready[random_() % ready.size()]);
    }
  }
  for (const auto& rank : ranks_) {
    if (!rank.open.empty()) fail("a rank waits for ever");
  }
  return error_.empty() ? judge() : error_;
}

void SymbolicRanks::pull(Rank& rank) {
  while (!rank.ended && rank.open.size() < rank.window) {
    Open open;
    if (!rank.stream->next(open.operation)) {
      rank.ended = true;
      return;
    }
    open.data = rank.stream->data();
    open.needs.assign(open.operation.needs.begin(), open.operation.needs.end());
    open.number = rank.given++;
    if (!std::ranges::is_sorted(open.needs) || (!open.needs.empty() && open.needs.back() >= open.number)) {
      fail("needs are not ascending, or not before");
    }
    rank.open.push_back(std::move(open));
  }
}

// Messages of one connection start in their order; no later one may be ready before an earlier one.
std::vector<uint64_t> SymbolicRanks::ready_of(const Rank& rank) {
  std::vector<uint64_t> ready;
  std::map<std::tuple<OperationKind, uint32_t, uint32_t>, bool> first_is_ready;
  for (const auto& open : rank.open) {
    if (open.started) continue;
    const bool is_ready = std::ranges::none_of(
        open.needs, [&](uint64_t needed) { return std::ranges::binary_search(rank.open, needed, {}, &Open::number); });
    bool first = true;
    if (open.operation.kind != OperationKind::kReduce) {
      const auto [at, added] =
          first_is_ready.try_emplace({open.operation.kind, open.operation.peer, open.operation.channel}, is_ready);
      first = added;
      if (is_ready && !at->second) fail("a later message of a connection is ready first");
    }
    if (is_ready && first) ready.push_back(open.number);
  }
  return ready;
}

SymbolicRanks::Open& SymbolicRanks::at(uint32_t rank, uint64_t number) {
  return *std::ranges::lower_bound(ranks_[rank].open, number, {}, &Open::number);
}

void SymbolicRanks::start(uint32_t rank, uint64_t number) {
  Open& open = at(rank, number);
  const auto& operation = open.operation;
  open.started = true;
  if (operation.kind == OperationKind::kReduce) {
    work(ranks_[rank], open);
    return finish(rank, number);
  }
  if (operation.peer >= ranks_.size() || operation.peer == rank) return fail("no such peer");
  const bool sends = operation.kind == OperationKind::kSend;
  Link& link =
      sends ? links_[{rank, operation.peer, operation.channel}] : links_[{operation.peer, rank, operation.channel}];
  if (sends) ranks_[rank].sent_bytes += operation.bytes;
  (sends ? link.sends : link.receives).push_back({rank, number});
  match(link);
}

void SymbolicRanks::match(Link& link) {
  if (link.sends.empty() || link.receives.empty()) return;
  const Message from = link.sends.front();
  const Message to = link.receives.front();
  link.sends.pop_front();
  link.receives.pop_front();
  const Open& send = at(from.rank, from.number);
  const Open& receive = at(to.rank, to.number);
  if (send.operation.bytes != receive.operation.bytes) fail("a message has another size than its receive");
  ranks_[to.rank].received[to.number] = value_of(ranks_[from.rank], send);
  finish(from.rank, from.number);
  finish(to.rank, to.number);
}

// Of its own data if it reads some, and the sum of what it needs, if it carries that.
SymbolicRanks::Values SymbolicRanks::value_of(const Rank& rank, const Open& open) {
  const auto& data = open.data;
  Values value(data.all_bytes());
  const bool reads = data.reads != DataPlace::kNowhere;
  for (uint64_t i = 0; reads && i < value.size(); ++i) {
    const uint64_t offset = data.read_offset + i / data.bytes * data.stride + i % data.bytes;
    if (offset >= rank.memory.at(data.reads).size()) return fail("reads beyond the end"), value;
    value[i] = rank.memory.at(data.reads)[offset];
  }
  if (reads && open.operation.kind == OperationKind::kSend) return value;
  const auto& results = open.operation.kind == OperationKind::kSend ? rank.worked : rank.received;
  for (const uint64_t needed : open.needs) {
    const auto result = results.find(needed);
    if (result == results.end()) continue;
    if (result->second.size() != value.size()) return fail("works on another number of bytes than came"), value;
    for (uint64_t i = 0; i < value.size(); ++i) value[i] += result->second[i];
  }
  return value;
}

void SymbolicRanks::work(Rank& rank, const Open& work) {
  const auto& data = work.data;
  Values value = value_of(rank, work);
  if (data.writes != DataPlace::kNowhere) {
    Values& memory = rank.memory.at(data.writes);
    for (uint64_t i = 0; i < value.size(); ++i) {
      const uint64_t offset = data.write_offset + i / data.bytes * data.stride + i % data.bytes;
      if (offset >= memory.size()) return fail("writes beyond the end");
      if (data.adds) value[i] += memory[offset];
      memory[offset] = value[i];
    }
  }
  const bool passes_on = data.reads == DataPlace::kNowhere && data.writes == DataPlace::kNowhere;
  if (work.operation.bytes != (passes_on ? 0 : value.size())) fail("a work has another size than its data");
  rank.worked[work.number] = std::move(value);
}

void SymbolicRanks::finish(uint32_t rank, uint64_t number) {
  auto& open = ranks_[rank].open;
  open.erase(std::ranges::lower_bound(open, number, {}, &Open::number));
  if (std::ranges::find(awake_, rank) == awake_.end()) awake_.push_back(rank);
}

std::string SymbolicRanks::judge() const {
  for (const auto& [between, link] : links_) {
    if (!link.sends.empty() || !link.receives.empty()) return "a message is left over";
  }
  for (uint32_t rank = 0; rank < shape_.ranks; ++rank) {
    if (!is_right(rank)) return "rank " + std::to_string(rank) + " has a wrong result";
  }
  return {};
}

bool SymbolicRanks::is_right(uint32_t rank) const {
  const uint64_t block = std::max<uint64_t>(1, block_of(shape_));
  const auto sum = [&](uint64_t offset) {
    uint64_t total = 0;
    for (const auto& input : inputs_) total += input[offset];
    return total;
  };
  const auto expected = [&](uint64_t offset) {
    switch (shape_.collective) {
      case Collective::kAllGather: return inputs_[offset / block][offset % block];
      case Collective::kReduceScatter: return sum(rank * block + offset);
      case Collective::kAllToAll: return inputs_[offset / block][rank * block + offset % block];
      case Collective::kBroadcast: return inputs_[shape_.root][offset];
      case Collective::kSendRecv: return inputs_[(rank + shape_.ranks - 1) % shape_.ranks][offset];
      default: return sum(offset);
    }
  };
  if (shape_.collective == Collective::kReduce && rank != shape_.root) return true;
  Values output = ranks_[rank].memory.at(DataPlace::kOutput);
  if (shape_.plan && shape_.plan->in_place && shape_.collective == Collective::kReduceScatter) {
    const Values& input = ranks_[rank].memory.at(DataPlace::kInput);
    std::copy_n(input.begin() + static_cast<std::ptrdiff_t>(rank * block), output.size(), output.begin());
  }
  for (uint64_t offset = 0; offset < output.size(); ++offset) {
    if (output[offset] != expected(offset)) return false;
  }
  return true;
}

}  // namespace softspine::tests
