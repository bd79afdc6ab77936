// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/port_fills.hpp"

#include <algorithm>

#include "dataplane/units/wide.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

// A limit of no cells is reached by whatever is held.
uint64_t limit_bytes(const SharedLimit& limit, const PoolUse& pool, uint64_t cell) {
  const int64_t cells = limit.of(pool.to_give());
  return cells >= BufferPlan::kUnlimitedCells ? 0 : static_cast<uint64_t>(std::max<int64_t>(cells, 1)) * cell;
}

template <typename Use>
control::Fill fill_of_cells(const Use& use, uint64_t held, uint64_t cell) {
  if (held == 0 || use.pool == nullptr) return {};
  return {.bytes = held * cell, .limit_bytes = limit_bytes(use.limit, *use.pool, cell)};
}

// Limits of one queue in several slices are of one kind.
bool is_fuller(const control::Fill& a, const control::Fill& b) {
  return b.bytes == 0 || Uint128{a.bytes} * b.limit_bytes > Uint128{b.bytes} * a.limit_bytes;
}

}  // namespace

control::PortFill fill_of(const Mmu& mmu, PortNo port) {
  const uint64_t cell = mmu.cell().bytes();
  control::PortFill out;
  for (uint32_t i = 0; i < kPriorities; ++i) {
    const PriorityGroupUse& group = mmu.pg(port.value(), i);
    out.groups[i] = fill_of_cells(group, uint64_t{group.shared} + group.headroom, cell);
  }
  for (uint32_t i = 0; i < kQueues; ++i) {
    for (uint32_t slice = 0; slice < mmu.slices(); ++slice) {
      const QueueUse& use = mmu.queue(port.value(), i, slice);
      const control::Fill fill = fill_of_cells(use, use.shared, cell);
      if (is_fuller(fill, out.queues[i])) out.queues[i] = fill;
    }
  }
  return out;
}

control::PortFills fills_of(const LocalNodes& nodes) {
  if (nodes.ranks().is_alone()) return fills_here(nodes);
  control::PortFills out;
  for (control::PortFills& of_rank : nodes.ranks().collect(fills_here(nodes))) {
    out.resize(std::max(out.size(), of_rank.size()));
    for (size_t n = 0; n < of_rank.size(); ++n) {
      if (!of_rank[n].empty()) out[n] = std::move(of_rank[n]);
    }
  }
  return out;
}

control::PortFills fills_here(const LocalNodes& nodes) {
  control::PortFills out;
  nodes.for_each_switch([&](uint32_t n, const pipelines::Switch& node) {
    out.resize(n + 1);
    const Mmu& mmu = node.egress().mmu();
    for (uint16_t p = 0; p < mmu.ports(); ++p) out[n].push_back(fill_of(mmu, PortNo{p}));
  });
  return out;
}

}  // namespace softspine::testbeds
