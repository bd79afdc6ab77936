// SPDX-License-Identifier: Apache-2.0
// The outermost table, and those about running: run, workload, faults, expect.
#include <bit>

#include "control/rows/congestion_format.hpp"
#include "control/rows/tables.hpp"

namespace softspine::control {

using dataplane::Duration;
using dataplane::Rate;

namespace {

const Limits<std::string> kNames = held_to<std::string>([](const std::string& name) {
  return is_name(name) ? "" : shown(name) + " is no name: letters, digits, '_' and '-', at most 63";
});

const Limits<Share> kShares = within<Share>({1}, {1'000'000});

bool is_of_host(const FaultRow& row) {
  return row.set == FaultState::kStorm || row.set == FaultState::kSlowReceiver;
}
bool is_of_port(const FaultRow& row) {
  return row.set == FaultState::kLossy || row.set == FaultState::kDeaf || row.set == FaultState::kTxDisabled;
}

// Keys that go with other faults.
bool check_fault_keys(Reader& reader, Value at, const FaultRow& row) {
  bool good = true;
  const auto only = [&](bool fitting, bool given, std::string_view key) {
    if (given && !fitting) good = reader.wrong(at.child(key), "is not for this fault");
  };
  const bool of_host = is_of_host(row);
  const bool lossy = row.set == FaultState::kLossy;
  only(!of_host, row.link.has_value(), "link");
  only(of_host || is_of_port(row), row.until.has_value(), "until");
  only(of_host || row.set == FaultState::kDeaf, row.priorities.has_value(), "priorities");
  only(row.set == FaultState::kSlowReceiver, row.drain.has_value(), "drain");
  only(lossy, row.drop.has_value(), "drop");
  only(lossy, row.corrupt.has_value(), "corrupt");
  only(lossy, row.direction.has_value(), "direction");
  return good;
}

bool check_fault(Reader& reader, Value at, const FaultRow& row) {
  bool good = check_fault_keys(reader, at, row);
  if (row.until && *row.until <= row.at) good = reader.wrong(at.child("until"), "ends before it begins");
  if (!good) return false;
  if (row.link && row.link->port.empty()) {
    return reader.wrong(at.child("link"), "names no port: expected NODE:PORT such as tor1:Ethernet0");
  }
  if (row.link.has_value() == row.node.has_value()) return reader.wrong(at, "needs either 'link' or 'node'");
  if (row.set.has_value() == row.profile.has_value()) {
    return reader.wrong(at, "needs either 'set' (down, up) or 'profile'");
  }
  if (row.set == FaultState::kLossy) {
    const uint64_t drop = row.drop.value_or(Share{}).millionths;
    const uint64_t corrupt = row.corrupt.value_or(Share{}).millionths;
    if (drop + corrupt == 0) return reader.wrong(at, "needs 'drop' or 'corrupt': the share of frames");
    if (drop + corrupt > 1'000'000) return reader.wrong(at.child("corrupt"), "and 'drop' exceed 100%");
  }
  return !row.profile || row.node || reader.wrong(at.child("link"), "goes with 'set': a profile is a node's");
}

const Limits<uint32_t> kPathMtus = held_to<uint32_t>([](const uint32_t& mtu) {
  const bool good = mtu >= 256 && mtu <= 4096 && std::has_single_bit(mtu);
  return good ? "" : "must be 256, 512, 1024, 2048 or 4096, not " + shown(std::to_string(mtu));
});

}  // namespace

const Table<TestbedRow>& Tables<TestbedRow>::table() {
  static const Table<TestbedRow> table =
      Table<TestbedRow>("testbed", "A testbed: a fabric, what runs on it, and what is expected.")
          .required("name", &TestbedRow::name, "what reports call it", kNames)
          .optional("run", &TestbedRow::run, "how it runs; the command line overrides")
          .optional("fabric", &TestbedRow::fabric, "a fabric to generate")
          .optional("topology", &TestbedRow::topology, "nodes and links, alone or added to the generated ones")
          .optional("profiles", &TestbedRow::profiles,
                    "tables that switches work by; 'default' serves those that name none")
          .optional("roles", &TestbedRow::roles, "the profile of switches that name none, by role")
          .optional("workload", &TestbedRow::workload, "RoCEv2 traffic between built-in hosts")
          .optional("faults", &TestbedRow::faults, "links and hosts that fail, switches that change their profile")
          .optional("convergence", &TestbedRow::convergence, "how long routes take to follow a link")
          .optional("expect", &TestbedRow::expect, "what the report must show");
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

const Table<WorkloadRow>& Tables<WorkloadRow>::table() {
  static const Table<WorkloadRow> table =
      Table<WorkloadRow>("workload", "RoCEv2 flows.")
          .required("name", &WorkloadRow::name, "what counters and expectations call it", kNames)
          .required("pattern", &WorkloadRow::pattern, "who sends to whom")
          .optional("hosts", &WorkloadRow::hosts,
                    "permutation, all_to_all, ring: among these; all built-in hosts if not given")
          .optional("from", &WorkloadRow::from, "incast: the senders, or how many; pairs: the senders")
          .optional("to", &WorkloadRow::to, "incast: the receiver; pairs: the receivers, in the order of the senders")
          .optional("message", &WorkloadRow::message, "bytes of a message", within<Bytes>({1}, {1ULL << 31}))
          .optional("messages", &WorkloadRow::messages, "of each queue pair; with 'scaling': of the flow",
                    within<uint64_t>(1, uint64_t{1} << 40))
          .optional("mtu", &WorkloadRow::mtu, "RDMA path MTU: payload bytes of a packet; 256, 512, 1024, 2048 or 4096",
                    kPathMtus)
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
          .optional("start", &WorkloadRow::start, "after the start of the run")
          .optional("dscp", &WorkloadRow::dscp,
                    "of its packets; if not given, the least that is lossless on all their ways, or else 26",
                    within<uint8_t>(0, 63))
          .optional("verb", &WorkloadRow::verb, "RDMA write or send")
          .optional("transport", &WorkloadRow::transport,
                    "open_loop: paced, deaf to what comes back; rc: a reliable connection, with acknowledgements")
          .optional("congestion_control", &WorkloadRow::congestion_control,
                    "rc: none, or one by the name of its parameters, or a map: that name as 'kind', and what differs")
          .optional("window", &WorkloadRow::window, "rc: packets under way of a queue pair",
                    within<uint32_t>(1, 1U << 20))
          .optional("ack_every", &WorkloadRow::ack_every, "rc: packets after which an acknowledgement is asked for",
                    within<uint32_t>(1, 1U << 20))
          .optional("ack_timeout", &WorkloadRow::ack_timeout, "rc: 4.096 us x 2^this without progress; 0: for ever",
                    within<uint8_t>(0, 31))
          .optional("retries", &WorkloadRow::retries, "rc: timeouts without progress before it gives up",
                    within<uint8_t>(0, 7))
          .optional("ack_dscp", &WorkloadRow::ack_dscp, "rc: of acknowledgements; by itself: the packets'",
                    within<uint8_t>(0, 63))
          .optional("cnp_dscp", &WorkloadRow::cnp_dscp, "DCQCN: of CNPs", within<uint8_t>(0, 63))
          .optional("cnp_interval", &WorkloadRow::cnp_interval,
                    "DCQCN: at most one CNP a queue pair in this time; as the set of parameters has it if not given",
                    at_least(Duration::ps(1)));
  return table;
}

const Table<FaultRow>& Tables<FaultRow>::table() {
  static const Table<FaultRow> table =
      Table<FaultRow>("fault", "One change at one instant.")
          .required("at", &FaultRow::at, "after the start of the run")
          .optional("link", &FaultRow::link, "either end of the link; deaf, tx_disabled: the port")
          .optional("node", &FaultRow::node, "all links or ports of this node; storm, slow_receiver: the built-in host")
          .optional(
              "set", &FaultRow::set,
              "links: down, up, or lossy; a port: deaf (it does not react to PFC), or a switch's: tx_disabled (its "
              "queues send nothing: SAI's PKT_TX_ENABLE); a host: storm (it pauses its peers without end) or "
              "slow_receiver (its buffer drains too slowly); clear: none of these any more")
          .optional("until", &FaultRow::until, "when it ends, but for down and up; with the run if not given")
          .optional("priorities", &FaultRow::priorities,
                    "storm, slow_receiver: which, 3 and 4 if not given; deaf: all if not given")
          .optional("drain", &FaultRow::drain, "slow_receiver: the rate of its buffer; nothing drains if not given",
                    at_least(Rate::min()))
          .optional("drop", &FaultRow::drop, "lossy: the share of frames that never arrive", kShares)
          .optional("corrupt", &FaultRow::corrupt, "lossy: the share of frames that arrive damaged (a wrong FCS)",
                    kShares)
          .optional("direction", &FaultRow::direction,
                    "lossy: both ways, or what the named end sends (out) or gets (in)")
          .optional("profile", &FaultRow::profile, "of the node, from then on: other thresholds, while it runs")
          .check(check_fault);
  return table;
}

const Table<ExpectRow>& Tables<ExpectRow>::table() {
  static const Table<ExpectRow> table =
      Table<ExpectRow>("expectation", "A value of the report and what it must be.")
          .required("value", &ExpectRow::value, "dotted path into the report; * stands for any key")
          .optional("equal", &ExpectRow::equal, "exactly this, or with 'within' about this")
          .optional("at_least", &ExpectRow::at_least, "this or more")
          .optional("at_most", &ExpectRow::at_most, "this or less")
          .optional("between", &ExpectRow::between, "two bounds, both included")
          .optional("within", &ExpectRow::within, "tolerance of 'equal', relative")
          .check([](Reader& reader, Value at, const ExpectRow& row) {
            const int given = int{row.equal.has_value()} + row.at_least.has_value() + row.at_most.has_value() +
                              row.between.has_value();
            if (given != 1) return reader.wrong(at, "needs exactly one of equal, at_least, at_most, between");
            if (row.between && row.between->size() != 2) return reader.wrong(at.child("between"), "needs two bounds");
            return !row.within || row.equal || reader.wrong(at.child("within"), "goes with 'equal' only");
          });
  return table;
}

}  // namespace softspine::control
