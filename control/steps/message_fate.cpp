// SPDX-License-Identifier: Apache-2.0
#include "control/steps/message_fate.hpp"

#include <algorithm>

namespace softspine::control {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr uint64_t kHeaderBytes = 82;  // of RoCEv2 over IPv4, with what Ethernet puts around it
constexpr int64_t kPacketsOfAQueue = 2;

const HopFate* longest_stay_of(const MessageFate& message) {
  const auto found = std::ranges::max_element(message.hops, {}, &HopFate::stay);
  return found == message.hops.end() ? nullptr : &*found;
}

// The last that was paused for more than the half of the longest time.
const HopFate* paused_hop_of(const MessageFate& message) {
  const auto most = std::ranges::max_element(message.hops, {}, &HopFate::paused);
  if (most == message.hops.end() || most->paused == Duration{}) return nullptr;
  const HopFate* out = nullptr;
  for (const HopFate& hop : message.hops) {
    if (hop.paused * 2 > most->paused) out = &hop;
  }
  return out;
}

uint64_t packet_bytes_of(const MessageFate& message) {
  return message.bytes / std::max<uint64_t>(message.packets, 1) + kHeaderBytes;
}

MessageDelay cause_of(const MessageFate& message, const Fabric& fabric, Duration late) {
  const HopFate* const paused = paused_hop_of(message);
  const HopFate* const queued = longest_stay_of(message);
  const Duration pause = paused == nullptr ? Duration{} : paused->paused;
  const Duration stay = queued == nullptr ? Duration{} : queued->stay;
  const bool is_pause = paused != nullptr && pause * 2 >= stay;
  const MessageDelay measured{is_pause ? WaitCause::kPause : WaitCause::kQueue, late, is_pause ? paused : queued};
  if (std::max(pause, stay) * 2 >= late) return measured;
  if (message.was_repeated()) return {WaitCause::kRetransmission, late, queued};
  if (message.cnps > 0) return {WaitCause::kRateCut, late, queued};
  const HopFate& place = *measured.hop;
  const Duration packet = fabric.links[fabric.port(place.port).link].rate.time_of_bytes(packet_bytes_of(message));
  return std::max(pause, stay) > packet * kPacketsOfAQueue ? measured
                                                           : MessageDelay{WaitCause::kTransfer, late, nullptr};
}

}  // namespace

Duration ideal_time_of(const MessageFate& message, const Fabric& fabric) {
  Duration out;
  const uint64_t wire_bytes = message.bytes + message.packets * kHeaderBytes;
  const uint64_t first_bytes = packet_bytes_of(message);
  for (const HopFate& hop : message.hops) {
    const FabricLink& link = fabric.links[fabric.port(hop.port).link];
    out += link.propagation + link.rate.time_of_bytes(first_bytes);
    if (&hop == message.hops.data()) out += link.rate.time_of_bytes(wire_bytes - std::min(wire_bytes, first_bytes));
  }
  return out;
}

std::optional<MessageDelay> delay_of(const MessageFate& message, const Fabric& fabric, Instant from) {
  const Instant next = message.was_next();
  const Instant seen = std::max(next, from);
  const Duration stood = message.posted > from ? message.posted - std::max(message.started, from) : Duration{};
  const Duration under_way = message.arrived > seen ? message.arrived - seen : Duration{};
  const Duration ideal = ideal_time_of(message, fabric);
  const Duration all = message.arrived - next;
  const Duration late = message.hops.empty() || all <= ideal ? Duration{} : std::min(all - ideal, under_way);
  if (stood > late && stood * 2 > under_way) return MessageDelay{WaitCause::kPost, stood, nullptr};
  // A hundredth is no cause: acknowledgements cross its way, clocks differ.
  if (late * 100 > ideal) return cause_of(message, fabric, late);
  return std::nullopt;
}

const HopFate* lossy_hop_of(const MessageFate& message, uint64_t& lost) {
  const HopFate* out = nullptr;
  lost = 0;
  if (message.parts > 1) return nullptr;
  for (size_t i = 0; i + 1 < message.hops.size(); ++i) {
    const uint64_t here = message.hops[i].packets;
    const uint64_t next = message.hops[i + 1].packets;
    if (here <= next + lost) continue;
    lost = here - next;
    out = &message.hops[i];
  }
  return out;
}

}  // namespace softspine::control
