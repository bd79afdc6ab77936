// SPDX-License-Identifier: Apache-2.0
// Counters over time: what every port, priority, priority group, queue and buffer pool of the switches, and every
// priority of the ports of hosts, built-in or outside, has counted since the last sample, as cells (sink.hpp).
//
// A sample has what has changed: of a counter by how much since the last sample, of a gauge or watermark its new value.
// Cells that have not changed are left out, and a row without cells, too. The names are CounterFacts::row_name().
//
//   the sum of a counter over all cells  =  its value at the end of the run
//   the last value of a gauge            =  its value at the end
// check() compares each series with the snapshot that the report is made from. The sums of what was handed out are kept
// apart from the last sample, of which differences are taken, so that a surplus, missing or wrong cell is found.
//
// Cost of a sample: a comparison for each part that the caller knows to be unchanged, else one for each counter of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/record/sink.hpp"
#include "control/telemetry/counter.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// Changes that are possible at a port since the last sample; bit n: priority, group or queue n. At
// ports of hosts and edges only the priorities matter.
struct PortChanges {
  bool port = true;
  uint8_t priorities = 0xff;
  uint8_t groups = 0xff;
  uint8_t queues = 0xff;
};

// Which counters: names of rows, with * for anything ("pfc_*"); none: all. "drops" stands for drops by reason.
using CounterPatterns = std::vector<std::string>;
// The names that patterns can name, in the order of the tables.
std::vector<std::string> series_names();
bool names_a_series(const std::string& pattern);

class Series {
 public:
  // `shape`: a snapshot with the switches, ports, pools, hosts and edges that every sample will have, in this order.
  Series(const FabricSnapshot& shape, const CounterPatterns& patterns);

  SeriesShape shape(const std::string& testbed, dataplane::Duration interval) const;
  // One sample, until the next is taken. `changes`: by port, over all switches, hosts, then edges; at ports that it
  // does not reach anything may have changed.
  SeriesSample sample(const FabricSnapshot& now, const std::vector<PortChanges>& changes);

  // The parts that the chosen counters belong to: nothing else of a snapshot is read.
  struct Needs {
    bool ports = false;
    bool priorities = false;
    bool groups = false;
    bool queues = false;
    bool pools = false;
    bool hosts = false;
  };
  Needs needs() const;

  // A sentence for each series whose sum is not what the snapshot of the end has.
  std::vector<std::string> check(const FabricSnapshot& end) const;

 private:
  template <typename Part>
  struct Column {
    Read<Part> read;
    Nature nature = Nature::kGrows;
  };
  // Consecutive columns whose values are members of one struct, which `holder` finds.
  template <typename Part>
  struct Run {
    typename MemberRead<Part>::Holder holder;  // null: one column, whose `read` alone knows
    std::vector<size_t> offsets;               // of each column's member
  };
  template <typename Part>
  struct Columns {
    std::vector<Column<Part>> all;
    std::vector<Run<Part>> runs;  // over `all`, in its order
    uint32_t first = 0;           // of columns_: they stand there together

    size_t size() const { return all.size(); }
    bool empty() const { return all.empty(); }
  };
  struct Places;
  class Finder;
  class Checker;

  template <typename Part, typename Table>
  Columns<Part> chosen(const Table& table, const CounterPatterns& patterns, SeriesSection section);
  // Calls the cells of each row, in the order in which values_ has them.
  template <typename Cells>
  void walk(const FabricSnapshot& snapshot, const std::vector<PortChanges>* changes, Cells& cells) const;
  template <typename Cells, typename See>
  static void walk_rows(size_t place, SeriesRow row, uint8_t changed, size_t columns, Cells& cells, See&& see);
  template <typename Cells>
  void walk_port(const PortSnapshot& port, size_t place, PortChanges changes, Cells& cells) const;
  size_t size_of(const FabricSnapshot& shape) const;

  std::vector<SeriesColumn> columns_;  // those below, in their order, then drops by reason
  Columns<PortSnapshot> ports_;
  Columns<CreditSnapshot> credits_;
  Columns<PauseSnapshot> priorities_;
  Columns<CreditOf> credit_priorities_;
  Columns<PriorityGroupSnapshot> groups_;
  Columns<QueueOf> queues_;
  Columns<PoolSnapshot> pools_;
  Columns<HostPauseSnapshot> host_priorities_;
  bool has_drops_ = false;
  uint32_t first_drop_ = 0;          // of columns_
  std::vector<SeriesPlace> places_;  // the ports of switches, of hosts, then of edges
  std::vector<size_t> pool_counts_;  // of each switch, at the start: a profile may have others later
  std::vector<uint64_t> seen_;       // by row and column: at the last sample
  std::vector<uint64_t> handed_;     // as seen_: the sum of what was handed out, or the last gauge
  std::vector<ChangedRow> rows_;     // of the last sample
  std::vector<SeriesCell> cells_;    // of the last sample, and room for more
};

}  // namespace softspine::control
