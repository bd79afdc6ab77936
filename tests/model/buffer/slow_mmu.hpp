// SPDX-License-Identifier: Apache-2.0
// The rules of SAI's shared buffer once more, slowly and as they are said: every sum is added up when it is
// asked for, cells are counted by division, a dynamic limit is a product of doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace softspine::tests {

struct SlowLimit {
  bool dynamic = false;
  int dynamic_th = 0;
  double cells = 0;
};

struct SlowGroup {
  uint32_t pool = 0;
  bool lossless = false;
  double size = 0, xoff = 0, xon = 0, xon_offset = 0;
  SlowLimit limit;
  double in_reserved = 0, in_shared = 0, in_headroom = 0;
  bool stopped = false;
  uint64_t admitted = 0, refused = 0;
  double most_headroom = 0;
};
struct SlowQueue {
  uint32_t pool = 0;
  double size = 0;
  SlowLimit limit;
  double in_reserved = 0, in_shared = 0;
};
struct SlowPool {
  double shared = 0, headroom = 0;
};
// Of a port's use of a pool; none: key absent.
using SlowPortLimits = std::map<std::pair<uint32_t, uint32_t>, SlowLimit>;

class SlowMmu {
 public:
  double cell = 1;
  std::vector<SlowPool> ingress, egress;
  std::map<std::pair<uint32_t, uint32_t>, SlowGroup> groups;
  // A queue for each slice: (slice × kSlice + port, queue). A packet is in the slice of its ingress port.
  static constexpr uint32_t kSlice = 100;
  std::map<std::pair<uint32_t, uint32_t>, SlowQueue> queues;
  std::map<uint32_t, uint32_t> slice_of_port;
  SlowPortLimits ingress_limits, egress_limits;  // by port and pool

  // "reserved", "shared", "headroom", or why not: "queue", "ingress", "lossless".
  std::string arrive(uint32_t in_port, uint32_t g, uint32_t out_port, uint32_t q, uint32_t bytes) {
    SlowGroup& group = groups.at({in_port, g});
    SlowQueue& queue = queue_of(in_port, out_port, q);
    const double c = cells(bytes);
    const double queue_own = std::clamp(queue.size - queue.in_reserved, 0.0, c);
    const double egress_free = egress[queue.pool].shared - used(queues, queue.pool);
    const bool port_has_room = room_of(egress_limits, queues, out_port, queue.pool, egress_free) >= c - queue_own;
    const double queue_rest = c - queue_own;
    if (queue_rest > 0 && !(queue_rest <= egress_free &&
                            queue.in_shared + queue_rest <= limit(queue.limit, egress_free) && port_has_room))
      return "queue";
    const double ingress_free = ingress[group.pool].shared - used(groups, group.pool);
    std::string where;
    const double own = std::clamp(group.size - group.in_reserved, 0.0, c);
    const double rest = c - own;
    if (rest == 0) {
      group.in_reserved += c;
      where = "reserved";
    } else if (rest <= ingress_free &&
               (group.in_shared + rest <= limit(group.limit, ingress_free) || (group.lossless && !group.stopped)) &&
               room_of(ingress_limits, groups, in_port, group.pool, ingress_free) >= rest) {
      group.in_reserved += own;
      group.in_shared += rest;
      where = "shared";
      const double left = ingress_free - rest;
      const bool port_is_full = room_of(ingress_limits, groups, in_port, group.pool, left) < 1;
      if (group.lossless && (group.in_shared >= limit(group.limit, left) || port_is_full)) group.stopped = true;
    } else {
      const double pool_headroom = ingress[group.pool].headroom;
      const bool pool_is_full = pool_headroom > 0 && headroom_used(group.pool) + c > pool_headroom;
      if (!group.lossless || group.in_headroom + c > group.xoff || pool_is_full) {
        ++group.refused;
        return group.lossless ? "lossless" : "ingress";
      }
      group.in_headroom += c;
      group.most_headroom = std::max(group.most_headroom, group.in_headroom);
      group.stopped = true;
      where = "headroom";
    }
    queue.in_reserved += queue_own;
    queue.in_shared += queue_rest;
    ++group.admitted;
    return where;
  }

  // Whether the group says XON.
  bool leave(uint32_t in_port, uint32_t g, uint32_t out_port, uint32_t q, uint32_t bytes) {
    SlowGroup& group = groups.at({in_port, g});
    SlowQueue& queue = queue_of(in_port, out_port, q);
    double rest = cells(bytes);
    for (double* part : {&queue.in_shared, &queue.in_reserved}) take(*part, rest);
    rest = cells(bytes);
    for (double* part : {&group.in_headroom, &group.in_shared, &group.in_reserved}) take(*part, rest);
    if (!group.stopped || group.in_headroom > 0) return false;
    const double free = ingress[group.pool].shared - used(groups, group.pool);
    const double in_all = group.in_reserved + group.in_shared;
    if (in_all > std::max(group.xon, group.size + limit(group.limit, free) - group.xon_offset)) return false;
    group.stopped = false;
    return true;
  }

  SlowQueue& queue_of(uint32_t in_port, uint32_t out_port, uint32_t q) {
    return queues.at({slice_of_port[in_port] * kSlice + out_port, q});
  }

 private:
  double cells(uint32_t bytes) const { return std::max(1.0, std::ceil(bytes / cell)); }
  static double limit(const SlowLimit& l, double free) {
    return l.dynamic ? std::floor(std::pow(2.0, l.dynamic_th) * std::max(free, 0.0)) : l.cells;
  }
  template <typename Map>
  static double used(const Map& accounts, uint32_t pool) {
    double sum = 0;
    for (const auto& [key, account] : accounts) sum += account.pool == pool ? account.in_shared : 0;
    return sum;
  }
  // What a port may still have of a pool.
  template <typename Map>
  static double room_of(const SlowPortLimits& limits, const Map& accounts, uint32_t port, uint32_t pool, double free) {
    const auto found = limits.find({port, pool});
    if (found == limits.end()) return HUGE_VAL;
    double sum = 0;
    for (const auto& [key, account] : accounts) {
      if (key.first % kSlice == port && account.pool == pool) sum += account.in_shared;
    }
    return limit(found->second, free) - sum;
  }
  double headroom_used(uint32_t pool) const {
    double sum = 0;
    for (const auto& [key, group] : groups) sum += group.pool == pool ? group.in_headroom : 0;
    return sum;
  }
  static void take(double& part, double& rest) {
    const double taken = std::min(part, rest);
    part -= taken;
    rest -= taken;
  }
};

}  // namespace softspine::tests
