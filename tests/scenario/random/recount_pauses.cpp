// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/recount_pauses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "dataplane/flow_control/pause_timing.hpp"

namespace softspine::tests {
namespace {

using control::LinkEnd;

constexpr int64_t kFastest = 10'000;  // a clock is off by one part in it at most

struct Span {
  int64_t from_ps;
  int64_t to_ps;
};

// As 802.3's annex 31B has it: XOFF sets the timer anew, and stops after the response, unless it does already; XON ends
// both. `most`: had each XOFF stopped at once, and no XON arrived.
struct PausedTime {
  std::vector<Span> spans;
  int64_t most = 0;
  int64_t frames = 0;
};

class PauseTimer {
 public:
  explicit PauseTimer(int64_t response_ps) : response_ps_(response_ps) {}
  void receive(int64_t at, int64_t asked_for) {
    end(at);
    ++out_.frames;
    if (until_ <= at) stop_at_ = at + response_ps_;
    until_ = at + asked_for;
    longest_ = std::max(longest_, until_);
  }
  PausedTime by(int64_t at) {
    end(at);
    return std::move(out_);
  }

 private:
  // What has been paused by `at` since it was last asked.
  void end(int64_t at) {
    const Span span{std::max(stop_at_, seen_), std::min(at, until_)};
    if (span.from_ps < span.to_ps) out_.spans.push_back(span);
    out_.most += std::max<int64_t>(std::min(at, longest_) - seen_, 0);
    seen_ = at;
  }
  int64_t response_ps_;
  int64_t stop_at_ = 0;
  int64_t until_ = 0;
  int64_t longest_ = 0;
  int64_t seen_ = 0;
  PausedTime out_;
};

struct Counted {
  int64_t ps = 0;
  uint64_t storms = 0;  // that the port's watchdog found, at any priority
};

class PauseRecounting {
 public:
  PauseRecounting(const CapturedRun& run, Recount& out) : run_(run), out_(out) {
    for (const CapturedFrame& frame : run.captured.frames) {
      if (frame.pause && run.arrival_of(frame) <= run.end_ps) pauses_of_[run.sender_of(frame)].push_back(&frame);
    }
  }

  void measure_pauses();

 private:
  bool obeys(LinkEnd end, size_t priority) const;
  int64_t response_of(LinkEnd end) const;
  int64_t leaving_at(LinkEnd end, const Span& span) const;
  PausedTime asked_for(LinkEnd end, size_t priority) const;
  void hold_pauses(LinkEnd end, size_t priority, const Counted& counted);
  std::optional<Counted> counted_at(LinkEnd end, size_t priority) const;

