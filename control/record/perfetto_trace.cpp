// SPDX-License-Identifier: Apache-2.0
#include "control/record/perfetto_trace.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "control/telemetry/event_lines.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::control {

using dataplane::Event;
using dataplane::EventKind;
using dataplane::Instant;

namespace {

bool names_priorities(EventKind kind) {
  return kind != EventKind::kLinkUp && kind != EventKind::kLinkDown;
}

}  // namespace

class PerfettoTrace::Samples : public SampleSink {
 public:
  explicit Samples(std::shared_ptr<PerfettoTrace> of) : of_(std::move(of)) {}
  void begin(const SeriesShape& shape) override { of_->begin_samples(shape); }
  void sample(const SeriesSample& sample) override { of_->add_sample(sample); }
  void end(Instant) override { of_->known_before(TracedStream::kSamples, Instant::never()); }
  std::string take_error() override { return {}; }  // its owner asks for it

 private:
  std::shared_ptr<PerfettoTrace> of_;
};

class PerfettoTrace::Events : public EventSink {
 public:
  Events(std::shared_ptr<PerfettoTrace> of, KnownBefore known) : of_(std::move(of)), known_(std::move(known)) {}
  void begin(const std::string&) override {}
  void event(const Event& event, std::string_view) override { of_->add_event(PortEvent{event}); }
  void event(const ControlNote& note) override { of_->add_event(Note{note}); }
  void known_before(Instant now) override {
    known_(now);
    of_->known_before(TracedStream::kEvents, now);
  }
  void end(Instant) override {}
  std::string take_error() override { return {}; }

 private:
  std::shared_ptr<PerfettoTrace> of_;
  KnownBefore known_;
};

class PerfettoTrace::Steps : public StepSink {
 public:
  explicit Steps(std::shared_ptr<PerfettoTrace> of) : of_(std::move(of)) {}
  void begin(const std::vector<StepJob>& jobs) override { of_->begin_steps(jobs); }
  void step(const StepRecord& record) override { of_->add_step(record); }
  void known_before(Instant now) override { of_->known_before(TracedStream::kSteps, now); }

 private:
  std::shared_ptr<PerfettoTrace> of_;
};

std::expected<std::shared_ptr<PerfettoTrace>, std::string> PerfettoTrace::create(const std::string& path,
                                                                                 const Fabric& fabric,
                                                                                 const std::atomic<bool>* ending) {
  auto file = LineFile::open(path, ending);
  if (!file) return std::unexpected(path + ": " + file.error());
  return std::shared_ptr<PerfettoTrace>{new PerfettoTrace{path, fabric, std::move(*file)}};
}

PerfettoTrace::PerfettoTrace(std::string path, const Fabric& fabric, LineFile file)
    : path_(std::move(path)),
      fabric_(fabric),
      file_(std::move(file)),
      packets_(file_.text()),
      tracks_(fabric, packets_) {
  size_t ports = 0;
  for (const FabricNode& node : fabric.nodes) ports += node.ports.size();
  asked_.resize(ports * dataplane::kPriorities);
  neighbour_names_.resize(ports);
  packets_.begin();
}

std::unique_ptr<SampleSink> PerfettoTrace::samples(std::shared_ptr<PerfettoTrace> of) {
  return std::make_unique<Samples>(std::move(of));
}
std::unique_ptr<EventSink> PerfettoTrace::events(std::shared_ptr<PerfettoTrace> of, KnownBefore known) {
  return std::make_unique<Events>(std::move(of), std::move(known));
}
std::unique_ptr<StepSink> PerfettoTrace::steps(std::shared_ptr<PerfettoTrace> of) {
  return std::make_unique<Steps>(std::move(of));
}

