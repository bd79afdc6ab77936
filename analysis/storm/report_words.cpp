// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/storm/storm_report.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::analysis::storm {

using control::grouped;
using dataplane::Duration;
using dataplane::Instant;

std::string time_text(Duration duration) {
  struct Scale {
    double ps;
    const char* unit;
  };
  constexpr std::array kScales = {Scale{1e12, "s"}, Scale{1e9, "ms"}, Scale{1e6, "us"}, Scale{1e3, "ns"}};
  const auto ps = static_cast<double>(duration.count_ps());
  for (const auto& [scale, unit] : kScales) {
    if (std::abs(ps) >= scale * 0.99995) return fmt::format("{:.4g} {}", ps / scale, unit);
  }
  return ps == 0 ? "0" : fmt::format("{:.4g} ps", ps);
}

std::string at_text(Instant at) {
  return time_text(at - Instant{});
}

std::string priorities_text(uint16_t priorities) {
  if ((priorities >> kAllPriorities & 1) != 0) return "all priorities";
  std::vector<int> found;
  for (int i = 0; i < kAllPriorities; ++i) {
    if ((priorities >> i & 1) != 0) found.push_back(i);
  }
  std::string out = found.size() == 1 ? "priority" : "priorities";
  for (size_t i = 0; i < found.size(); ++i) {
    out += fmt::format("{}{}", i == 0 ? " " : i + 1 == found.size() ? " and " : ", ", found[i]);
  }
  return out;
}

std::string cycle_text(const PauseLog& log, const Cycle& cycle) {
  std::string out;
  for (const uint32_t port : cycle.ports) out += log.node_name(port) + " → ";
  return out + log.node_name(cycle.ports.front());
}

std::string indented(const std::string& lines) {
  std::string out;
  for (size_t at = 0; at < lines.size();) {
    const size_t end = lines.find('\n', at);
    out += "    " + lines.substr(at, end - at) + '\n';
    at = end + 1;
  }
  return out;
}

std::string more_text(size_t all, size_t shown) {
  return all > shown ? fmt::format("    … and {} more (--all)\n", grouped(all - shown)) : "";
}

double percent(Duration part, Duration whole) {
  if (whole <= Duration{}) return 0;
  return std::min(100.0, 100.0 * static_cast<double>(part.count_ps()) / static_cast<double>(whole.count_ps()));
}

size_t known_roots(const Analysis& analysis) {
  return static_cast<size_t>(
      std::ranges::count_if(analysis.storms, [](const Storm& storm) { return storm.doubt.empty(); }));
}

Verdict verdict_of(const Analysis& analysis) {
  if (!analysis.storms.empty()) return Verdict::kStorm;
  if (!analysis.deadlocks.empty()) return Verdict::kDeadlock;
  if (!analysis.links.empty()) return Verdict::kCongestion;
  return analysis.hides_pauses ? Verdict::kUnknown : Verdict::kNoPauses;
}

const char* word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kStorm: return "storm";
    case Verdict::kDeadlock: return "deadlock";
    case Verdict::kCongestion: return "congestion";
    case Verdict::kUnknown: return "unknown";
    case Verdict::kNoPauses: break;
  }
  return "no_pauses";
}

std::string headline(const PauseLog& log, const Analysis& analysis) {
  switch (verdict_of(analysis)) {
    case Verdict::kStorm: {
      const Storm& storm = analysis.storms.front();
      const size_t roots = known_roots(analysis);
      if (roots == 0) {
        const std::string more =
            analysis.storms.size() > 1 ? fmt::format(", and {} more do", analysis.storms.size() - 1) : "";
        return fmt::format("PFC storm, its root not in this capture or not known: {} pauses {}{}",
                           log.nodes[storm.root].name, log.node_name(storm.to), more);
      }
      const std::string more = roots > 1 ? fmt::format(" (and {} more roots)", roots - 1) : "";
      return fmt::format("PFC storm: its root is {}, which pauses {} without end{}", log.nodes[storm.root].name,
                         log.node_name(storm.to), more);
    }
    case Verdict::kDeadlock:
      return fmt::format("Deadlock: {} pause each other", cycle_text(log, analysis.deadlocks.front()));
    case Verdict::kCongestion:
      return analysis.is_too_short ? "Pauses, in a capture too short to tell a storm from congestion"
                                   : "No storm: pauses, as congestion makes them";
    case Verdict::kUnknown: return "Whether there is a storm cannot be known: no pause frame could be read";
    case Verdict::kNoPauses: break;
  }
  return "No storm: no pauses";
}

}  // namespace softspine::analysis::storm
