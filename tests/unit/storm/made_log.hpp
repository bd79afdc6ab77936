// SPDX-License-Identifier: Apache-2.0
// A log of pauses made by hand: nodes and links by name, pauses in microseconds.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "analysis/storm/storm_analysis.hpp"
#include "analysis/storm/tiers.hpp"

namespace softspine::tests {

class MadeLog {
 public:
  // 20 ms, links of 100G: a storm is 2 ms.
  analysis::storm::PauseLog log;

  MadeLog() {
    log.begin = dataplane::Instant::at_ps(0);
    log.end = us(20'000);
  }
  static dataplane::Instant us(int64_t n) { return dataplane::Instant::at_ps(n * 1'000'000); }

  void link(const std::string& a, const std::string& b) {
    const uint32_t first = log.add_port(a + ":to-" + b, node(a), dataplane::Rate::gbps(100));
    log.join(first, log.add_port(b + ":to-" + a, node(b), dataplane::Rate::gbps(100)));
  }
  dataplane::Rate& rate_of(const std::string& a, const std::string& b) { return log.ports[port(a + ":to-" + b)].speed; }
  // `a` asks `b` to stop.
  void pause(const std::string& a, const std::string& b, int64_t begin_us, int64_t end_us,
             analysis::storm::PauseEnd how = analysis::storm::PauseEnd::kXon, uint8_t priority = 3) {
    const uint32_t from = port(a + ":to-" + b);
    log.pauses.push_back({.from = from,
                          .to = log.ports[from].peer,
                          .priority = priority,
                          .span = {.begin = us(begin_us), .end = us(end_us), .frames = 1, .how = how}});
  }
  // To the end of the capture.
  void stop(const std::string& a, const std::string& b, int64_t begin_us) {
    pause(a, b, begin_us, 20'000, analysis::storm::PauseEnd::kOpen);
  }
  // Now and then: on for `on_us`, off for `off_us`.
  void flicker(const std::string& a, const std::string& b, int64_t on_us, int64_t off_us) {
    for (int64_t at = 0; at + on_us <= 20'000; at += on_us + off_us) pause(a, b, at, at + on_us);
  }

  analysis::storm::Analysis analysis(const analysis::storm::StormRule& rule = {}) {
    std::ranges::stable_sort(log.pauses, {}, [](const auto& pause) { return pause.span.begin; });
    analysis::storm::guess_tiers(log);
    return analysis::storm::analyse(log, rule);
  }
  const std::string& root(const analysis::storm::Analysis& analysis, size_t i = 0) const {
    return log.nodes[analysis.storms.at(i).root].name;
  }

 private:
  uint32_t node(const std::string& name) {
    const auto it = std::ranges::find(log.nodes, name, &analysis::storm::LogNode::name);
    return it == log.nodes.end() ? log.add_node(name) : static_cast<uint32_t>(it - log.nodes.begin());
  }
  uint32_t port(const std::string& name) const {
    const auto it = std::ranges::find(log.ports, name, &analysis::storm::LogPort::name);
    if (it == log.ports.end()) throw std::invalid_argument("no port " + name);
    return static_cast<uint32_t>(it - log.ports.begin());
  }
};

}  // namespace softspine::tests
