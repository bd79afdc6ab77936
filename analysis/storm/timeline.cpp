// SPDX-License-Identifier: Apache-2.0
// The lower part of the picture: a row for each link and priority, bars where it stood still.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "analysis/storm/picture.hpp"

namespace softspine::analysis::storm {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr double kLabelWidth = 260;
constexpr double kRowStep = 21;
constexpr double kBarHeight = 13;
constexpr double kHeadHeight = 56;
constexpr double kAxisHeight = 34;
constexpr double kBarsLeft = kMargin + kLabelWidth;
constexpr double kBarsWidth = kPictureWidth - kMargin - kBarsLeft;

class Timeline {
 public:
  Timeline(const PauseLog& log, const Analysis& analysis) : log_(log), analysis_(analysis) {
    for (const Storm& storm : analysis.storms) {
      for (const Share& share : storm.spread) {
        reached_.try_emplace(share.from, std::tuple{share.first, share.hops});
        times_.try_emplace(share.from, kNever).first->second.include(share.first, storm.end);
        if (share.hops == 0) own_.insert(share.from);
      }
    }
    for (const Cycle& cycle : analysis.deadlocks) {
      locked_.insert(cycle.members.begin(), cycle.members.end());
      victims_.insert(cycle.victims.begin(), cycle.victims.end());
      locked_time_.include(cycle.begin, cycle.end);
    }
    rows_ = analysis.links;
    std::ranges::stable_sort(rows_, {}, [this](const LinkPauses& it) { return order_of(it); });
    if (rows_.size() > kMaxTimelineRows) rows_.resize(kMaxTimelineRows);
  }

  void draw(Svg& svg, double top) const {
    svg.text({kMargin, top + 22}, "Who was paused when", {.size = 16, .is_bold = true});
    draw_key(svg, top + 22);
    const double first = top + kHeadHeight;
    const double last = first + static_cast<double>(rows_.size()) * kRowStep;
    draw_axis(svg, first, last);
    double y = first;
    for (const LinkPauses& row : rows_) {
      draw_row(svg, y, row);
      y += kRowStep;
    }
    for (const Storm& storm : analysis_.storms) {
      svg.line({x_of(storm.begin), first - 6}, {x_of(storm.begin), last}, colours::kRoot, 1, "4 3");
    }
    if (analysis_.links.size() > rows_.size()) {
      svg.text({kMargin, last + 18}, fmt::format("and {} more", analysis_.links.size() - rows_.size()),
               {.size = 11, .colour = colours::kFaint});
    }
  }

 private:
  // First the links that a storm reached, in that order; then cycles, whom these stop, and the rest, as listed.
  std::tuple<uint32_t, Instant, uint32_t> order_of(const LinkPauses& link) const {
    const auto it = reached_.find(link.from);
    if (it == reached_.end()) return {locked_.contains(link.from) ? 1 : stops_a_victim(link) ? 2 : 3, Instant{}, 0};
    return {0, std::get<0>(it->second), std::get<1>(it->second)};
  }
  // Victims are those of a deadlock.
  bool stops_a_victim(const LinkPauses& link) const { return victims_.contains(log_.node_of(link.to)); }
  std::string_view colour_of(const LinkPauses& link) const {
    if (own_.contains(link.from)) return colours::kRoot;
    if (locked_.contains(link.from)) return colours::kLockedEdge;
    return reached_.contains(link.from) || stops_a_victim(link) ? colours::kSpread : colours::kCongestion;
  }
  // When it was part of a storm or deadlock; a pause that begins before or after is one of others.
  CapturedTime time_of(const LinkPauses& link) const {
    const auto it = times_.find(link.from);
    return it != times_.end() ? it->second : locked_time_;
  }
  double x_of(Instant at) const {
    const double all = std::max<double>(1, static_cast<double>((log_.end - log_.begin).count_ps()));
    return kBarsLeft + kBarsWidth * static_cast<double>((at - log_.begin).count_ps()) / all;
  }
  void draw_key(Svg& svg, double y) const {
    double x = kBarsLeft;
    const auto entry = [&](std::string_view colour, const char* words, double width) {
      svg.box({x, y - 11}, 22, 12, colour);
      svg.text({x + 30, y}, words, {.size = 12.5});
      x += width;
    };
    const bool is_known = known_roots(analysis_) > 0;
    if (!own_.empty()) entry(colours::kRoot, is_known ? "by the root" : "without end", 140);
    if (!own_.empty())
      entry(colours::kSpread, is_known ? "by a node that the root paused" : "by a node so paused", 270);
    if (!locked_.empty()) entry(colours::kLockedEdge, "in the cycle", 140);
    if (own_.empty() && !victims_.empty()) entry(colours::kSpread, "by what is caught in it", 200);
    entry(colours::kCongestion, "by others", 120);
  }
  void draw_axis(Svg& svg, double first, double last) const;
  void draw_row(Svg& svg, double y, const LinkPauses& row) const;
  void draw_bars(Svg& svg, double y, const LinkPauses& row, bool is_part) const;

