// SPDX-License-Identifier: Apache-2.0
// The table of traces.
#include "control/rows/congestion_format.hpp"
#include "control/rows/name_limits.hpp"
#include "control/rows/tables.hpp"
#include "control/rows/traffic_keys.hpp"

namespace softspine::control {

using dataplane::Duration;

const Table<TraceRow>& Tables<TraceRow>::table() {
  const Limits<Duration> costs = within(Duration{}, Duration::s(1));
  static const Table<TraceRow> table =
      Table<TraceRow>("trace", "Recorded work of a program's ranks, done again by built-in hosts.")
          .required("name", &TraceRow::name, "what counters and expectations call it", kNames)
          .required("file", &TraceRow::file, "the trace, beside this file; of chakra: NAME of NAME.0.et, NAME.1.et …")
          .optional("format", &TraceRow::format,
                    "goal: as Schedgen, LogGOPSim and ATLAHS write it; chakra: execution traces of MLCommons, a file a "
                    "rank; htsim: connection matrices (.cm); simai_flows: flows recorded by SimAI")
          .optional(
              "start_unit", &TraceRow::start_unit,
              "htsim: of its starts: us, as uet-htsim's programs read them (if not given), or ps, as csg-htsim's do")
          .optional("ranks", &TraceRow::ranks,
                    "the hosts, one a rank, in the order of the ranks; the first built-in hosts if not given")
          .optional("open_operations", &TraceRow::window,
                    "how many operations of a rank are open at most; the report's `opened_late` says whether it was "
                    "large enough",
                    within<uint32_t>(1, 1U << 20))
          .optional("post_cost", &TraceRow::post_cost, "of a rank's cpu for each send: LogGOPS' o", costs)
          .optional("receive_cost", &TraceRow::receive_cost,
                    "of a rank's cpu for each message that it receives: LogGOPS' o", costs)
          .optional("byte_cost", &TraceRow::byte_cost,
                    "of a rank's cpu for each byte of both but the first: LogGOPS' O",
                    within(Duration{}, Duration::us(1)))
          .optional("start", &TraceRow::start, kStartHelp)
          .optional("mtu", &TraceRow::mtu, kPathMtuHelp, kPathMtus)
          .optional("dscp", &TraceRow::dscp, kDscpHelp, kDscps)
          .parameters(&TraceRow::reliable, kReliableKeys);
  return table;
}

}  // namespace softspine::control
