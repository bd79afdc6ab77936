// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/virtual_bench.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "control/traffic/plan.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "pipelines/aggregation.hpp"
#include "pipelines/tor.hpp"
#include "testbeds/hosts/roce_host.hpp"
#include "tools/bench/worker_cpus.hpp"

namespace softspine::tools {

using namespace dataplane;
using namespace pipelines;
using namespace testbeds;
using control::PlannedFlow;

namespace {

constexpr uint16_t kVlan = 1000;
constexpr uint32_t kVirtualQueueLimit = 1U << 20;
constexpr uint32_t kPacketsPerHost = 1U << 13;

enum class Kind : uint8_t { kHost, kLeaf, kSpine };

MacAddress mac_of(Kind kind, uint32_t index) {
  return {0x02, 0, 0, static_cast<uint8_t>(kind), static_cast<uint8_t>(index >> 8), static_cast<uint8_t>(index)};
}
// 10.leaf.0.host
Ipv4Address address_of(const VirtualBench& bench, uint32_t host) {
  return 0x0a000001 + (host / bench.radix << 16) + host % bench.radix;
}
Prefix subnet_of(Ipv4Address address, uint8_t length) {
  Prefix prefix;
  store32(prefix.address.data(), address);
  prefix.length = length;
  return prefix;
}

void add_adjacency(ForwardingState& state, uint32_t port, const MacAddress& to, uint16_t vlan) {
  Adjacency adjacency;
  adjacency.port = static_cast<uint16_t>(port);
  adjacency.source = state.router_mac;
  adjacency.destination = to;
  adjacency.vlan = vlan;
  state.adjacencies.push_back(adjacency);
}

// Ports 0 … radix − 1: the hosts, bridged; the others: the spines.
ForwardingState state_of_leaf(const VirtualBench& bench, uint32_t leaf) {
  const uint32_t radix = bench.radix;
  ForwardingState state;
  state.router_mac = mac_of(Kind::kLeaf, leaf);
  state.qos = azure_maps(kVirtualQueueLimit);
  state.ports.resize(2 * radix);
  state.vlans = {{kVlan, {}}};
  std::vector<PrefixValue> routes{{subnet_of(0x0a000000, 8), RouteValue{RouteKind::kEcmpGroup, 0}.packed()}};
  for (uint32_t h = 0; h < radix; ++h) {
    const uint32_t host = leaf * radix + h;
    state.ports[h].untagged_vlan = kVlan;
    state.vlans[0].members.push_back({static_cast<uint16_t>(h), false});
    add_adjacency(state, h, mac_of(Kind::kHost, host), kVlan);
    routes.push_back({subnet_of(address_of(bench, host), 32), RouteValue{RouteKind::kAdjacency, h}.packed()});
  }
  for (uint32_t s = 0; s < radix; ++s) add_adjacency(state, radix + s, mac_of(Kind::kSpine, s), 0);
  state.groups = {{0, radix}};
  state.members.resize(radix);
  std::iota(state.members.begin(), state.members.end(), radix);
  state.ipv4 = PrefixTrie{routes};
  return state;
}

ForwardingState state_of_spine(const VirtualBench& bench, uint32_t spine) {
  ForwardingState state;
  state.router_mac = mac_of(Kind::kSpine, spine);
  state.qos = azure_maps(kVirtualQueueLimit);
  state.ports.resize(bench.radix);
  std::vector<PrefixValue> routes;
  for (uint32_t leaf = 0; leaf < bench.radix; ++leaf) {
    add_adjacency(state, leaf, mac_of(Kind::kLeaf, leaf), 0);
    routes.push_back({subnet_of(0x0a000000 | leaf << 16, 16), RouteValue{RouteKind::kAdjacency, leaf}.packed()});
  }
  state.ipv4 = PrefixTrie{routes};
  return state;
}

HostConfig host_config(const VirtualBench& bench, uint32_t host) {
  HostConfig config;
  config.name = fmt::format("h{}", host);
  config.mac = mac_of(Kind::kHost, host);
  config.gateway = mac_of(Kind::kLeaf, host / bench.radix);
  config.ipv4 = address_of(bench, host);
  return config;
}

uint32_t hosts_of(const VirtualBench& bench) {
  return bench.radix * bench.radix;
}

control::Workload workload_of(const VirtualBench& bench) {
  const uint32_t hosts = hosts_of(bench);
  control::Workload workload;
  workload.qps = bench.qps;
  workload.messages = 0;  // without end
  workload.mtu = bench.path_mtu;
  if (bench.pattern == VirtualBench::Pattern::kPermutation) {
    workload.pattern = control::Pattern::kPermutation;
    workload.cross_rack = true;
    workload.hosts.resize(hosts);
    std::iota(workload.hosts.begin(), workload.hosts.end(), 0);
    return workload;
  }
  workload.pattern = control::Pattern::kIncast;
  workload.from.resize(hosts - 1);
  std::iota(workload.from.begin(), workload.from.end(), 1);
  workload.to = {0};
  workload.rate = Rate::bps(bench.rate.count_bps() / (hosts - 1));
  return workload;
}
std::vector<PlannedFlow> plan_of(const VirtualBench& bench) {
  std::vector<control::TrafficHost> hosts;
  for (uint32_t host = 0; host < hosts_of(bench); ++host) {
    hosts.push_back({address_of(bench, host), host / bench.radix});
  }
  const control::Workload workload = workload_of(bench);
  return control::plan_flows({&workload, 1}, hosts, bench.seed);
}

// Which worker has which rack and which spine: the heaviest first, each to the worker that has least so far.
// A rack weighs what its switch and its hosts have to do with the flows, a spine its share of them.
struct Spread {
  std::vector<uint32_t> of_leaf;
  std::vector<uint32_t> of_spine;