  const PauseLog& log_;
  const Analysis& analysis_;
  std::map<uint32_t, std::tuple<Instant, uint32_t>> reached_;
  std::map<uint32_t, CapturedTime> times_;  // of the ports in reached_
  CapturedTime locked_time_ = kNever;       // of deadlocks
  std::set<uint32_t> own_;                  // ports of roots
  std::set<uint32_t> locked_;
  std::set<uint32_t> victims_;  // nodes that a deadlock stops
  std::vector<LinkPauses> rows_;
};

// 5 to 12 of them.
Duration tick_of(Duration all) {
  return Duration::ps(std::llround(control::axis_step(std::max(12.0, static_cast<double>(all.count_ps())), 12)));
}

void Timeline::draw_axis(Svg& svg, double first, double last) const {
  const Duration tick = tick_of(log_.end - log_.begin);
  const int64_t from = (log_.begin - Instant{}).count_ps() / tick.count_ps();
  for (int64_t i = from; Instant{} + tick * i <= log_.end; ++i) {
    const Instant at = Instant{} + tick * i;
    if (at < log_.begin) continue;
    svg.line({x_of(at), first - 4}, {x_of(at), last + 4}, "#e3e8ec", 1);
    svg.text({x_of(at), last + 18}, time_text(at - Instant{}),
             {.size = 11, .colour = colours::kFaint, .anchor = "middle"});
  }
}

void Timeline::draw_row(Svg& svg, double y, const LinkPauses& row) const {
  const std::string priority = row.priority == kAllPriorities ? "all" : std::to_string(row.priority);
  svg.text({kMargin, y + 11},
           shortened(fmt::format("{} pauses {}", shortened_name(log_.node_name(row.from), 12),
                                 shortened_name(log_.node_name(row.to), 12)),
                     33),
           {.size = 12.5});
  svg.text({kBarsLeft - 10, y + 11}, "prio " + priority, {.size = 11, .colour = colours::kFaint, .anchor = "end"});
  svg.box({kBarsLeft, y}, kBarsWidth, kBarHeight, "#f4f6f8");
  for (const bool is_part : {false, true}) draw_bars(svg, y, row, is_part);
}

// Those that are part of a storm or deadlock, or the others: a pause that it found is cut where it was reached. Bars
// closer than a pixel are one: a million pauses make no larger picture than a hundred.
void Timeline::draw_bars(Svg& svg, double y, const LinkPauses& row, bool is_part) const {
  const CapturedTime time = time_of(row);
  double begin = -1;
  double end = -1;
  const auto flush = [&] {
    const std::string_view colour = is_part ? colour_of(row) : colours::kCongestion;
    if (begin >= 0) svg.box({begin, y}, std::max(1.0, end - begin), kBarHeight, colour);
  };
  for (const Pause& pause : log_.pauses) {
    if (pause.from != row.from || pause.to != row.to || pause.priority != row.priority) continue;
    const bool is_late = pause.span.begin >= time.until;
    const Instant from = is_part ? std::max(pause.span.begin, time.from) : pause.span.begin;
    const Instant until = is_part || is_late ? pause.span.end : std::min(pause.span.end, time.from);
    if (from >= until || (is_part && is_late)) continue;
    const double left = std::floor(x_of(from) * 2) / 2;
    const double right = x_of(until);
    if (begin >= 0 && left <= end + 0.5) {
      end = std::max(end, right);
      continue;
    }
    flush();
    begin = left;
    end = right;
  }
  flush();
}

}  // namespace

double timeline_height(const Analysis& analysis) {
  return kHeadHeight + kAxisHeight + kRowStep * static_cast<double>(std::min(analysis.links.size(), kMaxTimelineRows));
}

void draw_timeline(Svg& svg, double top, const PauseLog& log, const Analysis& analysis) {
  Timeline{log, analysis}.draw(svg, top);
}

}  // namespace softspine::analysis::storm
