// SPDX-License-Identifier: Apache-2.0
#include "control/record/recording_tables.hpp"

#include <fmt/format.h>

namespace softspine::control {

namespace {

constexpr std::array<SampleTableRow, kSampleTables> kSampleTableRows{{
    {"port_samples", "port_id", ""},
    {"priority_samples", "port_id", "priority"},
    {"group_samples", "port_id", "priority_group"},
    {"queue_samples", "port_id", "queue"},
    {"pool_samples", "pool_id", ""},
    {"nic_priority_samples", "port_id", "priority"},
    {"drop_samples", "port_id", "reason_id"},
    {"flow_samples", "flow_id", ""},
    {"rank_steps", "job_id", "rank"},
}};

constexpr std::string_view kSchema = R"(
CREATE TABLE run( -- what was run: a fact a row
  key TEXT PRIMARY KEY, -- program_version, testbed, clock, seed, sample_interval_ps; at the end: end_ps, interrupted,
            -- rank_steps_end_ps: later rows of rank_steps and rank_waits were too many
  value
) WITHOUT ROWID;
CREATE TABLE testbed( -- the file that was run
  file TEXT, -- its name
  text TEXT
);
CREATE TABLE nodes( -- switches and hosts
  node_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL, -- switch, host
  role TEXT NOT NULL, -- tor, aggregation, core; host
  tier INTEGER NOT NULL, -- 0: hosts
  plane INTEGER NOT NULL,
  rail INTEGER NOT NULL, -- which NIC of its server, from 1; 0: its only one
  server TEXT -- of hosts: the machine that this NIC is in
);
CREATE TABLE ports(
  port_id INTEGER PRIMARY KEY,
  node_id INTEGER NOT NULL REFERENCES nodes,
  name TEXT NOT NULL, -- tor1:Ethernet0
  link_id INTEGER NOT NULL REFERENCES links,
  peer_port_id INTEGER NOT NULL REFERENCES ports, -- at the link's other end
  rate_bps INTEGER NOT NULL
);
CREATE TABLE links(
  link_id INTEGER PRIMARY KEY,
  a_port_id INTEGER NOT NULL REFERENCES ports,
  b_port_id INTEGER NOT NULL REFERENCES ports,
  rate_bps INTEGER NOT NULL,
  propagation_ps INTEGER NOT NULL
);
CREATE TABLE pools( -- buffer pools of switches
  pool_id INTEGER PRIMARY KEY,
  node_id INTEGER NOT NULL REFERENCES nodes,
  name TEXT NOT NULL, -- tor1:ingress_lossless_pool
  size_bytes INTEGER -- what is shared of it, at the end of the run
);
CREATE TABLE ecn_thresholds( -- of queues of switches that mark
  port_id INTEGER NOT NULL REFERENCES ports,
  queue INTEGER NOT NULL,
  min_bytes INTEGER NOT NULL, -- marks begin
  max_bytes INTEGER NOT NULL, -- from here on every frame that can be is marked
  PRIMARY KEY(port_id, queue)
) WITHOUT ROWID;
CREATE TABLE xoff_thresholds( -- of lossless priority groups of switches, at the start
  port_id INTEGER NOT NULL REFERENCES ports,
  priority_group INTEGER NOT NULL,
  pool TEXT NOT NULL, -- pools.name
  fixed_bytes INTEGER NOT NULL, -- XOFF rises when shared_bytes reaches this + alpha * what is free in the pool
  alpha REAL NOT NULL,
  reserved_bytes INTEGER NOT NULL, -- used up before shared memory
  headroom_bytes INTEGER NOT NULL, -- for what comes after XOFF
  PRIMARY KEY(port_id, priority_group)
) WITHOUT ROWID;
CREATE TABLE drop_reasons(
  reason_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
);
CREATE TABLE samples( -- instants, and how many rows each table of samples had then: they stand there in this order
  sample INTEGER PRIMARY KEY,
  t_ps INTEGER NOT NULL UNIQUE,
  port_rows INTEGER, priority_rows INTEGER, group_rows INTEGER, queue_rows INTEGER, pool_rows INTEGER,
  nic_priority_rows INTEGER, drop_rows INTEGER
);
CREATE TABLE events( -- the event log, in its order
  event_id INTEGER PRIMARY KEY,
  t_ps INTEGER NOT NULL,
  event TEXT NOT NULL, -- xoff_raised, pause_received, drops, fault, …: docs/counters.md
  port_id INTEGER REFERENCES ports, -- null: control's
  priorities INTEGER, -- bit n: priority n
  priority_group INTEGER,
  reason TEXT, -- of drops: a burst of one reason
  packets INTEGER, first_ps INTEGER, last_ps INTEGER, -- of drops
  what TEXT -- of control's
);
CREATE TABLE flow_ways( -- where a flow goes from the sample on
  way_id INTEGER PRIMARY KEY,
  t_ps INTEGER NOT NULL,
  flow_id INTEGER, -- null: too much changes; later ways are not recorded
  is_drawn INTEGER NOT NULL, -- 1: each packet takes some of the ports
  end TEXT NOT NULL -- arrives; else what becomes of its packets
);
CREATE TABLE flow_way_ports( -- that send it, in the order of the way: its host's is the first
  way_id INTEGER NOT NULL REFERENCES flow_ways,
  hop INTEGER NOT NULL,
  port_id INTEGER NOT NULL REFERENCES ports,
  PRIMARY KEY(way_id, hop)
) WITHOUT ROWID;
CREATE TABLE hash_tables( -- a switch has these groups from the sample on, and no others
  hash_table_id INTEGER PRIMARY KEY,
  t_ps INTEGER NOT NULL,
  node_id INTEGER REFERENCES nodes -- null: too much changes; later ones are not recorded
);
CREATE TABLE hash_groups( -- ECMP groups and LAGs of two members at least
  hash_group_id INTEGER PRIMARY KEY,
  hash_table_id INTEGER NOT NULL REFERENCES hash_tables,
  name TEXT NOT NULL, -- ecmp 3, by its number in the switch's tables; a LAG's own
  is_lag INTEGER NOT NULL,
  mode TEXT NOT NULL, -- hash, random, in_port, flowlet, spray
  destinations TEXT NOT NULL -- of ECMP groups: a subnet or a switch that is routed to it, and how many more are
);
CREATE TABLE hash_group_members( -- a row for each port: a member that is a LAG has several
  hash_group_id INTEGER NOT NULL REFERENCES hash_groups,
  port_id INTEGER NOT NULL REFERENCES ports,
  member TEXT NOT NULL, -- Ethernet8; a LAG's name
  buckets INTEGER NOT NULL, -- of the group, that lead to the member
  PRIMARY KEY(hash_group_id, port_id)
) WITHOUT ROWID;
CREATE TABLE jobs( -- collectives, then trainings, in the testbed's order
  job_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL, -- collective, training
  explained INTEGER NOT NULL -- 1: `run --steps`, so rank_waits has its waits
);
CREATE TABLE job_ranks(
  job_id INTEGER NOT NULL REFERENCES jobs,
  rank INTEGER NOT NULL,
  node_id INTEGER NOT NULL REFERENCES nodes, -- its host
  PRIMARY KEY(job_id, rank)
) WITHOUT ROWID;
CREATE TABLE step_kinds( -- of rank_steps
  kind_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL -- send, receive, compute, reduce
);
CREATE TABLE rank_waits( -- with `run --steps`: receives that the rank had nothing to do but to wait for
  wait_id INTEGER PRIMARY KEY,
  t_ps INTEGER NOT NULL, -- it was over
  job_id INTEGER NOT NULL REFERENCES jobs,
  rank INTEGER NOT NULL,
  from_ps INTEGER NOT NULL, -- t_ps less its length: other work may have interrupted it
  peer INTEGER NOT NULL, -- the rank whose message ended it
  channel INTEGER NOT NULL,
  bytes INTEGER NOT NULL, -- of that message
  cause TEXT NOT NULL, -- compute, reduce, post, queue, pause, retransmission, rate_cut, transfer, unknown
  cause_at TEXT NOT NULL, -- the port, else the host of the rank
  cause_by TEXT NOT NULL, -- of pauses: who caused them; else empty
  cause_ps INTEGER NOT NULL, -- of the wait, what the cause took
  reason TEXT -- in words, of the waits that were the longest of their rank so far; null: others
);
CREATE TABLE flows( -- one queue pair's stream each
  flow_id INTEGER PRIMARY KEY,
  workload TEXT NOT NULL, source TEXT NOT NULL, destination TEXT NOT NULL, -- hosts
  source_qp INTEGER, destination_qp INTEGER, source_port INTEGER, dscp INTEGER,
  message_bytes INTEGER, planned_messages INTEGER, -- 0: without end
  reliable INTEGER NOT NULL, -- 0: open loop
  start_ps INTEGER, first_sent_ps INTEGER, last_arrived_ps INTEGER, -- null: not reached
  fct_ps INTEGER, -- first bit sent to last bit received; null: not complete
  fct_acked_ps INTEGER, ideal_ps INTEGER, -- alone in the fabric; null: not known
  slowdown REAL,
  sent_packets INTEGER, sent_bytes INTEGER, received_packets INTEGER, received_bytes INTEGER,
  missing_packets INTEGER, under_way_packets INTEGER, marked_packets INTEGER, -- with CE
  retransmitted_packets INTEGER, timeouts INTEGER, cnps INTEGER, window_wait_ps INTEGER,
  stalled TEXT -- why it cannot go on; null: it can, or has ended
);
CREATE TABLE workloads( -- sums over flows
  workload TEXT PRIMARY KEY, flows INTEGER, completed INTEGER, stalled_flows INTEGER, sent_packets INTEGER,
  sent_bytes INTEGER, received_packets INTEGER, received_bytes INTEGER, missing_packets INTEGER,
  marked_packets INTEGER, rate_bps INTEGER, fct_min_ps INTEGER, fct_p50_ps INTEGER, fct_p99_ps INTEGER,
  fct_max_ps INTEGER, latency_p50_ps INTEGER, latency_p99_ps INTEGER
);
CREATE TABLE totals(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE link_ends( -- each direction of each link that carried anything
  port TEXT PRIMARY KEY, -- that sends
  peer TEXT, up INTEGER, rate_bps INTEGER, tx_packets INTEGER, tx_bytes INTEGER, lost_packets INTEGER,
  damaged_packets INTEGER, utilisation REAL, -- of the run's time
  share REAL -- of uplinks: of what its switch sent up
);
CREATE TABLE losses(place TEXT, reason TEXT, packets INTEGER);
CREATE TABLE stalled(workload TEXT, source TEXT, destination TEXT, flows INTEGER, why TEXT);
CREATE TABLE deadlocks(found_ps INTEGER, circle TEXT);
CREATE TABLE faults(fault_id INTEGER PRIMARY KEY, at_ps INTEGER, what TEXT);
CREATE TABLE loss_windows( -- of faults that began
  fault_id INTEGER PRIMARY KEY REFERENCES faults,
  window_ps INTEGER, -- from the fault to the last loss
  lost_packets INTEGER, lost_bytes INTEGER, flows_lost INTEGER, flows_stalled INTEGER, longest_stall_ps INTEGER,
  detected_ps INTEGER, converged_ps INTEGER, last_loss_ps INTEGER, moving_ps INTEGER, ended_ps INTEGER,
  recovered_ps INTEGER -- instants; null: not reached
);
CREATE TABLE loss_window_reasons(fault_id INTEGER REFERENCES faults, reason TEXT, packets INTEGER, bytes INTEGER,
  first_ps INTEGER, last_ps INTEGER);
CREATE TABLE loss_window_flows(fault_id INTEGER REFERENCES faults, flow_id INTEGER, lost_packets INTEGER,
  lost_bytes INTEGER, stalled_ps INTEGER, still_stalled INTEGER);
CREATE TABLE collectives(name TEXT PRIMARY KEY, op TEXT, ranks INTEGER, ranks_done INTEGER, ended_ps INTEGER,
  messages_sent INTEGER, received_bytes INTEGER);
CREATE TABLE collective_sizes(name TEXT, bytes INTEGER, algorithm TEXT, protocol TEXT,
  done INTEGER, -- iterations
  time_ps INTEGER, time_min_ps INTEGER, time_max_ps INTEGER, algbw_bps INTEGER, busbw_bps INTEGER);
CREATE TABLE trainings(name TEXT PRIMARY KEY, ranks INTEGER, iterations INTEGER, steps_done INTEGER, step_ps INTEGER,
  compute_ps INTEGER, exposed_ps INTEGER, -- means over the ranks
  ended_ps INTEGER);
CREATE TABLE training_steps(name TEXT, step INTEGER, time_ps INTEGER, time_min_ps INTEGER, time_max_ps INTEGER);
CREATE TABLE training_groups(name TEXT, kind TEXT, exposed_ps INTEGER, overlapped_ps INTEGER, sent_bytes INTEGER);
CREATE TABLE traces(name TEXT PRIMARY KEY, operations INTEGER, operations_done INTEGER, ended_ps INTEGER);
CREATE TABLE expectations(held INTEGER, text TEXT);
CREATE TABLE pictures(name TEXT PRIMARY KEY, svg TEXT) WITHOUT ROWID; -- faults, busbw
CREATE TABLE report(section TEXT PRIMARY KEY, json TEXT) WITHOUT ROWID; -- the report of `run --report`, by section

CREATE VIEW drops AS -- by port and instant, with the reason's name
  SELECT t_ps, port_id, ports.name AS port, drop_reasons.name AS reason, packets
  FROM drop_samples JOIN ports USING(port_id) JOIN drop_reasons USING(reason_id);
CREATE VIEW pauses AS -- how long each priority of a port had to wait, by instant, and for whom
  SELECT t_ps, ports.name AS port, priority, paused_ps, peers.name AS paused_by
  FROM (SELECT t_ps, port_id, priority, paused_ps FROM priority_samples
        UNION ALL SELECT t_ps, port_id, priority, paused_ps FROM nic_priority_samples)
  JOIN ports USING(port_id) JOIN ports AS peers ON peers.port_id = ports.peer_port_id
  WHERE paused_ps > 0;
CREATE VIEW rank_spans AS -- what ranks did over time
  SELECT from_ps, t_ps AS to_ps, jobs.name AS job, rank, step_kinds.name AS kind
  FROM rank_steps JOIN jobs USING(job_id) JOIN step_kinds USING(kind_id) WHERE step_kinds.name <> 'receive'
  UNION ALL SELECT t_ps - waited_ps, t_ps, jobs.name, rank, 'wait'
  FROM rank_steps JOIN jobs USING(job_id) WHERE waited_ps > 0;
CREATE VIEW hash_shares AS -- what members of the last groups sent, and the share that an even hash would give them
  WITH last AS (SELECT max(hash_table_id) AS hash_table_id FROM hash_tables WHERE node_id IS NOT NULL GROUP BY node_id),
       sent AS (SELECT port_id, sum(tx_bytes) AS tx_bytes FROM port_samples GROUP BY port_id),
       members AS (SELECT node_id, hash_group_id, member, min(port_id) AS port_id, buckets,
                          sum(coalesce(tx_bytes, 0)) AS tx_bytes
                   FROM last JOIN hash_tables USING(hash_table_id) JOIN hash_groups USING(hash_table_id)
                   JOIN hash_group_members USING(hash_group_id) LEFT JOIN sent USING(port_id)
                   GROUP BY hash_group_id, member)
  SELECT nodes.name AS switch, hash_groups.name AS hash_group, mode, destinations, member, peers.name AS peer,
         1.0 * buckets / sum(buckets) OVER one_group AS expected,
         1.0 * members.tx_bytes / nullif(sum(members.tx_bytes) OVER one_group, 0) AS share, members.tx_bytes
  FROM members JOIN hash_groups USING(hash_group_id) JOIN nodes ON nodes.node_id = members.node_id
  JOIN ports ON ports.port_id = members.port_id JOIN ports AS other ON other.port_id = ports.peer_port_id
  JOIN nodes AS peers ON peers.node_id = other.node_id
  WINDOW one_group AS (PARTITION BY hash_group_id);
CREATE VIEW queue_levels AS -- bytes in a queue from this instant on, and where its marks begin
  SELECT t_ps, ports.name AS port, queue, current_bytes, min_bytes AS ecn_min_bytes, max_bytes AS ecn_max_bytes
  FROM queue_samples JOIN ports USING(port_id) LEFT JOIN ecn_thresholds USING(port_id, queue)
  WHERE current_bytes IS NOT NULL;
)";

constexpr ReportTable kReportTables[] = {
    {"totals", "INSERT INTO totals SELECT key, atom FROM json_each(?1) WHERE type NOT IN ('object', 'array')"},
    {"flows",
     "INSERT INTO workloads SELECT key, value->>'flows', value->>'completed', value->>'stalled_flows',"
     "value->>'sent_packets', value->>'sent_bytes', value->>'received_packets', value->>'received_bytes',"
     "value->>'missing_packets', value->>'marked_packets', value->>'rate_bps', value->>'fct_min_ps',"
     "value->>'fct_p50_ps', value->>'fct_p99_ps', value->>'fct_max_ps', value->>'latency_p50_ps',"
     "value->>'latency_p99_ps' FROM json_each(?1)"},
    {"links",
     "INSERT INTO link_ends SELECT key, value->>'to', value->>'up', value->>'speed_bps', value->>'tx_packets',"
     "value->>'tx_bytes', value->>'lost_packets', value->>'damaged_packets', value->>'utilisation', value->>'share' "
     "FROM json_each(?1)"},
    {"losses", "INSERT INTO losses SELECT value->>'place', value->>'reason', value->>'packets' FROM json_each(?1)"},
    {"stalled",
     "INSERT INTO stalled SELECT value->>'workload', value->>'source', value->>'destination', value->>'flows',"
     "value->>'why' FROM json_each(?1)"},
    {"deadlocks", "INSERT INTO deadlocks SELECT value->>'found_ps', value->>'circle' FROM json_each(?1)"},
    {"faults", "INSERT INTO faults SELECT key, value->>'at_ps', value->>'what' FROM json_each(?1)"},
    {"faults",
     "INSERT INTO loss_windows SELECT key, w->>'window_ps', w->>'lost_packets', w->>'lost_bytes', w->>'flows_lost',"
     "w->>'flows_stalled', w->>'longest_stall_ps', w->>'detected_ps', w->>'converged_ps', w->>'last_loss_ps',"
     "w->>'moving_ps', w->>'ended_ps', w->>'recovered_ps' "
     "FROM (SELECT key, value->'loss_window' AS w FROM json_each(?1)) WHERE w IS NOT NULL"},
    {"faults",
     "INSERT INTO loss_window_reasons SELECT each.key, r.value->>'reason', r.value->>'packets', r.value->>'bytes',"
     "r.value->>'first_ps', r.value->>'last_ps' "
     "FROM json_each(?1) AS each, json_each(each.value, '$.loss_window.reasons') AS r"},
    {"faults",
     "INSERT INTO loss_window_flows SELECT each.key, f.value->>'flow', f.value->>'lost_packets',"
     "f.value->>'lost_bytes', f.value->>'stalled_ps', f.value->>'still_stalled' "
     "FROM json_each(?1) AS each, json_each(each.value, '$.loss_window.flows') AS f"},
    {"collectives",
     "INSERT INTO collectives SELECT key, value->>'op', value->>'ranks', value->>'ranks_done', value->>'ended_ps',"
     "value->>'messages_sent', value->>'received_bytes' FROM json_each(?1)"},
    {"collectives",
     "INSERT INTO collective_sizes SELECT each.key, CAST(s.key AS INTEGER), s.value->>'algorithm',"
     "s.value->>'protocol', s.value->>'done', s.value->>'time_ps', s.value->>'time_min_ps', s.value->>'time_max_ps',"
     "s.value->>'algbw_bps', s.value->>'busbw_bps' FROM json_each(?1) AS each, json_each(each.value, '$.sizes') AS s"},
    {"training",
     "INSERT INTO trainings SELECT key, value->>'ranks', value->>'iterations', value->>'steps_done', value->>'step_ps',"
     "value->>'$.mean.compute_ps', value->>'$.mean.exposed_ps', value->>'ended_ps' FROM json_each(?1)"},
    {"training",
     "INSERT INTO training_steps SELECT each.key, CAST(s.key AS INTEGER), s.value->>'time_ps',"
     "s.value->>'time_min_ps', s.value->>'time_max_ps' FROM json_each(?1) AS each, json_each(each.value, '$.steps') AS "
     "s"},
    {"training",
     "INSERT INTO training_groups SELECT each.key, g.key, g.value->>'exposed_ps', g.value->>'overlapped_ps',"
     "g.value->>'sent_bytes' FROM json_each(?1) AS each, json_each(each.value, '$.mean.groups') AS g"},
    {"traces",
     "INSERT INTO traces SELECT key, value->>'operations', value->>'operations_done', value->>'ended_ps' "
     "FROM json_each(?1)"},
    {"expectations", "INSERT INTO expectations SELECT value->>'held', value->>'text' FROM json_each(?1)"},
};

}  // namespace

std::span<const SampleTableRow, kSampleTables> sample_tables() {
  return kSampleTableRows;
}

std::string_view recording_schema() {
  return kSchema;
}

std::string sample_table_schema(SampleTable table, std::span<const std::string> columns) {
  const SampleTableRow& row = kSampleTableRows[static_cast<size_t>(table)];
  std::string out = fmt::format("CREATE TABLE {}(t_ps INTEGER NOT NULL, {} INTEGER NOT NULL", row.name, row.place);
  if (!row.number.empty()) out += fmt::format(", {} INTEGER NOT NULL", row.number);
  for (const std::string& column : columns) out += fmt::format(", {} INTEGER", column);
  return out + ");\n";
}

std::span<const ReportTable> report_tables() {
  return kReportTables;
}

}  // namespace softspine::control
