// SPDX-License-Identifier: Apache-2.0
#include "control/record/sqlite_recording.hpp"

#include <fmt/format.h>

#include <utility>

#include "control/telemetry/event_lines.hpp"

namespace softspine::control {

namespace {

const std::vector<std::string> kFlowColumns{"rate_bps", "window_bytes", "rtt_ps",   "sent_bytes",
                                            "acks",     "cnps",         "ce_echoes"};

const std::vector<std::string> kRankStepColumns{"kind_id", "from_ps", "peer", "channel", "bytes", "waited_ps"};

}  // namespace

class Recording::Samples : public SampleSink {
 public:
  explicit Samples(std::shared_ptr<Recording> of) : of_(std::move(of)) {}
  void begin(const SeriesShape& shape) override { of_->begin_samples(shape); }
  void sample(const SeriesSample& sample) override { of_->add_sample(sample); }
  void end(dataplane::Instant) override {}
  std::string take_error() override { return {}; }  // the writer tells

 private:
  std::shared_ptr<Recording> of_;
};

class Recording::FlowSamples : public FlowSink {
 public:
  explicit FlowSamples(std::shared_ptr<Recording> of) : of_(std::move(of)) {}
  void begin(const FlowShape&) override {}
  void sample(dataplane::Instant now, std::span<const FlowSample> changed) override { of_->add_flows(now, changed); }
  void end(dataplane::Instant) override {}
  std::string take_error() override { return {}; }

 private:
  std::shared_ptr<Recording> of_;
};

class Recording::Events : public EventSink {
 public:
  explicit Events(std::shared_ptr<Recording> of) : of_(std::move(of)) {}
  void begin(const std::string&) override {}
  void event(const dataplane::Event& event, std::string_view) override {
    of_->add_event({.t_ps = event.at.count_ps(), .kind = row_of(event.kind), .of_switch = event});
  }
  void event(const ControlNote& note) override {
    of_->add_event({.t_ps = note.at.count_ps(), .kind = row_of(note.kind), .what = note.what});
  }
  void end(dataplane::Instant) override {}
  std::string take_error() override { return {}; }

 private:
  std::shared_ptr<Recording> of_;
};

class Recording::Steps : public StepSink {
 public:
  Steps(std::shared_ptr<Recording> of, bool explained) : of_(std::move(of)), explained_(explained) {}
  void begin(const std::vector<StepJob>& jobs) override { record_jobs(of_->database_, jobs, explained_); }
  void step(const StepRecord& record) override { of_->add_step(record); }
  bool takes_waits() const override { return explained_; }
  void wait(const FoundWait& found) override { of_->add_wait(found); }
  void known_before(dataplane::Instant) override {}

 private:
  std::shared_ptr<Recording> of_;
  bool explained_;
};

std::expected<std::shared_ptr<Recording>, std::string> Recording::create(const std::string& path,
                                                                         const Testbed& testbed, const RecordedRun& run,
                                                                         OnError on_error) {
  auto database = Database::create(path);
  if (!database) return std::unexpected(path + ": " + database.error());
  database->run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kRecordingId, kRecordingFormat));
  std::shared_ptr<Recording> out{new Recording(path, testbed, run.limits, std::move(*database), std::move(on_error))};
  record_fabric(out->database_, testbed, run, out->ports_);
  out->database_.run(sample_table_schema(SampleTable::kFlow, kFlowColumns));
  out->database_.run(sample_table_schema(SampleTable::kRankStep, kRankStepColumns));
  if (!out->database_.is_fine()) return std::unexpected(path + ": " + out->database_.error());
  return out;
}

Recording::Recording(std::string path, const Testbed& testbed, const RecordedLimits& limits, Database database,
                     OnError on_error)
    : path_(std::move(path)),
      ports_(testbed.fabric),
      most_rank_steps_(limits.rank_steps),
      database_(std::move(database)),
      feed_(database_),
      on_error_(std::move(on_error)) {}

Recording::~Recording() {
  finish();
}

