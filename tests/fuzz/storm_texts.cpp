// SPDX-License-Identifier: Apache-2.0
// The texts that storm and pause-counters read beside a capture, as their first byte says: p, a list of ports; e, an
// event log, told beside a storm; c, counters of pauses, judged. Whatever they hold, each is read to its end or to a
// mistake with its place.
#include <cstdint>
#include <string>

#include "analysis/storm/counted_roots.hpp"
#include "analysis/storm/event_story.hpp"
#include "analysis/storm/port_list.hpp"
#include "dataplane/units/check.hpp"
#include "tests/fuzz/bytes_as_file.hpp"

using namespace softspine;
using namespace softspine::analysis::storm;

namespace {

void check(const std::string& error, const std::string& path) {
  SOFTSPINE_CHECK(error.starts_with(path + ":") && error.size() > path.size() + 2, error.size(), path.size());
}

void read_ports(const std::string& path) {
  KnownFabric known;
  const auto read = read_port_list(path, known);
  if (!read) return check(read.error(), path);
  const size_t names = known.port_of_mac.size() + known.port_of_interface.size() + known.node_of_mac.size();
  SOFTSPINE_CHECK(known.listed.empty() || names == known.listed.size(), known.listed.size(), names);  // or a config_db
  SOFTSPINE_CHECK(unmatched_lines(known, PauseRecorder{}).empty() == known.listed.empty(), known.listed.size(), 0);
}

// h1 stops tor1 from 1 ms on, for the 9 ms that are left.
PauseLog stormy() {
  PauseLog log;
  log.end = dataplane::Instant::at_ps(10'000'000'000);
  for (const char* name : {"h1", "tor1"}) {
    const uint32_t node = log.add_node(name);
    log.ports[log.add_port(std::string{name} + ":a", node, dataplane::Rate::gbps(100))].is_captured = true;
  }
  log.join(0, 1);
  log.pauses.push_back({.from = 0, .to = 1, .priority = 3});
  log.pauses[0].span = {.begin = dataplane::Instant::at_ps(1'000'000'000), .end = log.end, .frames = 50};
  return log;
}

void read_events(const std::string& path) {
  static const PauseLog log = stormy();
  static const Analysis analysis = analyse(log);
  SOFTSPINE_CHECK(analysis.storms.size() == 1, analysis.storms.size(), 0);
  const auto read = read_event_log(path);
  if (!read) return check(read.error(), path);
  const Story story = tell(*read, log, analysis, "", true);
  SOFTSPINE_CHECK(!story.misfit.empty() == story.lines.empty(), story.lines.size(), read->events.size());
  for (size_t i = 1; i < story.lines.size(); ++i) {
    SOFTSPINE_CHECK(story.lines[i - 1].at <= story.lines[i].at, i, story.lines.size());
  }
}

void judge(const CountReading& read) {
  CountedFabric fabric;
  fabric.nodes.push_back({.name = "s1", .known_ports = static_cast<uint32_t>(read.ports.size()), .ports = read.ports});
  fabric.nodes.push_back({.name = "h1", .is_host = true, .known_ports = 1, .ports = {}, .is_read = false});
  if (!read.ports.empty()) {
    const std::string port = "s1:" + read.ports.begin()->first;
    fabric.peers = {{port, "h1:a"}, {"h1:a", port}};
  }
  const CountedVerdict found = judge_counts(fabric);
  SOFTSPINE_CHECK(found.roots.size() <= kCountedPriorities, found.roots.size(), 0);
  for (const CountedSuspect& it : found.suspects) SOFTSPINE_CHECK(!it.why.empty(), it.priority, it.asked);
}

void read_counters(const std::string& path) {
  const auto read = read_counts(path, "eth0");
  if (!read) return check(read.error(), path);
  judge(*read);
  const auto none = difference(*read, *read);
  SOFTSPINE_CHECK(none && none->ports.size() == read->ports.size(), read->ports.size(), 0);
  for (const auto& [name, counts] : none->ports) {
    for (const PauseCounts& it : counts) SOFTSPINE_CHECK(it.tx_frames.value_or(0) == 0, name.size(), 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tests::BytesAsFile file;
  if (size == 0) return 0;
  const std::string& path = file.hold(data + 1, size - 1);
  if (data[0] == 'p') read_ports(path);
  if (data[0] == 'e') read_events(path);
  if (data[0] == 'c') read_counters(path);
  return 0;
}
