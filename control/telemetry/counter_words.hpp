// SPDX-License-Identifier: Apache-2.0
// Short names for the tables of counters: units, natures (how a value changes), and ways to read that they share.
#pragma once

#include "control/telemetry/counter.hpp"

namespace softspine::control {

inline constexpr CounterUnit kCount = CounterUnit::kCount;
inline constexpr CounterUnit kPackets = CounterUnit::kPackets;
inline constexpr CounterUnit kFrames = CounterUnit::kFrames;
inline constexpr CounterUnit kMessages = CounterUnit::kMessages;
inline constexpr CounterUnit kBytes = CounterUnit::kBytes;
inline constexpr CounterUnit kTime = CounterUnit::kPicoseconds;
inline constexpr CounterUnit kYesNo = CounterUnit::kYesNo;
inline constexpr Nature kNow = Nature::kNow;
inline constexpr Nature kHighest = Nature::kHighest;

inline uint64_t picoseconds(dataplane::Duration time) {
  return static_cast<uint64_t>(time.count_ps());
}
inline uint64_t waited_ps(const CreditOf& part) {
  return static_cast<uint64_t>(part.credit.waited[part.priority].count_ps());
}

// Reads a member of the struct that the holder, a function from the part to a pointer, finds in a part.
template <typename Part, typename Owner, typename Holder>
MemberRead<Part> member_read(uint64_t Owner::* member, Holder) {
  static const Owner sample{};
  const auto* const start = reinterpret_cast<const std::byte*>(&sample);
  return {.holder = [](const Part& part) { return reinterpret_cast<const std::byte*>(Holder{}(part)); },
          .offset = static_cast<size_t>(reinterpret_cast<const std::byte*>(&(sample.*member)) - start)};
}
// A member of the part itself.
template <typename Part>
MemberRead<Part> member_read(uint64_t Part::* member) {
  return member_read<Part>(member, [](const Part& part) { return &part; });
}

// Counts of PAUSE frames, which stop a whole link: at ports of switches and hosts, and at edges.
template <typename Part>
MemberRead<Part> link_pause(uint64_t LinkPauseSnapshot::* member) {
  return member_read<Part>(member, [](const Part& part) { return &part.link_pause; });
}
template <typename Part>
uint64_t link_paused_ps(const Part& part) {
  return picoseconds(part.link_pause.time);
}

}  // namespace softspine::control