std::unique_ptr<SampleSink> Recording::samples(std::shared_ptr<Recording> of) {
  return std::make_unique<Samples>(std::move(of));
}
std::unique_ptr<FlowSink> Recording::flow_samples(std::shared_ptr<Recording> of) {
  return std::make_unique<FlowSamples>(std::move(of));
}
std::unique_ptr<EventSink> Recording::events(std::shared_ptr<Recording> of) {
  return std::make_unique<Events>(std::move(of));
}
std::unique_ptr<StepSink> Recording::steps(std::shared_ptr<Recording> of, bool explained) {
  return std::make_unique<Steps>(std::move(of), explained);
}

// The tables of counters have the series' columns, so they are made here; then the writer begins.
void Recording::begin_samples(const SeriesShape& shape) {
  std::array<std::vector<std::string>, kSampleTables> columns;
  for (const SeriesColumn& column : shape.columns) {
    const auto table = static_cast<SampleTable>(column.section);
    std::vector<std::string>& own = columns[static_cast<size_t>(table)];
    if (own.empty()) first_[static_cast<size_t>(table)] = static_cast<uint32_t>(tables_.size());
    tables_.push_back(table);
    own.push_back(column.name);
  }
  columns[static_cast<size_t>(SampleTable::kDrops)] = {"packets"};
  columns[static_cast<size_t>(SampleTable::kFlow)] = kFlowColumns;
  columns[static_cast<size_t>(SampleTable::kRankStep)] = kRankStepColumns;
  Statement pool{database_, "INSERT INTO pools SELECT ?1, node_id, ?3, NULL FROM nodes WHERE name = ?2"};
  uint32_t pools = 0;
  for (const SeriesPlace& place : shape.places) {
    places_.push_back(place.is_pool ? pools++ : *ports_.find(place.name));
    if (!place.is_pool) continue;
    pool.add(places_.back()).add(place.name.substr(0, place.name.find(':'))).add(place.name).done();
  }
  for (size_t i = 0; i < kSampleTables; ++i) {
    const SampleTableRow& table = sample_tables()[i];
    if (i < kSeriesTables) database_.run(sample_table_schema(static_cast<SampleTable>(i), columns[i]));
    inserts_[i].into = {std::string{table.name}, !table.number.empty(), columns[i].size()};
  }
  writer_ = std::thread{[this] { write_batches(); }};
}

void Recording::add_sample(const SeriesSample& sample) {
  std::unique_lock guard{lock_};
  const SeriesCell* cell = sample.cells.data();
  for (const ChangedRow& row : sample.rows) {
    add_row(sample, row, cell);
    cell += row.cells;
  }
  batch_.samples.push_back({sample.at.count_ps(), rows_});
  ++batch_.rows;
  hand_over_if_due(guard, sample.at);
}

// All of a row's cells are of one table, but for drops, which come last.
void Recording::add_row(const SeriesSample& sample, const ChangedRow& row, const SeriesCell* cells) {
  const uint32_t place = places_[row.place];
  const SeriesCell* const end = cells + row.cells;
  const SeriesCell* drops = end;
  while (drops != cells && tables_[drops[-1].column] == SampleTable::kDrops) --drops;
  if (drops != cells) {
    const SampleTable table = tables_[cells->column];
    RecordedRows& rows = rows_of(table);
    rows.add({cells, drops}, first_[static_cast<size_t>(table)]);
    rows.rows.push_back({sample.at.count_ps(), place, row.number, static_cast<uint32_t>(drops - cells)});
    count(table, 1);
  }
  for (; drops != end; ++drops) add_drop(sample.at.count_ps(), place, *drops);
}

void Recording::add_drop(int64_t t_ps, uint32_t place, const SeriesCell& cell) {
  RecordedRows& rows = rows_of(SampleTable::kDrops);
  rows.rows.push_back({t_ps, place, cell.column - first_[static_cast<size_t>(SampleTable::kDrops)], 1});
  rows.add(0, cell.value);
  count(SampleTable::kDrops, 1);
}

