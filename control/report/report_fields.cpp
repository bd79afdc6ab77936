// SPDX-License-Identifier: Apache-2.0
#include "control/report/report_fields.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "control/report/nic_ports.hpp"
#include "control/report/port_rows.hpp"
#include "control/report/section_parts.hpp"
#include "control/report/sections.hpp"
#include "control/report/slowdown_json.hpp"
#include "control/telemetry/counter.hpp"
#include "control/telemetry/event_lines.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/packet/drop_reason.hpp"

namespace softspine::control {

namespace {

struct Place {
  std::string_view ending;
  std::string_view of;
};
constexpr std::array<Place, 5> kPlaces{{{"_min_ps", "the least"},
                                        {"_mean_ps", "the mean"},
                                        {"_p50_ps", "the median, by nearest rank"},
                                        {"_p99_ps", "the 99th percentile, by nearest rank"},
                                        {"_max_ps", "the greatest"}}};

// One field for each place of a distribution: of flows' times, which are kept one by one and have no mean, or of a
// histogram. `what` ends without a full stop.
void add_times(Fields& out, const std::string& path, const std::string& what, bool is_exact = false) {
  for (const auto& [ending, of] : kPlaces) {
    if (ending == "_mean_ps" && is_exact) continue;
    const bool is_near = !is_exact && of.ends_with("rank");
    out.push_back({path + std::string{ending}, "ps",
                   what + ": " + std::string{of} + (is_near ? ", ± 0.4 % (a histogram)." : ".")});
  }
}

void add_drops(Fields& out, const std::string& path) {
  for (int i = 0; i < dataplane::kDropReasons; ++i) {
    const auto& [name, help] = dataplane::facts_of(static_cast<dataplane::DropReason>(i));
    out.push_back({path + "." + std::string{name}, "packets", std::string{help}});
  }
}

void add(Fields& out, Fields more) {
  out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string_view word_for(CounterUnit unit) {
  switch (unit) {
    case CounterUnit::kPackets:
    case CounterUnit::kFrames: return "packets";
    case CounterUnit::kBytes: return "bytes";
    case CounterUnit::kPicoseconds: return "ps";
    default: return "a count";
  }
}

// The tables' fields for rows of this kind of part.
template <typename Part, typename... Parts>
Fields row_fields(const std::string& path, const std::vector<Counter<Parts...>>& counters) {
  Fields out;
  for (const auto& counter : counters) {
    const CounterFacts& facts = counter.facts;
    if (!std::holds_alternative<Read<Part>>(counter.read) || !is_in_rows(facts)) continue;
    out.push_back(
        {path + "." + std::string{facts.row_name()}, std::string{word_for(facts.unit)}, std::string{facts.help}});
  }
  return out;
}

// The fields by port and priority.
Fields pause_fields(const std::string& path) {
  return row_fields<HostPauseSnapshot>(path, host_counters());
}

}  // namespace

Fields program_fields() {
  return {
      {"softspine.version", "text", "Version of the program."},
      {"softspine.format", "a count", "Of the report: another number where a key has gone or means something else."},
  };
}

Fields idle_fields() {
  return {
      {"idle.hosts", "a count", "Hosts that did nothing: without `run --idle-rows` they have no row in `hosts`."},
      {"idle.links", "a count", "Directions of links that carried nothing: likewise in `links`."},
  };
}

Fields loss_fields() {
  return {
      {"losses.*.place", "text", "Where packets were lost: a switch's port or queue, a host, an edge, a link."},
      {"losses.*.reason", "text", "Why, by the name that `drops` has for it."},
      {"losses.*.packets", "packets", "How many were lost there for this reason."},
  };
}

Fields stalled_fields() {
  return {
      {"stalled.*.workload", "text", "Workload of flows that have not ended and have no way to go on."},
      {"stalled.*.source", "text", "The host that sends them."},
      {"stalled.*.destination", "text", "The host that they are sent to."},
      {"stalled.*.flows", "a count", "How many stalled between the two for the same reason."},
      {"stalled.*.why", "text", "What keeps them from going on."},
  };
}

Fields deadlock_fields() {
  return {
      {"deadlocks.*.found_ps", "ps", "When the circle of queues that wait for each other was found."},
      {"deadlocks.*.circle", "text", "Its queues, in the order in which they wait."},
  };
}

Fields error_fields() {
  return {
      {"errors.*.who", "text", "A node, a capture, or a part of the fabric that had an error."},
      {"errors.*.what", "text", "What went wrong."},
      {"errors.*.first_ps", "ps", "When it went wrong for the first time."},
      {"errors.*.last_ps", "ps", "When it went wrong for the last time."},
      {"errors.*.count", "a count", "How many times it went wrong."},
  };
}

Fields notice_fields() {
  return {
      {"notices.*", "text", "A sentence on something in the run that a reader may want to know."},
  };
}

Fields engineering_fields() {
  return {
      {"engineering.plans", "a count", "Plans that the traffic-engineering controller has made."},
      {"engineering.updates", "a count", "Switches that got other overrides by a plan, summed up."},
      {"engineering.moved", "a count", "Flows of a port and a destination that had an override and got another."},
      {"engineering.demands", "a count", "Such flows that had a choice, by the last plan."},
      {"engineering.placed", "a count", "Those of them that it has placed."},
      {"engineering.highest_load", "a ratio", "Load of the most loaded link, as the last plan has it."},
  };
}

Fields engine_fields() {
  return {
      {"engine.workers", "a count", "Worker threads."},
      {"engine.dilation", "a count", "How much slower emulated time passes than wall time, on the wall clock."},
      {"engine.windows", "a count", "Windows of emulated time that the engine went through."},
      {"engine.node_runs", "a count", "Nodes that had something to do in a window, over all windows."},
      {"engine.wall_seconds", "s", "Wall time that the run took."},
      {"engine.lateness_p50_ps", "ps",
       "By how much emulated time the first event of a window was late, on the wall clock: the median."},
      {"engine.lateness_p99_ps", "ps",
       "By how much emulated time the first event of a window was late, on the wall clock: the 99th percentile."},
      {"engine.lateness_max_ps", "ps",
       "By how much emulated time the first event of a window was late, on the wall clock: the greatest."},
      {"engine.meeting_p50_ps", "ps",
       "Wall time of a meeting of all ranks, as it was measured before the run: the median. Over ranks on the wall "
       "clock only, as are the next two."},
      {"engine.meeting_p99_ps", "ps",
       "Wall time of a meeting of all ranks, as it was measured before the run: the 99th percentile."},
      {"engine.clock_uncertainty_ps", "ps",
       "How far a rank's clock may be from rank 0's at the end, in emulated time: that of the rank that knows it "
       "least."},
  };
}

Fields total_fields() {
  Fields out{
      {"totals.flows", "a count", "Flows of all workloads."},
      {"totals.completed", "a count", "Flows whose last message has arrived."},
      {"totals.stalled_flows", "a count", "Flows that have not ended and have no way to go on."},
      {"totals.cut_off_flows", "a count",
       "Open-loop flows of whose last packets none has arrived: 32 in a row or more, or all that they sent."},
      {"totals.sent_packets", "packets", "RoCE packets that flows sent."},
      {"totals.sent_bytes", "bytes", "Payload bytes that flows sent."},
      {"totals.received_packets", "packets", "RoCE packets that flows' destinations received."},
      {"totals.received_bytes", "bytes", "Payload bytes that flows' destinations received."},
      {"totals.missing_packets", "packets", "RoCE packets sent that neither arrived nor are under way."},
      {"totals.under_way_packets", "packets", "RoCE packets on links, in queues and receive buffers."},
      {"totals.rate_bps", "bit/s", "Payload received, from the first bit sent to the last one received."},
      {"totals.switched_packets", "packets", "Frames that left switches, summed over their ports."},
      {"totals.held_packets", "packets", "Frames in switches' queues and on the way out of them."},
      {"totals.lost_on_links", "packets", "Frames that ended because their link was down or went down."},
      {"totals.vanished_on_links", "packets", "Frames that the fault of a lossy link took on their way."},
      {"totals.damaged_on_links", "packets",
       "Frames that the fault of a lossy link damaged, so that the other end dropped them."},
      {"totals.balanced", "true or false", "Every sum of the run agrees with its parts."},
      {"totals.imbalances.*", "text", "A sum that does not agree with its parts."},
      {"totals.deadlocks", "a count", "Circles of queues that waited for each other."},
      {"totals.errors", "a count", "Different errors; `errors` lists them."},
      {"totals.route_changes", "a count", "Changes of routes, summed over switches."},
      {"totals.dropped_packets", "packets",
       "Packets dropped by switches, hosts and edges. What was consumed where it belongs is none of them."},
  };
  add_drops(out, "totals.drops");
  return out;
}

Fields flow_fields() {
  Fields out;
  add_times(out, "flows.*.fct", "Completion time of flows, first bit sent to last data bit received", true);
  add_times(out, "flows.*.fct_acked",
            "Completion time of flows on reliable connections, first bit sent to last acknowledgement received", true);
  add(out, {{"flows.*.rate_bps", "bit/s", "Payload received, from the first bit sent to the last one received."},
            {"flows.*.flow_rate_min_bps", "bit/s", "The same of the slowest flow that was received at all."},
            {"flows.*.flow_rate_max_bps", "bit/s", "The same of the fastest flow."}});
  add_times(out, "flows.*.latency", "Latency of packets, first bit sent to last bit received");
  add(out, slowdown_fields());
  return out;
}

Fields switch_fields() {
  Fields out{
      {"switches.*.role", "text", "Role of the switch, such as tor, aggregation or core."},
      {"switches.*.balanced", "true or false", "All that came in left, is held, or was dropped and counted."},
      {"switches.*.buffer_imbalances", "text, or nothing", "What does not agree in the switch's buffer accounts."},
      {"switches.*.dropped_packets", "packets", "Frames dropped, without those consumed here as they must be."},
  };
  add_drops(out, "switches.*.drops");
  add(out, row_fields<PoolSnapshot>("switches.*.pools.*", switch_counters()));
  return out;
}

Fields link_fields() {
  return {
      {"links.*.to", "text", "Port at the other end. The link's name is the port that sends."},
      {"links.*.up", "true or false", "The link is up."},
      {"links.*.speed_bps", "bit/s", "Rate of the link."},
      {"links.*.utilisation", "a share of 1", "Time in which frames were sent, preamble and gap included."},
      {"links.*.share", "a share of 1",
       "Of the bytes that its switch sent up out of queues: those that went by this link."},
  };
}

Fields port_fields() {
  const auto& counters = switch_counters();
  Fields out = row_fields<CreditSnapshot>("ports.*", counters);
  add(out, row_fields<PauseSnapshot>("ports.*.priorities.*", counters));
  add(out, row_fields<CreditOf>("ports.*.priorities.*", counters));
  add(out, row_fields<PriorityGroupSnapshot>("ports.*.groups.*", counters));
  add(out, row_fields<QueueOf>("ports.*.queues.*", counters));
  add_drops(out, "ports.*.drops");
  return out;
}

Fields host_fields() {
  Fields out{
      {"hosts.*.rate_bps", "bit/s", "Payload received by the host, from the first bit sent to the last one received."},
      {"hosts.*.sent_rate_bps", "bit/s", "Payload of the host's own flows that was received, likewise."},
      {"hosts.*.waiting_mean_bytes", "bytes",
       "Mean, over the run's time, of what waited in queues on its way to the host (Little's law): the sum over its "
       "flows "
       "of payload received times how much longer packets were under way than the flow's fastest one, over the time."},
  };
  add_times(out, "hosts.*.latency", "Latency of packets to the host, first bit sent to last bit received");
  add_times(out, "hosts.*.message_latency", "Latency of whole messages to the host");
  add_times(out, "hosts.*.completion",
            "Time from a message's first bit sent to its acknowledgement, reliable connections of the host");
  add(out, pause_fields("hosts.*.pause.*.*"));
  add(out, nic_port_fields());
  out.push_back({"hosts.*.dropped_packets", "packets", "Packets that the host dropped."});
  add_drops(out, "hosts.*.drops");
  return out;
}

Fields event_fields() {
  Fields out;
  for (const EventFacts& each : event_facts()) {
    out.push_back({"events.lines." + std::string{each.name}, "a count",
                   "Lines of the event log, in a run that writes one: " + std::string{each.help}});
  }
  return out;
}

Fields edge_fields() {
  Fields out{
      {"edges.*.kind", "text", "How the outside is attached, such as vhost-user, tap or pcap."},
      {"edges.*.statistics.*", "a count", "What the driver or device outside counts itself, by its own name."},
  };
  add(out, pause_fields("edges.*.pause.*.*"));
  add_drops(out, "edges.*.in_drops");
  add_drops(out, "edges.*.out_drops");
  return out;
}

const std::vector<ReportField>& report_fields() {
  static const Fields all = [] {
    Fields out;
    for (const Chapter chapter : {Chapter::kRun, Chapter::kMachine, Chapter::kParts}) {
      for (const Section& section : sections()) {
        if (section.chapter == chapter) add(out, section.fields());
      }
    }
    return out;
  }();
  return all;
}

void add_report_fields(Json& out, const std::vector<ReportField>& fields) {
  for (const ReportField& field : fields) {
    out.push_back({{"field", field.path}, {"unit", field.is}, {"help", field.help}});
  }
}

}  // namespace softspine::control
