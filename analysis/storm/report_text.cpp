// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analysis/storm/clock_report.hpp"
#include "analysis/storm/storm_report.hpp"
#include "analysis/storm/story_report.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::analysis::storm {

using control::grouped;
using control::TextTable;
using dataplane::Duration;
using dataplane::Instant;

namespace {

std::string ports_text(const PauseLog& log, uint32_t from, uint32_t to) {
  return fmt::format("{} pauses {}", log.name(from), log.name(to));
}

const char* end_text(PauseEnd how) {
  switch (how) {
    case PauseEnd::kXon: return "until it sent XON";
    case PauseEnd::kLapsed: return "until it stopped asking";
    case PauseEnd::kOpen: break;
  }
  return "to the end of the capture";
}

std::string spread_text(const PauseLog& log, const Storm& storm, size_t rows) {
  TextTable table{{"AFTER", "HOPS", "<PAUSER", "<PAUSED", "FOR"}};
  const size_t shown = std::min(rows, storm.spread.size());
  for (size_t i = 0; i < shown; ++i) {
    const Share& share = storm.spread[i];
    table.add({time_text(share.first - storm.begin), std::to_string(share.hops), log.name(share.from),
               log.name(share.to), time_text(share.time)});
  }
  return "  How it spread\n" + indented(table.text()) + more_text(storm.spread.size(), shown);
}

std::string victims_text(const PauseLog& log, const std::vector<uint32_t>& victims, size_t rows) {
  std::string names;
  const size_t shown = std::min(rows, victims.size());
  for (size_t i = 0; i < shown; ++i) names += (i == 0 ? "" : ", ") + log.nodes[victims[i]].name;
  if (shown < victims.size()) names += fmt::format(", and {} more (--all)", victims.size() - shown);
  const auto hosts = std::ranges::count_if(
      victims, [&](uint32_t node) { return log.nodes[node].is_tier_known && log.nodes[node].tier == 0; });
  const std::string of_them = hosts == 0 ? "" : fmt::format(", {} of them hosts", hosts);
  return fmt::format("  Victims: {} node{}{}: {}\n", victims.size(), victims.size() == 1 ? "" : "s", of_them, names);
}

std::string storm_text(const PauseLog& log, const Analysis& analysis, const Storm& storm, size_t rows) {
  const std::string& node = log.nodes[storm.root].name;
  std::string out = storm.doubt.empty() ? fmt::format("STORM: root {}\n", node)
                                        : fmt::format("STORM: from {} or from behind it\n", node);
  out += fmt::format("  {}, {}, from {} on for {}, {}: {} XOFFs.\n", ports_text(log, storm.from, storm.to),
                     priorities_text(storm.priorities), at_text(storm.begin),
                     time_text(log.length(storm.begin, storm.end)), end_text(storm.how), grouped(storm.frames));
  out += storm.doubt.empty() ? fmt::format("  Nothing that holds {}'s own egress explains it.", node)
                             : fmt::format("  Whether {} is the root cannot be known: {}.", node, storm.doubt);
  out += fmt::format(" {:.0f} % of all paused time leads back to it.\n", percent(storm.explained, analysis.paused));
  if (storm.paused_percent < 80) {
    out += fmt::format("  Its timer lapses again and again, and no XON comes: {:.0f} % of the time is paused.\n",
                       storm.paused_percent);
  }
  return out + spread_text(log, storm, rows) + victims_text(log, storm.victims, rows) + "\n";
}

std::string cycles_text(const PauseLog& log, const char* title, const std::vector<Cycle>& cycles, size_t rows) {
  std::string out;
  for (size_t i = 0; i < std::min(rows, cycles.size()); ++i) {
    const Cycle& it = cycles[i];
    out += fmt::format("{}: {} (priority {}), each pauses the next, closed for {} from {} on\n", title,
                       cycle_text(log, it), it.priority == kAllPriorities ? "all" : std::to_string(it.priority),
                       time_text(it.time), at_text(it.begin));
    if (it.fed_by != kNone) {
      out +=
          fmt::format("  It was fed by {} when it closed, and may stay when that stops.\n", log.nodes[it.fed_by].name);
    }
    if (!it.victims.empty()) out += victims_text(log, it.victims, rows);
    if (it.turns_up) out += "  It needs traffic that comes down and goes up again: look at the routes.\n";
  }
  return out.empty() ? out : out + more_text(cycles.size(), std::min(rows, cycles.size())) + "\n";
}

std::string no_storm_text(const PauseLog& log, const Analysis& analysis) {
  const Pause& longest = log.pauses[analysis.longest];
  std::string out = headline(log, analysis) + ".\n";
  out += fmt::format("  The longest, {} long: {}, priority {}, from {} on, {}.\n",
                     time_text(longest.span.longest_one()), ports_text(log, longest.from, longest.to),
                     longest.priority == kAllPriorities ? "all" : std::to_string(longest.priority),
                     at_text(longest.span.longest_from()), end_text(longest.span.how));
  return out + "\n";
}

std::string origins_text(const PauseLog& log, const Analysis& analysis, size_t rows) {
  std::string out = "Where pausing began, and its share of all paused time\n";
  const size_t shown = std::min(rows, analysis.origins.size());
  TextTable table{{"<NODE", "EXPLAINS", "SHARE"}};
  for (size_t i = 0; i < shown; ++i) {
    const Origin& origin = analysis.origins[i];
    table.add({log.nodes[origin.node].name, time_text(origin.explained),
               fmt::format("{:.1f}%", percent(origin.explained, analysis.paused))});
  }
  return out + indented(table.text()) + more_text(analysis.origins.size(), shown) + "\n";
}

std::string links_text(const PauseLog& log, const Analysis& analysis, size_t rows) {
  const Duration all = log.length();
  TextTable table{{"<PAUSER", "<PAUSED", "PRIO", "PAUSES", "XOFFS", "XON", "LAPSED", "TOTAL", "OF TIME", "LONGEST",
                   "FIRST AT", "<"}};
  const size_t shown = std::min(rows, analysis.links.size());
  for (size_t i = 0; i < shown; ++i) {
    const LinkPauses& it = analysis.links[i];
    table.add({log.name(it.from), log.name(it.to), it.priority == kAllPriorities ? "all" : std::to_string(it.priority),
               grouped(it.pauses), grouped(it.frames), grouped(it.xons), grouped(it.lapsed), time_text(it.total),
               fmt::format("{:.1f}%", percent(it.total, all)), time_text(it.longest), at_text(it.first),
               it.is_open ? "still paused at the end" : ""});
  }
  return "Pauses by port and priority\n" + indented(table.text()) + more_text(analysis.links.size(), shown);
}

std::string threshold_text(const Analysis& analysis) {
  const std::string least = time_text(analysis.threshold_min);
  const std::string most = time_text(analysis.threshold_max);
  return fmt::format("A pause counts as a storm from {} on without XON (--storm-after), if nothing else causes it.\n",
                     least == most ? least : fmt::format("{} to {}, by the link's speed,", least, most));
}

}  // namespace

