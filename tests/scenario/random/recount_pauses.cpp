// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/recount_pauses.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dataplane/flow_control/pause_timing.hpp"

namespace softspine::tests {
namespace {

using control::LinkEnd;

constexpr int64_t kFastest = 10'000;  // a clock is off by one part in it at most

// As 802.3's annex 31B has it: XOFF sets the timer anew, and stops after the response, unless it does already; XON ends
// both. `most`: had it stopped at once.
struct PausedTime {
  int64_t exactly = 0;
  int64_t most = 0;
  int64_t frames = 0;
};

class PauseTimer {
 public:
  explicit PauseTimer(int64_t response_ps) : response_ps_(response_ps) {}
  void receive(int64_t at, int64_t asked_for) {
    end(at);
    ++sum_.frames;
    if (until_ <= at || from_ < 0) from_ = at;
    until_ = at + asked_for;
    if (asked_for == 0) from_ = -1;
  }
  PausedTime by(int64_t at) {
    end(at);
    return sum_;
  }

 private:
  // What has been paused by `at` since it was last asked.
  void end(int64_t at) {
    const int64_t to = std::min(at, until_);
    if (from_ >= 0) {
      sum_.most += std::max<int64_t>(to - std::max(from_, seen_), 0);
      sum_.exactly += std::max<int64_t>(to - std::max(from_ + response_ps_, seen_), 0);
    }
    seen_ = at;
  }
  int64_t response_ps_;
  int64_t from_ = -1;  // of what is pending or in effect
  int64_t until_ = 0;
  int64_t seen_ = 0;
  PausedTime sum_;
};

class PauseRecounting {
 public:
  PauseRecounting(const CapturedRun& run, Recount& out) : run_(run), out_(out) {}

  void measure_pauses();

 private:
  int64_t response_of(LinkEnd end) const;
  PausedTime asked_for(LinkEnd end, size_t priority) const;
  void hold_pauses(LinkEnd end, size_t priority, int64_t counted_ps, uint64_t storms);

  const CapturedRun& run_;
  Recount& out_;
};

// As the port's profile has it, or its link, or the standard: by the nominal rate, whatever the node's clock.
int64_t PauseRecounting::response_of(LinkEnd end) const {
  const auto& node = run_.testbed.fabric.nodes[end.node];
  const dataplane::Rate rate = run_.link_of(end).rate;
  const auto usual = rate.time_of_bytes(uint64_t{64} * dataplane::pause_response_quanta(rate));
  const auto of_link = run_.link_of(end).pfc_response.value_or(usual);
  const auto& qos = run_.testbed.profiles[node.profile].qos;
  if (run_.is_host(end) || qos == nullptr) return of_link.count_ps();
  return qos->port(node.ports[end.port].name).pfc_response.value_or(of_link).count_ps();
}

PausedTime PauseRecounting::asked_for(LinkEnd end, size_t priority) const {
  const LinkEnd peer = run_.testbed.fabric.peer_of(end);
  PauseTimer timer(response_of(end));
  const int64_t quantum = run_.rate_of(end).time_of_bytes(64).count_ps();
  for (const CapturedFrame& frame : run_.captured.frames) {
    if (!frame.pause || run_.sender_of(frame) != peer || (frame.pause->priorities >> priority & 1) == 0) continue;
    if (run_.arrival_of(frame) <= run_.end_ps)
      timer.receive(run_.arrival_of(frame), quantum * frame.pause->quanta[priority]);
  }
  return timer.by(run_.end_ps);
}

// Faults and watchdogs end pauses that are asked for, and take frames that ask.
void PauseRecounting::hold_pauses(LinkEnd end, size_t priority, int64_t counted_ps, uint64_t storms) {
  const PausedTime asked = asked_for(end, priority);
  const bool is_exact = run_.testbed.faults.empty() && run_.testbed.host_faults.empty() &&
                        run_.testbed.port_faults.empty() && run_.snapshot.faults.empty() && storms == 0;
  const int64_t of_clock = response_of(end) / kFastest + 1;
  const int64_t tolerance = asked.frames * (kCaptureTick + of_clock);
  ++out_.compared[is_exact ? "pauses" : "pauses at most"];
  const int64_t most = (is_exact ? asked.exactly : asked.most) + tolerance;
  if (counted_ps > most || (is_exact && counted_ps + tolerance < asked.exactly))
    out_.findings.push_back(fmt::format(
        "pauses: {} priority {} was paused for {} ps; the capture's {} frames ask for {}",
        run_.testbed.fabric.name_of(end), priority, counted_ps, asked.frames, is_exact ? asked.exactly : asked.most));
}

void PauseRecounting::measure_pauses() {
  for (size_t i = 0; i < run_.captured.interfaces.size(); ++i) {
    const LinkEnd end = run_.ends[i];
    if (run_.link_of(end).flow_control != control::FlowControl::kPfc) continue;
    const std::string& name = run_.testbed.fabric.nodes[end.node].name;
    for (size_t priority = 0; priority < 8; ++priority) {
      int64_t counted = 0;
      uint64_t storms = 0;
      for (const auto& node : run_.snapshot.switches) {
        if (node.name != name) continue;
        counted = node.ports[end.port].pauses[priority].time.count_ps();
        for (const auto& each : node.ports[end.port].pauses) storms += each.storms;
      }
      for (const auto& host : run_.snapshot.hosts) {
        if (host.name == name) counted = host.ports[end.port].pause[priority].paused.count_ps();
      }
      if (counted != 0) hold_pauses(end, priority, counted, storms);
    }
  }
}

}  // namespace

void recount_pauses(const CapturedRun& run, Recount& out) {
  PauseRecounting(run, out).measure_pauses();
}

}  // namespace softspine::tests
