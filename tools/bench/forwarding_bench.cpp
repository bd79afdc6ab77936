// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/forwarding_bench.hpp"

#include <time.h>
#include <x86intrin.h>

#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "dataplane/dpdk/device.hpp"
#include "dataplane/dpdk/device_edge.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "dataplane/engine/wall_clock.hpp"
#include "dataplane/packet/pfc.hpp"
#include "dataplane/packet/wire.hpp"
#include "pipelines/aggregation.hpp"
#include "pipelines/tor.hpp"
#include "tools/bench/lossless_plan.hpp"
#include "tools/bench/roce_flows.hpp"

namespace softspine::tools {

using namespace dataplane;
using namespace pipelines;

namespace {

constexpr uint32_t kWays = 8;
constexpr Rate kRate = Rate::gbps(400);
constexpr Duration kPropagation = Duration::us(1);
constexpr MacAddress kTorMac{0x02, 0, 0, 0, 0, 0x01};
constexpr MacAddress kFarTorMac{0x02, 0, 0, 0, 0, 0x03};
constexpr MacAddress kSinkMac{0x02, 0, 0, 0, 0, 0xff};
constexpr uint32_t kQueueLimit = 4U << 20;
constexpr uint32_t kFirstQp = 0x100;
constexpr uint8_t kRoceDscp = 26;  // of the input

// Which way each flow took, seen at the first switch; the same whatever the speed.
class PathTap final : public Tap {
 public:
  PathTap(std::vector<uint8_t>& way_of_flow, uint8_t way) : way_of_flow_(way_of_flow), way_(way) {}
  void frame(Direction, const Packet& packet, Instant, const char*) noexcept override {
    const uint8_t* l4 = packet.data() + packet.meta().l4_offset;
    const uint32_t flow = load24(l4 + udp::kBytes + bth::kDestinationQp) - kFirstQp;
    if (flow < way_of_flow_.size()) way_of_flow_[flow] = static_cast<uint8_t>(way_ + 1);
  }

 private:
  std::vector<uint8_t>& way_of_flow_;
  uint8_t way_;
};

uint64_t checksum_of(const std::vector<uint8_t>& ways) {
  uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  for (const uint8_t way : ways) sum = (sum ^ way) * 0x100000001b3;
  return sum;
}

Prefix prefix_of(uint32_t address, uint8_t length) {
  Prefix prefix;
  store32(prefix.address.data(), address);
  prefix.length = length;
  return prefix;
}

// The flows' destinations 10.2.0.0/16 in 256 subnets, all by the same next hops.
ForwardingState state_of(const MacAddress& self, const std::vector<Adjacency>& next_hops, uint32_t ports) {
  ForwardingState state;
  state.router_mac = self;
  state.adjacencies = next_hops;
  state.groups = {{0, static_cast<uint32_t>(next_hops.size())}};
  state.members.resize(next_hops.size());
  std::iota(state.members.begin(), state.members.end(), 0);
  const RouteKind kind = next_hops.size() == 1 ? RouteKind::kAdjacency : RouteKind::kEcmpGroup;
  std::vector<PrefixValue> routes;
  for (uint32_t i = 0; i < 256; ++i) {
    routes.push_back({prefix_of(0x0a020000 | i << 8, 24), RouteValue{kind, 0}.packed()});
    routes.push_back({prefix_of(0x0a010000 | i << 8, 24), RouteValue{RouteKind::kLocal, 0}.packed()});
  }
  state.ipv4 = PrefixTrie{routes};
  state.ports.resize(ports);
  state.qos = azure_maps(kQueueLimit);
  return state;
}

Adjacency hop(uint16_t port, const MacAddress& from, const MacAddress& to) {
  Adjacency adjacency;
  adjacency.port = port;
  adjacency.source = from;
  adjacency.destination = to;
  return adjacency;
}

MacAddress spine_mac(uint32_t i) {
  return {0x02, 0, 0, 0, 0x02, static_cast<uint8_t>(i)};
}

// The bench's fabric: its parts, and where packets leave it.
class Rig {
 public:
  Rig(const ForwardingBench& bench)
      : pool_("bench", 32767, kMaxFrameBytes > bench.frame_bytes ? 2048 : kMaxFrameBytes),
        engine_(clock_, {}),
        lossless_(bench.lossless) {
    source_ = add_edge("net_pcap_bench,rx_pcap=" + bench.pcap + ",infinite_rx=1");
    if (bench.hops == 1) {
      build_one_switch();
    } else {
      build_three_hops();
    }
  }

  Engine& engine() { return engine_; }
  Switch& first() { return *first_; }
  uint64_t delivered() const {
    uint64_t sum = 0;
    for (const DeviceEdge* sink : sinks_) sum += sink->counters().out_packets;
    return sum;
  }
  uint64_t received() const { return first_->counters()[0].rx_packets; }
  uint64_t dropped() const {
    uint64_t sum = 0;
    for (const Switch* s : switches_) {
      for (const PortCounters& port : s->counters()) sum += port.dropped_packets();
    }
    return sum;
  }
  void watch_paths(std::vector<uint8_t>& ways) {
    for (uint16_t i = 0; i < kWays; ++i) {
      taps_.push_back(std::make_unique<PathTap>(ways, static_cast<uint8_t>(i)));
      first_->transmitter(PortNo{static_cast<uint16_t>(i + 1)}).set_tap(taps_.back().get());
    }
  }
  void watch_nothing() {
    for (uint16_t i = 1; i <= kWays; ++i) first_->transmitter(PortNo{i}).set_tap(nullptr);
  }

