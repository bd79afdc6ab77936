// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/loss_windows.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "dataplane/flow_control/pause_timing.hpp"
#include "dataplane/packet/pfc.hpp"

namespace softspine::testbeds {

using control::FlowLoss;
using control::LossSum;
using control::ReasonLoss;
using dataplane::Duration;
using dataplane::Instant;
using dataplane::LossKind;
using dataplane::LossRecord;

namespace {

constexpr size_t kListedFlows = size_t{1} << 16;
// After a fault is over: as many looks as a stall needs to be seen.
constexpr int64_t kLooksToBeSure = 5;

std::string word_of(const LossRecord& record) {
  switch (record.kind) {
    case LossKind::kLinkDown: return "link_down";
    case LossKind::kVanished: return "vanished";
    case LossKind::kDamaged: return "damaged";
    case LossKind::kDropped: break;
  }
  return std::string{name_of(record.reason)};
}

std::vector<ReasonLoss> listed(const std::map<std::string, LossSum>& sums) {
  std::vector<ReasonLoss> out;
  for (const auto& [reason, sum] : sums) out.push_back({reason, sum});
  return out;
}

void add_all(std::map<std::string, LossSum>& to, const std::map<std::string, LossSum>& from) {
  for (const auto& [reason, sum] : from) {
    LossSum& all = to[reason];
    all.first = std::min(all.first, sum.first);
    all.last = std::max(all.last, sum.last);
    all.packets += sum.packets;
    all.bytes += sum.bytes;
  }
}

}  // namespace

LossWindows::LossWindows(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows)
    : testbed_(testbed),
      nodes_(nodes),
      flows_(flows),
      recording_(nodes),
      causes_(testbed.fabric, flows),
      stalls_(testbed.fabric, nodes.engine(), flows),
      lost_of_flow_(flows.size()),
      stands_by_(flows.size(), control::kNone) {
  nodes_.engine().at_rest([this](Instant now) {
    if (has_any()) attribute_losses(now);
  });
}

void LossWindows::start() {
  if (testbed_.faults.empty() && testbed_.host_faults.empty() && testbed_.port_faults.empty()) return;
  is_whole_ = true;
  recording_.start();
}

// A run whose first fault is injected: what was lost before is in the counters only.
void LossWindows::begin_recording() {
  std::map<std::string, uint64_t> here;
  const auto add = [&here](const std::string& reason, uint64_t packets) {
    if (packets > 0) here[reason] += packets;
  };
  const auto add_drops = [&](const dataplane::DropCounters& drops) {
    for (size_t i = 0; i < drops.size(); ++i) {
      const auto reason = static_cast<dataplane::DropReason>(i);
      if (!dataplane::is_consumed(reason)) add(std::string{name_of(reason)}, drops[i]);
    }
  };
  nodes_.for_each_host([&](uint32_t, const RoceHost& host) { add_drops(host.counters().dropped); });
  nodes_.for_each_switch([&](uint32_t, const pipelines::Switch& node) {
    for (const auto& port : node.counters()) add_drops(port.drops);
  });
  nodes_.for_each_port([&](control::LinkEnd, const dataplane::Transmitter& sender) {
    const dataplane::LinkCounters& counters = sender.counters();
    add("link_down", counters.lost_packets + counters.cut_packets);
    add("vanished", counters.vanished_packets);
    add("damaged", counters.damaged_packets);
  });
  for (const auto& of_rank : nodes_.ranks().gather(here)) {
    for (const auto& [reason, packets] : of_rank) before_[reason].packets += packets;
  }
  recording_.start();
}

uint32_t LossWindows::begin(FaultScope scope, Instant now) {
  if (!has_any()) begin_recording();
  attribute_losses(now);
  const auto number = static_cast<uint32_t>(entries_.size());
  entries_.push_back({.window = {.at = now}, .scope = scope});
  causes_.begin(number, std::move(scope));
  change(now);
  return number;
}

void LossWindows::detected(uint32_t fault, Instant now) {
  Instant& at = entries_[fault].window.detected;
  at = std::min(at, now);
}

void LossWindows::converged(uint32_t fault, Instant now) {
  attribute_losses(now);
  entries_[fault].window.converged = now;
  causes_.followed(fault);
  change(now);
}

void LossWindows::ended(uint32_t fault, Instant now) {
  Instant& at = entries_[fault].window.ended;
  at = std::min(at, now);
}

void LossWindows::restored(uint32_t fault, Instant now) {
  if (!entries_[fault].restored.is_never()) return;
  entries_[fault].restored = now;
  change(now);
}

void LossWindows::reopen(uint32_t fault, Instant now) {
  Entry& entry = entries_[fault];
  if (entry.restored.is_never()) return;
  entry.restored = entry.window.recovered = Instant::never();
  if (!std::exchange(entry.is_open, true)) causes_.begin(fault, entry.scope);
  change(now);
}

void LossWindows::set_links(const std::vector<bool>& usable, Instant now) {
  if (has_any()) attribute_losses(now);
  causes_.set_links(usable);
}

// Everything that was lost before this instant is somebody's now.
void LossWindows::attribute_losses(Instant now) {
  for (const LossRecord& record : recording_.take_before(now)) add(record);
}

// Only that one of a packet's flooded copies is missed that was on its way to the packet's destination.
bool LossWindows::is_missed(const LossRecord& record) const {
  if (record.flow >= lost_of_flow_.size()) return false;
  const uint32_t destination = flows_.plan(record.flow).destination;
  if (!record.is_copy || record.node == destination) return true;
  const bool has_port = record.out_port < testbed_.fabric.nodes[record.node].ports.size();
  return has_port && testbed_.fabric.peer_of({record.node, record.out_port}).node == destination;
}

void LossWindows::add(const LossRecord& record) {
  const bool misses_it = is_missed(record);
  if (misses_it) ++lost_of_flow_[record.flow];
  const auto fault = causes_.of(record);
  if (!fault) return unexplained_[word_of(record)].add(record.at, record.frame_bytes);
  Entry& entry = entries_[*fault];
  entry.window.lost.add(record.at, record.frame_bytes);
  entry.window.over_time.add(std::max(record.at - entry.window.at, Duration{}));
  entry.reasons[word_of(record)].add(record.at, record.frame_bytes);
  if (!misses_it) return;
  if (FlowCost* const flow = flow_of(entry, record.flow)) {
    ++flow->loss.packets;
    flow->loss.bytes += record.frame_bytes;
    flow->first_lost = std::min(flow->first_lost, record.at);
    flow->last_lost = record.at;
  } else {
    ++entry.window.unlisted_packets;
  }
}

LossWindows::FlowCost* LossWindows::flow_of(Entry& entry, uint32_t flow) {
  if (const auto found = entry.flows.find(flow); found != entry.flows.end()) return &found->second;
  if (listed_ == kListedFlows) return nullptr;
  ++listed_;
  return &entry.flows.emplace(flow, FlowCost{.loss = {.flow = flow}}).first->second;
}

// Earlier losses are judged now, by the interval that held until now.
void LossWindows::change(Instant now) {
  if (looks_) {
    note(stalls_.look(now), now);
  } else {
    stalls_.begin();
  }
  stalls_.restart(now);
  look_at(stalls_.next(now));
}

void LossWindows::look_at(Instant when) {
  looks_ = true;
  nodes_.engine().look_at(when, [this, number = ++looks_planned_](Instant then) {
    if (number == looks_planned_) look(then);
  });
}

// An XOFF that died is said again when its priority is still asked to pause; until then the other end goes on.
dataplane::Duration LossWindows::time_of_a_refresh(const FaultScope& scope) const {
  dataplane::Duration longest;
  if (!scope.losses().kills_frames) return longest;
  for (const control::LinkEnd port : scope.ports) {
    const control::FabricLink& link = testbed_.fabric.links[testbed_.fabric.port(port).link];
    longest = std::max(longest, dataplane::pause_quantum(link.rate) * dataplane::pfc::kMaxQuanta);
  }
  return longest;
}

void LossWindows::look(Instant now) {
  looks_ = false;
  note(stalls_.look(now), now);
  if (std::ranges::none_of(entries_, &Entry::is_open)) return;
  dataplane::Engine& engine = nodes_.engine();
  const Instant next = engine.next_event();
  if (next.is_never() && !engine.is_wall()) return;
  look_at(engine.is_wall() ? stalls_.next(now) : std::max(stalls_.next(now), next));
}

void LossWindows::note(const std::vector<Stall>& stalls, Instant now) {
  attribute_losses(now);
  for (const Stall& stall : stalls) {
    if (Entry* const entry = cause_of(stall)) note_at(*entry, stall);
  }
  close_what_is_over(now);
}

void LossWindows::close_what_is_over(Instant now) {
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (!entry.is_open) continue;
    const bool goes_on = std::ranges::any_of(entry.flows, [](const auto& each) { return each.second.loss.still; });
    entry.window.moving = goes_on ? Instant::never() : std::max(entry.window.at, entry.moved);
    if (goes_on || entry.restored.is_never()) continue;
    if (!finished_ && now < entry.restored + time_of_a_refresh(entry.scope)) continue;
    if (!finished_ && now - entry.restored < (stalls_.next(now) - now) * kLooksToBeSure) continue;
    entry.window.recovered = std::max(entry.restored, entry.moved);
    entry.is_open = false;
    causes_.forget(i);
  }
}

