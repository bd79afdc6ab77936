// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/trace_file.hpp"

#include <algorithm>
#include <utility>

namespace softspine::testbeds {

using control::LinkEnd;
using control::PerfettoTrace;
using control::TracedPause;
using control::TracedStream;
using dataplane::Instant;
using dataplane::PauseSpan;
using dataplane::PortFlowControl;
using dataplane::Priority;

namespace {

constexpr size_t kTraceRestsAt = size_t{1} << 15;
const control::CounterPatterns kOccupancies{"current_bytes", "shared_bytes", "headroom_bytes", "ecn_marked_packets"};

// In the place of the trace's own sink, at a rank without the file.
class WithoutTrace final : public control::EventSink {
 public:
  explicit WithoutTrace(PerfettoTrace::KnownBefore known) : known_(std::move(known)) {}
  void begin(const std::string&) override {}
  void event(const dataplane::Event&, std::string_view) override {}
  void event(const control::ControlNote&) override {}
  void known_before(Instant now) override { known_(now); }
  void end(Instant) override {}
  std::string take_error() override { return {}; }

 private:
  PerfettoTrace::KnownBefore known_;
};

}  // namespace

// The priorities of a link that goes by PAUSE fare alike: the first one stands for all.
class TraceFile::PortPauses final : public dataplane::PauseObserver {
 public:
  PortPauses(LinkEnd port, const PortFlowControl& flow, Buffer& buffer, std::atomic<bool>& wants_rest)
      : port_(port), flow_(flow), buffer_(buffer), wants_rest_(wants_rest) {}

  void stood_still(Priority priority, PauseSpan span) noexcept override { add(priority.value(), false, span); }
  void asked(Priority priority, PauseSpan span) noexcept override { add(priority.value(), true, span); }

  // Between windows: those that have run out before `now`.
  void take_before(Instant now) noexcept {
    for_each_span([&](uint8_t priority, bool asks, PauseSpan span) {
      if (span.to < now) add(priority, asks, span);
    });
  }
  // After the run: all.
  void end_at(Instant now) noexcept {
    for_each_span(
        [&](uint8_t priority, bool asks, PauseSpan span) { add(priority, asks, {span.from, std::min(span.to, now)}); });
  }

 private:
  uint8_t priorities() const { return flow_.is_pause() ? 1 : dataplane::kPriorities; }
  template <typename See>
  void for_each_span(See&& see) const {
    if (flow_.pause_changes() == 0) return;
    for (uint8_t p = 0; p < priorities(); ++p) {
      see(p, false, flow_.pauses().standing_still(Priority{p}));
      see(p, true, flow_.tx_request(Priority{p}));
    }
  }
  // Those of one kind do not overlap: what ends no later than the last one has been added.
  void add(uint8_t priority, bool asks, PauseSpan span) noexcept {
    Instant& last = last_[asks ? 1 : 0][priority];
    if (span.is_empty() || span.to <= last || priority >= priorities()) return;
    last = span.to;
    buffer_.push_back({.port = port_, .priority = priority, .asks = asks, .from = span.from, .to = span.to});
    if (buffer_.size() == kTraceRestsAt) [[unlikely]]
      wants_rest_.store(true, std::memory_order_relaxed);
  }