PerfettoTrace::Column PerfettoTrace::column_of(const SeriesColumn& column) {
  static const std::map<std::pair<SeriesSection, std::string_view>, Column> kColumns{
      {{SeriesSection::kQueue, "current_bytes"}, Column::kQueueBytes},
      {{SeriesSection::kQueue, "ecn_marked_packets"}, Column::kMarks},
      {{SeriesSection::kGroup, "shared_bytes"}, Column::kGroupShared},
      {{SeriesSection::kGroup, "headroom_bytes"}, Column::kGroupHeadroom},
      {{SeriesSection::kPool, "shared_bytes"}, Column::kPoolShared},
      {{SeriesSection::kPool, "headroom_bytes"}, Column::kPoolHeadroom}};
  const auto found = kColumns.find({column.section, column.name});
  return found == kColumns.end() ? Column::kOther : found->second;
}

void PerfettoTrace::begin_samples(const SeriesShape& shape) {
  const std::lock_guard guard{lock_};
  interval_ = shape.interval;
  for (const SeriesColumn& column : shape.columns) columns_.push_back(column_of(column));
  std::unordered_map<std::string, LinkEnd> ends;
  for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
    for (uint16_t p = 0; p < fabric_.nodes[n].ports.size(); ++p) ends.emplace(fabric_.name_of({n, p}), LinkEnd{n, p});
  }
  for (const SeriesPlace& place : shape.places) {
    places_.push_back(place.is_pool ? Place{{}, place.name} : Place{ends.at(place.name), {}});
  }
  known_[static_cast<size_t>(TracedStream::kSamples)] = Instant::at(interval_);
}

// The next one is an interval later, or more.
void PerfettoTrace::add_sample(const SeriesSample& sample) {
  const std::lock_guard guard{lock_};
  samples_.push_back({sample.at, {sample.rows.begin(), sample.rows.end()}, {sample.cells.begin(), sample.cells.end()}});
  known_[static_cast<size_t>(TracedStream::kSamples)] = sample.at + interval_;
  write_known();
}

void PerfettoTrace::add_event(AnyEvent event) {
  const std::lock_guard guard{lock_};
  events_.push_back(std::move(event));
}

void PerfettoTrace::begin_steps(const std::vector<StepJob>& jobs) {
  const std::lock_guard guard{lock_};
  tracks_.set_jobs(jobs);
}

void PerfettoTrace::add_step(const StepRecord& record) {
  const std::lock_guard guard{lock_};
  steps_.push_back(record);
}

void PerfettoTrace::add(std::span<const TracedPause> pauses) {
  const std::lock_guard guard{lock_};
  pauses_.insert(pauses_.end(), pauses.begin(), pauses.end());
  std::ranges::sort(pauses_, std::ranges::greater{}, &TracedPause::order);
}

void PerfettoTrace::known_before(TracedStream stream, Instant now) {
  const std::lock_guard guard{lock_};
  Instant& known = known_[static_cast<size_t>(stream)];
  known = std::max(known, now);
  write_known();
}

Instant PerfettoTrace::first_of(TracedStream stream) const {
  const auto at = [](const auto& each) { return each.at(); };
  switch (stream) {
    case TracedStream::kEvents: return events_.empty() ? Instant::never() : std::visit(at, events_.front());
    case TracedStream::kPauses: return pauses_.empty() ? Instant::never() : pauses_.back().to;
    case TracedStream::kSteps: return steps_.empty() ? Instant::never() : steps_.front().at;
    case TracedStream::kSamples: break;
  }
  return samples_.empty() ? Instant::never() : samples_.front().at;
}

void PerfettoTrace::write_known() {
  constexpr std::array kStreams{TracedStream::kEvents, TracedStream::kPauses, TracedStream::kSteps,
                                TracedStream::kSamples};
  const Instant known = *std::ranges::min_element(known_);
  for (;;) {
    const TracedStream next = std::ranges::min(kStreams, {}, [this](TracedStream it) { return first_of(it); });
    if (first_of(next) >= known) break;
    write_first(next);
    file_.put();
  }
}

