// SPDX-License-Identifier: Apache-2.0
// Packets that were lost, one record each: where, when, why, of which flow, bound for whom. Nodes and transmitters
// write one only where they end a packet, and only if recording was switched on (Transmitter::record_losses,
// Egress::record_losses, RoceHost::record_losses): a packet that is forwarded costs nothing, and one that is lost a
// comparison with null.
//
// LossBuffer: the records of one worker's nodes. Written by the worker, emptied by control while all workers are
// quiescent, which it asks for when it holds `rest_at` records. The buffer grows to what is lost until then: in the
// window, in the one after it, and in one control action (a link with half a million frames under way that goes down).
// So its size shows nowhere, however many workers there are.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

enum class LossKind : uint8_t {
  kDropped,   // by a switch or a host, for a DropReason
  kLinkDown,  // sent into a link that was down, or under way when it went down
  kVanished,  // by a fault of the link
  kDamaged,   // likewise
};

struct LossRecord {
  Instant at;
  uint32_t node = 0;
  uint32_t flow = kNoFlow;
  uint32_t frame_bytes = 0;
  uint16_t in_port = 0;
  uint16_t out_port = 0;  // if a link lost the packet: the port that sent it
  LossKind kind = LossKind::kDropped;
  DropReason reason = DropReason::kCount;
  bool is_copy = false;   // a flooded one: of all copies at most one is missed
  bool has_ipv4 = false;  // `destination` has an IPv4 address
  bool has_ipv6 = false;
  std::array<uint8_t, 16> destination{};  // as on the wire; written if is_of_routes(reason)
};

class LossBuffer {
 public:
  // `wants_rest` outlives this.
  LossBuffer(size_t rest_at, std::atomic<bool>& wants_rest) : rest_at_(rest_at), wants_rest_(wants_rest) {
    records_.reserve(2 * rest_at);
  }

  void add(const LossRecord& record) noexcept {
    records_.push_back(record);
    if (records_.size() == rest_at_) [[unlikely]]
      wants_rest_.store(true, std::memory_order_relaxed);
  }

  // Between windows: calls see(record) for all records in the order in which they were added, then empties the buffer.
  template <typename See>
  void take(See&& see) {
    for (const LossRecord& record : records_) see(record);
    records_.clear();
  }

 private:
  std::vector<LossRecord> records_;
  size_t rest_at_;
  std::atomic<bool>& wants_rest_;
};

// Whether this reason means that no route, member or neighbour led to the packet's destination.
constexpr bool is_of_routes(DropReason reason) {
  return reason == DropReason::kNoRoute || reason == DropReason::kNoMember ||
         reason == DropReason::kNeighbourIncomplete;
}

// The record of a packet that a switch or a host ends.
inline LossRecord loss_of(const Packet& packet, uint32_t node, DropReason reason, Instant now) noexcept {
  const PacketMeta& meta = packet.meta();
  LossRecord out{.at = now,
                 .node = node,
                 .flow = packet.flow(),
                 .frame_bytes = meta.frame_bytes,
                 .in_port = meta.in_port,
                 .out_port = meta.out_port,
                 .kind = LossKind::kDropped,
                 .reason = reason,
                 .is_copy = packet.is_copy()};
  if (!is_of_routes(reason)) return out;
  const uint8_t* const l3 = packet.data() + meta.l3_offset;
  out.has_ipv4 = (meta.flags & kIsIpv4) != 0;
  out.has_ipv6 = (meta.flags & kIsIpv6) != 0;
  if (out.has_ipv4) {
    std::memcpy(out.destination.data(), l3 + ipv4::kDestination, 4);
  } else if (out.has_ipv6) {
    std::memcpy(out.destination.data(), l3 + ipv6::kDestination, 16);
  }
  return out;
}

}  // namespace softspine::dataplane
