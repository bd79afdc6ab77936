// SPDX-License-Identifier: Apache-2.0
#include "control/record/recorded_fabric.hpp"

#include <filesystem>

#include "control/record/recording_tables.hpp"
#include "control/steps/step_record.hpp"
#include "dataplane/packet/drop_reason.hpp"

namespace softspine::control {

namespace {

void record_run(Database& into, const Testbed& testbed, const RecordedRun& run) {
  Statement fact{into, "INSERT INTO run VALUES(?1, ?2)"};
  fact.add("program_version").add(run.version).done();
  fact.add("testbed").add(testbed.name).done();
  fact.add("clock").add(testbed.run.clock == ClockKind::kWall ? "wall" : "virtual").done();
  fact.add("seed").add(testbed.run.seed).done();
  fact.add("sample_interval_ps").add(run.interval.count_ps()).done();
  Statement{into, "INSERT INTO testbed VALUES(?1, ?2)"}
      .add(std::filesystem::path(testbed.file).filename().string())
      .add(run.text)
      .done();
  Statement reason{into, "INSERT INTO drop_reasons VALUES(?1, ?2)"};
  for (uint32_t i = 0; i < dataplane::kDropReasons; ++i) {
    reason.add(i).add(dataplane::name_of(static_cast<dataplane::DropReason>(i))).done();
  }
  Statement kind{into, "INSERT INTO step_kinds VALUES(?1, ?2)"};
  for (uint32_t i = 0; i < kOperationWords.size(); ++i) kind.add(i).add(kOperationWords[i]).done();
}

void record_nodes(Database& into, const Fabric& fabric) {
  Statement row{into, "INSERT INTO nodes VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"};
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const FabricNode& node = fabric.nodes[n];
    row.add(n).add(node.name).add(node.kind == NodeKind::kSwitch ? "switch" : "host").add(name_of(node.role));
    row.add(int64_t{tier_of(node.role)}).add(node.plane).add(node.rail);
    if (!node.server.empty()) row.add(node.server);
    row.done();
  }
}

void record_links(Database& into, const Fabric& fabric, const PortNumbers& ports) {
  Statement port{into, "INSERT INTO ports VALUES(?1, ?2, ?3, ?4, ?5, ?6)"};
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    for (uint16_t p = 0; p < fabric.nodes[n].ports.size(); ++p) {
      const LinkEnd end{n, p};
      const uint32_t link = fabric.port(end).link;
      port.add(ports.of(end)).add(n).add(fabric.name_of(end)).add(link).add(ports.of(fabric.peer_of(end)));
      port.add(fabric.links[link].rate.count_bps()).done();
    }
  }
  Statement row{into, "INSERT INTO links VALUES(?1, ?2, ?3, ?4, ?5)"};
  for (uint32_t i = 0; i < fabric.links.size(); ++i) {
    const FabricLink& link = fabric.links[i];
    row.add(i).add(ports.of(link.a)).add(ports.of(link.b)).add(link.rate.count_bps());
    row.add(link.propagation.count_ps()).done();
  }
}

// Pools of a memory in slices have their slice in their names (testbeds/run/port_copy.cpp).
std::vector<std::string> names_of_ingress_pools(const QosConfig& config) {
  std::vector<std::string> out;
  for (const BufferPoolConfig& pool : config.pools) {
    for (uint32_t slice = 0; pool.ingress && slice < config.slices; ++slice) {
      out.push_back(pool.name + (config.slices == 1 ? "" : "|" + std::to_string(slice)));
    }
  }
  return out;
}

void record_ecn_thresholds(Database& into, uint32_t node, const dataplane::QosPlan& plan, const PortNumbers& ports) {
  Statement row{into, "INSERT INTO ecn_thresholds VALUES(?1, ?2, ?3, ?4)"};
  for (uint16_t p = 0; p < plan.ports.size(); ++p) {
    for (uint32_t q = 0; q < dataplane::kQueues; ++q) {
      const dataplane::WredLine& mark = plan.wred[plan.ports[p].queues[q].wred].mark;
      if (!mark.off()) row.add(ports.of({node, p})).add(q).add(mark.min_bytes).add(mark.max_bytes).done();
    }
  }
}

void record_xoff_thresholds(Database& into, const FabricNode& node, uint32_t number, const QosConfig& config,
                            const dataplane::BufferPlan& plan, const PortNumbers& ports) {
  const std::vector<std::string> pools = names_of_ingress_pools(config);
  const int64_t cell = plan.cell.bytes();
  Statement row{into, "INSERT INTO xoff_thresholds VALUES(?1, ?2, ?3, ?4, ?5 / 256.0, ?6, ?7)"};
  for (uint16_t p = 0; p < node.ports.size(); ++p) {
    for (uint32_t i = 0; i < dataplane::kPriorities; ++i) {
      const dataplane::PriorityGroupPlan& group = plan.ports[p].groups[i];
      if (!group.lossless || group.credited || group.pool >= pools.size()) continue;
      row.add(ports.of({number, p})).add(i).add(node.name + ":" + pools[group.pool]).add(group.limit.cells * cell);
      row.add(group.limit.alpha_q8).add(group.reserved_cells * cell).add(group.headroom_cells * cell).done();
    }
  }
}

void record_thresholds(Database& into, const Testbed& testbed, const RecordedRun& run, const PortNumbers& ports) {
  for (uint32_t n = 0; n < run.plans.size(); ++n) {
    if (run.plans[n] == nullptr) continue;
    const FabricNode& node = testbed.fabric.nodes[n];
    record_ecn_thresholds(into, n, *run.plans[n], ports);
    const auto& config = testbed.profiles[node.profile].qos;
    if (config) record_xoff_thresholds(into, node, n, *config, run.plans[n]->buffer, ports);
  }
}

}  // namespace

void record_fabric(Database& into, const Testbed& testbed, const RecordedRun& run, const PortNumbers& ports) {
  into.run("BEGIN");
  into.run(std::string{recording_schema()});
  record_run(into, testbed, run);
  record_nodes(into, testbed.fabric);
  record_links(into, testbed.fabric, ports);
  record_thresholds(into, testbed, run, ports);
  into.run("COMMIT");
}

}  // namespace softspine::control
