// SPDX-License-Identifier: Apache-2.0
// Packets of a Perfetto trace: tracks, and the slices, instants and counters on them, as protobuf.
//
// Source: Perfetto's protos/perfetto/trace, trace_packet.proto and track_event/*.proto; of their fields those in
// trace_packets.cpp are written. A trace is a sequence of packets, each behind its length, so a file that is cut off
// lacks its last packet alone. Readers sort packets by time; at one nanosecond the order in the file stays.
//   time     nanoseconds since the start of the run: picoseconds are rounded down, so no order changes
//   strings  categories and keys of arguments stand in the first packet, a name in the first packet that has it
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "control/record/proto_text.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// In the order of their words, trace_packets.cpp.
enum class TraceCategory : uint8_t { kPaused, kPauses, kEvent, kDrops, kMarks, kStep };
enum class TraceKey : uint8_t {
  kDurationPs,
  kPackets,
  kReason,
  kPriorities,
  kGroup,
  kWhat,
  kQueue,
  kPeer,
  kChannel,
  kMessage,
  kBytes,
  kAlonePs
};

struct TraceArgument {
  TraceKey key;
  uint64_t number = 0;
  std::string_view text = {};  // in the place of a number, if it is not empty
};
using TraceArguments = std::initializer_list<TraceArgument>;

enum class TrackKind : uint8_t {
  kEvents,  // slices and instants
  kSorted,  // likewise, and its children stand by their names
  kBytes    // a counter
};

// Whose a slice or an instant is, and what it is called.
struct TraceHead {
  uint64_t track = 0;
  TraceCategory category = TraceCategory::kEvent;
  uint64_t name = 0;  // of name()
  uint64_t flow = 0;  // an arrow leads from each slice of a flow to the next; 0: none
};

class TracePackets {
 public:
  // Everything is appended to `out`, which outlives this.
  explicit TracePackets(std::string& out) : out_(out) {}

  // Once, before all others.
  void begin();
  // Tracks are numbered from 1; parent 0: none. Before anything that is on it.
  void track(uint64_t uuid, uint64_t parent, std::string_view name, TrackKind kind);
  // Its number in the trace.
  uint64_t name(const std::string& text);

  void slice(const TraceHead& head, dataplane::Instant from, dataplane::Instant to, TraceArguments arguments);
  void instant(const TraceHead& head, dataplane::Instant at, TraceArguments arguments);
  void counter(uint64_t track, dataplane::Instant at, uint64_t value);

 private:
  void put_head(const TraceHead& head, uint64_t type, TraceArguments arguments);
  void put_event(dataplane::Instant at);
  void put_packet();

  std::string& out_;
  ProtoText packet_;
  ProtoText event_;
  ProtoText part_;
  ProtoText fresh_;  // names that no packet has yet
  std::unordered_map<std::string, uint64_t> names_;
};

}  // namespace softspine::control
