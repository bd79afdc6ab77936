// SPDX-License-Identifier: Apache-2.0
// Control over the nodes that are here: two halves of a fabric, each with a control of its own that finds the other
// half's nodes nowhere, count what one control over all of them counts.
#include "testbeds/run/local_nodes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <set>
#include <string>

#include "control/report/report.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/deadlock_finder.hpp"
#include "testbeds/run/fault_control.hpp"
#include "testbeds/run/lacp_control.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/run_part.hpp"
#include "testbeds/run/snapshots.hpp"
#include "testbeds/run/stalled_flows.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

constexpr const char* kTwoRacks = R"(
name: halves
run: {duration: 2ms, seed: 3}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
workload:
  - {name: all, pattern: all_to_all, hosts: [h1, h2, h3, h4], messages: 40, message: 64KiB, rate: 20Gbps, dscp: 3}
faults:
  - {at: 100us, link: "tor1:Ethernet8", set: down}
  - {at: 200us, link: "tor1:Ethernet8", set: up}
  - {at: 300us, link: "tor2:Ethernet8", set: dead, until: 400us}
  - {at: 300us, node: h1, set: storm, priorities: [3], until: 350us}
  - {at: 300us, link: "tor1:Ethernet12", set: lossy, drop: 1%, until: 500us}
  - {at: 500us, node: h3, set: slow_receiver, drain: 1Gbps, until: 600us}
convergence: 20us
)";

using Names = std::set<std::string>;

// A control over the nodes of these names.
class Half {
 public:
  Half(const control::Testbed& testbed, const Assembly& whole, const Names& names)
      : testbed_(testbed), compiler_(testbed), nodes_(testbed.fabric, *whole.engine) {
    const auto is_here = [&](uint32_t n) { return names.contains(testbed.fabric.nodes[n].name); };
    whole.nodes->for_each_switch([&](uint32_t n, pipelines::Switch& it) {
      if (is_here(n)) nodes_.add(n, it);
    });
    whole.nodes->for_each_host([&](uint32_t n, RoceHost& it) {
      if (is_here(n)) nodes_.add(n, it);
    });
    for (size_t i = 0; i < whole.flows.size(); ++i) {
      const PlannedFlow& plan = whole.flows.plan(i);
      flows_.add(plan, is_here(plan.source) ? whole.flows.source(i) : std::nullopt,
                 is_here(plan.destination) ? whole.flows.sink(i) : std::nullopt);
    }
    auto& losses = parts_.add<LossWindows>(testbed, nodes_, flows_);
    auto& links = parts_.add<LinkControl>(testbed, compiler_, nodes_, losses, incidents_);
    parts_.add<LacpControl>(testbed, nodes_, links);
    parts_.add<FaultControl>(testbed, nodes_, losses, incidents_);
    parts_.add<DeadlockFinder>(testbed, nodes_, incidents_);
    parts_.add<StalledFlows>(testbed, nodes_.engine(), flows_, links);
    parts_.start();
  }

  Json report() {
    const dataplane::Instant now = nodes_.engine().now();
    parts_.finish(now);
    control::FabricSnapshot snapshot = snapshot_of(testbed_, compiler_, nodes_, flows_, now);
    snapshot.faults = incidents_.faults();
    parts_.snapshot(snapshot);
    return control::report_json(snapshot, {.testbed = testbed_.name, .clock = "virtual"});
  }

 private:
  const control::Testbed& testbed_;
  control::Compiler compiler_;
  LocalNodes nodes_;
  RunFlows flows_;
  Incidents incidents_;
  RunParts parts_;
};

// The reports of the two halves, after one run of both.
std::array<Json, 2> reports_of_halves(const control::Testbed& testbed) {
  const control::Compiler compiler(testbed);
  auto whole = assemble(testbed, compiler, nullptr);
  if (!whole) {
    ADD_FAILURE() << whole.error();
    return {};
  }
  Half one(testbed, **whole, {"tor1", "h1", "h2", "spine1"});
  Half two(testbed, **whole, {"tor2", "h3", "h4", "spine2"});
  (*whole)->engine->run(dataplane::Instant::at(testbed.run.duration));
  std::array out{one.report(), two.report()};
  (*whole)->engine->drain();
  EXPECT_EQ((*whole)->packets_in_use(), 0U);
  return out;
}

// What is counted: rates are reckoned from both ends of a flow, and a half may have one of them.
Json counts_of(Json section) {
  for (auto& [name, row] : section.items()) {
    for (const char* reckoned : {"rate_bps", "sent_rate_bps"}) row.erase(reckoned);
  }
  return section;
}

TEST(LocalNodes, OfTwoHalvesCountTogetherWhatAllCount) {
  const control::Testbed testbed = testbed_of(kTwoRacks);
  ASSERT_FALSE(testing::Test::HasFailure());
  const Json whole = run_whole(testbed).report;
  const auto halves = reports_of_halves(testbed);
  for (const char* section : {"switches", "hosts", "ports"}) {
    const Json all = counts_of(whole.at(section));
    Json together = counts_of(halves[0].at(section));
    const Json other = counts_of(halves[1].at(section));
    for (const auto& [name, row] : other.items()) {
      EXPECT_FALSE(together.contains(name)) << name;
      together[name] = row;
    }
    EXPECT_EQ(together.size(), all.size()) << section;
    for (const auto& [name, row] : all.items()) EXPECT_EQ(together.value(name, Json()), row) << name;
  }
}

}  // namespace
}  // namespace softspine::testbeds
