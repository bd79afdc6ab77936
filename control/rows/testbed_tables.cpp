// SPDX-License-Identifier: Apache-2.0
// The outermost table, and those about running: run, workload, faults, expect.
#include "control/rows/congestion_format.hpp"
#include "control/rows/name_limits.hpp"
#include "control/rows/tables.hpp"
#include "control/rows/traffic_keys.hpp"

namespace softspine::control {

using dataplane::Duration;
using dataplane::Rate;

namespace {

bool check_convergence(Reader& reader, Value at, const TestbedRow& row) {
  return !row.convergence_per_hop || row.convergence.count_ps() == 0 ||
         reader.fail(at.child("convergence_per_hop"), "stands in the place of 'convergence': give one of them");
}

// What a file can have, whether it is a testbed or is included by one.
Table<TestbedRow> with_parts(Table<TestbedRow> table) {
  return table
      .optional("include", &TestbedRow::include,
                "files beside this one with more of it: fabric, fabrics, topology, profiles, roles, jobs, workload, "
                "collectives, training, traces, overrides, faults, expect")
      .optional("fabric", &TestbedRow::fabric, "a fabric to generate")
      .optional("fabrics", &TestbedRow::fabrics,
                "several fabrics to generate, by name: their nodes are called NAME-…, such as front-s1-tor1")
      .optional("topology", &TestbedRow::topology, "nodes and links, alone or added to the generated ones")
      .optional("profiles", &TestbedRow::profiles,
                "tables that switches work by; 'default' serves those that name none")
      .optional("roles", &TestbedRow::roles, "the profile of switches that name none, by role")
      .optional("jobs", &TestbedRow::jobs, "sets of servers that work together, and which servers they get")
      .optional("workload", &TestbedRow::workload, "RoCEv2 traffic between built-in hosts")
      .optional("collectives", &TestbedRow::collectives, "AllReduce and the like between built-in hosts")
      .optional("training", &TestbedRow::training, "steps of training jobs on built-in hosts")
      .optional("traces", &TestbedRow::traces, "recorded work, done again by built-in hosts")
      .optional("overrides", &TestbedRow::overrides,
                "exact matches at switches, before ECMP: what comes in there and is bound there leaves here")
      .optional("faults", &TestbedRow::faults, "links and hosts that fail, switches that change their profile")
      .optional("expect", &TestbedRow::expect, "what the report must show");
}

}  // namespace

const Table<TestbedRow>& Tables<TestbedRow>::table() {
  static const Table<TestbedRow> table = with_parts(
      Table<TestbedRow>("testbed", "A testbed: a fabric, what runs on it, and what is expected.")
          .required("name", &TestbedRow::name, "what reports call it", kNames)
          .optional("run", &TestbedRow::run, "how it runs; the command line overrides")
          .optional("convergence", &TestbedRow::convergence, "how long routes take to follow a link")
          .optional("convergence_per_hop", &TestbedRow::convergence_per_hop,
                    "in its place: how long a switch takes to learn of a change after its neighbour has")
          .optional("traffic_engineering", &TestbedRow::engineering,
                    "a controller that measures flows and places each on the least loaded path, by overrides")
          .optional("detection", &TestbedRow::detection,
                    "how links that fail are noticed; if not given, those that go down at once, all others never")
          .check(check_convergence));
  return table;
}

const Table<TestbedRow>& included_table() {
  static const Table<TestbedRow> table =
      with_parts(Table<TestbedRow>("included file", "A part of a testbed in a file of its own."));
  return table;
}

const Table<RunRow>& Tables<RunRow>::table() {
  static const Table<RunRow> table =
      Table<RunRow>("run", "How the testbed runs.")
          .optional("clock", &RunRow::clock,
                    "virtual, or wall; by itself: wall if a host is not emulated, else virtual")
          .optional("duration", &RunRow::duration,
                    "of emulated time; by itself 10ms on the virtual clock, on the wall clock until the commands of "
                    "all outside "
                    "hosts have ended, or Ctrl-C",
                    at_least(Duration::ps(1)))
          .optional("seed", &RunRow::seed, "of everything random")
          .optional("workers", &RunRow::workers, "polling threads", within<uint32_t>(1, kMaxWorkers))
          .optional("dilation", &RunRow::dilation, "wall clock: how many times slower than the wall",
                    within<uint32_t>(1, kMaxDilation))
          .optional("clock_ppm", &RunRow::clock_ppm,
                    "each node's clock is off by an offset that the seed draws, at most this many parts per million; "
                    "802.3 allows 100; 0: all clocks agree",
                    within<uint32_t>(0, dataplane::kMaxClockPpm))
          .optional(
              "start_jitter", &RunRow::start_jitter,
              "built-in hosts start a paced packet late, by up to this share of its time on the wire, and so does "
              "one in 128 of those that follow back to back; 0%: none",
              within<Share>({0}, {1'000'000}))
          .optional("memory", &RunRow::memory, "of packets at most; what the machine has if not given",
                    within<Bytes>({1 << 20}, {1ULL << 50}))
          .optional("telemetry", &RunRow::telemetry, "counters over time and events, written to files");
  return table;
}

const Table<TelemetryRow>& Tables<TelemetryRow>::table() {
  static const Table<TelemetryRow> table =
      Table<TelemetryRow>("telemetry", "What is written while it runs: counters over time, events.")
          .optional("counters_file", &TelemetryRow::counters_file,
                    "JSON lines: what has changed since the last sample; beside the testbed's file; --counters-file")
          .optional("sample_interval", &TelemetryRow::sample_interval, "of emulated time, from one sample to the next",
                    within(Duration::ns(100), Duration::us(3'600'000'000)))
          .optional("counters", &TelemetryRow::counters,
                    "names of counters, with * for anything (pfc_*); all if not given; `drops` is by reason")
          .optional("events_file", &TelemetryRow::events_file,
                    "JSON lines: XOFF, pauses, storms, bursts of drops, links, routes, faults; beside the testbed's "
                    "file; --events");
  return table;
}

const Table<RolesRow>& Tables<RolesRow>::table() {
  static const Table<RolesRow> table = [] {
    Table<RolesRow> out{"roles", "Profiles by role."};
    for (size_t i = 0; i < kSwitchRoles.size(); ++i)
      out.optional(kSwitchRoles[i].word, kProfileOfRole[i], kSwitchRoles[i].profile_key);
    return out;
  }();
  return table;
}

const Table<JobRow>& Tables<JobRow>::table() {
  static const Table<JobRow> table =
      Table<JobRow>("job", "Servers that work together; workloads name its NICs by `job NAME`.")
          .required("name", &JobRow::name, "what workloads call it", kNames)
          .required("servers", &JobRow::servers, "how many, placed by a rule, or which, in the order of their ranks")
          .optional("placement", &JobRow::placement,
                    "packed (if not given): the first free servers; random: drawn with the run's seed; min-cut: so "
                    "that the least of what its workloads send goes over the upper tiers")
          .optional("of", &JobRow::of, "the servers that it may get, by name, * for any letters; all if not given");
  return table;
}

const Table<WorkloadRow>& Tables<WorkloadRow>::table() {
  static const Table<WorkloadRow> table =
      Table<WorkloadRow>("workload", "RoCEv2 flows.")
          .required("name", &WorkloadRow::name, "what counters and expectations call it", kNames)
          .required("pattern", &WorkloadRow::pattern, "who sends to whom")
          .optional(
              "hosts", &WorkloadRow::hosts,
              "permutation, all_to_all, ring, poisson: among these; list: those that its numbers mean, from 0; all "
              "built-in hosts if not given")
          .optional("from", &WorkloadRow::from, "incast: the senders, or how many; pairs: the senders")
          .optional("to", &WorkloadRow::to, "incast: the receiver; pairs: the receivers, in the order of the senders")
          .optional("file", &WorkloadRow::file, "list: its flows, one a line; a path from the testbed's folder")
          .optional("format", &WorkloadRow::format,
                    "list: hpcc (if not given): SOURCE DESTINATION PRIORITY PORT BYTES START, behind a line with their "
                    "number, as HPCC's flow.txt; csv: with a line that names the columns")
          .optional("zero", &WorkloadRow::zero, "list: its instant at which the workload starts", at_least(Duration{}))
          .optional("load", &WorkloadRow::load, "poisson: payload, as a share of the hosts' link rates",
                    within<Share>({1}, {1'000'000}))
          .optional("sizes", &WorkloadRow::sizes,
                    "poisson: websearch, hadoop, alistorage, googlerpc, or a file with lines of BYTES PERCENT")
          .optional("flows", &WorkloadRow::flows, "poisson: how many", within<uint64_t>(1, kMaxListedFlows))
          .optional("until", &WorkloadRow::until, "poisson: instead of `flows`: after its start none begins later",
                    at_least(Duration::ps(1)))
          .optional("message", &WorkloadRow::message, "bytes of a message", within<Bytes>({1}, {1ULL << 31}))
          .optional("messages", &WorkloadRow::messages, "of each queue pair; with 'scaling': of the flow",
                    within<uint64_t>(1, uint64_t{1} << 40))
          .optional("mtu", &WorkloadRow::mtu, kPathMtuHelp, kPathMtus)
          .optional("qps", &WorkloadRow::qps, "queue pairs of a flow", within<uint32_t>(1, 65'536))
          .optional("scaling", &WorkloadRow::scaling,
                    "of messages over a flow's queue pairs: each has all of them; split: each has a part of every one; "
                    "round_robin: they take turns")
          .optional("qp_numbers", &WorkloadRow::qp_numbers,
                    "how hosts number queue pairs: as which driver; random: as chance has it")
          .optional("first_qp", &WorkloadRow::first_qp, "rxe: number of the first queue pair",
                    within<uint32_t>(2, 0xFFFFFF))
          .optional("source_port", &WorkloadRow::source_port, "UDP; per_qp: from the queue pair, as the kernel does it")
          .optional("rate", &WorkloadRow::rate, "of a flow; the host's link if not given", at_least(Rate::min()))
          .optional("start", &WorkloadRow::start, kStartHelp)
          .optional("dscp", &WorkloadRow::dscp, kDscpHelp, kDscps)
          .optional("verb", &WorkloadRow::verb, "RDMA write or send")
          .optional("transport", &WorkloadRow::transport,
                    "open_loop: paced, deaf to what comes back; rc: a reliable connection, with acknowledgements")
          .parameters(&WorkloadRow::reliable, kReliableKeys)
          .optional("ack_dscp", &WorkloadRow::ack_dscp, "rc: of acknowledgements; by itself: the packets'", kDscps)
          .optional("cnp_dscp", &WorkloadRow::cnp_dscp, "DCQCN: of CNPs", kDscps)
          .optional("cnp_interval", &WorkloadRow::cnp_interval,
                    "DCQCN: at most one CNP a queue pair in this time; as the set of parameters has it if not given",
                    at_least(Duration::ps(1)));
  return table;
}

const Table<ExpectRow>& Tables<ExpectRow>::table() {
  static const Table<ExpectRow> table =
      Table<ExpectRow>("expectation", "A value of the report and what it must be.")
          .required("value", &ExpectRow::value, "dotted path into the report; * stands for any key")
          .optional("equal", &ExpectRow::equal, "exactly this, or with 'within' about this")
          .optional("at_least", &ExpectRow::at_least, "this or more: more than 0")
          .optional("at_most", &ExpectRow::at_most, "this or less")
          .optional("between", &ExpectRow::between, "two bounds, both included")
          .optional("within", &ExpectRow::within, "tolerance of 'equal', relative: less than 100%")
          .check([](Reader& reader, Value at, const ExpectRow& row) {
            const int given = int{row.equal.has_value()} + row.at_least.has_value() + row.at_most.has_value() +
                              row.between.has_value();
            if (given != 1) return reader.fail(at, "needs exactly one of equal, at_least, at_most, between");
            if (row.between && row.between->size() != 2) return reader.fail(at.child("between"), "needs two bounds");
            return !row.within || row.equal || reader.fail(at.child("within"), "goes with 'equal' only");
          });
  return table;
}

}  // namespace softspine::control
