// SPDX-License-Identifier: Apache-2.0
// The report of a run: everything that was counted, as JSON that `expect:` lines and other programs read.
//
//   testbed clock seed duration_ps
//   totals     sums over flows, switches, links; balanced
//   flows      {workload: {flows completed sent_* received_* missing_packets … fct_* rate_bps latency_*}}
//   switches   {tor1: {rx_packets tx_packets dropped_packets drops{reason: n} …}}
//   links      {"tor1:Ethernet16": {to up tx_packets tx_bytes utilisation share …}}     by the port that sends
//   hosts      {h1: {sent_* received_* rate_bps latency_* …}}
//   edges      {name: {kind in_* out_* waiting_* pfc_* paused_ps pause{} in_drops{} out_drops{} …}}
//   errors     [{who what first_ps last_ps count}]     error_channel.hpp; none in a run that went well
//   engine     how the machine did
//
// Same testbed, same seed, virtual clock: the same bytes, all but `engine`, the last key. So nothing here depends
// on the number of workers, on an address, or on a clock of the machine.
//
// Units end the keys: _ps, _bps, _bytes; others are packets, messages or flows, and shares are 0 … 1. A value that
// there is not (the completion time of no flow) is null. A flow is one queue pair's stream. Bytes and rates of
// flows and of hosts' rate_bps are payload; those of switches and links are frames without FCS; utilisation counts
// all that is on the wire. Quantiles of completion times are exact, by nearest rank; those of packet latencies are
// at most 6.25 % too high (histogram.hpp).
// switches.*.drops counts every packet that ended there by reason; dropped_packets leaves out what was consumed.
#pragma once

#include <cstdint>
#include <string>

#include "control/telemetry/json.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

struct RunFacts {
  std::string testbed;
  std::string clock;  // virtual, wall
  uint64_t seed = 0;
  int64_t dilation = 1;
};

Json report_json(const FabricSnapshot& snapshot, const RunFacts& facts);

// Parts of it, as commands show them too.
Json workloads_json(const FabricSnapshot& snapshot);
Json links_json(const FabricSnapshot& snapshot);
Json errors_json(const std::vector<RunError>& errors);
Json drops_json(const dataplane::DropCounters& drops);  // every reason, in the enum's order

}  // namespace softspine::control
