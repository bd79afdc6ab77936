// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/pause_log.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/storm/port_links.hpp"
#include "analysis/storm/sender_ends.hpp"
#include "analysis/storm/tiers.hpp"

namespace softspine::analysis::storm {

using dataplane::Instant;

std::string node_part(const std::string& port_name) {
  return port_name.substr(0, port_name.rfind(':'));
}

dataplane::Duration PauseLog::length(Instant from, Instant until) const {
  dataplane::Duration out = until - from;
  for (const CapturedTime& it : silences) {
    if (it.overlaps(from, until)) out -= std::min(until, it.until) - std::max(from, it.from);
  }
  return out;
}

uint32_t PauseLog::add_node(const std::string& name) {
  nodes.push_back({.name = name});
  return static_cast<uint32_t>(nodes.size() - 1);
}

uint32_t PauseLog::add_port(const std::string& name, uint32_t node, dataplane::Rate speed) {
  const auto port = static_cast<uint32_t>(ports.size());
  ports.push_back({.name = name, .node = node, .speed = speed});
  nodes[node].ports.push_back(port);
  return port;
}

bool PauseLog::join(uint32_t a, uint32_t b) {
  if (a == b || ports[a].peer != kNone || ports[b].peer != kNone) return false;
  ports[a].peer = b;
  ports[b].peer = a;
  return true;
}

namespace {

// Puts a PauseLog together. Ports of the recorder keep their numbers; what is made up comes behind them.
class Assembly {
 public:
  Assembly(const PauseRecorder& recorded, const KnownFabric& known) : recorded_(recorded), known_(known) {
    for (const RecordedPort& port : recorded.ports()) add_captured(port);
  }

  void add_links() { PortLinks{recorded_, known_, captured_, book_}.join(); }
  void add_pauses();
  PauseLog finish();

 private:
  PauseLog& log() { return book_.log; }
  // The name of a captured port, from the best source.
  const std::string& captured_name(const RecordedPort& port) const {
    if (const auto it = known_.port_of_interface.find(port.name); it != known_.port_of_interface.end())
      return it->second;
    const auto it = known_.port_of_mac.find(port.mac);
    return port.mac != 0 && it != known_.port_of_mac.end() ? it->second : port.name;
  }
  void add_captured(const RecordedPort& port);

  const PauseRecorder& recorded_;
  const KnownFabric& known_;
  std::vector<uint32_t> captured_;  // ports of the log, by the recorder's
  PortBook book_;
};

void Assembly::add_captured(const RecordedPort& port) {
  const uint32_t number = book_.port(captured_name(port), port.speed);
  captured_.push_back(number);
  log().ports[number].is_captured = true;
  log().ports[number].time = port.time;
  log().ports[number].hears = port.hears;
  log().ports[number].is_silence_known = port.is_silence_known;
  log().ports[number].seen = port.seen;
  log().ports[number].lapses = port.lapses;
  LogNode& node = log().nodes[log().ports[number].node];
  node.is_named = port.is_named || captured_name(port) != port.name;
  node.known_ports = std::max(node.known_ports, port.node_ports);
}

// The parts of a pause outside of that time: the one before it, and the one after it.
std::vector<PauseSpan> outside(const PauseSpan& span, const CapturedTime& time) {
  std::vector<PauseSpan> out;
  const auto part = [&](Instant from, Instant until, PauseEnd how) {
    const double share = static_cast<double>((until - from).count_ps()) /
                         static_cast<double>(std::max<int64_t>(1, (span.end - span.begin).count_ps()));
    const auto of = [share](uint32_t n) { return std::max(1U, static_cast<uint32_t>(std::lround(share * n))); };
    PauseSpan cut = span;
    cut.begin = from;
    cut.end = until;
    cut.frames = of(span.frames);
    cut.pauses = of(span.pauses);
    cut.off = dataplane::Duration::ps(std::llround(share * static_cast<double>(span.off.count_ps())));
    cut.how = how;
    return cut;
  };
  if (span.begin < time.from) {
    const Instant end = std::min(span.end, time.from);
    const PauseEnd how = end == span.end ? span.how : PauseEnd::kOpen;  // the other capture has the rest
    out.push_back(part(span.begin, end, how));
  }
  if (span.end > time.until) {
    const Instant begin = std::max(span.begin, time.until);
    out.push_back(part(begin, span.end, span.how));
  }
  return out;
}

void Assembly::add_pauses() {
  const auto ends = SenderEnds{recorded_, known_, captured_, book_}.find();
  std::vector<uint64_t> kept(ends.size());  // frames, of what counts elsewhere for a part of the time
  for (const RecordedPause& pause : recorded_.pauses()) {
    const auto& [from, to, elsewhere] = ends[pause.sender];
    if (from == kNone) continue;
    if (!elsewhere) {
      log().pauses.push_back({.from = from, .to = to, .priority = pause.priority, .span = pause.span});
      continue;
    }
    for (const PauseSpan& span : outside(pause.span, *elsewhere)) {
      log().pauses.push_back({.from = from, .to = to, .priority = pause.priority, .span = span});
      kept[pause.sender] += span.frames;
    }
  }
  for (uint32_t i = 0; i < ends.size(); ++i) {
    if (ends[i].from != kNone && !ends[i].elsewhere) continue;
    const uint64_t frames = recorded_.copies().frames(i);
    log().copies += frames - std::min(frames, kept[i]);
  }
  std::ranges::stable_sort(log().pauses, {}, [](const Pause& pause) { return pause.span.begin; });
}

PauseLog Assembly::finish() {
  const Tally& tally = recorded_.tally();
  log().gaps = {.missed = tally.missed,
                .cut = tally.cut_pause_frames + tally.cut_frames,
                .strange = tally.strange,
                .omitted = tally.omitted,
                .timeless = tally.timeless,
                .disordered = tally.disordered,
                .clock_set = static_cast<uint64_t>(std::ranges::count_if(recorded_.steps(), &ClockStep::is_back)),
                .is_filtered = tally.is_filtered};
  log().begin = recorded_.first();
  log().end = recorded_.last();
  for (const ClockStep& it : recorded_.steps()) log().silences.push_back({.from = it.at, .until = it.until});
  guess_tiers(log());
  return std::move(log());
}

}  // namespace

PauseLog assemble_log(const PauseRecorder& recorded, const KnownFabric& known, dataplane::Duration clocks) {
  Assembly assembly{recorded, known};
  assembly.add_links();
  assembly.add_pauses();
  PauseLog log = assembly.finish();
  log.gaps.clocks = clocks;
  return log;
}

}  // namespace softspine::analysis::storm
