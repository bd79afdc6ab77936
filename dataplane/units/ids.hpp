// SPDX-License-Identifier: Apache-2.0
// Small numbers that must not be mixed: a port is not a queue is not a priority.
#pragma once

#include <compare>
#include <cstdint>

namespace softspine::dataplane {

template <typename Tag, typename T>
class Id {
 public:
  constexpr Id() = default;
  explicit constexpr Id(T value) : value_(value) {}
  constexpr T value() const { return value_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  T value_{};
};

// Ports are numbered within their node, from 0, in the order the node was given them.
using PortNo = Id<struct PortTag, uint16_t>;
using QueueNo = Id<struct QueueTag, uint8_t>;
using Priority = Id<struct PriorityTag, uint8_t>;
using TrafficClass = Id<struct TrafficClassTag, uint8_t>;
using PriorityGroup = Id<struct PriorityGroupTag, uint8_t>;
using NodeId = Id<struct NodeTag, uint32_t>;
using VlanId = Id<struct VlanTag, uint16_t>;

inline constexpr int kPriorities = 8;
inline constexpr int kQueues = 8;
inline constexpr int kMaxPorts = 4096;          // of one node
inline constexpr uint16_t kLocalPort = 0xffff;  // in the place of a port: the node itself

}  // namespace softspine::dataplane
