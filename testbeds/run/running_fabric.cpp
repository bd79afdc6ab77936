// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/running_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "dataplane/packet/wire.hpp"
#include "testbeds/outside/outside_spec.hpp"
#include "testbeds/run/carriers.hpp"
#include "testbeds/run/deadlock_look.hpp"
#include "testbeds/run/edge_watch.hpp"
#include "testbeds/run/lacp_control.hpp"
#include "testbeds/run/packet_need.hpp"
#include "testbeds/run/snapshots.hpp"
#include "testbeds/run/stack_control.hpp"
#include "testbeds/run/stalled_flows.hpp"
#include "testbeds/run/traffic_controller.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr std::chrono::milliseconds kWatchEvery{20};
constexpr uint32_t kInjectedPackets = 1'023;
constexpr const char* kRunCapture = "run";
constexpr std::chrono::milliseconds kGrace{5'000};  // for commands to end when they are asked to

}  // namespace

RunningFabric::~RunningFabric() {
  if (assembly_) drain();
}

std::expected<std::unique_ptr<RunningFabric>, std::string> RunningFabric::make(const control::Testbed& testbed,
                                                                               const FabricOptions& options) {
  std::unique_ptr<RunningFabric> out{new RunningFabric(testbed, options)};
  if (auto built = out->build(); !built) return std::unexpected(built.error());
  return out;
}

std::expected<void, std::string> RunningFabric::build() {
  if (auto made = make_outside(); !made) return made;
  auto assembly = assemble(testbed_, compiler_, outside_.get(), options_.flat);
  if (!assembly) return std::unexpected(assembly.error());
  assembly_ = std::move(*assembly);
  const LocalNodes& nodes = *assembly_->nodes;
  const RunFlows& flows = assembly_->flows;
  LossWindows& losses = parts_.add<LossWindows>(testbed_, nodes, flows);
  links_ = &parts_.add<LinkControl>(testbed_, compiler_, nodes, losses, incidents_);
  parts_.add<LacpControl>(testbed_, nodes, *links_);
  parts_.add<StackControl>(testbed_, nodes.engine(), *links_, incidents_);
  parts_.add<TrafficController>(testbed_, nodes.engine(), flows, *links_);
  faults_ = &parts_.add<FaultControl>(testbed_, nodes, losses, incidents_);
  parts_.add<DeadlockLook>(testbed_, nodes, incidents_);
  parts_.add<EdgeWatch>(testbed_, nodes, *links_, incidents_, errors_);
  parts_.add<Carriers>(testbed_, nodes, errors_);
  captures_ = &parts_.add<Captures>(testbed_, nodes, errors_);
  series_ = &parts_.add<CounterSeries>(testbed_, compiler_, nodes, errors_);
  events_ = &parts_.add<EventLog>(testbed_, nodes, incidents_, errors_);
  parts_.start();
  return options_.capture ? open_capture(*options_.capture) : std::expected<void, std::string>{};
}

std::expected<void, std::string> RunningFabric::open_capture(const CaptureRequest& request) {
  auto opened = captures_->open(kRunCapture, request);
  if (!opened) return std::unexpected(opened.error());
  captures_->begin(kRunCapture, std::move(*opened), assembly_->engine->now());
  return {};
}

std::expected<void, std::string> RunningFabric::open_series(const SeriesRequest& request) {
  return series_->open(request, snapshot());
}

std::expected<void, std::string> RunningFabric::open_events(const std::string& path) {
  return events_->open(path);
}

void RunningFabric::start_capture(const std::string& name, const CaptureRequest& request,
                                  std::function<void(std::expected<void, std::string>)> done) {
  auto opened = captures_->open(name, request);
  if (!opened) return done(std::unexpected(opened.error()));
  const auto capture = std::make_shared<std::unique_ptr<FabricCapture>>(std::move(*opened));
  assembly_->engine->post([this, name, capture, done = std::move(done)](Instant now) {
    captures_->begin(name, std::move(*capture), now);
    done({});
  });
}

