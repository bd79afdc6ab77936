// SPDX-License-Identifier: Apache-2.0
#include "control/compile/switch_qos.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "control/compile/dynamic_pools.hpp"
#include "control/compile/sonic_headroom.hpp"
#include "control/model/profile.hpp"
#include "dataplane/buffer/headroom.hpp"
#include "dataplane/flow_control/pause_timing.hpp"
#include "dataplane/flow_control/whole_link.hpp"

namespace softspine::control {

namespace dp = dataplane;

namespace {

uint64_t round_up(uint64_t bytes, uint32_t cell) {
  return bytes / cell + (bytes % cell == 0 ? 0 : 1);
}

// The headroom formula looks at every frame size; most ports of a switch are alike.
class HeadroomTable {
 public:
  explicit HeadroomTable(uint32_t cell_bytes) : cell_bytes_(cell_bytes) {}
  uint64_t cells(const BufferProfileConfig& profile, const PortShape& port) {
    if (!profile.lossless) return 0;
    if (!profile.automatic) return in_cells(profile, cell_bytes_);
    const auto key = std::tuple(port.rate.count_bps(), port.propagation.count_ps(), port.peer_response.count_ps(),
                                port.largest_frame);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    return known_[key] = headroom_needed(port, cell_bytes_, dp::kMinFrameBytes);
  }

 private:
  // Inside the size it is what reserved memory leaves of it, cell for cell.
  static uint64_t in_cells(const BufferProfileConfig& profile, uint32_t cell) {
    if (!profile.holds_headroom) return round_up(profile.xoff, cell);
    return round_up(profile.size, cell) - round_up(profile.reserved(), cell);
  }

  uint32_t cell_bytes_;
  std::map<std::tuple<uint64_t, int64_t, int64_t, uint32_t>, uint64_t> known_;
};

uint32_t cells(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, dp::BufferPlan::kUnlimitedCells));
}

class PlanBuilder {
 public:
  PlanBuilder(const Profile& profile, const std::vector<PortShape>& ports)
      : profile_(profile),
        config_(*profile.qos),
        ports_(ports),
        headroom_(config_.cell_bytes),
        plan_(std::make_shared<dp::QosPlan>()) {}