// A flow that stands still by a fault does so until it moves, whatever strikes meanwhile.
LossWindows::Entry* LossWindows::cause_of(const Stall& stall) {
  uint32_t& stands_by = stands_by_[stall.flow];
  uint32_t cause = std::exchange(stands_by, control::kNone);
  if (cause == control::kNone) cause = most_suspect(stall);
  if (cause == control::kNone) return nullptr;
  if (stall.still) stands_by = cause;
  return &entries_[cause];
}

uint32_t LossWindows::most_suspect(const Stall& stall) const {
  uint32_t cause = control::kNone;
  std::optional<Suspicion> most;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.is_open) continue;
    StallSuspect suspect{.scope = entry.scope, .at = entry.window.at, .restored = entry.restored};
    if (const auto cost = entry.flows.find(stall.flow); cost != entry.flows.end()) {
      suspect.first_lost = cost->second.first_lost;
      suspect.last_lost = cost->second.last_lost;
    }
    const auto found = suspicion(testbed_.fabric, flows_, stall, suspect);
    if (!found || (most && *found <= *most)) continue;
    most = found;
    cause = i;
  }
  return cause;
}

void LossWindows::note_at(Entry& entry, const Stall& stall) {
  FlowCost* const flow = flow_of(entry, stall.flow);
  if (flow == nullptr) return;
  flow->loss.stalled = std::max(flow->loss.stalled, stall.to - stall.from);
  flow->loss.still = stall.still;
  if (!stall.still) entry.moved = std::max(entry.moved, stall.to);
}