 private:
  NodeId add_edge(const std::string& devargs) {
    DeviceConfig config;
    config.devargs = devargs;
    auto device = Device::open(config, pool_);
    if (!device) throw std::runtime_error(device.error().where + ": " + device.error().message);
    return engine_.add(std::make_unique<DeviceEdge>(devargs, std::move(*device), pool_, DeviceEdge::Config{}), 0);
  }
  NodeId add_sink() {
    const NodeId id = add_edge("net_null_bench" + std::to_string(sinks_.size()) + ",no-rx=1");
    sinks_.push_back(static_cast<DeviceEdge*>(&engine_.node(id)));
    return id;
  }
  template <typename Role>
  NodeId add_switch(const std::string& name, uint32_t ports, ForwardingState state) {
    auto node = std::make_unique<Role>(name, ports, pool_);
    if (lossless_) make_lossless(state, kRoceDscp);
    node->publish(std::make_shared<ForwardingState>(std::move(state)));
    switches_.push_back(node.get());
    if (first_ == nullptr) first_ = node.get();
    return engine_.add(std::move(node), 0);
  }
  void join(NodeId a, uint16_t a_port, NodeId b, uint16_t b_port) {
    engine_.connect({a, PortNo{a_port}}, {b, PortNo{b_port}}, kRate, kPropagation);
  }
  // Port 0: the hosts' VLAN, so that bridging and learning are on the way; ports 1 … 8: routed.
  NodeId add_tor() {
    std::vector<Adjacency> hops;
    for (uint16_t i = 0; i < kWays; ++i) hops.push_back(hop(static_cast<uint16_t>(i + 1), kTorMac, spine_mac(i)));
    ForwardingState state = state_of(kTorMac, hops, kWays + 1);
    state.ports[0].untagged_vlan = 1000;
    state.vlans = {{1000, {{0, false}}}};
    return add_switch<Tor>("tor", kWays + 1, std::move(state));
  }
  void build_one_switch() {
    const NodeId tor = add_tor();
    join(source_, 0, tor, 0);
    for (uint16_t i = 0; i < kWays; ++i) join(tor, static_cast<uint16_t>(i + 1), add_sink(), 0);
  }
  void build_three_hops() {
    const NodeId tor = add_tor();
    join(source_, 0, tor, 0);
    const NodeId far =
        add_switch<Tor>("far", kWays + 1, state_of(kFarTorMac, {hop(0, kFarTorMac, kSinkMac)}, kWays + 1));
    join(far, 0, add_sink(), 0);
    for (uint16_t i = 0; i < kWays; ++i) {
      const NodeId spine = add_switch<Aggregation>("spine" + std::to_string(i + 1), 2,
                                                   state_of(spine_mac(i), {hop(1, spine_mac(i), kFarTorMac)}, 2));
      join(tor, static_cast<uint16_t>(i + 1), spine, 0);
      join(spine, 1, far, static_cast<uint16_t>(i + 1));
    }
  }

  PacketPool pool_;
  WallClock clock_{{.dilation = 1, .max_sleep = Duration{}}};
  Engine engine_;
  bool lossless_;
  NodeId source_;
  Switch* first_ = nullptr;
  std::vector<Switch*> switches_;
  std::vector<DeviceEdge*> sinks_;
  std::vector<std::unique_ptr<PathTap>> taps_;
};

double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

namespace {

// From `begin` on, for as long: what `count` has grown by, and what that took.
template <typename Count>
ForwardingResult measure(Rig& rig, Instant begin, Duration measured, uint32_t hops, Count&& count) {
  const uint64_t before = count();
  const auto start = std::chrono::steady_clock::now();
  const uint64_t start_tsc = __rdtsc();
  const double start_cpu = thread_cpu_seconds();
  rig.engine().run(begin + measured);
  const uint64_t ticks = __rdtsc() - start_tsc;
  const double cpu = thread_cpu_seconds() - start_cpu;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ForwardingResult result;
  result.packets = count() - before;
  result.packets_per_second = static_cast<double>(result.packets) / seconds;
  result.packet_hops_per_second = result.packets_per_second * hops;
  result.cpu_share = cpu / seconds;
  result.cycles_per_packet_hop =
      static_cast<double>(ticks) * result.cpu_share / (static_cast<double>(result.packets) * hops);
  return result;
}

Duration duration_of(double seconds) {
  return Duration::ps(static_cast<int64_t>(seconds * 1e12));
}

}  // namespace

ForwardingResult run_forwarding_bench(const ForwardingBench& bench) {
  Rig rig{bench};
  std::vector<uint8_t> ways(RoceFlows{}.flows, 0);
  rig.watch_paths(ways);
  const Duration measured = duration_of(bench.seconds);
  const Instant begin = Instant::at(measured / 4);
  rig.engine().run(begin);
  rig.watch_nothing();
  ForwardingResult result = measure(rig, begin, measured, bench.hops, [&rig] { return rig.delivered(); });
  result.drops = rig.dropped();
  result.checksum = checksum_of(ways);
  rig.engine().drain();
  return result;
}

ForwardingResult run_flood_bench(const std::string& pcap, double seconds) {
  Rig rig{{.pcap = pcap, .frame_bytes = mac_control::kFrameBytes, .hops = 1, .seconds = seconds, .lossless = true}};
  const Duration measured = duration_of(seconds);
  const Instant begin = Instant::at(measured / 4);
  rig.engine().run(begin);
  ForwardingResult result = measure(rig, begin, measured, 1, [&rig] { return rig.received(); });
  result.drops = rig.delivered();
  rig.engine().drain();
  return result;
}

}  // namespace softspine::tools
