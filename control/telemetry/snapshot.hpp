// SPDX-License-Identifier: Apache-2.0
// The fabric's counters at one instant, copied between two windows: plain structs that no worker touches.
// The code that runs the fabric fills one (from an engine action, or when the run is over); everything that is
// shown (JSON, Prometheus, the report, tables) is a pure function over one or two of them.
//
// The order of switches, ports, hosts, flows, edges and links is the filler's, and the same in every snapshot of
// one run: deltas pair by position. Ports are named as the testbed names them; a link's end is "node:port".
// Counters are since the start of the run, not since the last snapshot. All only grow, except gauges
// (QueueCounters::current_*, up).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "control/telemetry/collective_snapshot.hpp"
#include "control/telemetry/host_counts.hpp"
#include "control/telemetry/loss_window.hpp"
#include "control/telemetry/reliable_counts.hpp"
#include "control/telemetry/stack_snapshot.hpp"
#include "control/telemetry/trace_snapshot.hpp"
#include "control/telemetry/training_snapshot.hpp"
#include "dataplane/buffer/priority_group_counters.hpp"
#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/edge/nic_counters.hpp"
#include "dataplane/egress/port_counters.hpp"
#include "dataplane/link/link_counters.hpp"
#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/units/histogram.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::control {

// A histogram without its buckets. All zero without samples.
struct LatencySummary {
  uint64_t samples = 0;
  uint64_t min_ps = 0;
  uint64_t mean_ps = 0;
  uint64_t max_ps = 0;
  // A flow has quantiles only if its host keeps a histogram of it.
  std::optional<uint64_t> p50_ps;
  std::optional<uint64_t> p99_ps;

  static LatencySummary of(const dataplane::Histogram& all) {
    if (all.count() == 0) return {};
    return {.samples = all.count(),
            .min_ps = all.min(),
            .mean_ps = static_cast<uint64_t>(all.mean()),
            .max_ps = all.max(),
            .p50_ps = all.quantile(0.5),
            .p99_ps = all.quantile(0.99)};
  }
};

// The use of a priority group, a queue or a pool: bytes of whole cells (buffer/mmu.hpp).
struct PriorityGroupSnapshot {
  friend bool operator==(const PriorityGroupSnapshot&, const PriorityGroupSnapshot&) = default;

  bool lossless = false;
  uint64_t reserved_bytes = 0;
  uint64_t shared_bytes = 0;
  uint64_t headroom_bytes = 0;
  uint64_t shared_watermark_bytes = 0;
  uint64_t headroom_watermark_bytes = 0;
  uint64_t packets = 0;  // admitted
  dataplane::PriorityGroupCounters counters;

  uint64_t held_bytes() const { return reserved_bytes + shared_bytes + headroom_bytes; }
};
struct QueueBufferSnapshot {
  friend bool operator==(const QueueBufferSnapshot&, const QueueBufferSnapshot&) = default;

  uint64_t reserved_bytes = 0;
  uint64_t shared_bytes = 0;
  uint64_t shared_watermark_bytes = 0;  // of a memory in slices: the highest in any of them
};
struct PortBufferSnapshot {
  std::array<PriorityGroupSnapshot, dataplane::kPriorities> groups{};
  std::array<QueueBufferSnapshot, dataplane::kQueues> queues{};
};
struct PoolSnapshot {
  std::string name;  // ingress_lossless_pool; ingress_lossless_pool|2 of a memory in slices: its slice 2
  bool ingress = false;
  uint64_t size_bytes = 0;      // what is shared of it
  uint64_t reserved_bytes = 0;  // in use
  uint64_t shared_bytes = 0;    // in use
  uint64_t watermark_bytes = 0;
  uint64_t headroom_size_bytes = 0;  // 0: every group has its own
  uint64_t headroom_bytes = 0;       // in use
  uint64_t headroom_watermark_bytes = 0;
};

// One priority of a port.
struct PauseSnapshot {
  friend bool operator==(const PauseSnapshot&, const PauseSnapshot&) = default;

  bool paused = false;     // must not send now
  bool stopping = false;   // has raised XOFF and not cleared it
  uint64_t rx_frames = 0;  // PFC frames that name it
  uint64_t tx_frames = 0;
  uint64_t on_to_off = 0;            // pauses that ended
  dataplane::Duration time;          // paused so far
  dataplane::Duration rx_requested;  // for which the neighbour has asked it to pause
  dataplane::Duration tx_requested;  // for which it has asked the neighbour to
  uint64_t storms = 0;               // found by the watchdog
  uint64_t restored = 0;
  dataplane::WatchdogTraffic in_storms;
  dataplane::WatchdogTraffic in_last_storm;
};

