// SPDX-License-Identifier: Apache-2.0
// The state of each port of a switch's egress: kept by departures.hpp, and read by admission.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/egress/port_counters.hpp"
#include "dataplane/egress/port_scheduler.hpp"
#include "dataplane/link/transmitter.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

// Stands in place of a queue's number for the flow control frames that the port itself sends to its neighbour.
inline constexpr uint8_t kPfcFrame = 0xff;
inline constexpr uint8_t kCreditFrame = 0xfe;

// State that every packet needs, in one cache line; then the queues.
struct alignas(64) EgressPort {
  Transmitter* wire = nullptr;
  PortCounters* counters = nullptr;
  Instant wire_left;        // when the last bit of a queue's frame leaves the wire
  uint32_t wire_bytes = 0;  // of the frame on the wire
  uint32_t mark_from = UINT32_MAX;
  uint32_t drop_from = UINT32_MAX;  // the lowest min of its queues' drop lines
  uint16_t wire_held_by = 0;
  uint8_t wire_queue = 0;
  uint16_t wire_cells = 0;
  Cast wire_cast = Cast::kUnicast;
  uint8_t waiting = 0;     // bit q: queue q is not empty
  uint8_t held = 0;        // bit q: queue q is blocked by flow control, its shaper is closed, or TX is disabled
  bool busy = false;       // a frame is on the wire, or has left, which is not completed yet
  bool put_off = false;    // the end of the frame on its wire is no event (departures.hpp)
  bool has_frame = false;  // a pause or credit frame goes next
  bool does_more = false;  // with each frame: charges, writes_telemetry
  bool charges = false;    // each frame that it sends is charged to a shaper or to credit
  bool writes_telemetry = false;
  bool has_wred = false;  // any of mark_from, drop_from
  uint8_t strict = 0xff;  // bit q: queue q is strict, before all queues that share by weight
  std::array<PacketList, kQueues> queues;
};
// State that few packets need: the turns of queues in the first cache line.
struct alignas(64) PortControl {
  PortScheduler scheduler;
  uint8_t blocked = 0;       // queues, by flow control
  bool tx_disabled = false;  // all queues, by whoever runs the switch
  MacAddress mac{};          // the source of its PFC and credit frames
};

inline Cast cast_of(const uint8_t* destination) noexcept {
  if ((destination[0] & ethernet::kMulticastBit) == 0) [[likely]]
    return Cast::kUnicast;
  return load48(destination) == 0xffffffffffff ? Cast::kBroadcast : Cast::kMulticast;
}

}  // namespace softspine::dataplane
