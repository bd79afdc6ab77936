// SPDX-License-Identifier: Apache-2.0
// How long does it take to see where 10,000 flows go on a fabric of 1,125 switches, and what would cure it? A fat tree
// with k = 30, its states compiled and its flows walked hop by hop by one thread; at most ten seconds of its time.
#include <benchmark/benchmark.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "analysis/explain/cures.hpp"
#include "analysis/explain/probe.hpp"
#include "control/load/load.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::analysis {
namespace {

constexpr uint32_t kFlows = 10'000;

const control::Testbed& tree() {
  static const auto testbed = control::parse_testbed(
      "name: tree\nfabric: {kind: fat-tree, k: 30, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: "
      "100Gbps}}\n",
      "bench.yaml");
  if (testbed) return *testbed;
  std::fprintf(stderr, "%s\n", control::to_string(testbed.error().front()).c_str());
  std::exit(1);
}

std::vector<FlowProbe> flows_of(Walker& walker) {
  const control::Fabric& fabric = walker.testbed().fabric;
  std::vector<uint32_t> hosts;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == control::NodeKind::kHost) hosts.push_back(n);
  }
  dataplane::Rng rng{1, 0};
  std::vector<FlowProbe> out;
  while (out.size() < kFlows) {
    Probe probe{.from = hosts[rng.below(hosts.size())], .to = hosts[rng.below(hosts.size())]};
    if (probe.from == probe.to) continue;
    probe.source_port = static_cast<uint16_t>(rng.next());
    const control::LinkEnd sender{probe.from, 0};
    out.push_back({frame_of(fabric, probe, walker.router_mac(fabric.peer_of(sender).node)), sender});
  }
  return out;
}

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// From the testbed to the answer, as the command does it.
void run(benchmark::State& state, bool with_cures) {
  const control::Testbed& testbed = tree();
  double seconds = 0;
  for (auto _ : state) {
    const double begin = thread_seconds();
    Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
    const std::vector<FlowProbe> flows = flows_of(walker);
    const Polarization found = polarization_of(walker, flows);
    size_t cures = 0;
    if (with_cures) cures = find_cures(walker, flows, found).size();
    seconds = thread_seconds() - begin;
    state.SetLabel("worst max/mean " + std::to_string(found.worst()) + ", " + std::to_string(cures) + " cures found");
    if (found.arrived != kFlows || !found.is_unbalanced()) state.SkipWithError("not what it was to compute");
    if (seconds > 10) state.SkipWithError("longer than ten seconds");
  }
  state.counters["thread_seconds"] = seconds;
}

BENCHMARK_CAPTURE(run, polarization, false)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, with_all_cures, true)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace softspine::analysis

BENCHMARK_MAIN();
