// SPDX-License-Identifier: Apache-2.0
// Completion times by workload, and the slowest flows, each with the cause that its counters show first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analysis/page/html_pieces.hpp"
#include "analysis/page/page_sections.hpp"

namespace softspine::analysis::page {

using control::Statement;

namespace {

constexpr size_t kMostCurves = 8;  // as many as the style has colours and dashes
constexpr size_t kMostPoints = 200;
constexpr int64_t kSlowest = 20;
constexpr double kCdfWidth = 600;
constexpr double kCdfHeight = 200;

using Times = std::vector<int64_t>;

std::map<std::string, Times> times_of(Database& recording) {
  std::map<std::string, Times> out;
  Statement query{recording, "SELECT workload, fct_ps FROM flows WHERE fct_ps IS NOT NULL ORDER BY workload, fct_ps"};
  while (query.next()) out[query.text(0)].push_back(query.number(1));
  return out;
}

// Time is drawn by its logarithm.
std::string cdf_line(const Times& times, double first, double last, size_t number) {
  std::string points;
  const size_t step = std::max<size_t>(1, times.size() / kMostPoints);
  double y = kCdfHeight;
  for (size_t i = 0; i < times.size(); i = i + 1 == times.size() ? i + 1 : std::min(i + step, times.size() - 1)) {
    const double x = kCdfWidth * (std::log10(static_cast<double>(times[i])) - first) / std::max(1e-9, last - first);
    points += fmt::format("{:.1f},{:.1f} ", x, y);
    y = kCdfHeight * (1 - static_cast<double>(i + 1) / static_cast<double>(times.size()));
    points += fmt::format("{:.1f},{:.1f} ", x, y);
  }
  return fmt::format("<polyline class=\"line k{}\" points=\"{}\"/>", number, points);
}

std::string cdf(const std::map<std::string, Times>& all) {
  double first = 1e30;
  double last = 0;
  for (const auto& [name, times] : all) {
    first = std::min(first, std::log10(static_cast<double>(times.front())));
    last = std::max(last, std::log10(static_cast<double>(times.back())));
  }
  std::string lines;
  std::string names;
  size_t number = 0;
  for (const auto& [name, times] : all) {
    if (number == kMostCurves) break;
    lines += cdf_line(times, first, last, number);
    names += fmt::format(
        "<li><svg viewBox=\"0 0 30 6\" class=\"sample\"><line x1=\"0\" x2=\"30\" y1=\"3\" y2=\"3\" "
        "class=\"line k{}\"/></svg> {}: {} complete, longest {}</li>\n",
        number++, escaped(name), count_value({"flows", name, "completed"}, static_cast<int64_t>(times.size())),
        time_value({"flows", name, "fct_max_ps"}, times.back()));
  }
  return fmt::format(
      "<h3>Completion times: the share of flows that took no longer</h3>\n<svg viewBox=\"0 0 {} {}\" "
      "preserveAspectRatio=\"none\" class=\"cdf\">{}</svg>\n<p class=\"axis\"><span>{}</span>"
      "<span>{}</span></p>\n<ul class=\"legend\">{}</ul>\n",
      kCdfWidth, kCdfHeight, lines, time_words(std::llround(std::pow(10, first))),
      time_words(std::llround(std::pow(10, last))), names);
}

// For how long the NICs of each host were paused, all priorities together.
std::map<std::string, int64_t> paused_hosts(Database& recording) {
  std::map<std::string, int64_t> out;
  Statement query{recording,
                  "SELECT n.name, sum(paused_ps) FROM nic_priority_samples JOIN ports USING(port_id) "
                  "JOIN nodes AS n USING(node_id) WHERE paused_ps > 0 GROUP BY node_id"};
  while (query.next()) out[query.text(0)] = query.number(1);
  return out;
}

constexpr const char* kSlowestFlows =
    "SELECT f.flow_id, workload, source, destination, fct_ps, slowdown, coalesce(stalled, ''), retransmitted_packets,"
    " timeouts, cnps, window_wait_ps, missing_packets, received_bytes, w.stalled_ps, w.what "
    "FROM flows AS f LEFT JOIN (SELECT flow_id, max(stalled_ps) AS stalled_ps, what FROM loss_window_flows "
    "JOIN faults USING(fault_id) GROUP BY flow_id) AS w ON w.flow_id = f.flow_id "
    "ORDER BY stalled IS NULL, fct_ps IS NOT NULL, coalesce(slowdown, 0) DESC, fct_ps DESC, received_bytes LIMIT ?1";

std::string cause_of(const Statement& flow, const std::map<std::string, int64_t>& paused) {
  if (!flow.text(6).empty()) return "stalled: " + flow.text(6);
  if (flow.number(13) > 0)
    return fmt::format("stood still for {} after: {}", time_words(flow.number(13)), flow.text(14));
  if (flow.number(7) > 0) return fmt::format("{} packets sent again, {} timeouts", flow.number(7), flow.number(8));
  if (flow.number(11) > 0) return fmt::format("{} packets missing", flow.number(11));
  const auto host = paused.find(flow.text(2));
  if (host != paused.end()) return fmt::format("its host was paused for {}", time_words(host->second));
  if (flow.number(9) > 0) return fmt::format("slowed down by {} CNPs", flow.number(9));
  if (flow.number(10) > 0) return fmt::format("waited {} for its window", time_words(flow.number(10)));
  return "no loss, no pause: it shared its links, or waited in queues";
}

std::string slowest(Database& recording) {
  const auto paused = paused_hosts(recording);
  std::string rows;
  Statement query{recording, kSlowestFlows};
  query.add(kSlowest);
  while (query.next()) {
    rows +=
        table_row({escaped(fmt::format("{} {}: {} → {}", query.text(1), query.text(0), query.text(2), query.text(3))),
                   query.is_null(4) ? "not complete" : time_words(query.number(4)),
                   query.is_null(5) ? "" : fmt::format("{:.3g}", query.real(5)), size_words(query.number(12)),
                   escaped(cause_of(query, paused))});
  }
  if (rows.empty()) return rows;
  return "<h3>The slowest flows</h3>\n" +
         table({"flow", "took", "× alone", "received", "what its counters show"}, rows);
}

}  // namespace

std::string flows_section(Database& recording) {
  const auto times = times_of(recording);
  const std::string curves = times.empty() ? paragraph("No flow was complete at the end.") : cdf(times);
  return section("flows", "Flows", curves + slowest(recording));
}

}  // namespace softspine::analysis::page
