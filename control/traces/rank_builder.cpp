// SPDX-License-Identifier: Apache-2.0
#include "control/traces/rank_builder.hpp"

#include <algorithm>
#include <span>

namespace softspine::control {

bool RankBuilder::write(RecordedWork& work) {
  const auto count = static_cast<uint32_t>(operations_.size());
  const std::vector<uint32_t> order = graph_.order(count);
  if (order.size() != count) return false;
  std::vector<uint32_t> place(count);
  for (uint32_t i = 0; i < count; ++i) place[order[i]] = i;
  std::vector<uint64_t> needs;
  std::vector<uint64_t> needs_started;
  const auto take = [&](std::span<const uint64_t> from, std::vector<uint64_t>& to) {
    to.clear();
    for (const uint64_t need : from) to.push_back(place[static_cast<uint32_t>(need)]);
    std::ranges::sort(to);
  };
  work.begin_rank();
  for (const uint32_t i : order) {
    const ReadOperation& it = operations_[i];
    TraceOperation op;
    op.kind = it.kind;
    op.peer = it.peer;
    op.tag = it.tag;
    op.cpu = it.cpu;
    op.line = it.line;
    if (it.kind == OperationKind::kCompute) {
      op.time = dataplane::Duration::ps(static_cast<int64_t>(it.amount));
    } else {
      op.bytes = it.amount;
    }
    take(graph_.done_needs(i), needs);
    take(graph_.started_needs(i), needs_started);
    op.needs = needs;
    op.needs_started = needs_started;
    work.write(op);
  }
  return true;
}

void RankBuilder::clear() {
  operations_.clear();
  graph_.clear();
}

}  // namespace softspine::control
