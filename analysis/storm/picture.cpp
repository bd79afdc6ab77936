// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/telemetry/text_table.hpp"

namespace softspine::analysis::storm {

namespace {

constexpr double kTitleHeight = 84;
constexpr double kLegendHeight = 118;
constexpr size_t kLegendEntries = 4;
constexpr size_t kScaleSteps = 20;
constexpr ptrdiff_t kMacColons = 5;
constexpr size_t kMacCharacters = 17;

void draw_title(Svg& svg, const CaptureFacts& facts, const PauseLog& log, const Analysis& analysis) {
  const bool is_bad = verdict_of(analysis) == Verdict::kStorm || verdict_of(analysis) == Verdict::kDeadlock;
  svg.text({kMargin, 40}, shortened(headline(log, analysis), 88),
           {.size = 22, .colour = is_bad ? colours::kRoot : colours::kWords, .is_bold = true});
  svg.text(
      {kMargin, 64},
      fmt::format("{}: {} long, {} frames, {} of them pause frames", shortened(facts.file, 60), time_text(log.length()),
                  control::grouped(facts.tally.frames), control::grouped(facts.tally.pause_frames)),
      {.size = 13, .colour = colours::kFaint});
}

struct LegendEntry {
  std::string_view fill;
  std::string_view edge;
  const char* words;
};

void draw_legend(Svg& svg, double top, const Analysis& analysis) {
  const Verdict verdict = verdict_of(analysis);
  std::vector<LegendEntry> entries;
  if (verdict == Verdict::kStorm) {
    entries = {{colours::kVictim, colours::kVictimEdge,
                "victim: paused by the root, directly or through others (+time: how long after the root)"}};
    if (known_roots(analysis) < analysis.storms.size()) {
      entries.insert(entries.begin(), {colours::kVictim, colours::kRoot,
                                       "pauses without end: the root is it, or behind it where nothing was captured"});
    }
    if (known_roots(analysis) > 0) {
      entries.insert(entries.begin(), {colours::kRoot, colours::kRoot,
                                       "root: pauses its neighbour, and no pause that it gets explains it"});
    }
  } else if (verdict == Verdict::kDeadlock) {
    entries = {
        {colours::kLocked, colours::kLockedEdge, "caught in the cycle: each pauses the next, the last the first"},
        {colours::kVictim, colours::kVictimEdge, "victim: paused by what is caught in it, directly or through others"}};
  }
  entries.push_back(
      {colours::kQuiet, colours::kCongestion, "paused now and then, as congestion does it (%: of the time, at most)"});
  if (entries.size() < kLegendEntries) entries.push_back({colours::kQuiet, colours::kQuietEdge, "never paused"});
  double y = top + 10;
  for (const LegendEntry& it : entries) {
    svg.box({kMargin, y}, 26, 16, it.fill, it.edge, 1.5, 3);
    svg.text({kMargin + 36, y + 12.5}, it.words, {.size = 12.5});
    y += 25;
  }
  const double right = kPictureWidth / 2 + 60;
  svg.arrow({right, top + 18}, {right + 60, top + 18}, colours::heat(100), 2.5);
  svg.text({right + 72, top + 22.5}, "A → B: A pauses B by PFC frames. What B holds for A waits", {.size = 12.5});
  svg.text({right + 72, top + 39.5}, "and fills the buffer of B, until B pauses those who send to it.", {.size = 12.5});
  for (size_t i = 0; i < kScaleSteps; ++i) {
    svg.box({right + static_cast<double>(i) * 10, top + 58}, 10.5, 12,
            colours::heat(100.0 * static_cast<double>(i) / (kScaleSteps - 1)));
  }
  svg.text({right, top + 85}, "0 %", {.size = 11, .colour = colours::kFaint});
  svg.text({right + kScaleSteps * 10, top + 85}, "100 %", {.size = 11, .colour = colours::kFaint, .anchor = "end"});
  svg.text({right + kScaleSteps * 10 + 14, top + 69}, "of the time, in which A paused B", {.size = 12.5});
}

}  // namespace

std::string colours::heat(double percent) {
  struct Stop {
    double at, red, green, blue;
  };
  constexpr Stop kStops[] = {{0, 246, 211, 101}, {35, 239, 138, 56}, {70, 208, 52, 40}, {100, 140, 0, 26}};
  size_t i = 1;
  while (i + 1 < std::size(kStops) && percent > kStops[i].at) ++i;
  const Stop& a = kStops[i - 1];
  const Stop& b = kStops[i];
  const double share = std::clamp((percent - a.at) / (b.at - a.at), 0.0, 1.0);
  const auto mix = [share](double from, double to) {
    return static_cast<int>(std::lround(from + (to - from) * share));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue));
}