// One end of a link whose flow control is PAUSE, which stops all priorities: these frames and times are counted for the
// link, not for a priority. On other links: the PAUSE frames that came although the link's flow control has none.
struct LinkPauseSnapshot {
  friend bool operator==(const LinkPauseSnapshot&, const LinkPauseSnapshot&) = default;

  uint64_t rx_frames = 0;
  uint64_t tx_frames = 0;
  dataplane::Duration time;          // paused so far
  dataplane::Duration rx_requested;  // for which the neighbour has asked it to pause
  dataplane::Duration tx_requested;  // for which it has asked the neighbour to
};

// One end of a link that goes by credit (flow_control/credit_link.hpp).
struct CreditSnapshot {
  friend bool operator==(const CreditSnapshot&, const CreditSnapshot&) = default;

  uint64_t rx_frames = 0;
  uint64_t tx_frames = 0;
  std::array<dataplane::Duration, dataplane::kPriorities> waited{};  // without credit

  dataplane::Duration waited_in_all() const {
    return std::accumulate(waited.begin(), waited.end(), dataplane::Duration{});
  }
};

struct PortSnapshot {
  std::string name;  // Ethernet0
  bool up = false;
  dataplane::Rate rate;
  dataplane::PortCounters counters;  // per-queue counters and occupancy are in it
  dataplane::LinkCounters link;      // of the port's transmitter
  uint64_t waiting_packets = 0;      // in its queues' lists, as found there: without the frame on the wire
  bool sends = false;                // a frame is on the wire: the link has counted it, the port not yet
  bool sends_queued = false;         // and that frame came from a queue: it is no pause or credit frame
  std::array<PauseSnapshot, dataplane::kPriorities> pauses{};
  std::optional<PortBufferSnapshot> buffers = {};  // if the switch has BUFFER_* tables
  std::optional<CreditSnapshot> credit = {};       // if its link goes by credit
  LinkPauseSnapshot link_pause = {};
  uint8_t pausable_queues = 0;  // bit n: a pause of the port holds queue n
};

struct SwitchSnapshot {
  std::string name;
  std::string role;  // tor, aggregation, core
  std::vector<PortSnapshot> ports;
  std::vector<PoolSnapshot> pools = {};  // ingress, then egress
  std::string buffer_imbalances = {};    // empty: what is charged adds up
  uint64_t short_hash_keys = 0;          // packets too short for a UDF of their key: hashed by the bytes there were
  uint64_t flowlets = 0;                 // begun
  uint64_t override_hits = 0;            // frames that an override has sent
  uint64_t override_fallbacks = 0;       // frames of an override that could not be used, sent as without it
  uint64_t fdb_evictions = 0;            // MAC addresses that were forgotten to make room for others
  uint64_t neighbour_refusals = 0;       // neighbours that there was no room for
  uint64_t unknown_mac_floods = 0;       // frames flooded, since the port of their MAC was not known
};

// A priority at a host's port, or at the NIC of a host that is outside.
struct HostPauseSnapshot {
  friend bool operator==(const HostPauseSnapshot&, const HostPauseSnapshot&) = default;

  uint64_t rx_frames = 0;  // that name it
  uint64_t tx_frames = 0;
  uint64_t on_to_off = 0;  // pauses obeyed that have ended
  dataplane::Duration paused;
  dataplane::Duration rx_requested;  // for which the neighbour has asked it to pause
  dataplane::Duration tx_requested;  // for which it has asked the neighbour to

  bool any() const { return rx_frames != 0 || tx_frames != 0; }
};

using HostPauses = std::array<HostPauseSnapshot, dataplane::kPriorities>;

struct HostPortSnapshot {
  std::string name;  // eth0
  bool up = false;
  dataplane::Rate rate;
  dataplane::LinkCounters link;  // of the port's transmitter: all that the host has sent
  uint64_t rx_packets = 0;
  HostPauses pause{};
  std::optional<CreditSnapshot> credit = {};
  LinkPauseSnapshot link_pause = {};
};

struct HostSnapshot {
  std::string name;
  std::vector<HostPortSnapshot> ports;
  HostCounts counters = {};
  uint64_t receive_buffer_max_bytes = 0;  // the most that ever waited in the buffer of a port that receives slowly
  LatencySummary latency;                 // of packets delivered
  LatencySummary message_latency;         // of whole messages
  LatencySummary completion;              // of messages it sent over reliable connections, acknowledged
};