  Spread(const VirtualBench& bench, const std::vector<PlannedFlow>& plan)
      : of_leaf(bench.radix), of_spine(bench.radix) {
    std::vector<std::pair<uint64_t, uint32_t*>> parts;
    for (uint32_t& spine : of_spine) parts.emplace_back(plan.size(), &spine);
    for (uint32_t& leaf : of_leaf) parts.emplace_back(0, &leaf);
    for (const PlannedFlow& flow : plan) {
      for (const uint32_t host : {flow.source, flow.destination})
        parts[bench.radix + host / bench.radix].first += bench.radix * 3 / 2;
    }
    std::ranges::stable_sort(parts, std::greater{}, &std::pair<uint64_t, uint32_t*>::first);
    std::vector<uint64_t> load(bench.workers, 0);
    for (const auto& [weight, worker] : parts) {
      const auto least = std::ranges::min_element(load);
      *worker = static_cast<uint32_t>(least - load.begin());
      *least += weight;
    }
  }
};

class VirtualRig {
 public:
  explicit VirtualRig(const VirtualBench& bench)
      : cpus_(bench.workers),
        pool_("virtual", hosts_of(bench) * kPacketsPerHost, kHostPacketBytes),
        engine_(clock_, threads(bench)) {
    const std::vector<PlannedFlow> plan = plan_of(bench);
    const Spread spread{bench, plan};
    for (uint32_t s = 0; s < bench.radix; ++s) {
      spines_.push_back(add_switch<Aggregation>(fmt::format("spine{}", s), bench.radix, state_of_spine(bench, s),
                                                spread.of_spine[s]));
    }
    for (uint32_t leaf = 0; leaf < bench.radix; ++leaf) add_rack(bench, leaf, spread.of_leaf[leaf]);
    add_flows(plan);
  }
  ~VirtualRig() { engine_.drain(); }
  VirtualRig(const VirtualRig&) = delete;
  VirtualRig& operator=(const VirtualRig&) = delete;