  LinkEnd port_;
  const PortFlowControl& flow_;
  Buffer& buffer_;
  std::atomic<bool>& wants_rest_;
  std::array<std::array<Instant, dataplane::kPriorities>, 2> last_{};
};

// Calls see(port, its flow control).
template <typename See>
void TraceFile::for_each_port(See&& see) const {
  nodes_.for_each_switch([&](uint32_t n, const pipelines::Switch& node) {
    for (uint16_t p = 0; p < node.ports(); ++p) see(LinkEnd{n, p}, node.egress().flow_control(dataplane::PortNo{p}));
  });
  nodes_.for_each_host([&](uint32_t n, const RoceHost& host) {
    for (uint16_t p = 0; p < host.config().ports; ++p) see(LinkEnd{n, p}, host.flow_control(dataplane::PortNo{p}));
  });
  nodes_.for_each_edge([&](LinkEnd end, const dataplane::Nic& nic) { see(end, nic.flow_control()); });
}

TraceFile::TraceFile(const control::Testbed& testbed, const control::Compiler& compiler, const LocalNodes& nodes,
                     EventLog& log, StepLog& steps, control::ErrorChannel& errors)
    : testbed_(testbed),
      nodes_(nodes),
      log_(log),
      steps_(steps),
      errors_(errors),
      counters_(testbed, compiler, nodes, errors) {}

TraceFile::~TraceFile() {
  if (is_open_) for_each_port([](LinkEnd, const PortFlowControl& flow) { flow.observe(nullptr); });
}

std::expected<void, std::string> TraceFile::create(const std::string& path) {
  auto made = PerfettoTrace::create(path, testbed_.fabric, &ending_);
  if (!made) return std::unexpected("cannot write the trace to " + made.error());
  trace_ = std::move(*made);
  return {};
}

// Also after an error, which other ranks cannot know of yet.
std::expected<void, std::string> TraceFile::open(const TraceRequest& request) {
  std::expected<void, std::string> created;
  if (nodes_.ranks().is_first()) created = create(request.path);
  if (!created && nodes_.ranks().is_alone()) return created;
  is_open_ = true;
  dataplane::Engine& engine = nodes_.engine();
  for (uint32_t i = 0; i < engine.workers(); ++i) buffers_.push_back(std::make_unique<Buffer>());
  for_each_port([&](LinkEnd port, const PortFlowControl& flow) {
    Buffer& own = *buffers_[nodes_.worker_at(port).value_or(0)];
    ports_.push_back(std::make_unique<PortPauses>(port, flow, own, engine.wants_rest()));
    flow.observe(ports_.back().get());
  });
  const SeriesRequest series{.path = {}, .interval = request.interval, .counters = kOccupancies};
  counters_.open(trace_ ? PerfettoTrace::samples(trace_) : nullptr, series);
  if (trace_) open_steps();
  const auto known = [this](Instant now) { take_before(now); };
  log_.open(trace_ ? PerfettoTrace::events(trace_, known) : std::make_unique<WithoutTrace>(known));
  return created;
}

void TraceFile::open_steps() {
  if (steps_.has_ranks()) {
    steps_.open(PerfettoTrace::steps(trace_));
  } else {
    trace_->known_before(TracedStream::kSteps, Instant::never());
  }
}

// At the log's end more pauses may come: finish() takes them.
void TraceFile::take_before(Instant now) {
  if (now.is_never()) return;
  for (const auto& port : ports_) port->take_before(now);
  hand_over();
  if (trace_) trace_->known_before(TracedStream::kPauses, now);
  report_error(now);
}

void TraceFile::hand_over() {
  Buffer here;
  for (const auto& buffer : buffers_) {
    here.insert(here.end(), buffer->begin(), buffer->end());
    buffer->clear();
  }
  for (const Buffer& of_rank : nodes_.ranks().collect(here)) {
    if (trace_ && !of_rank.empty()) trace_->add(of_rank);
  }
}

void TraceFile::finish(Instant now) {
  if (!is_open_) return;
  counters_.finish(now);
  for (const auto& port : ports_) port->end_at(now);
  hand_over();
  if (trace_) trace_->finish();
  report_error(now);
}

void TraceFile::report_error(Instant now) {
  if (!trace_) return;
  if (std::string error = trace_->take_error(); !error.empty()) errors_.report("trace", std::move(error), now);
}

std::vector<std::string> TraceFile::check(const control::FabricSnapshot& end) const {
  return trace_ ? counters_.check(end) : std::vector<std::string>{};
}

}  // namespace softspine::testbeds
