// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/port_copy.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace softspine::testbeds {

using namespace dataplane;

namespace {

void copy_use(const PoolUse& use, uint64_t cell, control::PoolSnapshot& out) {
  out.size_bytes = use.shared_limit * cell;
  out.reserved_bytes = use.reserved * cell;
  out.shared_bytes = use.shared() * cell;
  out.watermark_bytes = use.watermark() * cell;
  out.headroom_size_bytes = use.headroom_limit * cell;
  out.headroom_bytes = use.headroom * cell;
  out.headroom_watermark_bytes = use.headroom_watermark * cell;
}

// Calls see(pool, slice, use) in the order of pools_of().
template <typename See>
void each_pool(const control::QosConfig& config, const Mmu& mmu, See&& see) {
  for (const bool ingress : {true, false}) {
    const auto& pools = ingress ? mmu.ingress_pools() : mmu.egress_pools();
    size_t number = 0;
    for (const control::BufferPoolConfig& pool : config.pools) {
      if (pool.ingress != ingress) continue;
      for (uint32_t slice = 0; slice < config.slices && number < pools.size(); ++slice) {
        see(pool, slice, pools[number++]);
      }
    }
  }
}

}  // namespace

void copy_pauses(const Egress& egress, PortNo port, Instant now, PauseSnapshots& out) {
  const PortFlowControl& flow = egress.flow_control(port);
  const PauseState& state = flow.pauses();
  const uint8_t paused = state.paused(now);
  for (uint8_t p = 0; p < kPriorities; ++p) {
    const PfcWatchdog& watchdog = egress.watchdogs().at(port, Priority{p});
    out[p].paused = (paused >> p & 1) != 0;
    out[p].stopping = (flow.raised_xoff() >> p & 1) != 0;
    out[p].rx_frames = flow.pfc_rx_frames(Priority{p});
    out[p].tx_frames = flow.pfc_tx_frames(Priority{p});
    if (!flow.is_pause()) {
      out[p].on_to_off = state.on_to_off(Priority{p});
      out[p].time = state.stopped_time(Priority{p}, now);
      out[p].rx_requested = flow.rx_requested(Priority{p}, now);
      out[p].tx_requested = flow.tx_requested(Priority{p}, now);
    }
    out[p].storms = watchdog.storms();
    out[p].restored = watchdog.restored();
  }
}

void copy_storms(const PfcWatchdogs& watchdogs, PortNo port, PauseSnapshots& out) {
  for (uint8_t p = 0; p < kPriorities; ++p) {
    const PfcWatchdog& watchdog = watchdogs.at(port, Priority{p});
    const WatchdogTraffic traffic = watchdogs.traffic(port, Priority{p});
    out[p].in_storms = watchdog.in_storms(traffic);
    out[p].in_last_storm = watchdog.in_last_storm(traffic);
  }
}

uint8_t pausable_queues(const PortQosPlan& plan) {
  uint8_t out = 0;
  for (uint8_t p = 0; p < kPriorities; ++p) {
    if ((plan.pfc_enabled >> p & 1) != 0) out |= plan.queues_of_priority[p];
  }
  return out;
}

control::HostPauses pauses_of(const PortFlowControl& flow, Instant now) {
  control::HostPauses out;
  if (flow.is_pause()) return out;
  for (uint8_t i = 0; i < kPriorities; ++i) {
    out[i] = {.rx_frames = flow.pfc_rx_frames(Priority{i}),
              .tx_frames = flow.pfc_tx_frames(Priority{i}),
              .on_to_off = flow.pauses().on_to_off(Priority{i}),
              .paused = flow.pauses().stopped_time(Priority{i}, now),
              .rx_requested = flow.rx_requested(Priority{i}, now),
              .tx_requested = flow.tx_requested(Priority{i}, now)};
  }
  return out;
}

// All priorities of such a link fare alike.
control::LinkPauseSnapshot link_pause_of(const PortFlowControl& flow, Instant now) {
  constexpr Priority kAny{0};
  control::LinkPauseSnapshot out{.rx_frames = flow.pause_rx_frames(), .tx_frames = flow.pause_tx_frames()};
  if (!flow.is_pause()) return out;
  out.time = flow.pauses().stopped_time(kAny, now);
  out.rx_requested = flow.rx_requested(kAny, now);
  out.tx_requested = flow.tx_requested(kAny, now);
  return out;
}

std::optional<control::CreditSnapshot> credit_of(const CreditLink& link, Instant now) {
  if (!link.in_use()) return std::nullopt;
  control::CreditSnapshot out{.rx_frames = link.rx_frames(), .tx_frames = link.tx_frames()};
  for (uint8_t i = 0; i < kPriorities; ++i) out.waited[i] = link.starved_time(Priority{i}, now);
  return out;
}

control::PriorityGroupSnapshot priority_group_of(const Mmu& mmu, PortNo port, uint32_t number) {
  const uint64_t cell = mmu.cell().bytes();
  const PriorityGroupUse& group = mmu.pg(port.value(), number);
  const PriorityGroupExtremes& extremes = mmu.extremes(port.value(), number);
  return {.lossless = group.lossless,
          .reserved_bytes = group.reserved() * cell,
          .shared_bytes = group.shared * cell,
          .headroom_bytes = group.headroom * cell,
          .shared_watermark_bytes = group.shared_watermark * cell,
          .headroom_watermark_bytes = extremes.headroom_watermark * cell,
          .packets = group.packets,
          .counters = extremes.counters};
}

control::QueueBufferSnapshot queue_of(const Mmu& mmu, PortNo port, uint32_t number) {
  const uint64_t cell = mmu.cell().bytes();
  control::QueueBufferSnapshot out;
  for (uint32_t slice = 0; slice < mmu.slices(); ++slice) {
    const QueueUse& use = mmu.queue(port.value(), number, slice);
    if (use.held() == 0 && use.shared_watermark == 0) continue;
    out.reserved_bytes += use.reserved() * cell;
    out.shared_bytes += use.shared * cell;
    out.shared_watermark_bytes = std::max(out.shared_watermark_bytes, use.shared_watermark * cell);
  }
  return out;
}

control::PortBufferSnapshot buffers_of(const Mmu& mmu, PortNo port) {
  control::PortBufferSnapshot out;
  for (uint32_t i = 0; i < kPriorities; ++i) out.groups[i] = priority_group_of(mmu, port, i);
  for (uint32_t i = 0; i < kQueues; ++i) out.queues[i] = queue_of(mmu, port, i);
  return out;
}

std::vector<control::PoolSnapshot> pools_of(const control::QosConfig& config, const Mmu& mmu) {
  std::vector<control::PoolSnapshot> out;
  each_pool(config, mmu, [&](const control::BufferPoolConfig& pool, uint32_t slice, const PoolUse&) {
    const std::string suffix = config.slices == 1 ? "" : "|" + std::to_string(slice);
    out.push_back({.name = pool.name + suffix, .ingress = pool.ingress});
  });
  update_pools(config, mmu, out);
  return out;
}

bool update_pools(const control::QosConfig& config, const Mmu& mmu, std::vector<control::PoolSnapshot>& out) {
  size_t count = 0;
  each_pool(config, mmu, [&](const control::BufferPoolConfig&, uint32_t, const PoolUse& use) {
    if (count < out.size()) copy_use(use, mmu.cell().bytes(), out[count]);
    ++count;
  });
  return count == out.size();
}

}  // namespace softspine::testbeds
