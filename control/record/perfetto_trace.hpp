// SPDX-License-Identifier: Apache-2.0
// A run as a Perfetto trace (docs/perfetto.md is its manual; trace_packets.hpp, trace_tracks.hpp): slices for pauses,
// with arrows from who asked for them, and for ranks' operations; counters for occupancies; instants for events, drops
// and marks.
//
//   create()             the file
//   samples(), events(), steps()
//                        its sinks; a pause is added by who observes ports (testbeds/run/trace_file.hpp)
//   finish()             all of it is in the file
//
// Four streams, each in the order of its own instants, become one: what is older than the instant up to which all four
// are known is written, in the order of its instant, then of its stream. So the bytes are the same whenever the streams
// are handed over. Memory: what is not known yet, a millisecond or a sample's interval, and a number for each track.
// After an error (a full disk) nothing more is written, and the run goes on.
//
// A slice stands where it ends, a drop where its burst is over; readers sort.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/record/line_file.hpp"
#include "control/record/sink.hpp"
#include "control/record/trace_packets.hpp"
#include "control/record/trace_tracks.hpp"
#include "control/steps/step_sink.hpp"

namespace softspine::control {

// A priority stood still, or the port asked its neighbour to pause (dataplane/flow_control/pause_observer.hpp).
struct TracedPause {
  LinkEnd port;
  uint8_t priority = 0;
  bool asks = false;
  dataplane::Instant from;
  dataplane::Instant to;

  auto order() const { return std::tuple(to, !asks, port, priority, from); }
};

enum class TracedStream : uint8_t { kEvents, kPauses, kSteps, kSamples };

class PerfettoTrace {
 public:
  using KnownBefore = std::function<void(dataplane::Instant)>;

  // `fabric` and `ending` outlive it. The error is a sentence's end.
  static std::expected<std::shared_ptr<PerfettoTrace>, std::string> create(const std::string& path,
                                                                           const Fabric& fabric,
                                                                           const std::atomic<bool>* ending);
  PerfettoTrace(const PerfettoTrace&) = delete;
  PerfettoTrace& operator=(const PerfettoTrace&) = delete;

  // Each at most once. `known`: called when all events before an instant have been handed over.
  static std::unique_ptr<SampleSink> samples(std::shared_ptr<PerfettoTrace> of);
  static std::unique_ptr<EventSink> events(std::shared_ptr<PerfettoTrace> of, KnownBefore known);
  static std::unique_ptr<StepSink> steps(std::shared_ptr<PerfettoTrace> of);
  void add(std::span<const TracedPause> pauses);
  // The stream has nothing more that is older.
  void known_before(TracedStream stream, dataplane::Instant now);

  // After the sinks' ends.
  void finish();
  // Why something could not be written, with the path; said once, then empty.
  std::string take_error();

 private:
  class Samples;
  class Events;
  class Steps;
  struct PortEvent {
    dataplane::Event event;
    dataplane::Instant at() const { return event.at; }
  };
  struct Note {
    ControlNote note;
    dataplane::Instant at() const { return note.at; }
  };
  using AnyEvent = std::variant<PortEvent, Note>;
  struct Sample {
    dataplane::Instant at;
    std::vector<ChangedRow> rows;
    std::vector<SeriesCell> cells;
  };
  // Of a port and priority that asks its neighbour to pause.
  struct Asked {
    uint32_t count = 0;
    dataplane::Instant last_end;
  };
  enum class Column : uint8_t { kOther, kQueueBytes, kGroupShared, kGroupHeadroom, kPoolShared, kPoolHeadroom, kMarks };

  PerfettoTrace(std::string path, const Fabric& fabric, LineFile file);

  static Column column_of(const SeriesColumn& column);
  void begin_samples(const SeriesShape& shape);
  void add_sample(const SeriesSample& sample);
  void add_event(AnyEvent event);
  void begin_steps(const std::vector<StepJob>& jobs);
  void add_step(const StepRecord& record);

  // With the lock.
  dataplane::Instant first_of(TracedStream stream) const;
  void write_known();
  void write_first(TracedStream stream);
  void write(const AnyEvent& event);
  void write_drops(const dataplane::Event& event);
  void write(const TracedPause& pause);
  uint64_t flow_of(const TracedPause& pause);
  void write(const StepRecord& record);
  uint32_t lane_of(const StepRecord& record);
  void write(const Sample& sample);
  void write_cell(const Sample& sample, const ChangedRow& row, const SeriesCell& cell);
  uint64_t neighbour_name(const TracedPause& pause);

  std::string path_;
  const Fabric& fabric_;
  std::mutex lock_;  // all that follows: on the wall clock, samples come from a thread of their own
  LineFile file_;
  TracePackets packets_;
  TraceTracks tracks_;
  std::array<dataplane::Instant, 4> known_{};
  std::deque<AnyEvent> events_;
  std::vector<TracedPause> pauses_;  // sorted, the next one last
  std::deque<StepRecord> steps_;
  std::deque<Sample> samples_;

  dataplane::Duration interval_;
  std::vector<Column> columns_;
  struct Place {
    LinkEnd port;
    std::string pool;  // empty: a port
  };
  std::vector<Place> places_;
  std::vector<Asked> asked_;                              // by port and priority
  std::vector<std::array<uint64_t, 2>> neighbour_names_;  // by port: of slices; 0: none yet
  // By job, rank and kind: until when each lane is busy.
  std::map<std::tuple<uint32_t, uint32_t, OperationKind>, std::vector<dataplane::Instant>> lanes_;
};

}  // namespace softspine::control
