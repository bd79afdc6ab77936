// SPDX-License-Identifier: Apache-2.0
// The fullest lossless priority groups over time, each against its XOFF threshold: with a dynamic one the threshold
// falls while the pool fills.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/page/html_pieces.hpp"
#include "analysis/page/page_sections.hpp"

namespace softspine::analysis::page {

using control::Statement;

namespace {

constexpr int64_t kMostGroups = 6;
constexpr size_t kGroupBins = 400;
constexpr double kGroupHeight = 100;

struct Levels {  // by bin of time: the level at its end
  std::vector<int64_t> bytes = std::vector<int64_t>(kGroupBins, kNoChange);

  static constexpr int64_t kNoChange = -1;
  void carry_on() {
    int64_t level = 0;
    for (int64_t& each : bytes) level = each = each == kNoChange ? level : each;
  }
};
using LevelsById = std::map<std::pair<int64_t, int64_t>, Levels>;

struct GroupCurve {
  std::string port;
  int64_t port_id = 0;
  int64_t group = 0;
  int64_t most_bytes = 0;
  int64_t fixed_bytes = 0;
  double alpha = 0;
  int64_t pool_id = 0;
  int64_t pool_bytes = 0;
  std::vector<int64_t> xoff_bytes;
};

std::vector<GroupCurve> fullest_groups(Database& recording) {
  std::vector<GroupCurve> out;
  Statement query{recording,
                  "SELECT p.name, a.port_id, a.priority_group, max(shared_bytes) AS most, fixed_bytes, alpha, pool_id,"
                  " size_bytes FROM group_samples AS a JOIN xoff_thresholds AS x USING(port_id, priority_group) "
                  "JOIN ports AS p USING(port_id) JOIN pools ON pools.name = x.pool "
                  "WHERE size_bytes IS NOT NULL "  // a recording that was cut off has no sizes
                  "GROUP BY a.port_id, a.priority_group HAVING most > 0 ORDER BY most DESC, a.port_id LIMIT ?1"};
  query.add(kMostGroups);
  while (query.next()) {
    out.push_back({.port = query.text(0),
                   .port_id = query.number(1),
                   .group = query.number(2),
                   .most_bytes = query.number(3),
                   .fixed_bytes = query.number(4),
                   .alpha = query.real(5),
                   .pool_id = query.number(6),
                   .pool_bytes = query.number(7),
                   .xoff_bytes = {}});
  }
  return out;
}

// From rows of t_ps, two numbers that name a level, and the level; those that `levels` has not are passed over.
void fill_levels(Database& recording, const std::string& rows, LevelsById& levels, int64_t end_ps) {
  Statement query{recording, rows};
  while (query.next()) {
    const auto found = levels.find({query.number(1), query.number(2)});
    if (found == levels.end()) continue;
    const double at = static_cast<double>(query.number(0)) / static_cast<double>(end_ps);
    found->second.bytes[std::min(static_cast<size_t>(at * kGroupBins), kGroupBins - 1)] = query.number(3);
  }
  for (auto& [id, each] : levels) each.carry_on();
}

void add_thresholds(Database& recording, std::vector<GroupCurve>& curves, int64_t end_ps) {
  LevelsById pools;
  for (const GroupCurve& curve : curves) pools[{curve.pool_id, 0}];
  fill_levels(recording, "SELECT t_ps, pool_id, 0, shared_bytes FROM pool_samples WHERE shared_bytes IS NOT NULL",
              pools, end_ps);
  for (GroupCurve& curve : curves) {
    for (const int64_t used : pools[{curve.pool_id, 0}].bytes) {
      const auto of_free = static_cast<int64_t>(curve.alpha * static_cast<double>(curve.pool_bytes - used));
      curve.xoff_bytes.push_back(curve.fixed_bytes + of_free);
    }
  }
}

std::string level_line(const std::vector<int64_t>& levels, double top, const char* style) {
  std::string points;
  for (size_t i = 0; i < levels.size(); ++i) {
    const double part = std::clamp(static_cast<double>(levels[i]) / top, 0.0, 1.0);
    points += fmt::format("{},{:.1f} ", i, kGroupHeight * (1 - part));
  }
  return fmt::format("<polyline class=\"{}\" points=\"{}\"/>", style, points);
}

// The picture ends where the curve does, or the lowest threshold if that is higher: an empty pool's may be far above.
std::string group_html(const GroupCurve& curve, const Levels& shared) {
  const int64_t lowest = std::ranges::min(curve.xoff_bytes);
  const double top = 1.05 * static_cast<double>(std::max(curve.most_bytes, lowest));
  return fmt::format(
      "<div class=\"row\"><span>{}, priority group {}: {} at most in a sample, XOFF threshold {} at least</span>"
      "<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" class=\"curve\">{}{}</svg></div>\n",
      escaped(curve.port), curve.group, size_words(curve.most_bytes), size_words(lowest), kGroupBins, kGroupHeight,
      level_line(curve.xoff_bytes, top, "xoff"), level_line(shared.bytes, top, "line"));
}

}  // namespace

std::string groups_section(Database& recording) {
  std::vector<GroupCurve> curves = fullest_groups(recording);
  if (curves.empty()) return {};
  Statement last{recording, "SELECT max(t_ps) FROM samples"};
  const int64_t end = last.next() ? std::max<int64_t>(1, last.number(0)) : 1;
  add_thresholds(recording, curves, end);
  LevelsById shared;
  for (const GroupCurve& curve : curves) shared[{curve.port_id, curve.group}];
  fill_levels(recording,
              "SELECT t_ps, port_id, priority_group, shared_bytes FROM group_samples WHERE shared_bytes IS NOT NULL",
              shared, end);
  std::string out = paragraph(
      fmt::format("Shared memory of the {} fullest lossless priority groups from 0 to {}. Dashed: the XOFF threshold, "
                  "where a switch pauses the sender; it runs along the top where it is above the picture.",
                  curves.size(), time_words(end)));
  for (const GroupCurve& curve : curves) out += group_html(curve, shared[{curve.port_id, curve.group}]);
  return section("groups", "Priority groups", out);
}

}  // namespace softspine::analysis::page