void PerfettoTrace::write_first(TracedStream stream) {
  switch (stream) {
    case TracedStream::kEvents: write(events_.front()), events_.pop_front(); break;
    case TracedStream::kPauses: write(pauses_.back()), pauses_.pop_back(); break;
    case TracedStream::kSteps: write(steps_.front()), steps_.pop_front(); break;
    case TracedStream::kSamples: write(samples_.front()), samples_.pop_front(); break;
  }
}

void PerfettoTrace::write(const AnyEvent& any) {
  if (const Note* const it = std::get_if<Note>(&any)) {
    const uint64_t name = packets_.name(std::string{event_facts()[row_of(it->note.kind)].name});
    return packets_.instant({.track = tracks_.control(), .name = name}, it->note.at,
                            {{.key = TraceKey::kWhat, .text = it->note.what}});
  }
  const Event& event = std::get<PortEvent>(any).event;
  if (event.kind == EventKind::kDrops) return write_drops(event);
  const TraceHead head{.track = tracks_.port({event.node, event.port}),
                       .name = packets_.name(std::string{event_facts()[row_of(event.kind)].name})};
  const TraceArgument priorities{.key = TraceKey::kPriorities, .number = event.priorities};
  if (!names_priorities(event.kind)) return packets_.instant(head, event.at, {});
  if (event.group == Event::kNoGroup) return packets_.instant(head, event.at, {priorities});
  packets_.instant(head, event.at, {priorities, {.key = TraceKey::kGroup, .number = event.group}});
}

void PerfettoTrace::write_drops(const Event& event) {
  const TraceHead head{.track = tracks_.port({event.node, event.port}),
                       .category = TraceCategory::kDrops,
                       .name = packets_.name("drops")};
  packets_.instant(
      head, event.first,
      {{.key = TraceKey::kReason, .text = dataplane::name_of(event.reason)},
       {.key = TraceKey::kPackets, .number = event.count},
       {.key = TraceKey::kDurationPs, .number = static_cast<uint64_t>((event.last - event.first).count_ps())}});
}

// Both slices of an arrow have the number of the asking end's request: those of one end and priority are counted as
// they end, which is no earlier than the pauses that they cause begin.
uint64_t PerfettoTrace::flow_of(const TracedPause& pause) {
  const LinkEnd by = pause.asks ? pause.port : fabric_.peer_of(pause.port);
  const size_t number = size_t{tracks_.ports().of(by)} * dataplane::kPriorities + pause.priority;
  Asked& asked = asked_[number];
  uint32_t count = asked.count;
  if (pause.asks) {
    ++asked.count;
    asked.last_end = pause.to;
  } else if (count > 0 && asked.last_end > pause.from) {
    --count;
  }
  constexpr unsigned kNumberAt = 32;
  return uint64_t{number + 1} << kNumberAt | count;
}

// "paused by tor1:Ethernet0", of which there is one for each port.
uint64_t PerfettoTrace::neighbour_name(const TracedPause& pause) {
  uint64_t& known = neighbour_names_[tracks_.ports().of(pause.port)][pause.asks ? 1 : 0];
  if (known == 0) {
    const std::string peer = fabric_.name_of(fabric_.peer_of(pause.port));
    known = packets_.name((pause.asks ? "pauses " : "paused by ") + peer);
  }
  return known;
}

void PerfettoTrace::write(const TracedPause& pause) {
  const PortTrack what = pause.asks ? PortTrack::kPauses : PortTrack::kPaused;
  packets_.slice({.track = tracks_.of_port(pause.port, what, pause.priority),
                  .category = pause.asks ? TraceCategory::kPauses : TraceCategory::kPaused,
                  .name = neighbour_name(pause),
                  .flow = flow_of(pause)},
                 pause.from, pause.to,
                 {{.key = TraceKey::kDurationPs, .number = static_cast<uint64_t>((pause.to - pause.from).count_ps())}});
}

