// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/event_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "control/telemetry/json.hpp"

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

constexpr size_t kRestAt = size_t{1} << 15;
// How far behind the file may be; on the wall clock every look costs a stop of all workers.
constexpr Duration kEventsEveryVirtual = Duration::ms(1);
constexpr Duration kEventsEveryWall = Duration::ms(100);

}  // namespace

EventLog::~EventLog() {
  nodes_.for_each_switch([](uint32_t, pipelines::Switch& node) { node.egress().record_events(nullptr); });
}

std::expected<void, std::string> EventLog::open(const std::string& path) {
  auto file = control::LineFile::open(path, &ending_);
  if (!file) return std::unexpected("cannot write events to " + path + ": " + file.error());
  path_ = path;
  file_ = std::move(*file);
  counts_.assign(control::event_facts().size(), 0);
  file_->text() += "{\"events\":1,\"testbed\":" + control::Json(testbed_.name).dump() + "}\n";
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
  return {};
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
  for (const Incident& each : incidents_.since(incidents_seen_)) {
    lines_.push_back({each.at, event_of(each.of), {}});
    control::add_event_line(lines_.back().text, each.at, lines_.back().kind, each.what);
  }
  incidents_seen_ = incidents_.count();
}

void EventLog::add_line(const Event& event) {
  const control::LinkEnd end{event.node, event.port};
  control::add_event_line(file_->text(), event, testbed_.fabric.name_of(end));
}

// What lies at `now` itself waits: more of it may come.
void EventLog::write_before(Instant now, Instant end) {
  if (!file_) return;
  for (const auto& recorder : recorders_) recorder->end_bursts(now);
  for (const auto& buffer : buffers_) {
    buffer->take([&](const Event& event) {
      events_.push_back(event);
      events_.back().at = std::min(event.at, end);
    });
  }
  gather_control();
  std::ranges::stable_sort(events_, {}, order_of);
  std::ranges::stable_sort(lines_, {}, &Line::at);
  auto event = events_.begin();
  auto line = lines_.begin();
  for (;;) {
    const bool has_event = event != events_.end() && event->at < now;
    const bool has_line = line != lines_.end() && line->at < now;
    if (!has_event && !has_line) break;
    if (has_line && (!has_event || line->at <= event->at)) {
      ++counts_[control::row_of(line->kind)];
      file_->text() += line++->text;
    } else {
      ++counts_[control::row_of(event->kind)];
      add_line(*event++);
    }
  }
  events_.erase(events_.begin(), event);
  lines_.erase(lines_.begin(), line);
  file_->put();
  report_error(std::min(now, end));
}

void EventLog::report_error(Instant now) {
  const std::string error = file_->take_error();
  if (!error.empty()) errors_.report("event log", path_ + ": " + error, now);
}

void EventLog::snapshot(control::FabricSnapshot& out) {
  if (!counts_.empty()) out.events = control::EventLogSnapshot{.lines = counts_};
}

void EventLog::finish(Instant now) {
  if (!file_) return;
  write_before(Instant::never(), now);
  const uint64_t written = std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
  file_->text() += fmt::format("{{\"end_ps\":{},\"lines\":{}}}\n", now.count_ps(), written);
  file_->flush();
  report_error(now);
  file_.reset();
}

}  // namespace softspine::testbeds
