// SPDX-License-Identifier: Apache-2.0
#include "control/compile/dynamic_pools.hpp"

#include <algorithm>

#include "control/compile/sonic_headroom.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kMirrorBytes = 10 << 10;
constexpr uint64_t kPrivateHeadroom = 10 << 10;
constexpr uint64_t kProcessorBytes = 256 << 10;
constexpr uint64_t kLeastHeadroomPool = 640 << 10;

// The memory that all ports together take.
struct PortsDemand {
  uint64_t occupied = 0;
  uint64_t headroom_beside = 0;  // what xon and xoff exceed the sizes by
  uint64_t lossless_ports = 0;
};

uint64_t lossy_group_bytes(const PortQos& port) {
  return port.eight_lanes ? kPipelineBytesOf8Lanes - (1 << 10) : kPipelineBytes;
}

void add_groups(const QosConfig& config, const PortShape& shape, PortsDemand& out) {
  const PortQos& port = config.port(shape.name);
  bool lossless = false;
  for (const int16_t index : port.groups) {
    const BufferProfileConfig* profile = profile_at(config, index);
    if (profile == nullptr) continue;
    const BufferProfileConfig its = fitted(*profile, config, shape);
    lossless |= its.lossless;
    out.occupied += its.size + (its.lossless ? 0 : lossy_group_bytes(port));
    if (its.size > 0 && its.lossless && its.xon + its.xoff > its.size) {
      out.headroom_beside += its.xon + its.xoff - its.size;
    }
  }
  out.lossless_ports += lossless ? 1 : 0;
}

void add_port(const QosConfig& config, const PortShape& shape, PortsDemand& out) {
  const PortQos& port = config.port(shape.name);
  add_groups(config, shape, out);
  for (const int16_t index : port.queues) {
    if (const auto* profile = profile_at(config, index)) out.occupied += profile->size;
  }
  for (const int16_t index : port.ingress_profiles) {
    if (const auto* profile = profile_at(config, index); profile->lossless) out.occupied += profile->size;
  }
  for (const int16_t index : port.egress_profiles) out.occupied += profile_at(config, index)->size;
  out.occupied += lossy_group_bytes(port) + kMirrorBytes;
}

uint64_t rounded_up(uint64_t value, uint64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// The part of the headroom pool. Adds to what is occupied the headroom that ports keep for themselves beside it.
uint64_t share_headroom(const QosConfig& config, uint64_t given, PortsDemand& demand) {
  const bool forced = given == 0 && config.over_subscribe_ratio == 0 && demand.headroom_beside > 0;
  if (!config.shares_headroom() && !forced) return 0;
  const uint64_t own = demand.lossless_ports * kPrivateHeadroom;
  demand.occupied += own;
  if (given > 0) return given;
  if (forced) return kLeastHeadroomPool;
  const uint64_t beside = demand.headroom_beside - std::min(demand.headroom_beside, own);
  return beside == 0 ? kLeastHeadroomPool : rounded_up(beside, config.over_subscribe_ratio);
}

}  // namespace

std::vector<PoolSizes> pool_sizes(const QosConfig& config, const std::vector<PortShape>& ports) {
  std::vector<PoolSizes> out;
  for (const BufferPoolConfig& pool : config.pools) out.push_back({.size = pool.size, .xoff = pool.xoff});
  if (std::ranges::none_of(config.pools, &BufferPoolConfig::computed)) return out;
  const auto lossless = std::ranges::find(config.pools, kLosslessPool, &BufferPoolConfig::name);
  const uint64_t given = lossless == config.pools.end() ? 0 : lossless->xoff;
  PortsDemand demand{.occupied = kProcessorBytes};
  for (const PortShape& shape : ports) add_port(config, shape, demand);
  const uint64_t shared = share_headroom(config, given, demand);
  const uint64_t taken = demand.occupied + shared;
  const uint64_t left = config.memory_bytes - std::min(config.memory_bytes, taken);
  const auto several =
      std::ranges::count_if(config.pools, [](const auto& pool) { return pool.computed && pool.ingress; });
  for (size_t i = 0; i < out.size(); ++i) {
    const BufferPoolConfig& pool = config.pools[i];
    if (pool.name == kLosslessPool && pool.ingress) out[i].xoff = shared;
    if (!pool.computed) continue;
    out[i].fits = taken < config.memory_bytes;
    const uint64_t share = several == 1 ? left : rounded_up(left, 2);
    const uint64_t whole = config.memory_bytes / config.cell_bytes * config.cell_bytes;
    out[i].size = std::min(pool.percentage ? rounded_up(left * *pool.percentage, 100) : share, whole);
  }
  return out;
}

}  // namespace softspine::control
