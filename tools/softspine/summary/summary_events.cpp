// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "control/telemetry/json.hpp"
#include "tools/softspine/summary/summary_faults.hpp"
#include "tools/softspine/summary/summary_pauses.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

constexpr size_t kReasonsShown = 8;
constexpr size_t kPlacesShown = 8;
constexpr size_t kFaultsShown = 8;

void add_retransmissions(std::string& out, const Json& flows) {
  for (const auto& [name, w] : flows.items()) {
    const auto of = [&row = w](const char* key) { return row[key].get<uint64_t>(); };
    const uint64_t again = of("retransmitted_packets");
    const uint64_t naks = of("packet_seq_err");
    const uint64_t timeouts = of("local_ack_timeout_err");
    const uint64_t failed = of("retry_exceeded_err");
    if (again + naks + timeouts + failed == 0) continue;
    out += fmt::format("  {}: {} retransmitted ({} of payload), after {} and {}", name, counted(again, "packet"),
                       short_number(static_cast<double>(of("retransmitted_bytes")), "B"), counted(naks, "NAK"),
                       counted(timeouts, "timeout"));
    out += failed == 0 ? "\n" : fmt::format("; {} gave up\n", counted(failed, "connection"));
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
        name, counted(waits, "time"), short_time(w["window_wait_ps"]));
  }
}

void add_sequence(std::string& out, const Json& flows) {
  for (const auto& [name, w] : flows.items()) {
    const auto behind = w["behind_packets"].get<uint64_t>();
    if (behind > 0) out += fmt::format("  {}: {} arrived out of order\n", name, counted(behind, "packet"));
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
  out += pauses_text(report);
  out += congestion_text(report);
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
