// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/counter_series.hpp"

#include <algorithm>
#include <utility>

#include "control/record/json_lines.hpp"
#include "testbeds/run/port_copy.hpp"
#include "testbeds/run/snapshots.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

// Brings a copy up to date; returns whether it was not.
template <typename T>
bool update(T& copy, const T& now) {
  if (copy == now) return false;
  copy = now;
  return true;
}
uint8_t bit(bool is_set, uint32_t number) {
  return static_cast<uint8_t>((is_set ? 1U : 0U) << number);
}

// No frame has been in the queue, as far as its counters, or the copy of its memory, show.
bool was_never_used(const QueueCounters& queue) {
  return queue.watermark_bytes == 0 && queue.current_packets == 0;
}
bool was_never_used(const control::QueueBufferSnapshot& queue) {
  return queue.reserved_bytes == 0 && queue.shared_bytes == 0 && queue.shared_watermark_bytes == 0;
}
// No frame has ever come for the group: what it holds, and its watermarks, are zero.
bool was_never_used(const Mmu& mmu, PortNo port, uint32_t group) {
  return mmu.pg(port.value(), group).packets == 0 &&
         mmu.extremes(port.value(), group).counters == PriorityGroupCounters{};
}
bool was_never_used(const control::PriorityGroupSnapshot& group) {
  return group.packets == 0 && group.counters == PriorityGroupCounters{};
}

void update_buffers(const Mmu& mmu, PortNo port, control::PortSnapshot& copy, control::PortChanges& changes,
                    const control::Series::Needs& needs) {
  if (!copy.buffers) copy.buffers.emplace();
  for (uint32_t i = 0; i < kPriorities && needs.groups; ++i) {
    if (was_never_used(mmu, port, i) && was_never_used(copy.buffers->groups[i])) continue;
    changes.groups |= bit(update(copy.buffers->groups[i], priority_group_of(mmu, port, i)), i);
  }
  for (uint32_t i = 0; i < kQueues && needs.queues; ++i) {
    if (was_never_used(copy.counters.queues[i]) && was_never_used(copy.buffers->queues[i])) continue;
    changes.queues |= bit(update(copy.buffers->queues[i], queue_of(mmu, port, i)), i);
  }
}

}  // namespace

std::expected<void, std::string> CounterSeries::open(const SeriesRequest& request) {
  take_shape();
  if (!nodes_.ranks().is_first()) {  // it gives rank 0 what has changed
    begin(nullptr, request);
    return {};
  }
  auto lines = control::SeriesLines::open(request.path, &ending_);
  if (!lines) return std::unexpected("cannot write counters to " + lines.error());
  begin(std::move(*lines), request);
  return {};
}

void CounterSeries::open(std::unique_ptr<control::SampleSink> sink, const SeriesRequest& request) {
  take_shape();
  begin(std::move(sink), request);
}

void CounterSeries::take_shape() {
  const Ranks& ranks = nodes_.ranks();
  control::FabricSnapshot shape = snapshot_of(testbed_, compiler_, nodes_, RunFlows{}, nodes_.engine().now());
  if (!ranks.is_alone()) {
    joined_ = std::make_unique<JoinedSeries>(ranks, testbed_.fabric, shape);
    std::erase_if(shape.switches, [&](const auto& node) { return !is_here(node.name); });
    std::erase_if(shape.hosts, [&](const auto& node) { return !is_here(node.name); });
    std::erase_if(shape.edges, [&](const auto& edge) { return !is_here(edge.name); });
  }
  now_.switches = std::move(shape.switches);
  now_.hosts = std::move(shape.hosts);
  now_.edges = std::move(shape.edges);
}

bool CounterSeries::is_here(const std::string& name) const {
  const auto found = std::ranges::find(testbed_.fabric.nodes, name, &control::FabricNode::name);
  return nodes_.ranks().is_here(static_cast<uint32_t>(found - testbed_.fabric.nodes.begin()));
}

