// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/workload_flows.hpp"

#include <algorithm>

#include "analysis/explain/polarization.hpp"
#include "analysis/explain/polarization_report.hpp"
#include "analysis/explain/probe.hpp"
#include "control/telemetry/json.hpp"
#include "testbeds/hosts/bond_hash.hpp"
#include "testbeds/run/traffic.hpp"

namespace softspine::testbeds {

namespace {

// The largest number instead of more than that. A queue pair that takes what the others have no room for counts as one
// message.
uint64_t bytes_of(const PlannedFlow& flow) {
  uint64_t out = 0;
  const uint64_t messages = std::max<uint64_t>(1, flow.flow.messages);
  const bool is_too_much = __builtin_mul_overflow(messages, uint64_t{flow.flow.message_bytes}, &out);
  return is_too_much ? UINT64_MAX : out;
}

}  // namespace

std::vector<analysis::FlowProbe> workload_flows(analysis::Walker& walker, size_t most) {
  const std::vector<PlannedFlow> plan = plan_traffic(walker.testbed());
  const control::Fabric& fabric = walker.testbed().fabric;
  std::vector<analysis::FlowProbe> out;
  const size_t taken = std::min(most, plan.size());
  for (size_t i = 0; i < taken; ++i) {
    const PlannedFlow& flow = plan[i * plan.size() / taken];
    analysis::Probe probe{.from = flow.source, .to = flow.destination};
    const auto router = walker.router_mac(fabric.peer_of({probe.from, 0}).node);
    probe.port = bond_port(bonded_host(fabric, probe.from, router), flow.flow).value();
    probe.source_port = flow.flow.source_port;
    probe.qp = flow.flow.destination_qp;
    const control::LinkEnd sender{probe.from, probe.port};
    const auto frame = frame_of(fabric, probe, walker.router_mac(fabric.peer_of(sender).node));
    out.push_back({frame, sender, bytes_of(flow)});
  }
  return out;
}

bool is_about_polarization(const control::Expectation& expectation) {
  return expectation.value.starts_with(std::string(kPolarizationSection) + ".");
}

bool expects_polarization(const control::Testbed& testbed) {
  return std::ranges::any_of(testbed.expectations, is_about_polarization);
}

control::Json polarization_section(const control::Testbed& testbed) {
  analysis::Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  return polarization_values(polarization_of(walker, workload_flows(walker)));
}

control::Json polarization_section_outline(const control::Testbed& testbed) {
  return analysis::polarization_outline(testbed.fabric);
}

}  // namespace softspine::testbeds
