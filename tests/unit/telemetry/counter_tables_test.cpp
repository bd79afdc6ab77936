// SPDX-License-Identifier: Apache-2.0
// The tables of counters: each row is whole, no name is used twice, and nothing that is counted is left out.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <type_traits>

#include "control/report/counters_reference.hpp"
#include "control/telemetry/counter_parts.hpp"
#include "control/telemetry/json.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

TEST(CounterTables, HaveASentenceAndANameInEachRow) {
  for (const Json& row : counters_reference()) {
    const std::string help = row["help"];
    EXPECT_TRUE(help.ends_with('.') && help.size() > 10) << row;
    EXPECT_TRUE(row.contains("report") || row.contains("sai") || row.contains("metric")) << row;
  }
}

TEST(CounterTables, UseNoNameTwice) {
  for (const char* kind : {"report", "sai", "metric"}) {
    std::map<std::string, std::set<std::string>> parts;  // by name
    std::multiset<std::string> names;
    for (const Json& row : counters_reference()) {
      if (!row.contains(kind)) continue;
      const std::string name = row[kind];
      names.insert(name);
      parts[name].insert(row["of"].get<std::string>());
    }
    for (const auto& [name, of] : parts) {
      const bool has_directions = name == "softspine_port_credit_frames_total";
      EXPECT_EQ(names.count(name), has_directions ? 2u : 1u) << name;
      EXPECT_EQ(of.size(), 1u) << name;
    }
  }
}

// Parts whose rows stand together in a report, or on a line of counters over time.
template <typename... Wanted>
std::vector<std::string> repeated_rows() {
  std::map<std::string, int> seen;
  for (const SwitchCounter& counter : switch_counters()) {
    const std::string name{counter.facts.row_name()};
    if (!name.empty() && (std::holds_alternative<Read<Wanted>>(counter.read) || ...)) ++seen[name];
  }
  std::vector<std::string> out;
  for (const auto& [name, times] : seen) {
    if (times > 1) out.push_back(name);
  }
  EXPECT_FALSE(seen.empty());
  return out;
}

TEST(CounterTables, UseNoNameTwiceInARow) {
  const std::vector<std::string> none;
  EXPECT_EQ((repeated_rows<PortSnapshot, CreditSnapshot>()), none);
  EXPECT_EQ((repeated_rows<PauseSnapshot, CreditOf>()), none);
  EXPECT_EQ(repeated_rows<PriorityGroupSnapshot>(), none);
  EXPECT_EQ(repeated_rows<QueueOf>(), none);
  EXPECT_EQ(repeated_rows<PoolSnapshot>(), none);
}

TEST(CounterTables, HaveEndingsThatSayTheirUnit) {
  const std::map<std::string, std::string> report{{"bytes", "_bytes"}, {"time", "_ps"}};
  const std::map<std::string, std::string> metric{{"bytes", "_bytes"}, {"time", "_seconds"}, {"packets", "_packets"}};
  for (const Json& row : counters_reference()) {
    const std::string unit = row["unit"];
    if (row.contains("report") && report.contains(unit)) {
      EXPECT_TRUE(row["report"].get<std::string>().ends_with(report.at(unit))) << row;
    }
    if (!row.contains("metric")) continue;
    std::string name = row["metric"];
    const bool is_total = name.ends_with("_total");
    EXPECT_EQ(is_total, row["nature"] == "counter") << row << ": Prometheus' rule for names";
    if (is_total) name.resize(name.size() - 6);
    if (metric.contains(unit) && name != "softspine_switch_short_hash_keys") {
      EXPECT_TRUE(name.ends_with(metric.at(unit))) << row;
    }
  }
}

// What the table reads of one part, row by row.
template <typename Part>
std::vector<std::optional<uint64_t>> readings(const Part& part) {
  std::vector<std::optional<uint64_t>> out;
  for (const SwitchCounter& counter : switch_counters()) {
    if (const auto* read = std::get_if<Read<Part>>(&counter.read)) out.push_back((*read)(part));
  }
  return out;
}

// Of numbers side by side: those at which an increase by one changes no reading. `read` looks at what holds them.
template <typename Numbers, typename LookAt>
std::vector<size_t> unread(Numbers& numbers, size_t count, LookAt&& read) {
  std::vector<size_t> out;
  const auto before = read();
  for (size_t i = 0; i < count; ++i) {
    auto* const slot = reinterpret_cast<std::byte*>(&numbers) + i * sizeof(uint64_t);
    uint64_t value = 0;
    std::memcpy(&value, slot, sizeof value);
    const Numbers whole = numbers;
    const uint64_t more = value + 1;
    std::memcpy(slot, &more, sizeof more);
    const bool is_padding = std::is_class_v<Numbers> && numbers == whole;
    if (!is_padding && read() == before) out.push_back(i);
    std::memcpy(slot, &value, sizeof value);
  }
  return out;
}

TEST(CounterTables, LeaveOutNothingThatASwitchCounts) {
  FabricSnapshot fabric = tests::small_fabric();
  PortSnapshot& port = fabric.switches[0].ports[0];
  dataplane::PortCounters& counters = port.counters;
  // Up to the drops, which are shown by reason. The two counts of flows' packets are the audit's.
  const size_t before_drops =
      static_cast<size_t>(reinterpret_cast<std::byte*>(&counters.drops) - reinterpret_cast<std::byte*>(&counters)) /
      sizeof(uint64_t);
  const auto at = [&](const uint64_t& member) { return static_cast<size_t>(&member - &counters.rx_packets); };
  EXPECT_EQ(unread(counters, before_drops, [&] { return readings(port); }),
            (std::vector<size_t>{at(counters.ended_flow_packets), at(counters.copied_flow_packets)}));

  dataplane::QueueCounters& queue = counters.queues[3];
  const size_t packets_now = static_cast<size_t>(&queue.current_packets - &queue.packets);
  EXPECT_EQ(unread(queue, sizeof queue / sizeof(uint64_t), [&] { return readings(QueueOf{port, 3}); }),
            std::vector<size_t>{packets_now})
      << "of all queues together: IF_OUT_QLEN";

  PriorityGroupSnapshot group;
  EXPECT_TRUE(unread(group.reserved_bytes, 7, [&] { return readings(group); }).empty());
}