void CounterSeries::begin(std::unique_ptr<control::SampleSink> sink, const SeriesRequest& request) {
  request_ = request;
  sink_ = std::move(sink);
  size_t ports = 0;
  for (const control::SwitchSnapshot& node : now_.switches) ports += node.ports.size();
  states_.resize(ports);
  for (const control::HostSnapshot& host : now_.hosts) ports += host.ports.size();
  changes_.resize(ports + now_.edges.size());
  pools_.resize(testbed_.fabric.nodes.size());
  series_.emplace(all(), request.counters);
  needs_ = series_->needs();
  if (sink_) sink_->begin(series_->shape(testbed_.name, request_.interval));
  if (nodes_.engine().is_wall()) writer_ = std::jthread{[this](const std::stop_token& stop) { write(stop); }};
  nodes_.engine().look_at(Instant::at(request_.interval), [this](Instant now) { sample(now); });
}

void CounterSeries::sample(Instant now) {
  wait_until_written();
  copy(now);
  hand_over();
  const Instant next = nodes_.engine().next_event();
  if (next.is_never() && !nodes_.engine().is_wall()) return;
  nodes_.engine().look_at(after(now), [this](Instant then) { sample(then); });
}

// The next multiple; or the first one after the next event, if nothing changes before that.
Instant CounterSeries::after(Instant now) const {
  const int64_t interval = request_.interval.count_ps();
  const Instant usual = now + request_.interval;
  const Instant event = nodes_.engine().next_event();
  if (nodes_.engine().is_wall() || event < usual || !is_at_rest(now)) return usual;
  return Instant::at(Duration::ps((event.count_ps() / interval + 1) * interval));
}

bool CounterSeries::is_at_rest(Instant now) const {
  return nodes_.ranks().all(is_at_rest_here(now));
}

bool CounterSeries::is_at_rest_here(Instant now) const {
  bool all = true;
  const auto look_at = [&](uint32_t ports, const auto& flow_control_of) {
    for (uint16_t p = 0; p < ports && all; ++p) all = flow_control_of(PortNo{p}).is_at_rest(now);
  };
  nodes_.for_each_switch([&](uint32_t, const pipelines::Switch& node) {
    look_at(node.ports(), [&](PortNo port) -> const PortFlowControl& { return node.egress().flow_control(port); });
  });
  nodes_.for_each_host([&](uint32_t, const RoceHost& host) {
    look_at(host.config().ports, [&](PortNo port) -> const PortFlowControl& { return host.flow_control(port); });
  });
  return all;  // an edge is at rest when the switch at its link is
}

void CounterSeries::copy(Instant now) {
  copy_here(now);
  if (joined_) joined_->update(now_, changes_, needs_.pools);
}

void CounterSeries::copy_here(Instant now) {
  now_.instant = now;
  size_t port = 0;
  nodes_.for_each_switch([&, out = now_.switches.begin()](uint32_t n, const pipelines::Switch& node) mutable {
    copy_switch(n, node, *out, port);
    port += out++->ports.size();
  });
  if (!needs_.hosts) return;
  nodes_.for_each_host([&, out = now_.hosts.begin()](uint32_t, const RoceHost& host) mutable {
    copy_host(host, *out, port);
    port += out++->ports.size();
  });
  nodes_.for_each_edge([&, out = now_.edges.begin()](control::LinkEnd, const Nic& nic) mutable {
    changes_[port++] = copy_pauses_of_host(nic.flow_control(), out++->pause);
  });
}

void CounterSeries::copy_switch(uint32_t n, const pipelines::Switch& node, control::SwitchSnapshot& out,
                                size_t first_port) {
  const control::Profile& profile = testbed_.profiles[compiler_.profile_of(n)];
  const bool shares = profile.qos && profile.qos->has_buffers();
  for (uint16_t p = 0; p < out.ports.size(); ++p) {
    changes_[first_port + p] = copy_port(node, PortNo{p}, shares, out.ports[p], states_[first_port + p]);
  }
  if (shares && needs_.pools) copy_pools(n, node.egress().mmu(), out);
}

// The names of pools change with the profile alone.
void CounterSeries::copy_pools(uint32_t n, const Mmu& mmu, control::SwitchSnapshot& out) {
  const auto& config = testbed_.profiles[compiler_.profile_of(n)].qos;
  if (config == pools_[n] && update_pools(*config, mmu, out.pools)) return;
  out.pools = pools_of(*config, mmu);
  pools_[n] = config;
}

