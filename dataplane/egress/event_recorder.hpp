// SPDX-License-Identifier: Apache-2.0
// Events of a switch, and their instants: XOFF raised and cleared, pauses received and lapsed, storms, bursts of drops,
// links. A switch records only if recording was switched on (Egress::record_events). If not, each event costs one
// comparison with null, and a packet that is forwarded costs nothing.
//
//   EventBuffer     the events of one worker's switches. The worker writes it, and control empties it while all workers
//                   are quiescent, which it asks for when it holds `rest_at` events. The buffer grows to what happens
//                   until then: in the window, in the one after it, and in one control action
//   EventRecorder   of one switch: adds the switch's number to its events, and groups its drops into bursts
//
// A burst is all drops of one reason at one port with less than kBurstGap between one and the next. A burst is recorded
// at the instant at which it is known to be over: its last drop + kBurstGap. So the order of events does not depend on
// when the buffers are emptied.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

enum class EventKind : uint8_t {
  kXoffRaised,  // by a priority group, or by a plan or watchdog (kNoGroup)
  kXoffCleared,
  kPauseReceived,   // a PFC or PAUSE frame with a time above 0
  kResumeReceived,  // with time 0
  kPauseLapsed,     // a pause that was obeyed ended by itself
  kStormDetected,
  kStormRestored,
  kDrops,
  kLinkUp,
  kLinkDown,
};

struct Event {
  static constexpr uint8_t kNoGroup = 0xff;

  Instant at;
  Instant first;  // of a burst: its first and last drop
  Instant last;
  uint64_t count = 0;  // of a burst
  uint32_t node = 0;
  uint16_t port = 0;
  EventKind kind = EventKind::kDrops;
  uint8_t priorities = 0;  // bit n
  uint8_t group = kNoGroup;
  DropReason reason = DropReason::kCount;
};

class EventBuffer {
 public:
  // `wants_rest` outlives this.
  EventBuffer(size_t rest_at, std::atomic<bool>& wants_rest) : rest_at_(rest_at), wants_rest_(wants_rest) {
    events_.reserve(2 * rest_at);
  }

  void add(const Event& event) noexcept {
    events_.push_back(event);
    if (events_.size() == rest_at_) [[unlikely]]
      wants_rest_.store(true, std::memory_order_relaxed);
  }

  // Between windows: calls see(event) for all events in the order in which they were added, then empties the buffer.
  template <typename See>
  void take(See&& see) {
    for (const Event& event : events_) see(event);
    events_.clear();
  }

 private:
  std::vector<Event> events_;
  size_t rest_at_;
  std::atomic<bool>& wants_rest_;
};

class EventRecorder {
 public:
  static constexpr Duration kBurstGap = Duration::us(10);

  // `buffer`: of the worker that has the switch; outlives this.
  EventRecorder(EventBuffer& buffer, uint32_t node, uint32_t ports)
      : buffer_(buffer), node_(node), bursts_(size_t{ports} * kDropReasons) {
    open_.reserve(bursts_.size());
  }

  void record(Event event) noexcept {
    event.node = node_;
    buffer_.add(event);
  }
  void dropped(uint16_t port, DropReason reason, Instant now) noexcept {
    Burst& burst = bursts_[size_t{port} * kDropReasons + static_cast<size_t>(reason)];
    if (burst.count > 0 && burst.last + kBurstGap <= now) end(burst);
    if (burst.count == 0) {
      burst.first = now;
      if (!burst.is_open) open_.push_back({port, reason});  // its room is reserved
      burst.is_open = true;
    }
    burst.last = now;
    ++burst.count;
  }
  // Between windows, when every event before `now` has been handled: records the bursts that were over before `now`.
  // With Instant::never() it records all bursts.
  void end_bursts(Instant now) noexcept {
    std::erase_if(open_, [&](const Place& place) {
      Burst& burst = burst_at(place);
      if (burst.last + kBurstGap >= now) return false;
      end(burst);
      burst.is_open = false;
      return true;
    });
  }

 private:
  struct Burst {
    Instant first;
    Instant last;
    uint64_t count = 0;    // 0: no burst is in progress
    bool is_open = false;  // is listed in open_
  };
  struct Place {
    uint16_t port;
    DropReason reason;
  };

  Burst& burst_at(const Place& place) {
    return bursts_[size_t{place.port} * kDropReasons + static_cast<size_t>(place.reason)];
  }
  void end(Burst& burst) noexcept {
    const auto number = static_cast<size_t>(&burst - bursts_.data());
    Event event{.at = burst.last + kBurstGap, .first = burst.first, .last = burst.last, .count = burst.count};
    event.port = static_cast<uint16_t>(number / kDropReasons);
    event.kind = EventKind::kDrops;
    event.reason = static_cast<DropReason>(number % kDropReasons);
    record(event);
    burst.count = 0;
  }

  EventBuffer& buffer_;
  uint32_t node_;
  std::vector<Burst> bursts_;  // by port, then reason
  std::vector<Place> open_;
};

}  // namespace softspine::dataplane
