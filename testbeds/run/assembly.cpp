// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/assembly.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "control/compile/switch_qos.hpp"
#include "dataplane/buffer/headroom.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/wall_clock.hpp"
#include "dataplane/flow_control/link_modes.hpp"
#include "dataplane/flow_control/pause_timing.hpp"
#include "pipelines/aggregation.hpp"
#include "pipelines/core.hpp"
#include "pipelines/tor.hpp"
#include "testbeds/run/device_need.hpp"
#include "testbeds/run/packet_need.hpp"
#include "testbeds/run/scale_up_links.hpp"
#include "testbeds/run/traffic.hpp"

namespace softspine::testbeds {

using namespace dataplane;
using control::FabricNode;
using control::LinkEnd;
using control::NodeKind;
using control::Role;

namespace {

// The pipeline of each role; make_switch does not compile without one for each row of kSwitchRoles.
template <Role R>
struct PipelineOf;
template <>
struct PipelineOf<Role::kTor> : std::type_identity<pipelines::Tor> {};
template <>
struct PipelineOf<Role::kAggregation> : std::type_identity<pipelines::Aggregation> {};
template <>
struct PipelineOf<Role::kCore> : std::type_identity<pipelines::Core> {};

std::unique_ptr<pipelines::Switch> make_switch(const FabricNode& node, PacketPool& pool) {
  std::unique_ptr<pipelines::Switch> out;
  const auto try_role = [&]<Role R>() {
    if (node.role == R)
      out = std::make_unique<typename PipelineOf<R>::type>(node.name, static_cast<uint32_t>(node.ports.size()), pool);
  };
  [&]<size_t... Number>(std::index_sequence<Number...>) {
    (try_role.template operator()<control::kSwitchRoles[Number].role>(), ...);
  }(std::make_index_sequence<control::kSwitchRoles.size()>{});
  return out;
}

class Builder {
 public:
  Builder(const control::Testbed& testbed, const control::Compiler& compiler, OutsideHosts* outside, bool flat,
          Ranks ranks)
      : testbed_(testbed),
        compiler_(compiler),
        outside_(outside),
        flat_(flat),
        ranks_(std::move(ranks)),
        scale_up_(testbed),
        out_(std::make_unique<Assembly>()) {}

  std::expected<std::unique_ptr<Assembly>, std::string> build() {
    make_pools();
    make_engine();
    out_->nodes = std::make_unique<LocalNodes>(testbed_.fabric, *out_->engine, ranks_);
    for (uint32_t n = 0; n < testbed_.fabric.nodes.size() && wrong_.empty(); ++n) add_node(n);
    for (uint32_t n = 0; n < testbed_.fabric.nodes.size() && wrong_.empty(); ++n) add_further_ports(n);
    if (!wrong_.empty()) return std::unexpected(wrong_);
    for (const control::FabricLink& link : testbed_.fabric.links) connect(link);
    connect_scale_up();
    if (auto added = add_traffic(testbed_, *out_); !added) return std::unexpected(added.error());
    return std::move(out_);
  }

 private:
  // Pools take memory as packets are made, so the one for frames costs nothing where no frame comes in whole.
  void make_pools() {
    const uint64_t limit = packet_memory_limit(testbed_);
    out_->budget = std::make_unique<PacketBudget>(limit, [all = out_.get()] { all->engine->stop(); });
    PoolConfig frames{.name = pool_name("frames"), .room_bytes = kFrameRoom, .budget = out_->budget.get()};
    const DeviceNeed need = device_need(testbed_, ranks_);
    if (!need.pci.empty()) {
      frames.for_devices = true;
      frames.packet_limit = need.frame_packets;
      frames.numa_node = need.numa_node();
    }
    start_eal(
        {.memory_mib = need.eal_mebibytes, .pci = need.pci, .numa_node = frames.numa_node, .drivers = need.drivers});
    out_->frame_pool = std::make_unique<PacketPool>(frames);
    if (need.xdp_packets > 0) {
      PoolConfig xdp{.name = pool_name("xdp_frames"), .room_bytes = PacketPool::room_in_a_page(), .for_devices = true};
      xdp.packet_limit = need.xdp_packets;
      out_->xdp_pool = std::make_unique<PacketPool>(xdp);
    }
    out_->header_pool = std::make_unique<PacketPool>(
        PoolConfig{.name = pool_name("headers"), .room_bytes = kHeaderRoom, .budget = out_->budget.get()});
    out_->header_pool->set_larger(out_->frame_pool.get());
  }