// One queue pair's stream. Bytes are payload. An instant that has not been reached is never().
struct FlowSnapshot {
  uint32_t id = 0;
  bool open_loop = false;  // no reliable connection: the sender does not learn what is lost
  std::string workload;
  std::string source;  // names of hosts
  std::string destination;
  uint32_t source_qp = 0;
  uint32_t destination_qp = 0;
  uint64_t planned_messages = 0;  // 0: without end
  uint64_t message_bytes = 0;
  uint16_t source_port = 0;
  uint8_t dscp = 0;
  bool listed = false;             // one of a list of flows that differ, or of a drawn one
  dataplane::Instant start;        // as planned
  dataplane::Duration ideal;       // from there to its last bit's arrival if it were alone; zero: not known
  dataplane::Duration ideal_back;  // and from there to the last acknowledgement's

  uint64_t sent_packets = 0;  // counted each time that one is sent
  uint64_t sent_bytes = 0;    // likewise
  uint64_t sent_messages = 0;
  uint64_t received_packets = 0;
  uint64_t received_bytes = 0;  // no byte counts twice
  uint64_t received_messages = 0;
  uint64_t foreign = 0;    // of those received: not sent by this source
  uint64_t under_way = 0;  // on links, in queues and receive buffers, as found there
  uint64_t copies = 0;     // found there, too: flooded ones, on their way to others
  // Packets sent after the last one that arrived, and before the first that is under way.
  std::optional<uint64_t> before_under_way;
  uint64_t sequence_gaps = 0;    // times a PSN was ahead of the one due
  uint64_t skipped_packets = 0;  // PSNs in those gaps: lost, or late
  uint64_t behind = 0;
  uint64_t marked = 0;  // arrived with CE
  ReliableCounts reliable;
  LatencySummary latency;

  dataplane::Instant first_sent = dataplane::Instant::never();    // first bit left the source
  dataplane::Instant last_arrived = dataplane::Instant::never();  // last bit of the last packet at the destination
  // From the first bit sent to the last bit of the last planned message; only when that message is complete.
  std::optional<dataplane::Duration> completion;
  // From the first bit sent to the last planned message's acknowledgement at the sender; reliable connections only.
  std::optional<dataplane::Duration> acked;
  std::string stalled;  // why the flow, which has not ended, cannot go on; empty: it can

  // From its planned start to the arrival of its last bit.
  std::optional<dataplane::Duration> time_there() const {
    return completion ? std::optional(first_sent + *completion - start) : std::nullopt;
  }
  // How many times as long as alone that is, in millionths.
  std::optional<int64_t> slowdown_millionths() const {
    const auto time = time_there();
    if (!time || ideal <= dataplane::Duration{}) return std::nullopt;
    return static_cast<int64_t>(dataplane::Uint128{static_cast<uint64_t>(time->count_ps())} * 1'000'000 /
                                static_cast<uint64_t>(ideal.count_ps()));
  }

  // Packets sent that have neither arrived nor are under way: what the fabric has lost. Retransmissions are packets,
  // too.
  uint64_t missing() const {
    const uint64_t found = received_packets - foreign + under_way;
    return sent_packets > found ? sent_packets - found : 0;
  }

  // The missing packets that were sent after the last packet that arrived, and before any that is still to arrive:
  // where packets of it get through, those lost between them are no silence.
  uint64_t missing_last() const {
    const uint64_t between = skipped_packets - std::min(behind, skipped_packets);
    const uint64_t last = missing() - std::min(between, missing());
    return std::min(last, before_under_way.value_or(last));
  }
  // Whether nothing gets through any more: kInARow missing packets in a row are no coincidence.
  bool is_cut_off() const {
    constexpr uint64_t kInARow = 32;
    return open_loop && missing_last() > 0 && missing_last() >= std::min(kInARow, sent_packets);
  }

  // Payload per second, from the first bit sent to the last bit received; 0 while nothing has been received.
  double goodput_bps() const {
    if (received_packets == 0 || first_sent.is_never() || last_arrived.is_never() || last_arrived <= first_sent)
      return 0;
    return static_cast<double>(received_bytes) * 8 / (last_arrived - first_sent).seconds();
  }
};

// Packet latency over all flows of a workload: quantiles of single flows could not be merged.
struct WorkloadLatency {
  std::string workload;
  dataplane::Histogram packets;
};

struct EdgeSnapshot {
  std::string name;  // the host that stands outside
  std::string kind;  // vhost-user, pcap, …
  dataplane::EdgeCounters counters;
  std::string port;     // eth0
  bool is_only = true;  // of its host's edges
  bool up = false;
  dataplane::Rate rate;
  dataplane::LinkCounters link;  // of the edge's transmitter: all that it has sent into the fabric
  dataplane::NicCounters nic;
  HostPauses pause{};
  LinkPauseSnapshot link_pause = {};
  uint64_t waiting_packets = 0;                     // from outside, not yet on the link
  uint64_t waiting_for_outside = 0;                 // from the link, not yet taken
  std::map<std::string, uint64_t> statistics = {};  // what the outside itself counts, by its own names

