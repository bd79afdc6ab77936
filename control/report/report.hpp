// SPDX-License-Identifier: Apache-2.0
// The report of a run: everything that was counted, as JSON that `expect:` lines and other programs read.
//
//   testbed clock seed duration_ps
//   totals     sums over flows, nodes, links; balanced, imbalances: whether all of it adds up (audit.hpp)
//   flows      {workload: {flows completed sent_* received_* missing_packets under_way_packets … fct_* fct_acked_*
//              rate_bps latency_*}}
//   switches   {tor1: {rx_packets tx_packets dropped_packets drops{reason: n} …}}
//   ports      {"tor1:Ethernet16": {priorities{"3": {pfc_tx_packets …}} groups{} queues{} drops{}}}: what counted
//              anything, without its zeros (port_rows.hpp)
//   links      {"tor1:Ethernet16": {to up tx_* rx_packets under_way_packets lost_packets utilisation share …}}
//              by the port that sends
//   hosts      {h1: {sent_* received_* rate_bps latency_* …}}
//   idle       {hosts links}: how many did nothing; `run` leaves out their rows (idle_rows.hpp)
//   edges      {name: {kind in_* out_* waiting_* pfc_* paused_ps pause{} in_drops{} out_drops{} …}}
//   losses     [{place reason packets}]: where packets were lost, the most first (losses.hpp)
//   faults     [{at_ps what loss_window{}}]: those that struck and ended, and what each has cost (loss_window.hpp)
//   unexplained_losses [{reason packets bytes …}]: in a run with a fault, the losses that no fault explains
//   deadlocks  [{found_ps circle}]
//   stacks     {name: {peers … members{switch: {role state …}}}}: pairs of ToRs that are one (stack_snapshot.hpp)
//   errors     [{who what first_ps last_ps count}]     error_channel.hpp; none in a run that went well
//   notices    [sentence]                              notices.hpp
//   engine     how the machine did
//
// Packets of a flow:   sent_packets = received_packets − foreign_packets + missing_packets + under_way_packets
// `missing` is what the fabric has lost; `under_way` is what is on links, in queues or in receive buffers when the run
// ends. Retransmissions are packets like others; retransmitted_bytes are those of sent_bytes that had been sent before.
// Losses that a receiver alone can see have counters of their own: sequence_gaps (a PSN was ahead of the one due),
// skipped_packets (PSNs in those gaps; a loss behind the last packet received opens none), behind_packets. fct_* are
// from the first bit sent to the last data bit at the receiver. fct_acked_* are to the last acknowledgement at the
// sender, which is what completion means to an RDMA program, and to HPCC, SimAI and htsim; they are null for open
// loops. links.*.share is of the bytes that left a switch's queues by its uplinks: its own pause and credit frames do
// not count.
//
// The same testbed and seed on the virtual clock give the same bytes, except for `engine`, the last key. So nothing
// else here depends on the number of workers, on an address, or on a clock of the machine.
//
// Units end the keys: _ps, _bps, _bytes; others are packets, messages or flows, and shares are 0 … 1. A value that does
// not exist (the completion time of no flow) is null. A flow is one queue pair's stream. Bytes and rates of flows and
// of hosts' rate_bps are payload; those of switches and links are frames without FCS; utilisation counts all that is on
// the wire. Quantiles of completion times are exact, by nearest rank; those of packets' and messages' latencies, and of
// lateness, are within 0.4 % of that (histogram.hpp).
// *.drops counts every packet that ended there by reason; dropped_packets leaves out what was consumed. Those of totals
// are of switches, hosts and edges; what links lost is beside them (lost_, vanished_, damaged_on_links).
#pragma once

#include <cstdint>
#include <string>

#include "control/report/idle_rows.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// The version of the report's keys: it grows when one of them goes, or means something else. A key that is added does
// not change it.
inline constexpr int kReportFormat = 1;

struct RunFacts {
  std::string program;  // its version
  std::string testbed;
  std::string clock;  // virtual, wall
  uint64_t seed = 0;
  int64_t dilation = 1;
  bool interrupted = false;  // ended before its end
};

Json report_json(const FabricSnapshot& snapshot, const RunFacts& facts, IdleRows idle = IdleRows::kShown);

// Parts of the report that commands show, too.
Json workloads_json(const FabricSnapshot& snapshot);
Json links_json(const FabricSnapshot& snapshot, const IdleParts* left_out = nullptr);
Json errors_json(const std::vector<RunError>& errors);
Json drops_json(const dataplane::DropCounters& drops);  // every reason, in the enum's order

}  // namespace softspine::control