  Engine& engine() { return engine_; }
  uint64_t packet_hops() const { return sum_of(&PortCounters::tx_packets); }
  uint64_t drops() const {
    uint64_t sum = 0;
    for (const Switch* s : switches_) {
      for (const PortCounters& port : s->counters()) sum += port.dropped_packets();
    }
    return sum;
  }
  uint64_t delivered() const {
    uint64_t sum = 0;
    for (const RoceHost* host : hosts_) sum += host->counters().delivered_packets;
    return sum;
  }
  uint64_t checksum() const {
    uint64_t sum = 0xcbf29ce484222325;  // FNV-1a, by words
    for (const RoceHost* host : hosts_) {
      for (uint32_t sink = 0; sink < host->sink_count(); ++sink) {
        const FlowReceived& seen = host->received(sink);
        for (const int64_t word :
             {static_cast<int64_t>(seen.packets), seen.last_arrived.count_ps(), seen.latency_max_ps}) {
          sum = (sum ^ static_cast<uint64_t>(word)) * 0x100000001b3;
        }
      }
    }
    return sum;
  }

 private:
  Engine::Config threads(const VirtualBench& bench) const {
    return {.workers = bench.workers,
            .seed = bench.seed,
            .nest = !bench.flat,
            .on_worker_start =
                [this](uint32_t worker) {
                  cpus_.pin(worker);
                  register_worker_thread();
                },
            .on_worker_stop = [](uint32_t) { unregister_worker_thread(); }};
  }
  template <typename Role>
  NodeId add_switch(const std::string& name, uint32_t ports, ForwardingState state, uint32_t worker) {
    auto node = std::make_unique<Role>(name, ports, pool_);
    node->publish(std::make_shared<ForwardingState>(std::move(state)));
    switches_.push_back(node.get());
    return engine_.add(std::move(node), worker);
  }
  void add_rack(const VirtualBench& bench, uint32_t leaf, uint32_t worker) {
    const NodeId tor =
        add_switch<Tor>(fmt::format("leaf{}", leaf), 2 * bench.radix, state_of_leaf(bench, leaf), worker);
    for (uint16_t h = 0; h < bench.radix; ++h) {
      auto host = std::make_unique<RoceHost>(host_config(bench, leaf * bench.radix + h), pool_);
      hosts_.push_back(host.get());
      const NodeId id = engine_.add(std::move(host), worker);
      engine_.connect({id, PortNo{0}}, {tor, PortNo{h}}, bench.rate, bench.host_propagation);
    }
    for (uint16_t s = 0; s < bench.radix; ++s) {
      engine_.connect({tor, PortNo{static_cast<uint16_t>(bench.radix + s)}},
                      {spines_[s], PortNo{static_cast<uint16_t>(leaf)}}, bench.rate, bench.fabric_propagation);
    }
  }
  void add_flows(const std::vector<PlannedFlow>& plan) {
    for (const PlannedFlow& flow : plan) {
      hosts_[flow.source]->add_flow(flow.flow);
      hosts_[flow.destination]->add_sink(flow.sink);
    }
  }
  uint64_t sum_of(uint64_t PortCounters::* field) const {
    uint64_t sum = 0;
    for (const Switch* s : switches_) {
      for (const PortCounters& port : s->counters()) sum += port.*field;
    }
    return sum;
  }

  WorkerCpus cpus_;
  PacketPool pool_;
  VirtualClock clock_;
  Engine engine_;
  std::vector<NodeId> spines_;
  std::vector<Switch*> switches_;
  std::vector<RoceHost*> hosts_;
};

double process_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

VirtualResult run_virtual_bench(const VirtualBench& bench) {
  VirtualRig rig{bench};
  const Instant begin = Instant::at(bench.simulated / 4);
  rig.engine().run(begin);
  const uint64_t hops_before = rig.packet_hops();
  const uint64_t delivered_before = rig.delivered();
  const uint64_t windows_before = rig.engine().stats().windows;
  const double start_cpu = process_cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  rig.engine().run(begin + bench.simulated);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double cpu = process_cpu_seconds() - start_cpu;
  VirtualResult result;
  result.packet_hops = rig.packet_hops() - hops_before;
  result.delivered = rig.delivered() - delivered_before;
  result.drops = rig.drops();
  result.windows = rig.engine().stats().windows - windows_before;
  result.packet_hops_per_second = static_cast<double>(result.packet_hops) / seconds;
  result.packet_hops_per_cpu_second = static_cast<double>(result.packet_hops) / cpu;
  result.slowdown = seconds / bench.simulated.seconds();
  result.checksum = rig.checksum();
  return result;
}

}  // namespace softspine::tools
