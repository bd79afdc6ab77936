// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

constexpr size_t kPortsShown = 12;
constexpr size_t kNicsShown = 8;

struct Row {
  std::string port;
  std::string priority;
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t asked = 0;        // ps: its neighbour
  uint64_t was_asked = 0;    // ps
  uint64_t stood_still = 0;  // ps

  uint64_t weight() const { return std::max({asked, was_asked, stood_still}); }
};

uint64_t value(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found == row.end() ? 0 : found->get<uint64_t>();
}

void add_switch_ports(std::vector<Row>& out, const Json& ports) {
  for (const auto& [port, rows] : ports.items()) {
    const auto priorities = rows.find("priorities");
    if (priorities == rows.end()) continue;
    for (const auto& [priority, row] : priorities->items()) {
      out.push_back({port, priority, value(row, "pfc_tx_packets"), value(row, "pfc_rx_packets"),
                     value(row, "pfc_tx_pause_ps"), value(row, "pfc_rx_pause_ps"), value(row, "paused_ps")});
    }
  }
}

// Adds the ports of hosts that are built in, or outside.
void add_host_ports(std::vector<Row>& out, const Json& hosts) {
  for (const auto& [host, counters] : hosts.items()) {
    for (const auto& [port, priorities] : counters["pause"].items()) {
      for (const auto& [priority, row] : priorities.items()) {
        out.push_back({host + ":" + port, priority, value(row, "tx_packets"), value(row, "rx_packets"),
                       value(row, "tx_pause_ps"), value(row, "rx_pause_ps"), value(row, "paused_ps")});
      }
    }
  }
}

std::string share_of(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::string paused_ports_text(const Json& report) {
  std::vector<Row> rows;
  add_switch_ports(rows, report["ports"]);
  add_host_ports(rows, report["hosts"]);
  add_host_ports(rows, report["edges"]);
  std::erase_if(rows, [](const Row& row) { return row.sent + row.received == 0; });
  if (rows.empty()) return "";
  std::ranges::stable_sort(rows, std::ranges::greater{}, &Row::weight);
  control::TextTable table{
      {"<port", "priority", "PFC sent", "received", "asked to pause", "stood still", "asked its neighbour to pause"}};
  for (size_t i = 0; i < std::min(rows.size(), kPortsShown); ++i) {
    const Row& row = rows[i];
    table.add({row.port, row.priority, std::to_string(row.sent), std::to_string(row.received),
               short_time(row.was_asked), short_time(row.stood_still), short_time(row.asked)});
  }
  std::string out = "\nPauses by port and priority (frames; times)\n" + table.text();
  if (rows.size() > kPortsShown) out += fmt::format("and {} more; the report has all\n", rows.size() - kPortsShown);
  return out;
}

std::string nic_ports_text(const Json& report) {
  control::TextTable table{{"<NIC", "<port", "<to", "sent", "share", "received from the switch", "share"}};
  size_t hosts = 0;
  for (const auto& [host, counters] : report["hosts"].items()) {
    const auto ports = counters.find("ports");
    if (ports == counters.end() || ports->size() < 2 || ++hosts > kNicsShown) continue;
    uint64_t sent = 0;
    uint64_t received = 0;
    for (const Json& port : *ports) {
      sent += value(port, "sent_bytes");
      received += value(port, "switch_tx_bytes");
    }
    for (const auto& [name, port] : ports->items()) {
      table.add({host, name, port["to"].get<std::string>(), short_number(number(port["sent_bytes"]), "B"),
                 share_of(value(port, "sent_bytes"), sent), short_number(number(port["switch_tx_bytes"]), "B"),
                 share_of(value(port, "switch_tx_bytes"), received)});
    }
  }
  if (hosts == 0) return "";
  std::string out = "\nBytes by NIC port\n" + table.text();
  if (hosts > kNicsShown) out += fmt::format("and {} more NICs; the report has all\n", hosts - kNicsShown);
  return out;
}

}  // namespace softspine::tools
