// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/live_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "control/telemetry/text_table.hpp"
#include "control/telemetry/totals.hpp"

namespace softspine::control {

namespace {

constexpr size_t kHeaderLines = 3;  // progress, header, rule

// Counters that were cleared in between, or another fabric: no rate rather than an absurd one.
uint64_t grown(uint64_t before, uint64_t now) {
  return now > before ? now - before : 0;
}

std::string group_of(const std::string& name) {
  const size_t end = name.find_last_not_of("0123456789");
  const size_t kept = end == std::string::npos ? 0 : end + 1;
  return kept == name.size() ? name : name.substr(0, kept) + "*";
}

void sort_busiest_first(std::vector<Rates>::iterator first, std::vector<Rates>::iterator last) {
  std::sort(first, last, [](const Rates& a, const Rates& b) {
    return a.tx_bps != b.tx_bps ? a.tx_bps > b.tx_bps : a.name < b.name;
  });
}

Rates rates_of(const SwitchSnapshot& before, const SwitchSnapshot& now, double per_second) {
  const SwitchTotals old = totals_of(before);
  const SwitchTotals totals = totals_of(now);
  Rates out{.name = now.name};
  out.rx_bps = static_cast<double>(grown(old.rx_bytes, totals.rx_bytes)) * 8 * per_second;
  out.tx_bps = static_cast<double>(grown(old.tx_bytes, totals.tx_bytes)) * 8 * per_second;
  out.tx_pps = static_cast<double>(grown(old.tx_packets, totals.tx_packets)) * per_second;
  out.drops = grown(dropped_packets(old.drops), dropped_packets(totals.drops));
  out.queue_peak_bytes = totals.queue_watermark_bytes;
  for (const PortSnapshot& port : now.ports) {
    for (const auto& queue : port.counters.queues) out.queue_bytes = std::max(out.queue_bytes, queue.current_bytes);
  }
  return out;
}

void add_host(Rates& group, const HostSnapshot& before, const HostSnapshot& now, double per_second) {
  group.rx_bps +=
      static_cast<double>(grown(before.counters.received_bytes, now.counters.received_bytes)) * 8 * per_second;
  group.drops += grown(dropped_packets(before.counters.dropped), dropped_packets(now.counters.dropped));
  for (size_t i = 0; i < std::min(before.ports.size(), now.ports.size()); ++i) {
    const dataplane::LinkCounters& old = before.ports[i].link;
    const dataplane::LinkCounters& sent = now.ports[i].link;
    group.tx_bps += static_cast<double>(grown(old.bytes, sent.bytes)) * 8 * per_second;
    group.tx_pps += static_cast<double>(grown(old.packets, sent.packets)) * per_second;
  }
}

double per_second_between(const FabricSnapshot& before, const FabricSnapshot& now) {
  const double seconds = (now.instant - before.instant).seconds();
  return seconds > 0 ? 1 / seconds : 0;
}

}  // namespace

std::vector<Rates> rates_between(const FabricSnapshot& before, const FabricSnapshot& now) {
  const double per_second = per_second_between(before, now);
  std::vector<Rates> out;
  for (size_t i = 0; i < std::min(before.switches.size(), now.switches.size()); ++i) {
    out.push_back(rates_of(before.switches[i], now.switches[i], per_second));
  }
  sort_busiest_first(out.begin(), out.end());
  std::map<std::string, Rates> groups;
  for (size_t i = 0; i < std::min(before.hosts.size(), now.hosts.size()); ++i) {
    Rates& group = groups[group_of(now.hosts[i].name)];
    add_host(group, before.hosts[i], now.hosts[i], per_second);
  }
  const auto switches = static_cast<ptrdiff_t>(out.size());
  for (auto& [name, group] : groups) {
    group.name = name;
    out.push_back(std::move(group));
  }
  sort_busiest_first(out.begin() + switches, out.end());
  return out;
}

std::string live_table(const FabricSnapshot& before, const FabricSnapshot& now, dataplane::Duration duration,
                       TerminalSize terminal) {
  const std::vector<Rates> all = rates_between(before, now);
  const size_t columns = terminal.columns == 0 ? TerminalSize{}.columns : terminal.columns;  // 0: it does not know
  const size_t lines = std::max(terminal.rows, kHeaderLines + 3) - 1;
  const bool cut = kHeaderLines + all.size() > lines;
  const size_t shown = cut ? lines - kHeaderLines - 1 : all.size();
  TextTable table{{"<NODE", "RX(Gb/s)", "TX(Gb/s)", "TX(Mpps)", "DROPS(pkts)", "QUEUE(KB)", "PEAK(KB)"}};
  for (size_t i = 0; i < shown; ++i) {
    const Rates& each = all[i];
    table.add({each.name, fmt::format("{:.2f}", each.rx_bps * 1e-9), fmt::format("{:.2f}", each.tx_bps * 1e-9),
               fmt::format("{:.3f}", each.tx_pps * 1e-6), grouped(each.drops),
               fmt::format("{:.1f}", static_cast<double>(each.queue_bytes) * 1e-3),
               fmt::format("{:.1f}", static_cast<double>(each.queue_peak_bytes) * 1e-3)});
  }
  std::string out = progress_line(before, now, duration).substr(0, columns) + '\n' + table.text(columns);
  if (cut) out += fmt::format("and {} more", all.size() - shown).substr(0, columns) + '\n';
  return out;
}

std::string redrawn(const std::string& previous, const std::string& next) {
  const auto lines = std::ranges::count(previous, '\n');
  // Up, then erase from there to the end of the screen: a shorter table leaves nothing of a longer one.
  return (lines > 0 ? fmt::format("\x1b[{}A\r\x1b[J", lines) : std::string{}) + next;
}

std::string progress_line(const FabricSnapshot& before, const FabricSnapshot& now, dataplane::Duration duration) {
  const double per_second = per_second_between(before, now);
  const SwitchTotals old = totals_of(before.switches);
  const SwitchTotals totals = totals_of(now.switches);
  uint64_t completed = 0;
  for (const FlowSnapshot& flow : now.flows) completed += flow.completion.has_value();
  const double whole = duration.seconds();
  const double share = whole > 0 ? std::min(1.0, now.instant.seconds() / whole) : 0;
  const bool is_limited = duration != dataplane::Duration::max();
  const std::string end = is_limited ? fmt::format(" of {:.3f} ms ({:.0f}%)", whole * 1e3, share * 100) : " ms";
  const auto& pace = now.engine.pace;
  const std::string slowest = !pace ? ""
                                    : fmt::format("  slowest: rank {} of {}, others wait {:.0f}%", pace->slowest,
                                                  pace->ranks, pace->others_wait * 100);
  return fmt::format("{:.3f}{}  flows {}/{}  switched {:.2f} Gb/s {:.3f} Mpps  dropped {}{}",
                     now.instant.seconds() * 1e3, end, completed, now.flows.size(),
                     static_cast<double>(grown(old.tx_bytes, totals.tx_bytes)) * 8 * per_second * 1e-9,
                     static_cast<double>(grown(old.tx_packets, totals.tx_packets)) * per_second * 1e-6,
                     grouped(dropped_packets(totals.drops)), slowest);
}

}  // namespace softspine::control
