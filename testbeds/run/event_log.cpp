// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/event_log.hpp"

#include <algorithm>
#include <tuple>

#include "control/record/json_lines.hpp"

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Event;
using dataplane::Instant;

namespace {

// At one port and instant drops come last, by reason: when a burst of them is found to be over depends on when somebody
// looks, and all that are not over at the run's end have that instant.
std::tuple<Instant, uint32_t, uint16_t, size_t> order_of(const Event& event) {
  const bool is_burst = event.kind == dataplane::EventKind::kDrops;
  return {event.at, event.node, event.port, is_burst ? 1 + static_cast<size_t>(event.reason) : 0};
}

class NoEvents final : public control::EventSink {
 public:
  void begin(const std::string&) override {}
  void event(const Event&, std::string_view) override {}
  void event(const control::ControlNote&) override {}
  void end(Instant) override {}
  std::string take_error() override { return {}; }
};

constexpr size_t kRestAt = size_t{1} << 15;
// How far behind the file may be; on the wall clock every look costs a stop of all workers.
constexpr Duration kEventsEveryVirtual = Duration::ms(1);
constexpr Duration kEventsEveryWall = Duration::ms(100);

}  // namespace

EventLog::~EventLog() {
  nodes_.for_each_switch([](uint32_t, pipelines::Switch& node) { node.egress().record_events(nullptr); });
}

std::expected<void, std::string> EventLog::open(const std::string& path) {
  if (!nodes_.ranks().is_first()) {  // it helps rank 0 to gather
    open(std::unique_ptr<control::EventSink>{});
    return {};
  }
  auto lines = control::EventLines::open(path, &ending_);
  if (!lines) return std::unexpected("cannot write events to " + lines.error());
  open(std::move(*lines));
  return {};
}

void EventLog::open(std::unique_ptr<control::EventSink> sink) {
  if (!sink) sink = std::make_unique<NoEvents>();
  sink->begin(testbed_.name);
  sinks_.push_back(std::move(sink));
  if (sinks_.size() > 1) return;  // the switches record already
  counts_.assign(control::event_facts().size(), 0);
  dataplane::Engine& engine = nodes_.engine();
  for (uint32_t i = 0; i < engine.workers(); ++i) {
    buffers_.push_back(std::make_unique<dataplane::EventBuffer>(kRestAt, engine.wants_rest()));
  }
  nodes_.for_each_switch([&](uint32_t n, pipelines::Switch& node) {
    dataplane::EventBuffer& own = *buffers_[engine.worker_of(node.id())];
    recorders_.push_back(std::make_unique<dataplane::EventRecorder>(own, n, node.ports()));
    node.egress().record_events(recorders_.back().get());
  });
  engine.at_rest([this](Instant now) { write_before(now); });
  engine.look_at(Instant::at(kEventsEveryVirtual), [this](Instant now) { look(now); });
}

// The workers stand still for it, which is all that it is for.
void EventLog::look(Instant now) {
  const bool wall = nodes_.engine().is_wall();
  const Instant next = nodes_.engine().next_event();
  if (next.is_never() && !wall) return;
  const Instant then = now + (wall ? kEventsEveryWall / testbed_.run.dilation : kEventsEveryVirtual);
  nodes_.engine().look_at(wall ? then : std::max(then, next), [this](Instant later) { look(later); });
}

void EventLog::gather_control() {
  for (Incident& each : incidents_.since(incidents_seen_)) {
    notes_.push_back({each.at, event_of(each.of), std::move(each.what)});
  }
  incidents_seen_ = incidents_.count();
}

// Events at `now` itself wait: more of them may come.
void EventLog::write_before(Instant now, Instant end) {
  if (sinks_.empty()) return;
  for (const auto& recorder : recorders_) recorder->end_bursts(now);
  std::vector<Event> recorded;
  for (const auto& buffer : buffers_) {
    buffer->take([&](const Event& event) {
      recorded.push_back(event);
      recorded.back().at = std::min(event.at, end);
    });
  }
  for (const auto& each : nodes_.ranks().gather(recorded)) events_.insert(events_.end(), each.begin(), each.end());
  gather_control();
  std::ranges::stable_sort(events_, {}, order_of);
  std::ranges::stable_sort(notes_, {}, &control::ControlNote::at);
  auto event = events_.begin();
  auto note = notes_.begin();
  for (;;) {
    const bool has_event = event != events_.end() && event->at < now;
    const bool has_note = note != notes_.end() && note->at < now;
    if (!has_event && !has_note) break;
    if (has_note && (!has_event || note->at <= event->at)) {
      ++counts_[control::row_of(note->kind)];
      for (const auto& sink : sinks_) sink->event(*note);
      ++note;
    } else {
      ++counts_[control::row_of(event->kind)];
      const std::string port = testbed_.fabric.name_of({event->node, event->port});
      for (const auto& sink : sinks_) sink->event(*event, port);
      ++event;
    }
  }
  events_.erase(events_.begin(), event);
  notes_.erase(notes_.begin(), note);
  for (const auto& sink : sinks_) sink->known_before(now);
  report_errors(std::min(now, end));
}

void EventLog::report_errors(Instant now) {
  for (const auto& sink : sinks_) {
    if (std::string error = sink->take_error(); !error.empty()) errors_.report("event log", std::move(error), now);
  }
}

void EventLog::snapshot(control::FabricSnapshot& out) {
  write_before(out.instant);
  if (!counts_.empty()) out.events = control::EventLogSnapshot{.lines = counts_};
}

void EventLog::finish(Instant now) {
  if (sinks_.empty()) return;
  write_before(Instant::never(), now);
  for (const auto& sink : sinks_) sink->end(now);
  report_errors(now);
  sinks_.clear();
}

}  // namespace softspine::testbeds