// Operations come in the order in which they end: so the first lane whose last one had ended when this one started.
uint32_t PerfettoTrace::lane_of(const StepRecord& record) {
  std::vector<Instant>& lanes = lanes_[{record.job, record.rank, record.kind}];
  const auto free = std::ranges::find_if(lanes, [&](Instant busy) { return busy <= record.started; });
  const auto lane = static_cast<uint32_t>(free - lanes.begin());
  free == lanes.end() ? lanes.push_back(record.at) : void(*free = record.at);
  return lane;
}

void PerfettoTrace::write(const StepRecord& record) {
  const auto took = static_cast<uint64_t>((record.at - record.started).count_ps());
  const TraceHead head{.track = tracks_.operation(record.job, record.rank, record.kind, lane_of(record)),
                       .category = TraceCategory::kStep,
                       .name = packets_.name(std::string{word_for(record.kind)})};
  const TraceArgument duration{.key = TraceKey::kDurationPs, .number = took};
  const TraceArgument bytes{.key = TraceKey::kBytes, .number = record.bytes};
  const TraceArgument peer{.key = TraceKey::kPeer, .number = record.peer};
  const TraceArgument channel{.key = TraceKey::kChannel, .number = record.channel};
  const TraceArgument message{.key = TraceKey::kMessage, .number = record.message};
  switch (record.kind) {
    case OperationKind::kCompute: return packets_.slice(head, record.started, record.at, {duration});
    case OperationKind::kReduce: return packets_.slice(head, record.started, record.at, {duration, bytes});
    case OperationKind::kSend:
      return packets_.slice(head, record.started, record.at, {duration, bytes, peer, channel, message});
    case OperationKind::kReceive: break;
  }
  const auto alone = static_cast<uint64_t>(record.alone.count_ps());
  packets_.slice(head, record.started, record.at,
                 {duration, bytes, peer, channel, message, {.key = TraceKey::kAlonePs, .number = alone}});
}

void PerfettoTrace::write(const Sample& sample) {
  const SeriesCell* cell = sample.cells.data();
  for (const ChangedRow& row : sample.rows) {
    for (const SeriesCell* const end = cell + row.cells; cell != end; ++cell) write_cell(sample, row, *cell);
  }
}

void PerfettoTrace::write_cell(const Sample& sample, const ChangedRow& row, const SeriesCell& cell) {
  const Place& place = places_[row.place];
  const auto of_port = [&](PortTrack what) {
    packets_.counter(tracks_.of_port(place.port, what, row.number), sample.at, cell.value);
  };
  const auto of_pool = [&](PoolTrack what) {
    packets_.counter(tracks_.pool(row.place, place.pool, what), sample.at, cell.value);
  };
  switch (columns_[cell.column]) {
    case Column::kOther: break;
    case Column::kQueueBytes: return of_port(PortTrack::kQueue);
    case Column::kGroupShared: return of_port(PortTrack::kGroupShared);
    case Column::kGroupHeadroom: return of_port(PortTrack::kGroupHeadroom);
    case Column::kPoolShared: return of_pool(PoolTrack::kShared);
    case Column::kPoolHeadroom: return of_pool(PoolTrack::kHeadroom);
    case Column::kMarks:
      packets_.instant(
          {.track = tracks_.port(place.port), .category = TraceCategory::kMarks, .name = packets_.name("marks")},
          sample.at,
          {{.key = TraceKey::kQueue, .number = row.number}, {.key = TraceKey::kPackets, .number = cell.value}});
  }
}

void PerfettoTrace::finish() {
  for (const TracedStream stream :
       {TracedStream::kEvents, TracedStream::kPauses, TracedStream::kSteps, TracedStream::kSamples})
    known_before(stream, Instant::never());
  const std::lock_guard guard{lock_};
  file_.flush();
}

std::string PerfettoTrace::take_error() {
  const std::lock_guard guard{lock_};
  const std::string error = file_.take_error();
  return error.empty() ? error : path_ + ": " + error;
}

}  // namespace softspine::control