void Recording::add_flows(dataplane::Instant now, std::span<const FlowSample> changed) {
  std::unique_lock guard{lock_};
  RecordedRows& rows = rows_of(SampleTable::kFlow);
  for (const FlowSample& each : changed) {
    const size_t before = rows.cells.size();
    uint32_t column = 0;
    for (const uint64_t limit : {each.rate_bps, each.window_bytes}) {
      if (limit != FlowSample::kNoLimit) rows.add(column, limit);
      ++column;
    }
    if (each.rtt_ps != 0) rows.add(column, each.rtt_ps);
    for (const uint64_t value : {each.sent_bytes, each.acks, each.cnps, each.ce_echoes}) {
      rows.add(++column, value);
    }
    rows.rows.push_back({now.count_ps(), each.flow, 0, static_cast<uint32_t>(rows.cells.size() - before)});
  }
  count(SampleTable::kFlow, changed.size());
  hand_over_if_due(guard, now);
}

void Recording::add_event(Event event) {
  std::unique_lock guard{lock_};
  const dataplane::Instant now = dataplane::Instant::at_ps(event.t_ps);
  batch_.events.push_back(std::move(event));
  ++batch_.rows;
  hand_over_if_due(guard, now);
}

void Recording::add_ways(dataplane::Instant now, const std::vector<RecordedWay>& ways) {
  std::unique_lock guard{lock_};
  for (const RecordedWay& each : ways) {
    batch_.ways.push_back({now.count_ps(), each});
    batch_.rows += 1 + each.ports.size();
    hand_over_if_due(guard, now);
  }
}

void Recording::add_groups(dataplane::Instant now, RecordedGroups groups) {
  std::unique_lock guard{lock_};
  for (const RecordedGroup& each : groups.groups) batch_.rows += 1 + each.members.size();
  batch_.groups.push_back({now.count_ps(), std::move(groups)});
  hand_over_if_due(guard, now);
}

bool Recording::takes_step(const StepRecord& step) {
  if (rank_steps_end_ps_) return false;
  if (rows_[static_cast<size_t>(SampleTable::kRankStep)] < most_rank_steps_) return true;
  rank_steps_end_ps_ = step.at.count_ps();
  return false;
}

// What a receive waited is null if it did not; peers and channels are those of messages.
void Recording::add_step(const StepRecord& step) {
  std::unique_lock guard{lock_};
  if (!takes_step(step)) return;
  RecordedRows& rows = rows_of(SampleTable::kRankStep);
  const size_t before = rows.cells.size();
  const bool is_message = step.kind == OperationKind::kSend || step.kind == OperationKind::kReceive;
  rows.add(0, static_cast<uint64_t>(step.kind));
  rows.add(1, static_cast<uint64_t>(step.started.count_ps()));
  if (is_message) {
    rows.add(2, step.peer);
    rows.add(3, step.channel);
  }
  if (step.kind != OperationKind::kCompute) rows.add(4, step.bytes);
  if (step.alone > dataplane::Duration{}) rows.add(5, static_cast<uint64_t>(step.alone.count_ps()));
  rows.rows.push_back({step.at.count_ps(), step.job, step.rank, static_cast<uint32_t>(rows.cells.size() - before)});
  count(SampleTable::kRankStep, 1);
  hand_over_if_due(guard, step.at);
}

void Recording::add_wait(const FoundWait& wait) {
  const std::lock_guard guard{lock_};
  if (rank_steps_end_ps_) return;
  batch_.waits.push_back(wait);
  ++batch_.rows;
}

void Recording::count(SampleTable table, size_t rows) {
  rows_[static_cast<size_t>(table)] += rows;
  batch_.rows += rows;
}

void Recording::hand_over_if_due(std::unique_lock<std::mutex>& guard, dataplane::Instant now) {
  if (batch_.rows < kBatchRows && now < batch_.since + kOldest) return;
  changed_.wait(guard, [this] { return waiting_.size() < kMostBatches; });
  waiting_.push_back(std::exchange(batch_, {}));
  batch_.since = now;
  changed_.notify_all();
}