std::expected<void, std::string> RunningFabric::make_outside() {
  std::vector<OutsideSpec> specs;
  for (uint32_t n = 0; n < testbed_.fabric.nodes.size(); ++n) {
    const control::FabricNode& node = testbed_.fabric.nodes[n];
    if (node.kind != control::NodeKind::kHost || control::is_builtin(node.attachment)) continue;
    specs.push_back(outside_spec(testbed_.fabric, n));
    waits_for_commands_ = waits_for_commands_ || has_command(specs.back());
    is_watched_ = is_watched_ || control::needs_wall_clock(node.attachment);
  }
  if (specs.empty()) return {};
  const auto folder = std::filesystem::absolute(std::filesystem::path(testbed_.file)).parent_path();
  auto made = OutsideHosts::make(std::move(specs), {.run_folder = options_.run_folder, .testbed_folder = folder});
  if (!made) {
    std::string text;
    for (const Error& error : made.error()) text += (text.empty() ? "" : "; ") + error.path + ": " + error.message;
    return std::unexpected(text);
  }
  outside_ = std::move(*made);
  return {};
}

std::expected<void, std::string> RunningFabric::run() {
  const auto begin = std::chrono::steady_clock::now();
  if (outside_) {
    if (const auto started = outside_->start(); !started) {
      const Error& first = started.error().front();
      return std::unexpected(first.path + ": " + first.message);
    }
  }
  const Instant end = Instant::at(testbed_.run.duration);
  if (is_watched_) {
    const std::jthread watcher{[this] { watch_outside(); }};
    assembly_->engine->run(Instant::never());
  } else {
    assembly_->engine->run(end);
  }
  parts_.finish(assembly_->engine->now());
  wall_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!ran_out_of_memory()) return {};
  const std::string error = memory_error();
  errors_.report("packet memory", error);
  return std::unexpected(error);
}

std::string RunningFabric::memory_error() const {
  const PacketNeed need = packet_need(testbed_);
  const uint64_t packets = assembly_->packets_made();
  return fmt::format(
      "out of memory for packets at {} ps: {} packets take {} B, and there are {} B ({}); this testbed may need up to "
      "{} B, for {} packets",
      assembly_->engine->now().count_ps(), packets, assembly_->budget->taken_bytes(), assembly_->budget->limit_bytes(),
      testbed_.run.memory_bytes == assembly_->budget->limit_bytes() ? "run: memory" : "what the machine has left",
      need.bytes, need.packets);
}

void RunningFabric::watch_outside() {
  const Instant end = Instant::at(testbed_.run.duration);
  for (;;) {
    const bool ended = outside_->poll();
    report_unasked_ends();
    if (was_stopped() || ran_out_of_memory() || progress() >= end || (waits_for_commands_ && ended)) break;
    std::this_thread::sleep_for(kWatchEvery);
  }
  outside_->stop(kGrace);
  report_unasked_ends();
  assembly_->engine->stop();
}

void RunningFabric::report_unasked_ends() {
  for (UnaskedEnd& end : outside_->unasked_ends()) errors_.report(std::move(end.host), std::move(end.message));
}

bool RunningFabric::was_interrupted() const {
  return was_stopped() && (!assembly_->engine->is_wall() || testbed_.run.is_limited() || waits_for_commands_);
}

void RunningFabric::stop() noexcept {
  stop_requested_.store(true, std::memory_order_relaxed);
  parts_.end_soon();
  if (!is_watched_) assembly_->engine->stop();
}

void RunningFabric::ask(std::function<void(control::FabricSnapshot)> see) {
  assembly_->engine->post([this, see = std::move(see)](Instant now) { see(snapshot_at(now)); });
}

void RunningFabric::set_links(std::vector<uint32_t> links, bool up) {
  assembly_->engine->post([this, links = std::move(links), up](Instant now) { links_->set(links, up, now); });
}

void RunningFabric::use_profile(uint32_t node, uint32_t profile) {
  assembly_->engine->post([this, node, profile](Instant now) { links_->use_profile(node, profile, now); });
}

void RunningFabric::inject_fault(control::LiveFault fault) {
  assembly_->engine->post([this, fault = std::move(fault)](Instant now) {
    for (const control::Fault& each : fault.links) {
      assembly_->engine->at(now + (each.at - Instant{}), [this, each](Instant then) { links_->strike(each, then); });
    }
    for (const control::HostFault& each : fault.hosts) faults_->inject(each, now);
    for (const control::PortFault& each : fault.ports) faults_->inject(each, now);
  });
}