  std::shared_ptr<const dp::QosPlan> build(bool in_band_telemetry) {
    plan_->in_band_telemetry = in_band_telemetry;
    if (config_.has_buffers()) {
      add_pools();
      for (uint32_t i = 0; i < ports_.size(); ++i) plan_->buffer.ports.push_back(buffers_of(i));
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
  uint32_t in_cells(uint64_t bytes) const { return cells(round_up(bytes, config_.cell_bytes)); }

  // Ingress pools and egress pools are numbered apart, and each slice has its own.
  void add_pools() {
    plan_->buffer.cell = dp::CellSize(config_.cell_bytes);
    plan_->buffer.slices = config_.slices;
    const std::vector<PoolDemand> demands = pool_demands(config_, ports_);
    for (size_t i = 0; i < config_.pools.size(); ++i) {
      const PoolDemand& demand = demands[i];
      auto& pools = config_.pools[i].ingress ? plan_->buffer.ingress_pools : plan_->buffer.egress_pools;
      const uint64_t taken = config_.holds_reserved(config_.pools[i]) ? std::min(demand.size, demand.reserved) : 0;
      numbers_.push_back(static_cast<uint8_t>(pools.size()));
      const dp::PoolPlan slice{cells(cells_of_slice(config_.pools[i], demand.size - taken)),
                               cells(demand.shared_headroom / config_.slices)};
      pools.insert(pools.end(), config_.slices, slice);
    }
    for (auto* pools : {&plan_->buffer.ingress_pools, &plan_->buffer.egress_pools}) {
      if (pools->empty()) pools->assign(config_.slices, {dp::BufferPlan::kUnlimitedCells, 0});
    }
  }

  uint64_t cells_of_slice(const BufferPoolConfig& pool, uint64_t pool_cells) const {
    if (pool.ingress || pool.computed || !config_.egress_pools_whole) return pool_cells / config_.slices;
    return round_up(pool.size, config_.cell_bytes * config_.slices) + 1;
  }

  // A static limit of 0 is none.
  dp::SharedLimit limit_of(const BufferProfileConfig& profile) const {
    if (profile.dynamic_th) return dp::SharedLimit::dynamic(*profile.dynamic_th);
    return dp::SharedLimit::fixed(profile.static_th == 0 ? dp::BufferPlan::kUnlimitedCells
                                                         : in_cells(profile.static_th));
  }

  // A direction without a pool is not limited: a file may define how queues share, and leave out groups.
  dp::SharedLimit limit_without_row(bool ingress) const {
    const bool limited = std::ranges::any_of(config_.pools, [&](const auto& pool) { return pool.ingress == ingress; });
    return limited ? dp::SharedLimit{} : dp::SharedLimit::fixed(dp::BufferPlan::kUnlimitedCells);
  }

  uint8_t pool_number(uint8_t pool, uint32_t slice) const { return static_cast<uint8_t>(numbers_[pool] + slice); }

  dp::PortBufferPlan buffers_of(uint32_t number) {
    const PortShape& shape = ports_[number];
    const PortQos& port = config_.port(shape.name);
    const uint32_t slice = config_.slice_of(port, number, static_cast<uint32_t>(ports_.size()));
    dp::PortBufferPlan out;
    for (size_t i = 0; i < out.groups.size(); ++i) {
      out.groups[i].limit = limit_without_row(true);
      if (const auto* profile = profile_at(config_, port.groups[i])) {
        out.groups[i] = group_of(fitted(*profile, config_, shape), shape, slice);
      }
      out.groups[i].credited =
          shape.link.flow_control == FlowControl::kCredit && (port.priorities_of_pg[i] & port.pfc_enable) != 0;
    }
    for (size_t i = 0; i < out.queues.size(); ++i) {
      out.queues[i].limit = limit_without_row(false);
      const auto* profile = profile_at(config_, port.queues[i]);
      if (profile == nullptr) continue;
      out.queues[i] = queue_of(*profile);
    }
    out.slice = static_cast<uint8_t>(slice);
    add_limits(port.ingress_profiles, slice, out.ingress_limits);
    for (uint32_t s = 0; s < config_.slices; ++s) add_limits(port.egress_profiles, s, out.egress_limits);
    return out;
  }

  void add_limits(const std::vector<int16_t>& profiles, uint32_t slice, std::vector<dp::PortLimitPlan>& out) const {
    for (const int16_t index : profiles) {
      const BufferProfileConfig& profile = *profile_at(config_, index);
      out.push_back({pool_number(profile.pool, slice), limit_of(profile)});
    }
  }

  dp::PriorityGroupPlan group_of(const BufferProfileConfig& profile, const PortShape& shape, uint32_t slice) {
    return {.pool = pool_number(profile.pool, slice),
            .lossless = profile.lossless,
            .reserved_cells = in_cells(profile.reserved()),
            .limit = limit_of(profile),
            .headroom_cells = cells(headroom_.cells(profile, shape)),
            .xon_cells = in_cells(profile.xon),
            .xon_offset_cells = in_cells(profile.xon_offset)};
  }

  // Extra cells are reserved as well, and its limit is lower by as many.
  dp::QueuePlan queue_of(const BufferProfileConfig& profile) const {
    const uint32_t extra = profile.size == 0 ? 0 : config_.queue_extra_cells;
    dp::SharedLimit limit = limit_of(profile);
    limit.cells -= static_cast<int32_t>(extra);
    return {pool_number(profile.pool, 0), in_cells(profile.size) + extra, limit};
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
    out.link = shape.link;
    out.link.pfc_response = shape.response;
    out.pfc_enabled = dp::paused_priorities(shape.link.flow_control, port.pfc_enable);
    if (shape.link.flow_control == FlowControl::kCredit) out.credit_enabled = port.pfc_enable;
    out.largest_frame = shape.largest_frame;
    out.queues_of_priority = port.queues_of_priority;
    out.priorities_of_pg = port.priorities_of_pg;
    out.watchdog = port.watchdog;
    out.watchdog.priorities = port.pfcwd_sw_enable.value_or(port.pfc_enable);
    if (dp::pauses_whole_link(shape.link.flow_control)) set_for_whole_link(out);
    return out;
  }

  // SONiC's tables do not know PAUSE: every queue is held, each group may ask for it, and a watchdog of
  // priorities has nothing to watch.
  static void set_for_whole_link(dp::PortQosPlan& port) {
    const dp::PortQosPlan plain;
    port.queues_of_priority = plain.queues_of_priority;
    port.priorities_of_pg = plain.priorities_of_pg;
    port.watchdog.action = dp::WatchdogAction::kNone;
  }

  const Profile& profile_;
  const QosConfig& config_;
  const std::vector<PortShape>& ports_;
  HeadroomTable headroom_;
  std::vector<uint8_t> numbers_;  // of the pools, in their direction
  std::shared_ptr<dp::QosPlan> plan_;
};

}  // namespace

namespace {

// The value of the port's profile, or of its link, or the longest that 802.3 allows.
dp::Duration response_at(const Fabric& fabric, const std::vector<Profile>& profiles, LinkEnd end) {
  const FabricNode& node = fabric.nodes[end.node];
  const FabricPort& port = node.ports[end.port];
  if (node.kind == NodeKind::kSwitch && node.profile < profiles.size() && profiles[node.profile].qos) {
    const auto& own = profiles[node.profile].qos->port(port.name).pfc_response;
    if (own) return *own;
  }
  const FabricLink& link = fabric.links[port.link];
  return link.parameters.pfc_response.value_or(dp::PauseTiming::of(link.rate).response);
}

}  // namespace

std::vector<PortShape> port_shapes(const Fabric& fabric, const std::vector<Profile>& profiles, uint32_t node) {
  std::vector<PortShape> out;
  for (uint16_t p = 0; p < fabric.nodes[node].ports.size(); ++p) {
    const LinkEnd end{node, p};
    const FabricPort& port = fabric.port(end);
    const FabricLink& link = fabric.links[port.link];
    out.push_back({.name = port.name,
                   .mac = port.mac,
                   .rate = link.rate,
                   .propagation = link.propagation,
                   .largest_frame = link.mtu + kFrameOverhead,
                   .link = link.parameters,
                   .response = response_at(fabric, profiles, end),
                   .peer_response = response_at(fabric, profiles, fabric.peer_of(end)),
                   .clock_ppm = fabric.clock_ppm});
  }
  return out;
}

uint32_t host_headroom(const Fabric& fabric, const std::vector<Profile>& profiles, LinkEnd host) {
  const FabricLink& link = fabric.links[fabric.port(host).link];
  return static_cast<uint32_t>(dp::headroom_cells({.rate = link.rate,
                                                   .propagation = link.propagation,
                                                   .largest_frame = link.mtu + kFrameOverhead,
                                                   .cell = dp::CellSize{1},
                                                   .response = response_at(fabric, profiles, fabric.peer_of(host)),
                                                   .clock_ppm = fabric.clock_ppm}));
}

uint64_t headroom_needed(const PortShape& port, uint32_t cell_bytes, uint32_t smallest_frame) {
  return dp::headroom_cells({.rate = port.rate,
                             .propagation = port.propagation,
                             .largest_frame = port.largest_frame,
                             .smallest_frame = smallest_frame,
                             .cell = dp::CellSize(cell_bytes),
                             .response = port.peer_response,
                             .clock_ppm = port.clock_ppm});
}

std::vector<PoolDemand> pool_demands(const QosConfig& config, const std::vector<PortShape>& ports) {
  const uint32_t cell = config.cell_bytes;
  std::vector<PoolDemand> out(config.pools.size());
  HeadroomTable table(cell);
  for (size_t i = 0; const PoolSizes& sizes : pool_sizes(config, ports)) {
    out[i].size = sizes.size / cell;
    out[i].fits = sizes.fits;
    out[i++].shared_headroom = sizes.xoff / cell;
  }
  for (const PortShape& shape : ports) {
    const PortQos& port = config.port(shape.name);
    for (const int16_t index : port.groups) {
      if (index == PortQos::kNone) continue;
      const BufferProfileConfig profile = fitted(config.profiles[static_cast<size_t>(index)], config, shape);
      PoolDemand& pool = out[profile.pool];
      const uint64_t headroom = table.cells(profile, shape);
      pool.headroom += headroom;
      pool.reserved += round_up(profile.reserved(), cell) + (profile.holds_headroom ? headroom : 0);
    }
    for (const int16_t index : port.queues) {
      if (const auto* profile = profile_at(config, index)) out[profile->pool].reserved += round_up(profile->size, cell);
    }
  }
  return out;
}

std::shared_ptr<const dp::QosPlan> compile_qos(const Profile& profile, const std::vector<PortShape>& ports) {
  return PlanBuilder(profile, ports).build(profile.in_band_telemetry);
}

}  // namespace softspine::control
