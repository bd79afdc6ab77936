// SPDX-License-Identifier: Apache-2.0
// The fullest queues over time, each against the lengths at which its switch begins to mark, and marks all.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "analysis/page/html_pieces.hpp"
#include "analysis/page/page_sections.hpp"

namespace softspine::analysis::page {

using control::Statement;

namespace {

constexpr int64_t kMostQueues = 6;
constexpr size_t kCurveBins = 400;
constexpr double kCurveHeight = 100;
constexpr double kFarAbove = 3;  // a threshold so many times as high as the curve is left out of its picture

struct QueueCurve {
  std::string port;
  int64_t most_bytes = 0;
  std::optional<int64_t> ecn_min;
  std::optional<int64_t> ecn_max;
  std::vector<std::optional<int64_t>> bins = std::vector<std::optional<int64_t>>(kCurveBins);  // the highest of each
  std::vector<int64_t> lasts = std::vector<int64_t>(kCurveBins);                               // the level at its end
};
using QueueCurves = std::map<std::pair<int64_t, int64_t>, QueueCurve>;  // by port and queue

QueueCurves fullest(Database& recording) {
  QueueCurves out;
  Statement query{recording,
                  fmt::format("SELECT a.port_id, a.queue, max(current_bytes) AS most, p.name, e.min_bytes, e.max_bytes "
                              "FROM queue_samples AS a JOIN ports AS p USING(port_id) LEFT JOIN ecn_thresholds AS e "
                              "ON e.port_id = a.port_id AND e.queue = a.queue "
                              "GROUP BY a.port_id, a.queue HAVING most > 0 ORDER BY most DESC LIMIT {}",
                              kMostQueues)};
  while (query.next()) {
    QueueCurve& curve = out[{query.number(0), query.number(1)}];
    curve.most_bytes = query.number(2);
    curve.port = query.text(3);
    if (!query.is_null(4)) curve.ecn_min = query.number(4);
    if (!query.is_null(5)) curve.ecn_max = query.number(5);
  }
  return out;
}

void fill(Database& recording, QueueCurves& curves, int64_t end_ps) {
  Statement query{recording,
                  "SELECT t_ps, port_id, queue, current_bytes FROM queue_samples WHERE current_bytes IS NOT NULL"};
  while (query.next()) {
    const auto found = curves.find({query.number(1), query.number(2)});
    if (found == curves.end()) continue;
    const double at = static_cast<double>(query.number(0)) / static_cast<double>(end_ps);
    const auto bin = std::min(static_cast<size_t>(at * kCurveBins), kCurveBins - 1);
    std::optional<int64_t>& highest = found->second.bins[bin];
    highest = std::max(highest.value_or(0), query.number(3));
    found->second.lasts[bin] = query.number(3);
  }
}

double top_of(const QueueCurve& curve) {
  const auto most = static_cast<double>(curve.most_bytes);
  double top = most;
  for (const auto& limit : {curve.ecn_min, curve.ecn_max}) {
    if (limit && static_cast<double>(*limit) <= kFarAbove * most) top = std::max(top, static_cast<double>(*limit));
  }
  return 1.05 * top;
}

std::string limit_line(const std::optional<int64_t>& limit, double top, const char* style) {
  if (!limit || static_cast<double>(*limit) > top) return {};
  const double y = kCurveHeight * (1 - static_cast<double>(*limit) / top);
  return fmt::format("<line x1=\"0\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>", kCurveBins, y, y, style);
}

std::string curve_svg(const QueueCurve& curve) {
  const double top = top_of(curve);
  std::string points;
  int64_t level = 0;
  for (size_t i = 0; i < kCurveBins; ++i) {
    const int64_t shown = std::max(curve.bins[i].value_or(level), level);
    if (curve.bins[i]) level = curve.lasts[i];
    points += fmt::format("{},{:.1f} ", i, kCurveHeight * (1 - static_cast<double>(shown) / top));
  }
  return fmt::format("<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" class=\"curve\">", kCurveBins,
                     kCurveHeight) +
         limit_line(curve.ecn_min, top, "ecnmin") + limit_line(curve.ecn_max, top, "ecnmax") + "<polyline points=\"" +
         points + "\"/></svg>";
}

std::string curve_html(const QueueCurve& curve, int64_t queue) {
  const auto limit = [](const char* words, const std::optional<int64_t>& bytes) {
    return bytes ? fmt::format(", {} {}", words, size_words(*bytes)) : "";
  };
  return fmt::format("<div class=\"row\"><span>{}, queue {}: {} at most in a sample{}{}</span>{}</div>\n",
                     escaped(curve.port), queue, size_words(curve.most_bytes), limit("ECN marks from", curve.ecn_min),
                     limit("all from", curve.ecn_max), curve_svg(curve));
}

}  // namespace

std::string queues_section(Database& recording) {
  QueueCurves curves = fullest(recording);
  if (curves.empty()) return section("queues", "Queues", paragraph("In no sample did anything wait in a queue."));
  Statement last{recording, "SELECT max(t_ps) FROM samples"};
  const int64_t end = last.next() ? std::max<int64_t>(1, last.number(0)) : 1;
  fill(recording, curves, end);
  std::vector<std::pair<const QueueCurve*, int64_t>> rows;
  for (const auto& [key, curve] : curves) rows.emplace_back(&curve, key.second);
  std::ranges::stable_sort(rows, std::greater{}, [](const auto& row) { return row.first->most_bytes; });
  std::string out =
      paragraph(fmt::format("The {} fullest queues from 0 to {}. Dashed: ECN marks begin; dotted: every "
                            "frame is marked.",
                            rows.size(), time_words(end)));
  for (const auto& [curve, queue] : rows) out += curve_html(*curve, queue);
  return section("queues", "Queues", out);
}

}  // namespace softspine::analysis::page
