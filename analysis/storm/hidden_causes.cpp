// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/hidden_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/storm/pause_graph.hpp"
#include "analysis/storm/storm_report.hpp"

namespace softspine::analysis::storm {

using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rate;

namespace {

constexpr int64_t kFreeTenths = 2;
constexpr uint64_t kTimerBytes = uint64_t{0xffff} * 64;

struct Standstill {
  Instant begin;
  Instant end;
  uint32_t port = kNone;  // whose egress may have stood still
  Duration length() const { return end - begin; }
};

// The part of it in which the run was on; none: end ≤ begin.
Standstill within(const Run& run, Instant begin, Instant end, uint32_t port) {
  return {.begin = std::max(run.begin, begin), .end = std::min(run.end, end), .port = port};
}

Duration covered(std::vector<Standstill> stretches) {
  std::ranges::sort(stretches, {}, &Standstill::begin);
  Duration out;
  Instant known = stretches.empty() ? Instant{} : stretches.front().begin;
  for (const Standstill& it : stretches) {
    if (it.end <= known) continue;
    out += it.end - std::max(it.begin, known);
    known = it.end;
  }
  return out;
}

uint32_t longest(const std::vector<Standstill>& stretches) {
  return std::ranges::max_element(stretches, {}, &Standstill::length)->port;
}

bool is_tier_known(const PauseLog& log, uint32_t port) {
  return port != kNone && log.nodes[log.node_of(port)].is_tier_known;
}

// A tier that was guessed excludes no turn.
bool may_hold(const PauseLog& log, const Pause& by, const Run& run) {
  const bool are_known = is_tier_known(log, run.from) && is_tier_known(log, log.ports[run.from].peer) &&
                         is_tier_known(log, log.ports[by.to].peer);
  return may_cause(log, by, run.as_pause(), are_known ? Turns::kUpDown : Turns::kAny);
}

Duration longest_timer(const LogPort& port) {
  return (port.speed.is_zero() ? Rate::gbps(1) : port.speed).time_of_bytes(kTimerBytes);
}

// The run was cut off, or lasts.
bool may_last(const Run& run, Duration threshold) {
  return run.how != PauseEnd::kXon || run.count > 1 || run.length() >= threshold;
}

std::vector<Standstill> paused(const PauseLog& log, const Run& run, std::span<const Run* const> runs,
                               Duration threshold) {
  std::vector<Standstill> out;
  for (const Run* other : runs) {
    if (!may_last(*other, threshold) || !may_hold(log, other->as_pause(), run)) continue;
    const Instant begin = other->begin - longest_timer(log.ports[other->to]);
    const Standstill it = within(run, begin, other->end, other->to);
    if (it.begin < it.end) out.push_back(it);
  }
  return out;
}

// Where frames of a port's link were captured: at the port, or else at the other end.
const LogPort* place_of(const PauseLog& log, uint32_t port) {
  const LogPort& own = log.ports[port];
  if (own.is_captured && own.hears) return &own;
  return own.peer != kNone && log.ports[own.peer].is_captured ? &log.ports[own.peer] : nullptr;
}

std::vector<Standstill> silent(const PauseLog& log, const Run& run, uint32_t port) {
  const LogPort* place = place_of(log, port);
  if (place == nullptr) return {};  // certainty.hpp
  CapturedTime heard = place->time;
  if (!place->seen.is_empty() && !place->is_silence_known) {
    const Duration timer = longest_timer(*place);
    heard.from = std::max(heard.from, place->seen.from - timer);
    heard.until = std::min(heard.until, place->seen.until + timer);
  }
  std::vector<Standstill> out{within(run, run.begin, heard.from, port), within(run, heard.until, run.end, port)};
  std::erase_if(out, [](const Standstill& it) { return it.end <= it.begin; });
  return out;
}

std::vector<Standstill> silent(const PauseLog& log, const Run& run) {
  std::vector<Standstill> out;
  for (const uint32_t port : log.nodes[log.node_of(run.from)].ports) {
    const Pause any{.from = kNone, .to = port, .priority = kAllPriorities, .span = {}};
    if (!may_hold(log, any, run)) continue;
    const auto of_port = silent(log, run, port);
    out.insert(out.end(), of_port.begin(), of_port.end());
  }
  return out;
}

uint32_t port_with_a_lapse(const PauseLog& log, const Run& run) {
  for (const uint32_t port : log.nodes[log.node_of(run.from)].ports) {
    const LogPort* place = place_of(log, port);
    if (place != nullptr && place->lapses.overlaps(run.begin, run.end)) return port;
  }
  return kNone;
}

}  // namespace

bool is_free(const Run& run, Duration explained, Duration threshold) {
  const Duration free = run.length() - explained;
  return free >= threshold && free > run.length() / 10 * kFreeTenths;
}

std::string doubt_by_hidden_causes(const PauseLog& log, const Run& run, std::span<const Run* const> runs,
                                   Duration threshold) {
  if (log.nodes[log.node_of(run.from)].tier == 0) return "";  // it does not forward
  if (const uint32_t port = port_with_a_lapse(log, run); port != kNone) {
    return fmt::format("a pause at {} lapsed that nobody ended, so frames may be missing from its capture",
                       log.name(port));
  }
  std::vector<Standstill> all = paused(log, run, runs, threshold);
  if (!is_free(run, covered(all), threshold)) {
    return fmt::format("{} was paused, too, and may have been for all of that time", log.name(longest(all)));
  }
  const std::vector<Standstill> unheard = silent(log, run);
  all.insert(all.end(), unheard.begin(), unheard.end());
  if (is_free(run, covered(all), threshold)) return "";
  const uint32_t port = longest(unheard);
  return fmt::format("nothing was captured of {} for {} of that time, and it may have been paused", log.name(port),
                     time_text(covered(silent(log, run, port))));
}

}  // namespace softspine::analysis::storm