  // Ranks may be threads of one process (tests).
  std::string pool_name(const std::string& what) const {
    return ranks_.is_alone() ? what : what + "_" + std::to_string(ranks_.rank());
  }

  // Null: it follows none.
  FollowingClock* make_clock() {
    constexpr Duration kSpan = Duration::ms(50);  // of the machine's time: some thousands of lots, or tens over a WAN
    const control::RunConfig& run = testbed_.run;
    if (run.clock != control::ClockKind::kWall) {
      out_->clock = std::make_unique<VirtualClock>();
      return nullptr;
    }
    auto own = std::make_unique<WallClock>(WallClock::Config{.dilation = run.dilation});
    if (ranks_.is_alone()) {
      out_->clock = std::move(own);
      return nullptr;
    }
    out_->own_clock = std::move(own);
    auto made = std::make_unique<FollowingClock>(*out_->own_clock, kSpan / run.dilation);
    out_->following_clock = made.get();
    out_->clock = std::move(made);
    return out_->following_clock;
  }

  void make_engine() {
    const control::RunConfig& run = testbed_.run;
    FollowingClock* const followed = make_clock();
    // Worker 0 runs on the thread that starts the engine, which is known to the pools already.
    const auto start = [](uint32_t worker) {
      if (worker != 0) register_worker_thread();
    };
    const auto stop = [](uint32_t worker) {
      if (worker != 0) unregister_worker_thread();
    };
    out_->engine = std::make_unique<Engine>(
        *out_->clock, Engine::Config{.workers = run.workers,
                                     .seed = run.seed,
                                     .nest = !flat_,
                                     .on_worker_start = start,
                                     .on_worker_stop = stop,
                                     .ranks = {ranks_.talk(), out_->header_pool.get(), followed}});
  }

  void add_node(uint32_t n) {
    const FabricNode& node = testbed_.fabric.nodes[n];
    if (!ranks_.is_here(n)) {
      add_elsewhere(n, node);
    } else if (node.kind == NodeKind::kSwitch) {
      auto made = make_switch(node, *out_->header_pool);
      out_->nodes->add(n, *made);
      out_->engine->add(std::move(made), ranks_.worker_of(n));
    } else if (control::is_builtin(node.attachment)) {
      add_builtin(n, node);
    } else {
      add_edge(n, 0);
    }
  }

  void add_builtin(uint32_t n, const FabricNode& node) {
    uint32_t mtu = 65'535;
    for (const control::FabricPort& port : node.ports) mtu = std::min(mtu, testbed_.fabric.links[port.link].mtu);
    HostConfig config = bonded_host(testbed_.fabric, n, gateway_of(n));
    config.mtu = mtu;
    config.priority_of_dscp = priorities_at(n);
    config.tag = tag_of(n);
    config.scale_up_ports = scale_up_.ports_of(n);
    config.start_jitter_millionths = testbed_.run.start_jitter_millionths;
    for (uint16_t p = 0; p < node.ports.size() && p < config.links.size(); ++p) config.links[p] = link_at({n, p});
    if (const auto wrong = validate(config); !wrong.empty()) {
      wrong_ = node.name + ": " + wrong.front();
      return;
    }
    auto made = std::make_unique<RoceHost>(config, *out_->header_pool);
    out_->nodes->add(n, *made);
    out_->engine->add(std::move(made), ranks_.worker_of(n));
  }

  static bool is_outside(const FabricNode& node) {
    return node.kind == NodeKind::kHost && !control::is_builtin(node.attachment);
  }

