// SPDX-License-Identifier: Apache-2.0
// Who was paused when: a strip over time for each priority of a port, the longest first.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/page/html_pieces.hpp"
#include "analysis/page/page_sections.hpp"

namespace softspine::analysis::page {

using control::Statement;

namespace {

constexpr int64_t kMostStrips = 30;
constexpr size_t kStripBins = 240;

struct Strip {
  std::string port;
  std::string peer;
  bool of_switch = false;
  int64_t paused_ps = 0;
  std::vector<double> bins = std::vector<double>(kStripBins);  // the part of each for which it was paused
};
using Strips = std::map<std::pair<int64_t, int64_t>, Strip>;  // by port and priority

constexpr const char* kAllPauses =
    "(SELECT t_ps, port_id, priority, paused_ps FROM priority_samples WHERE paused_ps > 0 UNION ALL "
    "SELECT t_ps, port_id, priority, paused_ps FROM nic_priority_samples WHERE paused_ps > 0)";

int64_t end_of(Database& recording) {
  Statement query{recording, "SELECT max(t_ps) FROM samples"};
  return query.next() ? std::max<int64_t>(1, query.number(0)) : 1;
}

Strips longest(Database& recording) {
  Strips out;
  Statement query{recording, fmt::format("SELECT a.port_id, priority, sum(paused_ps) AS all_ps, p.name, q.name, "
                                         "n.kind = 'switch' FROM {} AS a JOIN ports AS p USING(port_id) "
                                         "JOIN nodes AS n USING(node_id) JOIN ports AS q ON q.port_id = p.peer_port_id "
                                         "GROUP BY a.port_id, priority ORDER BY all_ps DESC LIMIT {}",
                                         kAllPauses, kMostStrips)};
  while (query.next()) {
    Strip& strip = out[{query.number(0), query.number(1)}];
    strip.paused_ps = query.number(2);
    strip.port = query.text(3);
    strip.peer = query.text(4);
    strip.of_switch = query.number(5) != 0;
  }
  return out;
}

// A sample's pause lies before it: at most one interval, or as long as the pause itself.
void add_pause(Strip& strip, int64_t t_ps, int64_t paused_ps, int64_t end_ps) {
  const double width = static_cast<double>(end_ps) / kStripBins;
  double left = static_cast<double>(paused_ps);
  double at = static_cast<double>(t_ps);
  while (left > 0 && at > 0) {
    const auto bin = static_cast<size_t>(std::clamp((at - 0.5) / width, 0.0, static_cast<double>(kStripBins - 1)));
    const double part = std::min(left, at - static_cast<double>(bin) * width);
    if (part <= 0) return;
    strip.bins[bin] += part / width;
    left -= part;
    at -= part;
  }
}

std::string strip_svg(const Strip& strip) {
  std::string out = fmt::format("<svg viewBox=\"0 0 {} 1\" preserveAspectRatio=\"none\" class=\"strip\">", kStripBins);
  for (size_t i = 0; i < kStripBins;) {
    const int step = colour_step(strip.bins[i]);
    size_t next = i + 1;
    const bool any = strip.bins[i] > 0;
    while (next < kStripBins && (strip.bins[next] > 0) == any && colour_step(strip.bins[next]) == step) ++next;
    if (any) out += fmt::format("<rect x=\"{}\" width=\"{}\" height=\"1\" class=\"c{}\"/>", i, next - i, step);
    i = next;
  }
  return out + "</svg>";
}

std::string strip_html(const Strip& strip, int64_t priority) {
  const std::string number = std::to_string(priority);
  const size_t colon = strip.port.find(':');
  const std::string node = strip.port.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : strip.port.substr(colon + 1);
  const std::string time = strip.of_switch
                               ? time_value({"ports", strip.port, "priorities", number, "paused_ps"}, strip.paused_ps)
                               : time_value({"hosts", node, "pause", port, number, "paused_ps"}, strip.paused_ps);
  return fmt::format("<div class=\"row\"><span>{}, priority {}: {} by {}</span>{}</div>\n", escaped(strip.port), number,
                     time, escaped(strip.peer), strip_svg(strip));
}

}  // namespace

std::string pauses_section(Database& recording) {
  Strips strips = longest(recording);
  if (strips.empty()) return section("pauses", "Pauses", paragraph("No port was paused."));
  const int64_t end = end_of(recording);
  Statement query{recording, fmt::format("SELECT t_ps, port_id, priority, paused_ps FROM {}", kAllPauses)};
  while (query.next()) {
    const auto found = strips.find({query.number(1), query.number(2)});
    if (found != strips.end()) add_pause(found->second, query.number(0), query.number(3), end);
  }
  std::vector<std::pair<const Strip*, int64_t>> rows;
  for (const auto& [key, strip] : strips) rows.emplace_back(&strip, key.second);
  std::ranges::stable_sort(rows, std::greater{}, [](const auto& row) { return row.first->paused_ps; });
  std::string out =
      paragraph(fmt::format("The {} priorities of ports that waited longest, from 0 to {}. Each strip is "
                            "brighter where more of the time was paused.",
                            rows.size(), time_words(end)));
  for (const auto& [strip, priority] : rows) out += strip_html(*strip, priority);
  return section("pauses", "Pauses", out);
}

}  // namespace softspine::analysis::page
