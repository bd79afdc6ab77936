// SPDX-License-Identifier: Apache-2.0
// The tables of a recording (docs/recording.md). Their statements carry a comment for each column, which SQLite keeps:
// `.schema` shows them.
//
//   the fabric        run, testbed, nodes, ports, links, xoff_thresholds, …      written before the first window
//   over time         samples, *_samples, events, flow_ways, hash_groups, …      while the run goes on
//   the results       flows, workloads, collectives, faults, expectations, …     when it is over; most from the report
// Samples have a row for whatever has changed: a counter's column has its growth since the last sample, a gauge's and a
// watermark's its new value, and null stands for no change.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "control/record/sink.hpp"

namespace softspine::control {

inline constexpr int kRecordingFormat = 2;       // PRAGMA user_version
inline constexpr int kRecordingId = 0x7373706e;  // PRAGMA application_id: "sspn"

// Tables of samples. The first seven are in the order of SeriesSection.
enum class SampleTable : uint8_t { kPort, kPriority, kGroup, kQueue, kPool, kNicPriority, kDrops, kFlow, kRankStep };
inline constexpr size_t kSampleTables = 9;
inline constexpr size_t kSeriesTables = 7;  // of these, the first: `samples` counts their rows
static_assert(static_cast<size_t>(SeriesSection::kDrops) == static_cast<size_t>(SampleTable::kDrops));

struct SampleTableRow {
  std::string_view name;    // of the table
  std::string_view place;   // the column that says whose row it is
  std::string_view number;  // and which part of it; empty: the whole
};
std::span<const SampleTableRow, kSampleTables> sample_tables();

// All tables and views but those of samples.
std::string_view recording_schema();
// A table of samples, with a column for each counter of its section.
std::string sample_table_schema(SampleTable table, std::span<const std::string> columns);

// A table that is filled from a section of the report: `insert` takes the section's JSON as its parameter.
struct ReportTable {
  std::string_view section;
  std::string_view insert;
};
std::span<const ReportTable> report_tables();

}  // namespace softspine::control
