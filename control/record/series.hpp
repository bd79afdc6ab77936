// SPDX-License-Identifier: Apache-2.0
// Counters over time: what every port, priority, priority group, queue and buffer pool of the switches, and every
// priority of the ports of hosts, built-in or outside, has counted since the last sample, as JSON lines.
//
//   {"series": 1, "testbed": …, "sample_interval_ps": …, "counters": {"port": {"rx_packets": "counter", …}, …}}
//   {"t_ps": 20000000, "port": "tor1:Ethernet0", "rx_packets": 12, …, "drops": {"queue_full": 3}}
//   {"t_ps": 20000000, "port": "tor1:Ethernet0", "priority": 3, "pfc_tx_packets": 1, "pfc_tx_pause_ps": 4096, …}
//   …                                            "group": 3      "queue": 3      "pool": "ingress_lossless_pool"
//   {"end_ps": …, "samples": …, "lines": …}
//
// A line has what has changed: of a counter by how much since the last sample, of a gauge or watermark its new value.
// What has not changed is left out, and a line that would have nothing, too. The names are CounterFacts::row_name().
//
//   the sum of a counter over all lines  =  its value at the end of the run
//   the last value of a gauge            =  its value at the end
// check() compares each series with the snapshot that the report is made from. The sums of what was written are kept
// apart from the last sample, of which differences are taken, so that a surplus, missing or wrong line is found.
//
// Cost of a sample: a comparison for each part that the caller knows to be unchanged, else one for each counter of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/record/line_text.hpp"
#include "control/telemetry/counter.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// What may have changed at a port since the last sample; bit n: priority, group or queue n. At
// ports of hosts and edges only the priorities matter.
struct PortChanges {
  bool port = true;
  uint8_t priorities = 0xff;
  uint8_t groups = 0xff;
  uint8_t queues = 0xff;
};

// What a row is of: a whole port or pool, or one of a port's priorities, groups or queues.
enum class SeriesRow : uint8_t { kWhole, kPriority, kGroup, kQueue };

// Which counters: names of rows, with * for anything ("pfc_*"); none: all. "drops" stands for drops by reason.
using CounterPatterns = std::vector<std::string>;
// The names that patterns can name, in the order of the tables.
std::vector<std::string> series_names();
bool names_a_series(const std::string& pattern);

class Series {
 public:
  // `shape`: a snapshot with the switches, ports, pools, hosts and edges that every sample will have, in this order.
  Series(const FabricSnapshot& shape, const CounterPatterns& patterns);

  void add_head(std::string& out, const std::string& testbed, dataplane::Duration interval) const;
  // The lines of one sample. `changes`: by port, over all switches, hosts, then edges; at ports that it does not reach
  // anything may have changed.
  void add_sample(std::string& out, const FabricSnapshot& now, const std::vector<PortChanges>& changes);
  void add_end(std::string& out, dataplane::Instant now) const;

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

  uint64_t lines() const { return lines_; }

 private:
  template <typename Part>
  struct Column {
    Read<Part> read;
    LineKey key;  // ,"name":
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

    size_t size() const { return all.size(); }
    bool empty() const { return all.empty(); }
  };
  struct Places;
  class Writer;
  class Checker;

  template <typename Part, typename Table>
  Columns<Part> chosen(const Table& table, const CounterPatterns& patterns) const;
  // Calls the cells of each row, in the order in which values_ has them.
  template <typename Cells>
  void walk(const FabricSnapshot& snapshot, const std::vector<PortChanges>* changes, Cells& cells) const;
  template <typename Cells, typename See>
  static void walk_rows(std::string_view name, SeriesRow row, uint8_t changed, size_t columns, Cells& cells, See&& see);
  template <typename Cells>
  void walk_port(const PortSnapshot& port, std::string_view name, PortChanges changes, Cells& cells) const;
  template <typename Part>
  static void add_names(std::string& out, const Columns<Part>& columns);
  size_t size_of(const FabricSnapshot& shape) const;
  size_t longest_line() const;

  Columns<PortSnapshot> ports_;
  Columns<CreditSnapshot> credits_;
  Columns<PauseSnapshot> priorities_;
  Columns<CreditOf> credit_priorities_;
  Columns<PriorityGroupSnapshot> groups_;
  Columns<QueueOf> queues_;
  Columns<PoolSnapshot> pools_;
  Columns<HostPauseSnapshot> host_priorities_;
  bool has_drops_ = false;
  std::vector<std::string> names_;   // of the ports of switches, of hosts, then of edges: tor1:Ethernet0
  std::vector<size_t> pool_counts_;  // of each switch, at the start: a profile may have others later
  std::vector<uint64_t> seen_;       // by row and column: at the last sample
  std::vector<uint64_t> written_;    // as seen_: the sum of what was written, or the last gauge
  LineText line_;                    // that is being written
  uint64_t samples_ = 0;
  uint64_t lines_ = 0;
};

}  // namespace softspine::control
