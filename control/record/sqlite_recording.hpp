// SPDX-License-Identifier: Apache-2.0
// A recording: a run as an SQLite database (recording_tables.hpp has its tables, docs/recording.md is its manual).
//
//   create()                            the file, with what is run
//   samples(), flow_samples(), steps(), events() its sinks
//   finish()                            all of it is in the file
//   add_results()                       what came of the run
//
// A thread of its own writes. Sinks fill a batch; a full one is handed over, and written as one transaction. So a file
// whose writer was killed is whole up to its last batch. Rows wait for the disk in kMostBatches at most; then the run
// waits. After an error (a full disk) nothing more is written, what was committed stays, and the run goes on.
#pragma once

#include <condition_variable>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "control/record/recorded_changes.hpp"
#include "control/record/recorded_fabric.hpp"
#include "control/record/recorded_results.hpp"
#include "control/record/recording_tables.hpp"
#include "control/record/row_feed.hpp"
#include "control/record/sink.hpp"
#include "control/steps/step_sink.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::control {

class Recording {
 public:
  // Told once, by the writer's thread, of an error: a sentence that begins with the file's path.
  using OnError = std::function<void(std::string)>;

  // The error is a sentence's end.
  static std::expected<std::shared_ptr<Recording>, std::string> create(const std::string& path, const Testbed& testbed,
                                                                       const RecordedRun& run, OnError on_error);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Each once; `of` is shared by them.
  static std::unique_ptr<SampleSink> samples(std::shared_ptr<Recording> of);
  static std::unique_ptr<FlowSink> flow_samples(std::shared_ptr<Recording> of);
  static std::unique_ptr<EventSink> events(std::shared_ptr<Recording> of);
  // Begun before that of samples. `explained`: it gets waits (StepSink::wait).
  static std::unique_ptr<StepSink> steps(std::shared_ptr<Recording> of, bool explained);

  // From the thread of the sinks, while these are open.
  void add_ways(dataplane::Instant now, const std::vector<RecordedWay>& ways);
  void add_groups(dataplane::Instant now, RecordedGroups groups);

  // After the sinks' ends.
  void finish();
  // After finish(), as the last. True if all of it is in the file; others may open it then.
  bool add_results(const FabricSnapshot& snapshot, const Json& report, const std::vector<RecordedPicture>& pictures);

 private:
  class Samples;
  class FlowSamples;
  class Events;
  class Steps;
  static constexpr size_t kBatchRows = 1 << 14;
  static constexpr size_t kMostBatches = 8;
  static constexpr dataplane::Duration kOldest = dataplane::Duration::ms(500);  // of a batch that is not full

  struct Event {
    int64_t t_ps = 0;
    size_t kind = 0;  // row of event_facts()
    std::optional<dataplane::Event> of_switch = {};
    std::string what = {};
  };
  struct Instants {  // a row of `samples`
    int64_t t_ps = 0;
    std::array<uint64_t, kSampleTables> rows{};
  };
  struct Batch {
    std::array<RecordedRows, kSampleTables> tables;
    std::vector<Since<RecordedWay>> ways;
    std::vector<Since<RecordedGroups>> groups;
    std::vector<FoundWait> waits;
    std::vector<Event> events;
    std::vector<Instants> samples;
    size_t rows = 0;
    dataplane::Instant since;
  };
  struct Insert {  // into a table, of the columns that the last batch used
    FeedTarget into;
    uint64_t used = 0;
    std::unique_ptr<Statement> statement;
  };

  Recording(std::string path, const Testbed& testbed, const RecordedLimits& limits, Database database,
            OnError on_error);

  // The sinks'.
  void begin_samples(const SeriesShape& shape);
  void add_sample(const SeriesSample& sample);
  void add_row(const SeriesSample& sample, const ChangedRow& row, const SeriesCell* cells);
  void add_drop(int64_t t_ps, uint32_t place, const SeriesCell& cell);
  void add_flows(dataplane::Instant now, std::span<const FlowSample> changed);
  void add_event(Event event);
  // False: there are too many already.
  bool takes_step(const StepRecord& step);
  void add_step(const StepRecord& step);
  void add_wait(const FoundWait& wait);
  RecordedRows& rows_of(SampleTable table) { return batch_.tables[static_cast<size_t>(table)]; }
  void count(SampleTable table, size_t rows);
  void hand_over_if_due(std::unique_lock<std::mutex>& guard, dataplane::Instant now);

  // The writer's.
  void write_batches();
  void write(const Batch& batch);
  void insert_rows(Insert& insert, const RecordedRows& rows);
  void write_events(const Batch& batch);
  void tell_of_error();

  std::string path_;
  PortNumbers ports_;
  uint64_t most_rank_steps_;
  Database database_;
  RowFeed feed_;
  OnError on_error_;

  // Of the shape.
  std::vector<SampleTable> tables_;              // by column of the series
  std::array<uint32_t, kSampleTables> first_{};  // by table: the number of its first column
  std::vector<uint32_t> places_;                 // by place of the series: a port's number, or a pool's

  std::mutex lock_;
  std::condition_variable changed_;
  Batch batch_;  // being filled
  std::array<uint64_t, kSampleTables> rows_{};
  std::deque<Batch> waiting_;
  bool is_over_ = false;
  std::optional<int64_t> rank_steps_end_ps_;    // later steps and waits are not recorded
  std::array<Insert, kSampleTables> inserts_;   // the writer's
  RecordedChanges changes_{database_, ports_};  // likewise
  std::thread writer_;
};

}  // namespace softspine::control
