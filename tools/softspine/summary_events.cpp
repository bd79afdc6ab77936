// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/softspine/summary.hpp"
#include "tools/softspine/summary_faults.hpp"

namespace softspine::tools {

using control::Json;

namespace {

constexpr size_t kReasonsShown = 8;
constexpr size_t kPlacesShown = 8;
constexpr size_t kFaultsShown = 8;

// Of one counter over nodes: the sum, and where most of it is.
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

// Of switches, hosts and edges, or of some of these.
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

std::string count(uint64_t number, const char* one, const char* several = nullptr) {
  if (number == 1) return fmt::format("1 {}", one);
  return several != nullptr ? fmt::format("{} {}", number, several) : fmt::format("{} {}s", number, one);
}

void add_pauses(std::string& out, const Json& report) {
  const Sum sent = sum_over(report, {"switches", "hosts", "edges"}, "pfc_tx_packets");
  const Sum paused = sum_over(report, {"switches", "hosts", "edges"}, "paused_ps");
  if (sent.all > 0) {
    out += fmt::format("  PFC: {} sent{}", count(sent.all, "pause frame"), at_most_of(sent, std::to_string(sent.most)));
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
    out += fmt::format("  PAUSE: {} sent{}; whole links stood still for {} in all{}\n", count(of_links.all, "frame"),
                       at_most_of(of_links, std::to_string(of_links.most)), short_time(still.all),
                       at_most_of(still, short_time(still.most)));
  }
  const Sum waited = sum_over(report, {"switches", "hosts"}, "credit_wait_ps");
  if (waited.all > 0) {
    out += fmt::format("  Credit: priorities waited for {} in all{}\n", short_time(waited.all),
                       at_most_of(waited, short_time(waited.most)));
  }
  const Sum storms = sum_of(report["switches"], "watchdog_storms");
  if (storms.all == 0) return;
  const Sum restored = sum_of(report["switches"], "watchdog_restored");
  out += fmt::format("  PFC watchdog: {} found{}, {} over\n", count(storms.all, "storm"),
                     at_most_of(storms, std::to_string(storms.most)), restored.all);
}

void add_congestion(std::string& out, const Json& report) {
  const Sum marked = sum_of(report["switches"], "ecn_marked_packets");
  if (marked.all > 0) {
    out += fmt::format("  ECN: {} marked CE{}\n", count(marked.all, "packet"),
                       at_most_of(marked, std::to_string(marked.most)));
  }
  const auto of_both = [&](const char* key) { return sum_over(report, {"flows", "edges"}, key).all; };
  const uint64_t sent = of_both("np_cnp_sent");
  const uint64_t handled = of_both("rp_cnp_handled");
  const uint64_t ignored = of_both("rp_cnp_ignored");
  if (sent + handled + ignored == 0) return;
  out += fmt::format("  DCQCN: {} sent, {} handled{}\n", count(sent, "CNP"), handled,
                     ignored == 0 ? "" : fmt::format(", {} ignored", ignored));
}

void add_retransmissions(std::string& out, const Json& flows) {
  for (const auto& [name, w] : flows.items()) {
    const auto of = [&w = w](const char* key) { return w[key].get<uint64_t>(); };
    const uint64_t again = of("retransmitted_packets");
    const uint64_t naks = of("packet_seq_err");
    const uint64_t timeouts = of("local_ack_timeout_err");
    const uint64_t failed = of("retry_exceeded_err");
    if (again + naks + timeouts + failed == 0) continue;
    out += fmt::format("  {}: {} retransmitted ({} of payload), after {} and {}", name, count(again, "packet"),
                       short_number(static_cast<double>(of("retransmitted_bytes")), "B"), count(naks, "NAK"),
                       count(timeouts, "timeout"));
    out += failed == 0 ? "\n" : fmt::format("; {} gave up\n", count(failed, "connection"));
  }
}

// Senders that wait for their windows put no more into the fabric, whatever room it has.
void add_window_waits(std::string& out, const Json& flows) {
  for (const auto& [name, w] : flows.items()) {
    const auto waits = w["window_waits"].get<uint64_t>();
    if (waits == 0) continue;
    out += fmt::format(
        "  {}: senders waited {} for an acknowledgement to open their windows ({} in all): the window, not "
        "the fabric, held them back\n",
        name, count(waits, "time"), short_time(w["window_wait_ps"]));
  }
}

void add_sequence(std::string& out, const Json& flows) {
  for (const auto& [name, w] : flows.items()) {
    const auto behind = w["behind_packets"].get<uint64_t>();
    if (behind > 0) out += fmt::format("  {}: {} arrived out of order\n", name, count(behind, "packet"));
  }
}

void add_faults(std::string& out, const Json& faults) {
  for (size_t i = 0; i < std::min(faults.size(), kFaultsShown); ++i) {
    out += fmt::format("  at {}: {}\n", short_time(faults[i]["at_ps"]), faults[i]["what"].get<std::string>());
    if (faults[i].contains("loss_window")) out += loss_window_text(faults[i]);
  }
  if (faults.size() <= kFaultsShown) return;
  const size_t more = faults.size() - kFaultsShown;
  out += fmt::format("  and {} more {}\n", more, more == 1 ? "fault" : "faults");
}

void add_reasons(std::string& out, const Json& drops) {
  std::vector<std::pair<uint64_t, std::string>> reasons;
  for (const auto& [reason, packets] : drops.items()) {
    if (is_loss(reason) && packets.get<uint64_t>() > 0) reasons.emplace_back(packets.get<uint64_t>(), reason);
  }
  std::ranges::sort(reasons, std::greater{});
  for (size_t i = 0; i < std::min(reasons.size(), kReasonsShown); ++i) {
    out += fmt::format("  {:>12} {}\n", reasons[i].first, reasons[i].second);
  }
}

void add_places(std::string& out, const Json& losses) {
  if (losses.empty()) return;
  out += "Lost at\n";
  for (size_t i = 0; i < std::min(losses.size(), kPlacesShown); ++i) {
    out += fmt::format("  {:>12} {}: {}\n", losses[i]["packets"].get<uint64_t>(), losses[i]["place"].get<std::string>(),
                       losses[i]["reason"].get<std::string>());
  }
  if (losses.size() > kPlacesShown) out += fmt::format("  and {} more places\n", losses.size() - kPlacesShown);
}

}  // namespace

std::string losses_text(const Json& report) {
  const Json& totals = report["totals"];
  const auto of = [&](const char* key) { return totals[key].get<uint64_t>(); };
  std::string out = fmt::format("\nDropped: {} packets\n", of("dropped_packets"));
  add_reasons(out, totals["drops"]);
  if (of("lost_on_links") > 0) out += fmt::format("Lost on links that were down: {} packets\n", of("lost_on_links"));
  const uint64_t by_cables = of("vanished_on_links") + of("damaged_on_links");
  if (by_cables > 0) {
    out +=
        fmt::format("Lost on links that were up: {} packets, {} of them damaged\n", by_cables, of("damaged_on_links"));
  }
  add_places(out, report["losses"]);
  return out;
}

std::string events_text(const Json& report) {
  std::string out;
  add_faults(out, report["faults"]);
  out += unexplained_text(report["unexplained_losses"]);
  add_pauses(out, report);
  add_congestion(out, report);
  add_retransmissions(out, report["flows"]);
  add_window_waits(out, report["flows"]);
  add_sequence(out, report["flows"]);
  for (const auto& deadlock : report["deadlocks"]) {
    out += fmt::format("  Deadlock, found at {}: {}: each waits for the next\n", short_time(deadlock["found_ps"]),
                       deadlock["circle"].get<std::string>());
  }
  return out.empty() ? out : "\nWhat happened\n" + out;
}

}  // namespace softspine::tools