std::string text_report(const CaptureFacts& facts, const PauseLog& log, const Analysis& analysis, size_t rows) {
  std::string out = fmt::format("{}: {} of {} port{}, {} frames, {} of them pause frames\n", facts.file,
                                time_text(log.length()), facts.ports, facts.ports == 1 ? "" : "s",
                                grouped(facts.tally.frames), grouped(facts.tally.pause_frames));
  for (const std::string& note : facts.notes) out += "note: " + note + "\n";
  if (!facts.clocks.empty()) out += "\n" + clocks_text(facts.clocks);
  out += "\n";
  const Verdict verdict = verdict_of(analysis);
  if (verdict == Verdict::kUnknown) return out + headline(log, analysis) + ".\n";
  if (verdict == Verdict::kNoPauses) {
    return out + fmt::format("No storm: no pause frames in {} frame{}.\n", grouped(facts.tally.frames),
                             facts.tally.frames == 1 ? "" : "s");
  }
  const size_t shown = std::min(rows, analysis.storms.size());
  for (size_t i = 0; i < shown; ++i) out += storm_text(log, analysis, analysis.storms[i], rows);
  out += more_text(analysis.storms.size(), shown);
  out += cycles_text(log, "DEADLOCK", analysis.deadlocks, rows);
  if (verdict == Verdict::kCongestion) out += no_storm_text(log, analysis);
  if (facts.story) out += story_text(log, analysis, *facts.story, rows);
  out += cycles_text(log, "CYCLE", analysis.fed_cycles, rows);
  return out + origins_text(log, analysis, rows) + links_text(log, analysis, rows) + threshold_text(analysis);
}

}  // namespace softspine::analysis::storm