void Recording::write_batches() {
  std::unique_lock guard{lock_};
  for (;;) {
    changed_.wait(guard, [this] { return is_over_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    guard.unlock();
    write(batch);
    guard.lock();
  }
}

void Recording::write(const Batch& batch) {
  if (!database_.is_fine()) return;
  database_.run("BEGIN");
  for (size_t i = 0; i < kSampleTables; ++i) {
    if (!batch.tables[i].rows.empty()) insert_rows(inserts_[i], batch.tables[i]);
  }
  Statement instant{database_, "INSERT INTO samples VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"};
  for (const Instants& each : batch.samples) {
    instant.add(each.t_ps);
    for (size_t i = 0; i < kSeriesTables; ++i) instant.add(each.rows[i]);
    instant.done();
  }
  write_events(batch);
  changes_.write(batch.ways);
  changes_.write(batch.groups);
  changes_.write(batch.waits);
  database_.run("COMMIT");
  tell_of_error();
}

void Recording::insert_rows(Insert& insert, const RecordedRows& rows) {
  if (!insert.statement || insert.used != rows.used) {
    insert.statement = std::make_unique<Statement>(database_, feed_insert(insert.into, rows.used));
    insert.used = rows.used;
  }
  feed_.insert(*insert.statement, rows);
}

void Recording::write_events(const Batch& batch) {
  using dataplane::EventKind;
  Statement row{database_, "INSERT INTO events VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"};
  for (const Event& each : batch.events) {
    row.add(each.t_ps).add(event_facts()[each.kind].name);
    if (!each.of_switch) {
      for (int i = 0; i < 7; ++i) row.add_null();
      row.add(each.what).done();
      continue;
    }
    const dataplane::Event& event = *each.of_switch;
    const bool is_burst = event.kind == EventKind::kDrops;
    const bool is_link = event.kind == EventKind::kLinkUp || event.kind == EventKind::kLinkDown;
    row.add(ports_.of({event.node, event.port}));
    is_burst || is_link ? row.add_null() : row.add(uint32_t{event.priorities});
    event.group == dataplane::Event::kNoGroup ? row.add_null() : row.add(uint32_t{event.group});
    if (is_burst) {
      row.add(dataplane::name_of(event.reason)).add(event.count).add(event.first.count_ps()).add(event.last.count_ps());
    }
    row.done();
  }
}

void Recording::tell_of_error() {
  if (database_.is_fine()) return;
  database_.roll_back();
  if (on_error_) std::exchange(on_error_, nullptr)(path_ + ": " + database_.error());
}

void Recording::finish() {
  if (!writer_.joinable()) return;
  {
    const std::lock_guard guard{lock_};
    waiting_.push_back(std::exchange(batch_, {}));
    is_over_ = true;
  }
  changed_.notify_all();
  writer_.join();
}

bool Recording::add_results(const FabricSnapshot& snapshot, const Json& report,
                            const std::vector<RecordedPicture>& pictures) {
  if (!database_.is_fine()) return false;
  database_.run("BEGIN");
  record_results(database_, snapshot, report, pictures);
  if (rank_steps_end_ps_) {
    Statement{database_, "INSERT INTO run VALUES('rank_steps_end_ps', ?1)"}.add(*rank_steps_end_ps_).done();
  }
  database_.run(
      "CREATE INDEX events_by_time ON events(t_ps);"
      "CREATE INDEX events_by_port ON events(port_id, t_ps);"
      "CREATE INDEX flow_samples_by_flow ON flow_samples(flow_id, t_ps);"
      "CREATE INDEX flow_way_ports_by_port ON flow_way_ports(port_id);"
      "CREATE INDEX hash_tables_by_node ON hash_tables(node_id, t_ps);"
      "CREATE INDEX hash_groups_by_table ON hash_groups(hash_table_id);"
      "CREATE INDEX rank_steps_by_rank ON rank_steps(job_id, rank, t_ps);"
      "CREATE INDEX rank_waits_by_rank ON rank_waits(job_id, rank, t_ps);"
      "COMMIT; PRAGMA journal_mode = DELETE");
  tell_of_error();
  for (Insert& insert : inserts_) insert.statement.reset();
  database_.close();
  return database_.is_fine();
}

}  // namespace softspine::control