  // Its ports are needed where a neighbour is here.
  void add_elsewhere(uint32_t n, const FabricNode& node) {
    if (is_outside(node)) return add_edge_elsewhere(n, 0);
    const auto ports = static_cast<uint16_t>(node.ports.size());
    bool any_here = scale_up_.ports_of(n) > 0;
    for (uint16_t p = 0; p < ports && !any_here; ++p) any_here = ranks_.is_here(testbed_.fabric.peer_of({n, p}).node);
    const uint32_t all = any_here ? uint32_t{ports} + scale_up_.ports_of(n) : 0;
    out_->engine->add_elsewhere(ranks_.rank_of(n), ranks_.worker_of(n), node.name, all);
  }
  void add_edge_elsewhere(uint32_t n, uint16_t port) {
    const std::string& name = testbed_.fabric.nodes[n].name;
    const NodeId id = out_->engine->add_elsewhere(ranks_.rank_of(n), ranks_.worker_of(n), name, 1);
    out_->nodes->add_elsewhere({n, port}, id);
  }

  // A host sees its network's classes: the maps of the switch before it.
  PriorityMap priorities_at(uint32_t n) const {
    const control::PortMaps* const maps = maps_before(n);
    if (maps == nullptr) return kAzureDscpToTc;
    PriorityMap out{};
    for (uint8_t dscp = 0; dscp < out.size(); ++dscp)
      out[dscp] = control::class_of(testbed_.fabric.nodes[n].vlan, *maps, dscp);
    return out;
  }

  HostTag tag_of(uint32_t n) const {
    const control::HostVlan& vlan = testbed_.fabric.nodes[n].vlan;
    const control::PortMaps* const maps = maps_before(n);
    if (!vlan.is_tagged || maps == nullptr) return {};
    HostTag out{.vlan = vlan.id};
    for (uint8_t dscp = 0; dscp < out.pcp_of_dscp.size(); ++dscp)
      out.pcp_of_dscp[dscp] = control::pcp_of(vlan, *maps, dscp);
    return out;
  }

  // Of the switch's port before a host's first; null: there is no switch.
  const control::PortMaps* maps_before(uint32_t n) const {
    const LinkEnd end = testbed_.fabric.peer_of({n, 0});
    const FabricNode& peer = testbed_.fabric.nodes[end.node];
    if (peer.kind != NodeKind::kSwitch) return nullptr;
    return &testbed_.profiles[peer.profile].maps_at(peer.ports[end.port].name);
  }

  // Behind a switch, its router; back to back, the other host.
  MacAddress gateway_of(uint32_t n) const {
    const LinkEnd peer = testbed_.fabric.peer_of({n, 0});
    const FabricNode& node = testbed_.fabric.nodes[peer.node];
    return node.kind == NodeKind::kSwitch ? compiler_.router_mac(peer.node) : control::packet_mac(node.ports[0].mac);
  }

  // Further ports come after all nodes of the fabric, so that those keep their numbers.
  void add_further_ports(uint32_t n) {
    const FabricNode& node = testbed_.fabric.nodes[n];
    if (!is_outside(node)) return;
    for (uint16_t p = 1; p < node.ports.size() && wrong_.empty(); ++p) {
      if (ranks_.is_here(n)) {
        add_edge(n, p);
      } else {
        add_edge_elsewhere(n, p);
      }
    }
  }

  void add_edge(uint32_t n, uint16_t port) {
    const FabricNode& node = testbed_.fabric.nodes[n];
    if (port == 0) outside_nodes_.push_back(n);
    const size_t host = static_cast<size_t>(std::ranges::find(outside_nodes_, n) - outside_nodes_.begin());
    auto made = outside_->open_edge(host, port, frames_for(node, port), testbed_.run.dilation, nic_at({n, port}));
    if (!made) {
      wrong_ = node.name + ": " + made.error().message;
      return;
    }
    out_->nodes->add(LinkEnd{n, port}, *made->node);
    if (made->recording != nullptr) out_->recordings.push_back(made->recording);
    out_->engine->add(std::move(made->node), ranks_.worker_of(n));
  }

  void connect(const control::FabricLink& link) {
    const auto rate_at = [&](LinkEnd end) { return testbed_.fabric.nodes[end.node].clock.of(link.rate); };
    const LocalNodes& nodes = *out_->nodes;
    out_->engine->connect(nodes.place_of(link.a), nodes.place_of(link.b), rate_at(link.a), rate_at(link.b),
                          link.propagation);
  }

  void connect_scale_up() {
    scale_up_.for_each([this](uint32_t node, PortNo port, uint32_t peer, PortNo peer_port) {
      const control::BuiltinHostParameters& link = testbed_.fabric.nodes[node].builtin;
      out_->engine->connect({NodeId{node}, port}, {NodeId{peer}, peer_port}, link.scale_up_rate, link.scale_up_latency);
    });
  }

