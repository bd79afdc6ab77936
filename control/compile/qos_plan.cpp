// SPDX-License-Identifier: Apache-2.0
#include "control/compile/qos_plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "control/model/profile.hpp"
#include "dataplane/buffer/headroom.hpp"
#include "dataplane/flow_control/pause_timing.hpp"

namespace softspine::control {

namespace dp = dataplane;

namespace {

// The headroom formula looks at every frame size; most ports of a switch are alike.
class HeadroomTable {
 public:
  explicit HeadroomTable(uint32_t cell_bytes) : cell_bytes_(cell_bytes) {}
  uint64_t cells(const BufferProfileConfig& profile, const PortShape& port) {
    if (!profile.lossless) return 0;
    if (!profile.automatic) return profile.xoff / cell_bytes_;
    const auto key = std::tuple(port.rate.count_bps(), port.propagation.count_ps(), port.largest_frame);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    return known_[key] = headroom_needed(port, cell_bytes_, dp::kMinFrameBytes);
  }

 private:
  uint32_t cell_bytes_;
  std::map<std::tuple<uint64_t, int64_t, uint32_t>, uint64_t> known_;
};

uint32_t cells(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, dp::BufferPlan::kUnlimitedCells));
}

const BufferProfileConfig* profile_at(const QosConfig& config, int16_t index) {
  return index == PortQos::kNone ? nullptr : &config.profiles[static_cast<size_t>(index)];
}

class PlanBuilder {
 public:
  PlanBuilder(const Profile& profile, const std::vector<PortShape>& ports)
      : profile_(profile),
        config_(*profile.qos),
        ports_(ports),
        headroom_(config_.cell_bytes),
        plan_(std::make_shared<dp::QosPlan>()) {}

  std::shared_ptr<const dp::QosPlan> build() {
    if (config_.has_buffers()) {
      add_pools();
      for (const PortShape& port : ports_) plan_->buffer.ports.push_back(buffers_of(port));
      plan_->buffer.ports.push_back(buffers_of_switch());
    } else {
      plan_->buffer = plain_buffers();
    }
    for (const auto& wred : config_.wreds) plan_->wred.push_back(wred.second);
    for (const PortShape& port : ports_) plan_->ports.push_back(queues_of(port));
    plan_->watchdog_poll = config_.watchdog_poll;
    return plan_;
  }

 private:
  uint64_t in_cells(uint64_t bytes) const { return bytes / config_.cell_bytes; }

  // Ingress pools and egress pools are numbered apart.
  void add_pools() {
    plan_->buffer.cell = dp::CellSize(config_.cell_bytes);
    const std::vector<PoolDemand> demands = pool_demands(config_, ports_);
    for (size_t i = 0; i < config_.pools.size(); ++i) {
      const PoolDemand& demand = demands[i];
      auto& pools = config_.pools[i].ingress ? plan_->buffer.ingress_pools : plan_->buffer.egress_pools;
      numbers_.push_back(static_cast<uint8_t>(pools.size()));
      pools.push_back({cells(demand.size - std::min(demand.size, demand.reserved)), cells(demand.shared_headroom)});
    }
    if (plan_->buffer.ingress_pools.empty()) plan_->buffer.ingress_pools = {{dp::BufferPlan::kUnlimitedCells, 0}};
    if (plan_->buffer.egress_pools.empty()) plan_->buffer.egress_pools = {{dp::BufferPlan::kUnlimitedCells, 0}};
  }

  dp::SharedLimit limit_of(const BufferProfileConfig& profile) const {
    return profile.dynamic_th ? dp::SharedLimit::dynamic(*profile.dynamic_th)
                              : dp::SharedLimit::fixed(cells(in_cells(profile.static_th)));
  }

  // A direction without a pool is not limited: a file may say how queues share, and nothing of groups.
  dp::SharedLimit limit_without_row(bool ingress) const {
    const bool limited = std::ranges::any_of(config_.pools, [&](const auto& pool) { return pool.ingress == ingress; });
    return limited ? dp::SharedLimit{} : dp::SharedLimit::fixed(dp::BufferPlan::kUnlimitedCells);
  }

  dp::PortBufferPlan buffers_of(const PortShape& shape) {
    const PortQos& port = config_.port(shape.name);
    dp::PortBufferPlan out;
    for (size_t i = 0; i < out.groups.size(); ++i) {
      out.groups[i].limit = limit_without_row(true);
      if (const auto* profile = profile_at(config_, port.groups[i])) out.groups[i] = group_of(*profile, shape);
      out.groups[i].credited =
          shape.flow_control == FlowControl::kCredit && (config_.priorities_of_pg[i] & port.pfc_enable) != 0;
    }
    for (size_t i = 0; i < out.queues.size(); ++i) {
      out.queues[i].limit = limit_without_row(false);
      const auto* profile = profile_at(config_, port.queues[i]);
      if (profile == nullptr) continue;
      out.queues[i] = {numbers_[profile->pool], cells(in_cells(profile->size)), limit_of(*profile)};
    }
    return out;
  }

