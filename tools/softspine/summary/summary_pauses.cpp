// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_pauses.hpp"

#include <fmt/format.h>

#include <initializer_list>

#include "control/telemetry/json.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

// One counter over nodes: the sum, and where most of it is.
struct Sum {
  uint64_t all = 0;
  uint64_t most = 0;
  std::string place;
};

Sum sum_of(const Json& nodes, const char* key) {
  Sum out;
  for (const auto& [name, node] : nodes.items()) {
    if (!node.contains(key)) continue;
    const uint64_t value = node[key].get<uint64_t>();
    out.all += value;
    if (value > out.most) {
      out.most = value;
      out.place = name;
    }
  }
  return out;
}

// The sum over switches, hosts and edges, or some of these.
Sum sum_over(const Json& report, std::initializer_list<const char*> groups, const char* key) {
  Sum out;
  for (const char* group : groups) {
    const Sum more = sum_of(report[group], key);
    out.all += more.all;
    if (more.most > out.most) {
      out.most = more.most;
      out.place = more.place;
    }
  }
  return out;
}

std::string at_most_of(const Sum& sum, const std::string& amount) {
  return sum.most == sum.all ? fmt::format(", all at {}", sum.place)
                             : fmt::format(", most at {} ({})", sum.place, amount);
}

}  // namespace

std::string pauses_text(const Json& report) {
  std::string out;
  const Sum sent = sum_over(report, {"switches", "hosts", "edges"}, "pfc_tx_packets");
  const Sum paused = sum_over(report, {"switches", "hosts", "edges"}, "paused_ps");
  if (sent.all > 0) {
    out +=
        fmt::format("  PFC: {} sent{}", counted(sent.all, "pause frame"), at_most_of(sent, std::to_string(sent.most)));
    out += paused.all == 0 ? "; nobody stood still\n"
                           : fmt::format("; priorities stood still for {} in all{}\n", short_time(paused.all),
                                         at_most_of(paused, short_time(paused.most)));
  } else if (paused.all > 0) {
    out += fmt::format("  PFC: priorities stood still for {} in all{}\n", short_time(paused.all),
                       at_most_of(paused, short_time(paused.most)));
  }
  const Sum of_links = sum_over(report, {"switches", "hosts", "edges"}, "link_pause_tx_packets");
  if (of_links.all > 0) {
    const Sum still = sum_over(report, {"switches", "hosts", "edges"}, "link_paused_ps");
    out += fmt::format("  PAUSE: {} sent{}; whole links stood still for {} in all{}\n", counted(of_links.all, "frame"),
                       at_most_of(of_links, std::to_string(of_links.most)), short_time(still.all),
                       at_most_of(still, short_time(still.most)));
  }
  const Sum waited = sum_over(report, {"switches", "hosts"}, "credit_wait_ps");
  if (waited.all > 0) {
    out += fmt::format("  Credit: priorities waited for {} in all{}\n", short_time(waited.all),
                       at_most_of(waited, short_time(waited.most)));
  }
  const Sum storms = sum_of(report["switches"], "watchdog_storms");
  if (storms.all == 0) return out;
  const Sum restored = sum_of(report["switches"], "watchdog_restored");
  out += fmt::format("  PFC watchdog: {} found{}, {} over\n", counted(storms.all, "storm"),
                     at_most_of(storms, std::to_string(storms.most)), restored.all);
  return out;
}

std::string congestion_text(const Json& report) {
  std::string out;
  const Sum marked = sum_of(report["switches"], "ecn_marked_packets");
  if (marked.all > 0) {
    out += fmt::format("  ECN: {} marked CE{}\n", counted(marked.all, "packet"),
                       at_most_of(marked, std::to_string(marked.most)));
  }
  const auto of_both = [&](const char* key) { return sum_over(report, {"flows", "edges"}, key).all; };
  const uint64_t sent = of_both("np_cnp_sent");
  const uint64_t handled = of_both("rp_cnp_handled");
  const uint64_t ignored = of_both("rp_cnp_ignored");
  if (sent + handled + ignored == 0) return out;
  out += fmt::format("  DCQCN: {} sent, {} handled{}\n", counted(sent, "CNP"), handled,
                     ignored == 0 ? "" : fmt::format(", {} ignored", ignored));
  return out;
}

}  // namespace softspine::tools