// Fills numbers that lie side by side with different values.
void number(uint64_t* first, const uint64_t* last) {
  for (uint64_t value = 1'000; first <= last; ++first) *first = value++;
}

// What the rows of a table read of one part: by value, so that two rows that read one number are seen.
template <typename Part, typename... Parts>
std::multiset<uint64_t> numbers_read(const std::vector<Counter<Parts...>>& counters, const Part& part) {
  std::multiset<uint64_t> out;
  for (const auto& counter : counters) {
    const auto* read = std::get_if<Read<Part>>(&counter.read);
    const auto value = read == nullptr ? std::nullopt : (*read)(part);
    if (value.value_or(0) >= 1'000) out.insert(*value);
  }
  return out;
}

std::vector<uint64_t> twice(const std::multiset<uint64_t>& numbers) {
  std::vector<uint64_t> out;
  for (const uint64_t each : std::set(numbers.begin(), numbers.end())) {
    if (numbers.count(each) > 1) out.push_back(each);
  }
  return out;
}

TEST(CounterTables, ReadEachNumberOfAHostOnce) {
  HostSnapshot host;
  number(&host.counters.received_packets, &host.counters.ended_flow_packets);
  host.receive_buffer_max_bytes = 1'000'000;
  const auto seen = numbers_read(host_counters(), host);
  EXPECT_TRUE(twice(seen).empty()) << testing::PrintToString(seen);
  EXPECT_EQ(seen.size(), HostCounts::rows().size() + 1);
}

// The frames that passed in storms are shown by another table.
TEST(CounterTables, ReadEachNumberOfAPriorityOnce) {
  PauseSnapshot pause;
  number(&pause.rx_frames, &pause.restored);
  const auto seen = numbers_read(switch_counters(), pause);
  EXPECT_TRUE(twice(seen).empty()) << testing::PrintToString(seen);
  EXPECT_EQ(seen.size(), static_cast<size_t>(&pause.restored - &pause.rx_frames) + 1);
}

TEST(CounterTables, ReadEachNumberOfAnEdgeAndItsNicOnce) {
  EdgeSnapshot edge;
  number(&edge.counters.in_packets, &edge.counters.held_bytes_max);
  const auto counted = numbers_read(edge_counters(), edge);
  EXPECT_TRUE(twice(counted).empty()) << testing::PrintToString(counted);
  EXPECT_GE(counted.size(), 5u);
  edge.counters = {};
  auto* const first = reinterpret_cast<uint64_t*>(&edge.nic);
  number(first, first + sizeof edge.nic / sizeof(uint64_t) - 1);
  const auto of_nic = numbers_read(edge_counters(), edge);
  EXPECT_TRUE(twice(of_nic).empty()) << testing::PrintToString(of_nic);
  EXPECT_GE(of_nic.size(), 5u);
}

TEST(CounterTables, ReadEachNumberOfALinkOnce) {
  LinkDirection link;
  number(&link.sent.packets, &link.sent.lost_flow_packets);
  const auto seen = numbers_read(link_counters(), link);
  EXPECT_TRUE(twice(seen).empty()) << testing::PrintToString(seen);
  EXPECT_EQ(seen.size(), 6u) << "packets, bytes, lost and cut together, vanished, damaged, injected";
}

TEST(CounterTables, ReadEachNumberOfAWorkloadOnce) {
  WorkloadTotals totals;
  number(&totals.flows, &totals.cut_off_flows);
  const auto seen = numbers_read(workload_counters(), totals);
  EXPECT_TRUE(twice(seen).empty()) << testing::PrintToString(seen);
  EXPECT_EQ(seen.size(), 16u);
  ReliableCounts reliable;
  auto* const first = reinterpret_cast<uint64_t*>(&reliable);
  number(first, first + sizeof reliable / sizeof(uint64_t) - 1);
  const auto of_connection = numbers_read(reliable_counters(), reliable);
  EXPECT_TRUE(twice(of_connection).empty());
  EXPECT_EQ(of_connection.size(), sizeof reliable / sizeof(uint64_t));
}

TEST(CounterTables, AddWhatGrowsAndTakeTheHighestOfWatermarks) {
  FabricSnapshot fabric = tests::small_fabric();
  SwitchSnapshot& tor = fabric.switches[0];
  tor.ports[0].counters.queues[4].watermark_bytes = 7'000;
  uint64_t packets = 0;
  uint64_t highest = 0;
  for (PortSnapshot& port : tor.ports) {
    packets += port.counters.rx_packets;
    for (const dataplane::QueueCounters& queue : port.counters.queues)
      highest = std::max(highest, queue.watermark_bytes);
  }
  ASSERT_GT(tor.ports.size(), 1u);
  int seen = 0;
  for (const SwitchCounter& counter : switch_counters()) {
    const bool is_sum = counter.facts.report == "rx_packets";
    const bool is_highest = counter.facts.report == "queue_watermark_bytes";
    if (!is_sum && !is_highest) continue;
    EXPECT_EQ(total_of(tor, counter), is_sum ? packets : highest);
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace softspine::control
