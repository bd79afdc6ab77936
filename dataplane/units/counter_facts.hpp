// SPDX-License-Identifier: Apache-2.0
// A counter's names where it is shown, and its meaning (control/telemetry/counter.hpp). A class that counts may declare
// these beside its members, so that a new counter is one file and the line that counts it. No DPDK.
//
//   report   key in the report, at the switch, host, edge, link or workload: the sum over its ports, queues, …
//   sai      name in `show counters`, for each port, queue, … by itself; `#` stands for the priority
//   metric   name for Prometheus, likewise
//   row      name at the port, queue, … itself: in the report's `ports` and in counters over time; where it is not
//            given, `report`
// A name that is not given: the counter is not shown there.
#pragma once

#include <cstdint>
#include <string_view>

namespace softspine::dataplane {

// Times are counted in picoseconds. SAI has them in microseconds, Prometheus in seconds.
enum class CounterUnit : uint8_t {
  kCount,
  kPackets,
  kFrames,
  kMessages,
  kBytes,
  kBytesPerSecond,
  kPicoseconds,
  kYesNo
};

// How the values of many ports or queues become one: counters that only grow, and gauges, are added; of high-water
// marks, the highest counts.
enum class Nature : uint8_t { kGrows, kNow, kHighest };

struct CounterFacts {
  CounterUnit unit = CounterUnit::kCount;
  Nature nature = Nature::kGrows;
  std::string_view report;
  std::string_view sai;
  std::string_view metric;
  std::string_view help;       // a sentence
  std::string_view direction;  // label of a metric that several share, one behind the other: rx, tx
  std::string_view row;

  std::string_view row_name() const { return row.empty() ? report : row; }
};

// A member that is shown. Structs whose table stands beside them have a function rows() of these.
template <typename Owner>
struct CounterRow {
  uint64_t Owner::* member;
  CounterFacts facts;
};

}  // namespace softspine::dataplane