void LossWindows::finish(Instant now) {
  finished_ = true;
  if (!has_any()) return;
  note(stalls_.look(now), now);
}

void LossWindows::snapshot(control::FabricSnapshot& out) {
  for (control::FaultSnapshot& fault : out.faults) {
    if (fault.number != control::kNone) fault.window = window(fault.number);
  }
  if (has_any()) out.loss_account = account();
}

control::LossWindow LossWindows::window(uint32_t fault) {
  attribute_losses(Instant::never());
  Entry& entry = entries_[fault];
  control::LossWindow out = entry.window;
  out.reasons = listed(entry.reasons);
  for (const auto& [number, flow] : entry.flows) out.flows.push_back(flow.loss);
  std::ranges::stable_sort(out.flows, [](const FlowLoss& a, const FlowLoss& b) {
    return std::tie(b.packets, b.stalled, a.flow) < std::tie(a.packets, a.stalled, b.flow);
  });
  return out;
}

control::LossAccount LossWindows::account() {
  attribute_losses(Instant::never());
  control::LossAccount out{.is_whole = is_whole_};
  std::map<std::string, LossSum> explained;
  for (const Entry& entry : entries_) add_all(explained, entry.reasons);
  out.explained = listed(explained);
  out.unexplained = listed(unexplained_);
  out.before = listed(before_);
  out.lost_of_flow = lost_of_flow_;
  return out;
}

}  // namespace softspine::testbeds