  PacketPool& frames_for(const FabricNode& node, uint16_t port) {
    const auto* const host = std::get_if<control::EdgeHost>(&node.attachment);
    if (host == nullptr) return *out_->frame_pool;
    const control::Edge& edge = host->edges[port];
    if (std::holds_alternative<control::PcapEdge>(edge)) return *out_->header_pool;  // says how long each frame is
    const auto* const device = std::get_if<control::DpdkEdge>(&edge);
    return device != nullptr && is_xdp(*device) ? *out_->xdp_pool : *out_->frame_pool;
  }

  NicConfig nic_at(LinkEnd end) const {
    const FabricNode& node = testbed_.fabric.nodes[end.node];
    const control::FabricLink& link = testbed_.fabric.links[testbed_.fabric.port(end).link];
    NicConfig config;
    config.link = link.parameters;
    config.mac = control::packet_mac(testbed_.fabric.port(end).mac);
    config.gateway = gateway_of(end.node);
    config.pcp_of_dscp = tag_of(end.node).pcp_of_dscp;
    config.priority_of_dscp = priorities_at(end.node);
    config.pfc_enable = paused_priorities(link.parameters.flow_control,
                                          node.nic.pfc_enable.value_or(pauses_at(testbed_.fabric.peer_of(end))));
    config.parameters = node.nic.parameters;
    const uint32_t headroom = control::host_headroom(testbed_.fabric, testbed_.profiles, end);
    config.hold_bytes = std::max(config.hold_bytes, config.xoff_bytes + headroom);
    return config;
  }

  // Back to back nobody says which priorities are lossless: those that usually are.
  HostLink link_at(LinkEnd end) const {
    constexpr uint8_t kUsual = 0x18;
    const control::FabricLink& link = testbed_.fabric.links[testbed_.fabric.port(end).link];
    HostLink out{.parameters = link.parameters};
    if (link.parameters.flow_control != LinkMode::kCredit) return out;
    const LinkEnd peer = testbed_.fabric.peer_of(end);
    const bool is_switch = testbed_.fabric.nodes[peer.node].kind == NodeKind::kSwitch;
    out.credit_priorities = is_switch ? pauses_at(peer) : kUsual;
    out.largest_frame = link.mtu + ethernet::kBytes + ethernet::kTagBytes;
    return out;
  }

  // The priorities that a switch's port pauses and obeys; none of a host's.
  uint8_t pauses_at(LinkEnd end) const {
    const FabricNode& node = testbed_.fabric.nodes[end.node];
    if (node.kind != NodeKind::kSwitch) return 0;
    const auto& qos = testbed_.profiles[node.profile].qos;
    return qos ? qos->port(testbed_.fabric.port(end).name).pfc_enable : uint8_t{0};
  }

  const control::Testbed& testbed_;
  const control::Compiler& compiler_;
  OutsideHosts* outside_;
  bool flat_;
  Ranks ranks_;
  ScaleUpLinks scale_up_;
  std::vector<uint32_t> outside_nodes_;  // that are here and not built in, as OutsideHosts numbers them
  std::unique_ptr<Assembly> out_;
  std::string wrong_;
};

}  // namespace

uint64_t Assembly::packets_in_use() const {
  bool all_come_back = true;
  nodes->for_each_edge([&](LinkEnd, const Nic& nic) { all_come_back = all_come_back && !nic.keeps_packets(); });
  const uint64_t injected = injected_pool ? injected_pool->in_use() : 0;
  return injected + header_pool->in_use() + (all_come_back ? frame_pool->in_use() : 0);
}

uint64_t Assembly::packets_made() const {
  return header_pool->made() + frame_pool->made() + (xdp_pool ? xdp_pool->made() : 0);
}

std::expected<std::unique_ptr<Assembly>, std::string> assemble(const control::Testbed& testbed,
                                                               const control::Compiler& compiler, OutsideHosts* outside,
                                                               bool flat, std::optional<Ranks> ranks) {
  if (!ranks) ranks.emplace(nullptr, testbed.fabric, testbed.run.workers);
  return Builder(testbed, compiler, outside, flat, std::move(*ranks)).build();
}

}  // namespace softspine::testbeds
