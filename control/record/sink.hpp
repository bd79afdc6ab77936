// SPDX-License-Identifier: Apache-2.0
// A run's records, and their receivers: counters over time (series.hpp) to SampleSinks, events
// (testbeds/run/event_log.hpp) to EventSinks, flows over time (testbeds/run/flow_series.hpp) to FlowSinks. A sink gives
// it its form: text, a table, a stream. One that takes several may be called by two threads: samples may come from a
// writer's.
//
//   begin(shape)      once, before the first
//   sample(sample)    what has changed, in the order of instants; nothing that it points at outlives the call
//   event(event)      in the order of the log
//   known_before(now) all events before that instant have been handed over
//   end(now)          once; everything is where it belongs afterwards
//   take_error()      why something could not be kept: a sentence's end, said once, then empty
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/telemetry/counter.hpp"
#include "control/telemetry/event_lines.hpp"
#include "dataplane/egress/event_recorder.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// The subject of a row: a whole port or pool, or one of a port's priorities, groups or queues.
enum class SeriesRow : uint8_t { kWhole, kPriority, kGroup, kQueue };
// A port's priorities, groups and queues have numbers below this.
inline constexpr size_t kRowNumbers = dataplane::kPriorities;
static_assert(dataplane::kPriorities == dataplane::kQueues);

// Which rows have a column. Drops are those of a whole port, a column for each reason.
enum class SeriesSection : uint8_t { kPort, kPriority, kGroup, kQueue, kPool, kHostPriority, kDrops };

struct SeriesColumn {
  SeriesSection section;
  std::string name;
  Nature nature = Nature::kGrows;
};
struct SeriesPlace {
  bool is_pool = false;
  std::string name;  // tor1:Ethernet0, tor1:ingress_lossless_pool
};
struct SeriesShape {
  std::string testbed;
  dataplane::Duration interval;
  std::vector<SeriesColumn> columns;  // section by section
  std::vector<SeriesPlace> places;
};

// A counter's growth, or the new value of a gauge or watermark.
struct SeriesCell {
  uint32_t column;
  uint64_t value;
};
// One row that has changed: its cells are the next `cells` of the sample's, drops last.
struct ChangedRow {
  uint32_t place;
  SeriesRow of;
  uint8_t number;  // of the priority, group or queue
  uint32_t cells;
};
struct SeriesSample {
  dataplane::Instant at;
  std::span<const ChangedRow> rows;
  std::span<const SeriesCell> cells;
};

class SampleSink {
 public:
  SampleSink() = default;
  virtual ~SampleSink() = default;
  SampleSink(const SampleSink&) = delete;
  SampleSink& operator=(const SampleSink&) = delete;

  virtual void begin(const SeriesShape& shape) = 0;
  virtual void sample(const SeriesSample& sample) = 0;
  virtual void end(dataplane::Instant now) = 0;
  virtual std::string take_error() = 0;
};

// Actions and findings of control.
struct ControlNote {
  dataplane::Instant at;
  ControlEvent kind;
  std::string what;  // to whom, or what
};

class EventSink {
 public:
  EventSink() = default;
  virtual ~EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;

  virtual void begin(const std::string& testbed) = 0;
  virtual void event(const dataplane::Event& event, std::string_view port) = 0;
  virtual void event(const ControlNote& note) = 0;
  virtual void known_before(dataplane::Instant /*now*/) {}
  virtual void end(dataplane::Instant now) = 0;
  virtual std::string take_error() = 0;
};

// A reliable flow, by its two queue pairs.
struct FlowKeys {
  std::string workload;
  std::string source;  // names of hosts
  uint32_t source_qp = 0;
  std::string destination;
  uint32_t destination_qp = 0;
};
struct FlowShape {
  std::string testbed;
  dataplane::Duration interval;
  std::vector<FlowKeys> flows;  // of the run, in its order
};

// A flow that has changed since the last sample: the state of its congestion control, and what it counted since.
struct FlowSample {
  static constexpr uint64_t kNoLimit = UINT64_MAX;

  uint32_t flow = 0;                 // of the shape
  uint64_t rate_bps = kNoLimit;      // kNoLimit: the control sets no such limit
  uint64_t window_bytes = kNoLimit;  // likewise
  uint64_t rtt_ps = 0;               // 0: none yet, or the control measures none
  uint64_t sent_bytes = 0;
  uint64_t acks = 0;
  uint64_t cnps = 0;
  uint64_t ce_echoes = 0;

  friend bool operator==(const FlowSample&, const FlowSample&) = default;
};

class FlowSink {
 public:
  FlowSink() = default;
  virtual ~FlowSink() = default;
  FlowSink(const FlowSink&) = delete;
  FlowSink& operator=(const FlowSink&) = delete;

  virtual void begin(const FlowShape& shape) = 0;
  virtual void sample(dataplane::Instant now, std::span<const FlowSample> changed) = 0;
  virtual void end(dataplane::Instant now) = 0;
  virtual std::string take_error() = 0;
};

}  // namespace softspine::control
