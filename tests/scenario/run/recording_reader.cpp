// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/run/recording_reader.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "control/telemetry/counter.hpp"
#include "control/telemetry/counter_parts.hpp"

namespace softspine::testbeds {

namespace {

using namespace control;

Database opened(const std::string& path) {
  auto database = Database::read(path);
  if (!database) throw std::runtime_error(path + ": " + database.error());
  return std::move(*database);
}

struct Kind {
  const char* table;
  const char* place;
  const char* number;
};
constexpr Kind kKinds[] = {{"port_samples", "port", ""},
                           {"priority_samples", "port", "priority"},
                           {"group_samples", "port", "priority_group"},
                           {"queue_samples", "port", "queue"},
                           {"pool_samples", "pool", ""},
                           {"nic_priority_samples", "port", "priority"}};

// Of all tables: which columns hold a counter's growth.
std::map<std::string, Nature> natures_of(const std::string& table) {
  std::map<std::string, Nature> out;
  const auto add = [&]<typename Part>(const auto& counters, const char* of) {
    for (const auto& counter : counters) {
      const bool is_there = table == of && std::holds_alternative<Read<Part>>(counter.read);
      if (is_there && !counter.facts.row_name().empty()) {
        out.emplace(std::string{counter.facts.row_name()}, counter.facts.nature);
      }
    }
  };
  add.operator()<PortSnapshot>(switch_counters(), "port_samples");
  add.operator()<CreditSnapshot>(switch_counters(), "port_samples");
  add.operator()<PauseSnapshot>(switch_counters(), "priority_samples");
  add.operator()<CreditOf>(switch_counters(), "priority_samples");
  add.operator()<PriorityGroupSnapshot>(switch_counters(), "group_samples");
  add.operator()<QueueOf>(switch_counters(), "queue_samples");
  add.operator()<PoolSnapshot>(switch_counters(), "pool_samples");
  add.operator()<HostPauseSnapshot>(host_counters(), "nic_priority_samples");
  return out;
}

template <typename Part, typename Owner, typename Counters>
void add_values(std::map<std::string, uint64_t>& out, const char* table, const Owner& owner, const Counters& counters) {
  for (const auto& counter : counters) {
    const auto* read = std::get_if<Read<Part>>(&counter.read);
    if (read == nullptr || counter.facts.row_name().empty()) continue;
    each_part<Part>(owner, [&](const Part& part, const PartName& name) {
      const auto value = (*read)(part);
      const std::string number = name.number ? std::to_string(*name.number) : "";
      if (value && *value != 0)
        out[fmt::format("{}/{}:{}/{}/{}", table, name.node, name.port, number, counter.facts.row_name())] = *value;
    });
  }
}

void add_edge(std::map<std::string, uint64_t>& out, const EdgeSnapshot& edge) {
  for (const HostCounter& counter : host_counters()) {
    const auto* read = std::get_if<Read<HostPauseSnapshot>>(&counter.read);
    if (read == nullptr || counter.facts.row_name().empty()) continue;
    for (size_t i = 0; i < edge.pause.size(); ++i) {
      const uint64_t value = (*read)(edge.pause[i]).value_or(0);
      if (value == 0) continue;
      out[fmt::format("nic_priority_samples/{}:{}/{}/{}", edge.name, edge.port, i, counter.facts.row_name())] = value;
    }
  }
}

}  // namespace

RecordingReader::RecordingReader(const std::string& path) : database_(opened(path)) {}

uint64_t RecordingReader::one(const std::string& sql) {
  Statement query{database_, sql};
  EXPECT_TRUE(query.next()) << sql << ": " << database_.error();
  return static_cast<uint64_t>(query.number(0));
}

std::string RecordingReader::text(const std::string& sql) {
  Statement query{database_, sql};
  EXPECT_TRUE(query.next()) << sql << ": " << database_.error();
  return query.text(0);
}

std::vector<std::string> RecordingReader::rows(const std::string& sql) {
  std::vector<std::string> out;
  Statement query{database_, sql};
  while (query.next()) {
    std::string& row = out.emplace_back();
    for (int i = 0; i < query.columns(); ++i) row += (i == 0 ? "" : "|") + (query.is_null(i) ? "null" : query.text(i));
  }
  EXPECT_TRUE(database_.is_fine()) << sql << ": " << database_.error();
  return out;
}

std::map<std::string, uint64_t> RecordingReader::values() {
  std::map<std::string, uint64_t> out;
  for (const Kind& kind : kKinds) {
    const bool is_whole = std::string_view{kind.number}.empty();
    const std::string number = is_whole ? "''" : kind.number;
    for (const auto& [column, nature] : natures_of(kind.table)) {
      Statement query{database_,
                      fmt::format("SELECT {0}s.name, {1}, {2} FROM {3} JOIN {0}s USING({0}_id) WHERE {2} IS NOT NULL "
                                  "ORDER BY {3}.rowid",
                                  kind.place, number, column, kind.table)};
      while (query.next()) {
        uint64_t& value = out[fmt::format("{}/{}/{}/{}", kind.table, query.text(0), query.text(1), column)];
        const auto read = static_cast<uint64_t>(query.number(2));
        value = nature == Nature::kGrows ? value + read : read;
      }
    }
  }
  EXPECT_TRUE(database_.is_fine()) << database_.error();
  std::erase_if(out, [](const auto& each) { return each.second == 0; });
  return out;
}

std::map<std::string, std::vector<std::string>> RecordingReader::content() {
  std::map<std::string, std::vector<std::string>> out;
  for (const std::string& table : rows("SELECT name FROM sqlite_schema WHERE type = 'table'")) {
    out[table] = rows("SELECT * FROM " + table + (table == "report" ? " WHERE section <> 'engine'" : ""));
  }
  return out;
}

std::map<std::string, uint64_t> values_of(const FabricSnapshot& snapshot) {
  std::map<std::string, uint64_t> out;
  for (const SwitchSnapshot& node : snapshot.switches) {
    add_values<PortSnapshot>(out, "port_samples", node, switch_counters());
    add_values<CreditSnapshot>(out, "port_samples", node, switch_counters());
    add_values<PauseSnapshot>(out, "priority_samples", node, switch_counters());
    add_values<CreditOf>(out, "priority_samples", node, switch_counters());
    add_values<PriorityGroupSnapshot>(out, "group_samples", node, switch_counters());
    add_values<QueueOf>(out, "queue_samples", node, switch_counters());
    add_values<PoolSnapshot>(out, "pool_samples", node, switch_counters());
  }
  for (const HostSnapshot& host : snapshot.hosts) {
    add_values<HostPauseSnapshot>(out, "nic_priority_samples", host, host_counters());
  }
  for (const EdgeSnapshot& edge : snapshot.edges) add_edge(out, edge);
  return out;
}

}  // namespace softspine::testbeds