void RunningFabric::with_captures(std::function<void(Captures&, Instant)> act) {
  assembly_->engine->post([this, act = std::move(act)](Instant now) { act(*captures_, now); });
}

void RunningFabric::clear_watermarks(std::optional<uint32_t> node) {
  assembly_->engine->post([this, node](Instant) {
    assembly_->nodes->for_each_switch([&](uint32_t n, pipelines::Switch& each) {
      if (node && *node != n) return;
      each.egress().mmu().clear_watermarks();
      for (PortCounters& port : each.counters()) {
        for (QueueCounters& queue : port.queues) queue.watermark_bytes = queue.current_bytes;
      }
    });
  });
}

void RunningFabric::ask_switch(uint32_t node, SeeSwitch see) {
  assembly_->engine->post([this, node, see = std::move(see)](Instant now) {
    see(*assembly_->nodes->switch_at(node), links_->routes(node), now);
  });
}

void RunningFabric::inject(control::LinkEnd port, std::vector<uint8_t> frame,
                           std::function<void(std::expected<Instant, std::string>)> done) {
  assembly_->engine->post(
      [this, port, frame = std::move(frame), done = std::move(done)](Instant now) { done(arrive(port, frame, now)); });
}

void RunningFabric::ask_injected(std::function<void(uint64_t, Instant)> see) {
  assembly_->engine->post(
      [this, see = std::move(see)](Instant now) { see(injected_ ? injected_->in_use() : uint64_t{0}, now); });
}

std::expected<Instant, std::string> RunningFabric::arrive(control::LinkEnd port, const std::vector<uint8_t>& frame,
                                                          Instant now) {
  if (frame.size() < ethernet::kBytes || frame.size() > kMaxFrameBytes) {
    return std::unexpected("a frame has 14 to " + std::to_string(kMaxFrameBytes) + " bytes, not " +
                           std::to_string(frame.size()));
  }
  const auto here = assembly_->nodes->at(port);
  if (!here) return std::unexpected("the port runs elsewhere");
  const PortRef ref = *here;
  Node& node = assembly_->engine->node(ref.node);
  if (!node.transmitter(ref.port).up()) return std::unexpected("the link is down");
  if (!injected_) injected_ = std::make_unique<PacketPool>("injected", kInjectedPackets, kMaxFrameBytes);
  Packet packet = injected_->make(static_cast<uint32_t>(frame.size()));
  if (!packet) return std::unexpected("too many injected frames are under way");
  std::ranges::copy(frame, packet.data());
  packet.meta().born = now;
  const Instant at = std::max(now, node.inbox().last(ref.port));
  Transmitter& sender = assembly_->engine->node(node.transmitter(ref.port).peer()->id())
                            .transmitter(node.transmitter(ref.port).peer_port());
  sender.count_injected();
  node.deliver(ref.port, std::move(packet), at);
  return at;
}

std::vector<OutsideOutcome> RunningFabric::outcomes() const {
  return outside_ ? outside_->outcomes() : std::vector<OutsideOutcome>{};
}

std::vector<std::string> RunningFabric::notes() const {
  auto notes = outside_ ? outside_->notes() : std::vector<std::string>{};
  parts_.add_notes(notes);
  return notes;
}

std::expected<control::CaptureTotals, std::string> RunningFabric::close_capture() {
  return captures_->close_all(kRunCapture);
}

control::FabricSnapshot RunningFabric::snapshot_at(Instant now) const {
  control::FabricSnapshot out = snapshot_of(testbed_, compiler_, *assembly_->nodes, assembly_->flows, now);
  out.engine.wall_seconds = wall_seconds_;
  out.faults = incidents_.faults();
  parts_.snapshot(out);
  find_stalled(testbed_, *assembly_->engine, assembly_->flows, *links_, out);
  out.errors = errors_.all();
  return out;
}

uint64_t RunningFabric::drain() {
  parts_.let_go();
  assembly_->engine->drain();
  uint64_t missing = assembly_->packets_in_use();
  if (injected_) missing += injected_->in_use();
  return missing;
}

}  // namespace softspine::testbeds
