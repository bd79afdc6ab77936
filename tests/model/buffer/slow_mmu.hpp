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

class SlowMmu {
 public:
  double cell = 1;
  std::vector<SlowPool> ingress, egress;
  std::map<std::pair<uint32_t, uint32_t>, SlowGroup> groups;
  std::map<std::pair<uint32_t, uint32_t>, SlowQueue> queues;

  // "reserved", "shared", "headroom", or why not: "queue", "ingress", "lossless".
  std::string arrive(uint32_t in_port, uint32_t g, uint32_t out_port, uint32_t q, uint32_t bytes) {
    SlowGroup& group = groups.at({in_port, g});
    SlowQueue& queue = queues.at({out_port, q});
    const double c = cells(bytes);
    const bool queue_has_own = queue.in_reserved + c <= queue.size;
    const double egress_free = egress[queue.pool].shared - used(queues, queue.pool);
    if (!queue_has_own && !(c <= egress_free && queue.in_shared + c <= limit(queue.limit, egress_free))) return "queue";
    const double ingress_free = ingress[group.pool].shared - used(groups, group.pool);
    std::string where;
    if (group.in_reserved + c <= group.size) {
      group.in_reserved += c;
      where = "reserved";
    } else if (c <= ingress_free && group.in_shared + c <= limit(group.limit, ingress_free)) {
      group.in_shared += c;
      where = "shared";
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
    (queue_has_own ? queue.in_reserved : queue.in_shared) += c;
    ++group.admitted;
    return where;
  }

  // Whether the group says XON.
  bool leave(uint32_t in_port, uint32_t g, uint32_t out_port, uint32_t q, uint32_t bytes) {
    SlowGroup& group = groups.at({in_port, g});
    SlowQueue& queue = queues.at({out_port, q});
    double rest = cells(bytes);
    for (double* part : {&queue.in_shared, &queue.in_reserved}) take(*part, rest);
    rest = cells(bytes);
    for (double* part : {&group.in_headroom, &group.in_shared, &group.in_reserved}) take(*part, rest);
    if (!group.stopped || group.in_headroom > 0) return false;
    const double free = ingress[group.pool].shared - used(groups, group.pool);
    if (group.in_shared > std::max(group.xon, limit(group.limit, free) - group.xon_offset)) return false;
    group.stopped = false;
    return true;
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