  // "h1"; of a host with several "h1:eth0".
  std::string key() const { return is_only ? name : name + ":" + port; }
};

struct LinkSnapshot {
  std::string a;  // "tor1:Ethernet16"
  std::string b;
  bool up = false;
  uint64_t under_way_to_a = 0;  // packets on it, as found there
  uint64_t under_way_to_b = 0;
};

// A port of a LAG at one end.
struct LagMemberSnapshot {
  std::string port;
  bool is_member = false;   // now
  uint64_t tx_packets = 0;  // of the port
  uint64_t tx_bytes = 0;
};
struct LagEndSnapshot {
  std::string node;
  std::vector<LagMemberSnapshot> members;
};
struct LagSnapshot {
  std::string name;
  std::string mode;
  uint32_t min_links = 1;
  std::vector<LagEndSnapshot> ends;  // two
};

// How ranks went on between two looks at them. The slowest one waits least for the others.
struct RankPace {
  uint32_t slowest = 0;
  uint32_t ranks = 1;
  double others_wait = 0;  // share of the wall time
};

// How long a meeting of all ranks takes through the network between them, by the wall clock, as it was measured before
// the run.
struct RankMeetingTime {
  int64_t median_ps = 0;
  int64_t p99_ps = 0;
};

// How fast the machine was. The only part that may differ between two identical runs.
struct EngineSnapshot {
  uint32_t workers = 1;
  uint64_t windows = 0;
  uint64_t node_runs = 0;
  dataplane::Histogram lateness_ps;  // emulated; wall clock only
  double wall_seconds = 0;           // since the start
  std::optional<RankPace> pace;      // for who watches a run over ranks
  // Over ranks on the wall clock: and how far one of their clocks may be from rank 0's, in emulated time.
  std::optional<RankMeetingTime> meeting;
  dataplane::Duration clock_uncertainty;
};

// A fault that began or ended: the testbed's own, or one that was injected while it ran.
struct FaultSnapshot {
  dataplane::Instant at;
  std::string what;                       // tor1:Ethernet16 goes down
  uint32_t number = UINT32_MAX;           // of faults that began, from 0
  std::optional<LossWindow> window = {};  // of those
};

// A circular wait of paused switches (deadlock.hpp).
struct DeadlockSnapshot {
  dataplane::Instant found;
  std::string circle;  // tor1:Ethernet0 → spine1:Ethernet4 → tor1, priority 3
};

// An error of a running fabric (error_channel.hpp).
struct RunError {
  std::string who;   // a node, a capture, or a part of the fabric
  std::string what;  // a sentence
  dataplane::Instant first;
  dataplane::Instant last;
  uint64_t count = 1;
};

// The actions of the traffic-engineering controller (testbeds/run/traffic_controller.hpp).
struct EngineeringSnapshot {
  uint64_t plans = 0;
  uint64_t updates = 0;  // of a switch's overrides
  uint64_t moved = 0;    // flows that had an override and got another
  // Counts of the last plan.
  uint32_t demands = 0;  // that had a choice: ports of ToRs by destination
  uint32_t placed = 0;
  double highest_load = 0;  // of the most loaded link, of its capacity
};

// The event log of a run (event_lines.hpp).
struct EventLogSnapshot {
  std::vector<uint64_t> lines;  // by row of event_facts(): written so far
};

struct StepsSnapshot;

struct FabricSnapshot {
  bool is_outline = false;  // names without numbers (testbeds/run/report_outline.hpp)
  dataplane::Instant instant;
  std::vector<SwitchSnapshot> switches;
  std::vector<HostSnapshot> hosts;
  std::vector<FlowSnapshot> flows;
  std::vector<WorkloadLatency> workload_latencies;
  std::vector<EdgeSnapshot> edges;
  std::vector<LinkSnapshot> links;
  std::vector<LagSnapshot> lags;
  std::vector<FaultSnapshot> faults;             // since the start
  std::vector<DeadlockSnapshot> deadlocks;       // since the start
  std::vector<StackSnapshot> stacks;             // of the testbed
  std::vector<CollectiveSnapshot> collectives;   // likewise
  std::vector<TrainingSnapshot> trainings;       // likewise
  std::vector<TraceSnapshot> traces;             // likewise
  std::shared_ptr<const StepsSnapshot> steps;    // of ranks (steps_snapshot.hpp), if they are recorded
  std::optional<LossAccount> loss_account = {};  // in a run that has had a fault
  uint32_t route_changes = 0;                    // switches that got new tables as links went down and up, summed up
  std::optional<EngineeringSnapshot> engineering = {};  // if there is a controller
  std::optional<EventLogSnapshot> events = {};          // if one is written
  std::vector<RunError> errors;                         // since the start
  EngineSnapshot engine;
};

}  // namespace softspine::control