std::vector<Part> parts_of(const PauseLog& log, const Analysis& analysis) {
  std::vector<Part> parts(log.nodes.size(), Part::kQuiet);
  for (const LinkPauses& link : analysis.links) parts[log.node_of(link.to)] = Part::kCongested;
  for (const Storm& storm : analysis.storms) {
    for (const uint32_t node : storm.victims) parts[node] = Part::kVictim;
  }
  for (const Cycle& cycle : analysis.deadlocks) {
    for (const uint32_t node : cycle.victims) parts[node] = Part::kVictim;
  }
  for (const Cycle& cycle : analysis.deadlocks) {
    for (const uint32_t port : cycle.members) parts[log.node_of(port)] = Part::kLocked;
  }
  for (const Storm& storm : analysis.storms) parts[storm.root] = storm.doubt.empty() ? Part::kRoot : Part::kSuspect;
  return parts;
}

std::vector<Arrow> arrows_of(const PauseLog& log, const Analysis& analysis) {
  std::map<std::pair<uint32_t, uint32_t>, Arrow> found;
  for (const LinkPauses& link : analysis.links) {
    Arrow& arrow = found.try_emplace({link.from, link.to}, Arrow{.from = link.from, .to = link.to}).first->second;
    arrow.priorities |= static_cast<uint16_t>(1 << link.priority);
    arrow.percent = std::max(arrow.percent, percent(link.total, log.length()));
  }
  std::vector<Arrow> out;
  for (const auto& [key, arrow] : found) out.push_back(arrow);
  std::ranges::stable_sort(out, {}, &Arrow::percent);  // the longest on top
  return out;
}

// At a character's border: what follows its first byte begins with the bits 10.
std::string shortened(const std::string& text, size_t characters) {
  size_t count = 0;
  size_t cut = text.size();
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (++count == characters) cut = i;
  }
  return count <= characters ? text : text.substr(0, cut) + "…";
}

std::string shortened_name(const std::string& name, size_t characters) {
  const bool is_mac = name.size() == kMacCharacters && std::ranges::count(name, ':') == kMacColons;
  if (!is_mac || name.size() <= characters) return shortened(name, characters);
  return "…" + name.substr(name.size() - std::min(name.size(), std::max<size_t>(characters, 2) - 1));
}

std::string picture(const CaptureFacts& facts, const PauseLog& log, const Analysis& analysis) {
  const double map = map_height(log, analysis);
  const double timeline = timeline_height(analysis);
  Svg svg{kPictureWidth, kTitleHeight + map + kLegendHeight + timeline + kMargin};
  draw_title(svg, facts, log, analysis);
  const double below_map = draw_map(svg, kTitleHeight, log, analysis);
  svg.line({kMargin, below_map}, {kPictureWidth - kMargin, below_map}, "#d5dbe0", 1);
  draw_legend(svg, below_map, analysis);
  draw_timeline(svg, below_map + kLegendHeight, log, analysis);
  return std::move(svg).finish();
}

}  // namespace softspine::analysis::storm
