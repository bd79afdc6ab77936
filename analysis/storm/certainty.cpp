// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/certainty.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace softspine::analysis::storm {

using dataplane::Duration;

namespace {

// A pause of its egress would be in the capture.
bool is_watched(const PauseLog& log, uint32_t port) {
  const LogPort& it = log.ports[port];
  return (it.is_captured && it.hears) || (it.peer != kNone && log.ports[it.peer].is_captured);
}

// The frames captured there span all of the time but a tenth.
bool spans(const LogPort& port, const CapturedTime& time) {
  const Duration tenth = (time.until - time.from) / 10;
  return port.is_captured && port.time.from <= time.from + tenth && time.until <= port.time.until + tenth;
}

bool is_watched_all_the_time(const PauseLog& log, uint32_t port, const CapturedTime& time) {
  const LogPort& it = log.ports[port];
  return (it.hears && spans(it, time)) || (it.peer != kNone && spans(log.ports[it.peer], time));
}

// Why a pause that is not in the capture may be the cause. Empty: all of them are.
std::string doubt_by_gaps(const Gaps& gaps) {
  if (gaps.missed > 0) return "frames are missing from the capture, and may have paused another of its ports";
  if (gaps.is_filtered)
    return "a filter chose what was captured, and may have left out what paused another of its ports";
  if (gaps.cut > 0) return "frames were captured too short to be read, and may have paused another of its ports";
  if (gaps.strange > 0) return "frames of a kind that is not known here may have paused another of its ports";
  if (gaps.omitted > 0) return "pause frames had to be left out, and may have paused another of its ports";
  if (gaps.timeless > 0)
    return "frames without a time that can be were left out, and may have paused another of its ports";
  if (gaps.clock_set > 0) return "the capture's clock was set meanwhile, so what came first cannot be told";
  if (gaps.disordered > 0) return "times in the capture run backwards, so what came first cannot be told";
  return "";
}

}  // namespace

std::string doubt_about(const PauseLog& log, uint32_t node, uint32_t from, const CapturedTime& time) {
  const LogNode& it = log.nodes[node];
  if (!it.is_named) return "the capture does not say what it is, nor what is behind it";
  if (it.is_tier_known && it.tier == 0) {
    return log.gaps.is_filtered ? "a filter chose what was captured, and may have left out the XONs that it sent" : "";
  }
  const auto seen = std::ranges::count_if(it.ports, [&log](uint32_t port) { return is_watched(log, port); });
  const auto unseen =
      std::ranges::find_if(it.ports, [&](uint32_t port) { return port != from && !is_watched(log, port); });
  if (unseen != it.ports.end()) {
    return fmt::format("{} was not captured, and may have been paused", log.name(*unseen));
  }
  const auto left_out = std::ranges::find_if(
      it.ports, [&](uint32_t port) { return port != from && !is_watched_all_the_time(log, port, time); });
  if (left_out != it.ports.end()) {
    return fmt::format("the capture of {} begins later or ends sooner, and it may have been paused then",
                       log.name(*left_out));
  }
  if (log.gaps.clocks > (time.until - time.from) / 10)
    return "the captures' clocks agree too little to tell what came first";
  if (!log.contradiction.empty()) return "what is known of the fabric contradicts itself: " + log.contradiction;
  if (std::string gap = doubt_by_gaps(log.gaps); !gap.empty()) return gap;
  if (it.known_ports == 0)
    return "the capture does not say how many ports it has, and any of them may have been paused";
  if (static_cast<uint64_t>(seen) < it.known_ports) {
    return fmt::format("{} of its {} ports were captured, and any other may have been paused", seen, it.known_ports);
  }
  return "";
}

}  // namespace softspine::analysis::storm