control::PortChanges CounterSeries::copy_port(const pipelines::Switch& node, PortNo port, bool shares,
                                              control::PortSnapshot& out, PortState& state) const {
  control::PortChanges changes{.port = false, .priorities = 0, .groups = 0, .queues = 0};
  if (needs_.ports || needs_.queues) {
    const PortCounters& counters = node.counters()[port.value()];
    for (uint32_t q = 0; q < kQueues; ++q) changes.queues |= bit(out.counters.queues[q] != counters.queues[q], q);
    changes.port = changes.queues != 0 || out.counters != counters;
    if (changes.port) out.counters = counters;
  }
  if (shares) update_buffers(node.egress().mmu(), port, out, changes, needs_);
  if (needs_.priorities || needs_.ports) changes.port |= copy_pauses_of(node, port, out, state, changes);
  return changes;
}

// Returns whether its credit frames or the pauses of its whole link have changed.
bool CounterSeries::copy_pauses_of(const pipelines::Switch& node, PortNo port, control::PortSnapshot& out,
                                   PortState& state, control::PortChanges& changes) const {
  const Egress& egress = node.egress();
  const PortFlowControl& flow = egress.flow_control(port);
  const bool has_credit = flow.goes_by_credit() || out.credit;
  const bool credit_changed = has_credit && update(out.credit, credit_of(flow.credits(), now_.instant));
  if (credit_changed) changes.priorities = 0xff;
  // Else only a watchdog's poll changes anything.
  const bool is_watched = egress.plan().ports[port.value()].watchdog.action != WatchdogAction::kNone;
  if (state.was_at_rest && state.pause_changes == flow.pause_changes() && !is_watched) return credit_changed;
  const bool link_changed = update(out.link_pause, link_pause_of(flow, now_.instant));
  PauseSnapshots pauses = out.pauses;
  copy_pauses(egress, port, now_.instant, pauses);
  for (uint32_t p = 0; p < kPriorities; ++p) changes.priorities |= bit(update(out.pauses[p], pauses[p]), p);
  // A pause that ends at this very instant is counted by an event that is still to come.
  const Instant before = now_.instant - Duration::ps(1);
  state = {.pause_changes = flow.pause_changes(), .was_at_rest = flow.is_at_rest(before)};
  return credit_changed || link_changed;
}

void CounterSeries::copy_host(const RoceHost& host, control::HostSnapshot& out, size_t first_port) {
  for (uint16_t p = 0; p < out.ports.size(); ++p) {
    const PortFlowControl& flow = host.flow_control(PortNo{p});
    changes_[first_port + p] = copy_pauses_of_host(flow, out.ports[p].pause);
  }
}

control::PortChanges CounterSeries::copy_pauses_of_host(const PortFlowControl& flow, control::HostPauses& out) const {
  control::PortChanges changes{.port = false, .priorities = 0, .groups = 0, .queues = 0};
  if (flow.pause_changes() == 0) return changes;
  const control::HostPauses pauses = pauses_of(flow, now_.instant);
  for (uint32_t i = 0; i < kPriorities; ++i) changes.priorities |= bit(update(out[i], pauses[i]), i);
  return changes;
}

void CounterSeries::hand_over() {
  if (!writer_.joinable()) return add_sample();
  {
    const std::lock_guard guard{lock_};
    has_work_ = true;
  }
  changed_.notify_all();
}

void CounterSeries::wait_until_written() {
  std::unique_lock guard{lock_};
  changed_.wait(guard, [this] { return !has_work_; });
}

void CounterSeries::write(const std::stop_token& stop) {
  std::unique_lock guard{lock_};
  while (changed_.wait(guard, stop, [this] { return has_work_; })) {
    guard.unlock();
    add_sample();
    guard.lock();
    has_work_ = false;
    changed_.notify_all();
  }
}

void CounterSeries::add_sample() {
  if (!sink_) return;  // rank 0 has it
  const control::SeriesSample sample = series_->sample(all(), joined_ ? joined_->changes() : changes_);
  sink_->sample(sample);
  report_errors(now_.instant);
}

void CounterSeries::finish(Instant now) {
  if (!series_) return;
  wait_until_written();
  copy(now);
  hand_over();
  wait_until_written();
  if (!sink_) return;
  sink_->end(now);
  report_errors(now);
}

void CounterSeries::report_errors(Instant now) {
  if (std::string error = sink_->take_error(); !error.empty()) {
    errors_.report("counters over time", std::move(error), now);
  }
}

std::vector<std::string> CounterSeries::check(const control::FabricSnapshot& end) const {
  return series_ ? series_->check(end) : std::vector<std::string>{};
}

}  // namespace softspine::testbeds