  const CapturedRun& run_;
  Recount& out_;
  std::map<LinkEnd, std::vector<const CapturedFrame*>> pauses_of_;  // that have arrived, by who sent them
};

// A switch's port and a NIC those in their pfc_enable (a NIC by itself its switch's), a built-in host all.
bool PauseRecounting::obeys(LinkEnd end, size_t priority) const {
  const auto enabled_at = [&](LinkEnd port) -> uint8_t {
    const auto& node = run_.testbed.fabric.nodes[port.node];
    if (node.kind == control::NodeKind::kHost) return 0;
    const auto& qos = run_.testbed.profiles[node.profile].qos;
    return qos == nullptr ? uint8_t{0} : qos->port(node.ports[port.port].name).pfc_enable;
  };
  const auto& node = run_.testbed.fabric.nodes[end.node];
  if (node.kind != control::NodeKind::kHost) return (enabled_at(end) >> priority & 1) != 0;
  if (control::is_builtin(node.attachment)) return true;
  return (node.nic.pfc_enable.value_or(enabled_at(run_.testbed.fabric.peer_of(end))) >> priority & 1) != 0;
}

// As the port's profile has it, or its link, or the standard: by the nominal rate, whatever the node's clock.
int64_t PauseRecounting::response_of(LinkEnd end) const {
  const auto& node = run_.testbed.fabric.nodes[end.node];
  const dataplane::Rate rate = run_.link_of(end).rate;
  const auto usual = rate.time_of_bytes(uint64_t{64} * dataplane::pause_response_quanta(rate));
  const auto of_link = run_.link_of(end).parameters.pfc_response.value_or(usual);
  const auto& qos = run_.testbed.profiles[node.profile].qos;
  if (run_.is_host(end) || qos == nullptr) return of_link.count_ps();
  return qos->port(node.ports[end.port].name).pfc_response.value_or(of_link).count_ps();
}

PausedTime PauseRecounting::asked_for(LinkEnd end, size_t priority) const {
  PauseTimer timer(response_of(end));
  const auto found = pauses_of_.find(run_.testbed.fabric.peer_of(end));
  if (found == pauses_of_.end()) return {};
  const int64_t quantum = run_.rate_of(end).time_of_bytes(64).count_ps();
  for (const CapturedFrame* frame : found->second) {
    if ((frame->pause->priorities >> priority & 1) != 0)
      timer.receive(run_.arrival_of(*frame), quantum * frame->pause->quanta[priority]);
  }
  return timer.by(run_.end_ps);
}

// Of the pause that begins then: a frame that has begun still leaves, and if it is of the priority (which is not asked
// here), the priority stands still from its end on.
int64_t PauseRecounting::leaving_at(LinkEnd end, const Span& span) const {
  for (const CapturedFrame& frame : run_.captured.frames) {
    if (run_.sender_of(frame) != end || frame.at_ps <= span.from_ps) continue;
    return run_.start_of(frame) < span.from_ps ? std::min(frame.at_ps, span.to_ps) - span.from_ps : 0;
  }
  return 0;
}

// Faults and watchdogs end pauses that are asked for, and take frames that ask.
void PauseRecounting::hold_pauses(LinkEnd end, size_t priority, const Counted& counted) {
  const PausedTime asked = asked_for(end, priority);
  if (counted.ps == 0 && asked.frames == 0) return;
  const bool is_exact = run_.testbed.faults.empty() && run_.testbed.host_faults.empty() &&
                        run_.testbed.port_faults.empty() && run_.snapshot.faults.empty() && counted.storms == 0;
  int64_t most = is_exact ? 0 : asked.most;
  int64_t leaving = 0;
  for (const Span& span : asked.spans) {
    if (is_exact) most += span.to_ps - span.from_ps;
    leaving += leaving_at(end, span);
  }
  const int64_t of_clock = response_of(end) / kFastest + 1;
  const int64_t tolerance = (asked.frames + 1) * (kCaptureTick + of_clock);
  ++out_.compared[is_exact ? "pauses" : "pauses at most"];
  if (counted.ps > most + tolerance || (is_exact && counted.ps + leaving + tolerance < most))
    out_.findings.push_back(fmt::format(
        "pauses: {} priority {} was paused for {} ps; the capture's {} frames ask for {}, frames that left {}",
        run_.testbed.fabric.name_of(end), priority, counted.ps, asked.frames, most, leaving));
}

// Nothing: nobody counts there.
std::optional<Counted> PauseRecounting::counted_at(LinkEnd end, size_t priority) const {
  const auto& node = run_.testbed.fabric.nodes[end.node];
  for (const auto& each : run_.snapshot.switches) {
    if (each.name != node.name) continue;
    const auto& pauses = each.ports[end.port].pauses;
    Counted out{pauses[priority].time.count_ps()};
    for (const auto& of : pauses) out.storms += of.storms;
    return out;
  }
  for (const auto& each : run_.snapshot.hosts) {
    if (each.name == node.name) return Counted{each.ports[end.port].pause[priority].paused.count_ps()};
  }
  for (const auto& each : run_.snapshot.edges) {
    if (each.name == node.name && each.port == node.ports[end.port].name)
      return Counted{each.pause[priority].paused.count_ps()};
  }
  return std::nullopt;
}

void PauseRecounting::measure_pauses() {
  for (const LinkEnd end : run_.ends) {
    if (run_.link_of(end).parameters.flow_control != control::FlowControl::kPfc) continue;
    for (size_t priority = 0; priority < 8; ++priority) {
      const auto counted = counted_at(end, priority);
      if (!counted) continue;
      if (obeys(end, priority)) {
        hold_pauses(end, priority, *counted);
      } else if (counted->ps != 0) {
        out_.findings.push_back(fmt::format("pauses: {} priority {} was paused for {} ps, and obeys no pause",
                                            run_.testbed.fabric.name_of(end), priority, counted->ps));
      }
    }
  }
}

}  // namespace

void recount_pauses(const CapturedRun& run, Recount& out) {
  PauseRecounting(run, out).measure_pauses();
}

}  // namespace softspine::tests
