// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/parts_of_run.hpp"

#include "testbeds/run/captures.hpp"
#include "testbeds/run/carriers.hpp"
#include "testbeds/run/collective_ranks.hpp"
#include "testbeds/run/counter_series.hpp"
#include "testbeds/run/deadlock_finder.hpp"
#include "testbeds/run/edge_watch.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/flow_series.hpp"
#include "testbeds/run/frame_injector.hpp"
#include "testbeds/run/lacp_control.hpp"
#include "testbeds/run/live_control.hpp"
#include "testbeds/run/outside_watch.hpp"
#include "testbeds/run/pfc_file.hpp"
#include "testbeds/run/queue_lengths.hpp"
#include "testbeds/run/rank_links.hpp"
#include "testbeds/run/rank_requests.hpp"
#include "testbeds/run/run_recording.hpp"
#include "testbeds/run/stack_control.hpp"
#include "testbeds/run/stalled_flows.hpp"
#include "testbeds/run/step_log.hpp"
#include "testbeds/run/trace_file.hpp"
#include "testbeds/run/trace_ranks.hpp"
#include "testbeds/run/traffic_controller.hpp"
#include "testbeds/run/training_ranks.hpp"

namespace softspine::testbeds {

void add_parts(RunParts& parts, const RunMaterial& of) {
  const LocalNodes& nodes = *of.assembly.nodes;
  const RunFlows& flows = of.assembly.flows;
  dataplane::Engine& engine = nodes.engine();
  auto& requests = parts.add<RankRequests>(nodes);
  parts.add<OutsideWatch>(of.testbed, of.outside, of.assembly, requests, of.errors, of.stays);
  auto& losses = parts.add<LossWindows>(of.testbed, nodes, flows);
  auto& links = parts.add<LinkControl>(of.testbed, of.compiler, nodes, losses, of.incidents);
  parts.add<LacpControl>(of.testbed, nodes, links);
  parts.add<StackControl>(of.testbed, engine, links, of.incidents);
  parts.add<TrafficController>(of.testbed, engine, flows, links);
  auto& faults = parts.add<FaultControl>(of.testbed, nodes, losses, of.incidents);
  parts.add<DeadlockFinder>(of.testbed, nodes, of.incidents);
  parts.add<EdgeWatch>(of.testbed, nodes, links, of.incidents, of.errors);
  parts.add<Carriers>(of.testbed, nodes, of.errors);
  auto& captures = parts.add<Captures>(of.testbed, nodes, requests, of.errors);
  parts.add<CounterSeries>(of.testbed, of.compiler, nodes, of.errors);
  parts.add<FlowSeries>(of.testbed, nodes, flows, of.errors);
  parts.add<PfcFile>(of.testbed, nodes, captures, of.errors);
  parts.add<QueueLengths>(of.testbed, nodes);
  auto& log = parts.add<EventLog>(of.testbed, nodes, of.incidents, of.errors);
  parts.add<StalledFlows>(of.testbed, engine, flows, links);
  auto& rank_links = parts.add<RankLinks>(of.testbed, nodes, flows);
  auto& steps = parts.add<StepLog>(of.testbed, nodes, flows, captures, of.steps);
  parts.add<CollectiveRanks>(of.testbed, nodes, rank_links, steps);
  parts.add<TrainingRanks>(of.testbed, nodes, rank_links, steps);
  parts.add<TraceRanks>(of.testbed, nodes, flows);
  parts.add<RunRecording>(of.testbed, of.compiler, nodes, flows, links, log, steps, of.errors);
  parts.add<TraceFile>(of.testbed, of.compiler, nodes, log, steps, of.errors);
  parts.add<FrameInjector>(of.testbed, of.assembly);
  parts.add<LiveControl>(nodes, flows, of.compiler, links, faults, requests, of.snapshot_at);
}

}  // namespace softspine::testbeds
