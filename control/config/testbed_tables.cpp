// SPDX-License-Identifier: Apache-2.0
// The outermost table, and those about running: run, workload, faults, expect.
#include <bit>

#include "control/config/tables.hpp"

namespace softspine::control {

using dataplane::Duration;
using dataplane::Rate;

namespace {

const Limits<std::string> kNames = held_to<std::string>([](const std::string& name) {
  return is_name(name) ? "" : shown(name) + " is no name: letters, digits, '_' and '-', at most 63";
});

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
          .optional("faults", &TestbedRow::faults, "links that go down or up, switches that change their profile")
          .optional("convergence", &TestbedRow::convergence, "how long routes take to follow a link")
          .optional("expect", &TestbedRow::expect, "what the report must show");
  return table;
}

const Table<RunRow>& Tables<RunRow>::table() {
  static const Table<RunRow> table =
      Table<RunRow>("run", "How the testbed runs.")
          .optional("clock", &RunRow::clock,
                    "virtual, or wall; by itself: wall if a host is not emulated, else virtual")
          .optional("duration", &RunRow::duration, "of emulated time", at_least(Duration::ps(1)))
          .optional("seed", &RunRow::seed, "of everything random")
          .optional("workers", &RunRow::workers, "polling threads", within<uint32_t>(1, kMaxWorkers))
          .optional("dilation", &RunRow::dilation, "wall clock: how many times slower than the wall",
                    within<uint32_t>(1, kMaxDilation));
  return table;
}

const Table<RolesRow>& Tables<RolesRow>::table() {
  static const Table<RolesRow> table =
      Table<RolesRow>("roles", "Profiles by role.")
          .optional("tor", &RolesRow::tor, "profile of ToRs")
          .optional("aggregation", &RolesRow::aggregation, "profile of aggregation switches")
          .optional("core", &RolesRow::core, "profile of core switches");
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
          .optional("messages", &WorkloadRow::messages, "of each queue pair", within<uint64_t>(1, uint64_t{1} << 40))
          .optional("mtu", &WorkloadRow::mtu, "RDMA path MTU: payload bytes of a packet; 256, 512, 1024, 2048 or 4096",
                    kPathMtus)
          .optional("qps", &WorkloadRow::qps, "queue pairs of a flow", within<uint32_t>(1, 65'536))
          .optional("first_qp", &WorkloadRow::first_qp, "number of the first queue pair", within<uint32_t>(2, 0xFFFFFF))
          .optional("source_port", &WorkloadRow::source_port, "UDP; per_qp: from the queue pair, as the kernel does it")
          .optional("rate", &WorkloadRow::rate, "of a flow; the host's link if not given", at_least(Rate::min()))
          .optional("start", &WorkloadRow::start, "after the start of the run")
          .optional("dscp", &WorkloadRow::dscp, "of its packets", within<uint8_t>(0, 63))
          .optional("verb", &WorkloadRow::verb, "RDMA write or send")
          .optional("transport", &WorkloadRow::transport,
                    "open_loop: paced, deaf to what comes back; rc: a reliable connection, with acknowledgements")
          .optional("congestion_control", &WorkloadRow::congestion_control,
                    "rc: none, or DCQCN with an adapter's defaults or with the paper's parameters")
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
          .optional("cnp_interval", &WorkloadRow::cnp_interval, "DCQCN: at most one CNP a queue pair in this time",
                    at_least(Duration::ps(1)));
  return table;
}

const Table<FaultRow>& Tables<FaultRow>::table() {
  static const Table<FaultRow> table =
      Table<FaultRow>("fault", "One change at one instant.")
          .required("at", &FaultRow::at, "after the start of the run")
          .optional("link", &FaultRow::link, "either end of the link")
          .optional("node", &FaultRow::node, "down, up: all links of this node; else the built-in host that fails")
          .optional("set", &FaultRow::set,
                    "links: down or up; a host: storm (it pauses its peers without end) or slow_receiver (its buffer "
                    "drains too slowly)")
          .optional("until", &FaultRow::until, "storm, slow_receiver: when it ends; with the run if not given")
          .optional("priorities", &FaultRow::priorities, "storm, slow_receiver: which; 3 and 4 if not given")
          .optional("drain", &FaultRow::drain, "slow_receiver: the rate of its buffer; nothing drains if not given",
                    at_least(Rate::min()))
          .optional("profile", &FaultRow::profile, "of the node, from then on: other thresholds, while it runs")
          .check([](Reader& reader, Value at, const FaultRow& row) {
            const bool of_host = row.set == FaultState::kStorm || row.set == FaultState::kSlowReceiver;
            bool good = true;
            const auto refuse = [&](bool given, std::string_view key) {
              if (given) good = reader.wrong(at.child(key), "is not for this fault");
            };
            refuse(of_host && row.link, "link");
            refuse(!of_host && row.until, "until");
            refuse(!of_host && row.priorities, "priorities");
            refuse(row.set != FaultState::kSlowReceiver && row.drain, "drain");
            if (row.until && *row.until <= row.at) good = reader.wrong(at.child("until"), "ends before it begins");
            if (!good) return false;
            if (row.link && row.link->port.empty()) {
              return reader.wrong(at.child("link"), "names no port: expected NODE:PORT such as tor1:Ethernet0");
            }
            if (row.link.has_value() == row.node.has_value()) return reader.wrong(at, "needs either 'link' or 'node'");
            if (row.set.has_value() == row.profile.has_value()) {
              return reader.wrong(at, "needs either 'set' (down, up) or 'profile'");
            }
            return !row.profile || row.node || reader.wrong(at.child("link"), "goes with 'set': a profile is a node's");
          });
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