  dp::PriorityGroupPlan group_of(const BufferProfileConfig& profile, const PortShape& shape) {
    return {.pool = numbers_[profile.pool],
            .lossless = profile.lossless,
            .reserved_cells = cells(in_cells(profile.reserved())),
            .limit = limit_of(profile),
            .headroom_cells = cells(headroom_.cells(profile, shape)),
            .xon_cells = cells(in_cells(profile.xon)),
            .xon_offset_cells = cells(in_cells(profile.xon_offset + config_.cell_bytes - 1))};
  }

  dp::PortBufferPlan buffers_of_switch() const {
    dp::PortBufferPlan out;
    const auto is_lossy = [&](int16_t index) {
      return index != PortQos::kNone && !profile_at(config_, index)->lossless;
    };
    const auto lossy = std::ranges::find_if(config_.others.groups, is_lossy);
    for (dp::PriorityGroupPlan& group : out.groups) {
      if (lossy != config_.others.groups.end()) group.pool = numbers_[profile_at(config_, *lossy)->pool];
      group.limit = dp::SharedLimit::fixed(dp::BufferPlan::kUnlimitedCells);
    }
    return out;
  }

  dp::BufferPlan plain_buffers() const {
    std::array<uint32_t, dp::kQueues> limits{};
    for (size_t q = 0; q < limits.size(); ++q) limits[q] = cells(profile_.queue_limit_bytes[q]);
    return dp::BufferPlan::plain_limits(static_cast<uint32_t>(ports_.size()), limits);
  }

  dp::PortQosPlan queues_of(const PortShape& shape) const {
    const PortQos& port = config_.port(shape.name);
    dp::PortQosPlan out;
    out.mac = shape.mac.bytes;
    for (size_t q = 0; q < out.queues.size(); ++q) {
      dp::QueueSchedule& queue = out.queues[q];
      if (port.schedulers[q] != PortQos::kNone) {
        const SchedulerConfig& scheduler = config_.schedulers[static_cast<size_t>(port.schedulers[q])];
        queue.strict = scheduler.strict;
        queue.weight = scheduler.weight;
        queue.shaper = scheduler.shaper;
      }
      queue.wred = static_cast<uint8_t>(port.wreds[q] + 1);  // none, -1, is the plan's first
    }
    if (port.scheduler != PortQos::kNone) out.shaper = config_.schedulers[static_cast<size_t>(port.scheduler)].shaper;
    out.link_mode = shape.flow_control;
    const bool by_credit = shape.flow_control == FlowControl::kCredit;
    (by_credit ? out.credit_enabled : out.pfc_enabled) = port.pfc_enable;
    out.largest_frame = shape.largest_frame;
    out.queues_of_priority = config_.queues_of_priority;
    out.priorities_of_pg = config_.priorities_of_pg;
    out.watchdog = port.watchdog;
    out.watchdog.priorities = port.pfcwd_sw_enable.value_or(port.pfc_enable);
    return out;
  }

  const Profile& profile_;
  const QosConfig& config_;
  const std::vector<PortShape>& ports_;
  HeadroomTable headroom_;
  std::vector<uint8_t> numbers_;  // of the pools, in their direction
  std::shared_ptr<dp::QosPlan> plan_;
};

}  // namespace

std::vector<PortShape> port_shapes(const Fabric& fabric, uint32_t node) {
  std::vector<PortShape> out;
  for (const FabricPort& port : fabric.nodes[node].ports) {
    const FabricLink& link = fabric.links[port.link];
    out.push_back({port.name, port.mac, link.rate, link.propagation, link.mtu + kFrameOverhead, link.flow_control});
  }
  return out;
}

uint64_t headroom_needed(const PortShape& port, uint32_t cell_bytes, uint32_t smallest_frame) {
  return dp::headroom_cells({.rate = port.rate,
                             .propagation = port.propagation,
                             .largest_frame = port.largest_frame,
                             .smallest_frame = smallest_frame,
                             .cell = dp::CellSize(cell_bytes),
                             .response = dp::PauseTiming::of(port.rate).response});
}

std::vector<PoolDemand> pool_demands(const QosConfig& config, const std::vector<PortShape>& ports) {
  const uint32_t cell = config.cell_bytes;
  std::vector<PoolDemand> out(config.pools.size());
  HeadroomTable table(cell);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].size = config.pools[i].size / cell;
    out[i].shared_headroom = config.pools[i].xoff / cell;
  }
  for (const PortShape& shape : ports) {
    const PortQos& port = config.port(shape.name);
    for (const int16_t index : port.groups) {
      const BufferProfileConfig* profile = profile_at(config, index);
      if (profile == nullptr) continue;
      PoolDemand& pool = out[profile->pool];
      const uint64_t headroom = table.cells(*profile, shape);
      pool.headroom += headroom;
      pool.reserved += profile->reserved() / cell + (profile->holds_headroom() ? headroom : 0);
    }
    for (const int16_t index : port.queues) {
      if (const auto* profile = profile_at(config, index)) out[profile->pool].reserved += profile->size / cell;
    }
  }
  return out;
}

std::shared_ptr<const dp::QosPlan> compile_qos(const Profile& profile, const std::vector<PortShape>& ports) {
  return PlanBuilder(profile, ports).build();
}

}  // namespace softspine::control
