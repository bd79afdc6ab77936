// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/packet_need.hpp"

#include <algorithm>
#include <set>

#include "control/compile/dynamic_pools.hpp"
#include "control/compile/sonic_headroom.hpp"
#include "control/compile/switch_qos.hpp"
#include "control/traffic/pairs.hpp"
#include "control/traffic/workload_packets.hpp"
#include "dataplane/buffer/headroom.hpp"
#include "dataplane/engine/window_nest.hpp"
#include "dataplane/flow_control/pause_timing.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/hosts/control_queue.hpp"
#include "testbeds/hosts/receive_buffer.hpp"
#include "testbeds/run/machine_memory.hpp"

namespace softspine::testbeds {

using namespace dataplane;
using control::FabricLink;
using control::FabricNode;
using control::NodeKind;
using control::Workload;

namespace {

constexpr uint32_t kRoceHeaders = ethernet::kBytes + ipv4::kMinBytes + udp::kBytes + bth::kBytes + kIcrcBytes;
constexpr uint32_t kOutsideFrame = 256;
constexpr uint64_t kCachedPerWorker = 1'280;  // in a pool's cache: 512 more than the 768 at which it is emptied

bool is_outside(const FabricNode& node) {
  return node.kind == NodeKind::kHost && !control::is_builtin(node.attachment);
}

uint64_t packets_of_message(const Workload& workload) {
  const uint64_t part =
      workload.scaling == control::Scaling::kSplit ? workload.message_bytes / workload.qps : workload.message_bytes;
  const uint64_t packets = std::max<uint64_t>(1, (part + workload.mtu - 1) / workload.mtu);
  return workload.scaling == control::Scaling::kSplit ? packets * workload.qps : packets;
}

class NeedCount {
 public:
  explicit NeedCount(const control::Testbed& testbed) : testbed_(testbed), fabric_(testbed.fabric) {
    reached_.resize(fabric_.nodes.size(), false);
    for (const Workload& workload : testbed.workloads) look_at(workload);
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      if (is_outside(fabric_.nodes[n])) reach(n);
    }
    if (tors_.size() <= 1 && edges_ == 0) return;
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      if (fabric_.nodes[n].kind == NodeKind::kSwitch && !is_unused_tor(n)) reached_[n] = true;
    }
  }

  PacketNeed operator()() const {
    const uint64_t answers = acknowledges_ ? 2 : 1;
    uint64_t packets = answers * (on_links() + in_switches()) + in_hosts();
    if (edges_ == 0) packets = std::min(packets, answers * can_have_sent());
    const uint64_t pauses = 2 * fabric_.links.size();
    const uint64_t headers = packets + pauses + testbed_.run.workers * kCachedPerWorker;
    PacketNeed need{headers, headers * PacketPool::memory_bytes(kHeaderRoom)};
    if (edges_ == 0) return need;
    const uint64_t frames = packets + edges_ * kPacketsPerEdge + testbed_.run.workers * kCachedPerWorker;
    need.packets += frames;
    need.bytes += frames * PacketPool::memory_bytes(kFrameRoom);
    return need;
  }

 private:
  void look_at(const Workload& workload) {
    for (const auto* hosts : {&workload.hosts, &workload.from, &workload.to}) {
      for (const uint32_t host : *hosts) reach(host);
    }
    acknowledges_ |= workload.transport.kind == control::TransportKind::kReliable;
    const uint64_t frame = kRoceHeaders + workload.message_bytes / packets_of_message(workload);
    frame_ = std::min(frame_, std::max<uint64_t>(frame, kMinFrameBytes));
    largest_frame_ = std::max(largest_frame_, kRoceHeaders + workload.mtu);
    for (const uint8_t dscp : {workload.transport.ack_dscp, workload.transport.cnp_dscp}) dscps_.insert(dscp);
    for (const uint8_t dscp : control::dscps_of(workload)) dscps_.insert(dscp);
  }

  void reach(uint32_t host) {
    reached_[host] = true;
    const FabricNode& node = fabric_.nodes[host];
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const uint32_t peer = fabric_.peer_of({host, p}).node;
      reached_[peer] = true;
      tors_.insert(peer);
    }
    if (!is_outside(node)) return;
    edges_ += node.ports.size();
    frame_ = std::min<uint64_t>(frame_, kOutsideFrame);
    largest_frame_ = kMaxFrameBytes;
    for (uint8_t dscp = 0; dscp < 64; dscp += 8) dscps_.insert(dscp);
  }
  bool is_unused_tor(uint32_t n) const { return fabric_.nodes[n].role == control::Role::kTor && !tors_.contains(n); }

  uint64_t in_time(Rate rate, Duration time) const {
    return static_cast<uint64_t>(time.count_ps() / rate.time_of_frame(static_cast<uint32_t>(frame_)).count_ps());
  }

  // By how much a link's sender may be further in time than its receiver.
  static Duration ahead(Duration propagation) { return std::min(propagation, kLongestWindow); }

  uint64_t on_links() const {
    uint64_t packets = 0;
    for (const FabricLink& link : fabric_.links) {
      if (!reached_[link.a.node] || !reached_[link.b.node]) continue;
      packets += 2 * (in_time(link.rate, link.propagation + ahead(link.propagation) +
                                             link.rate.time_of_frame(largest_frame_) * 2) +
                      2);
    }
    return packets;
  }

  uint64_t in_switches() const {
    uint64_t packets = 0;
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      if (!reached_[n] || fabric_.nodes[n].kind != NodeKind::kSwitch) continue;
      uint64_t most = in_switch(n, fabric_.nodes[n].profile);
      for (const control::Fault& fault : testbed_.faults) {
        if (fault.profile && fault.profile->node == n) most = std::max(most, in_switch(n, fault.profile->profile));
      }
      packets += most;
    }
    return packets;
  }

  // The queues that packets of any port in may use at any port out.
  std::array<bool, 8> queues_in_use(const control::Profile& profile) const {
    std::array<bool, 8> classes{};
    std::array<bool, 8> queues{};
    const auto add_classes = [&](const control::PortMaps& maps) {
      for (const uint8_t dscp : dscps_) classes[maps.dscp_to_tc[dscp]] = true;
      for (const uint8_t tc : maps.dot1p_to_tc) classes[tc] = classes[tc] || maps.trusts_pcp;
    };
    const auto add_queues = [&](const control::PortMaps& maps) {
      for (size_t tc = 0; tc < classes.size(); ++tc) {
        if (classes[tc]) queues[maps.tc_to_queue[tc]] = true;
      }
    };
    add_classes(profile);
    for (const auto& of_port : profile.port_maps) add_classes(of_port.second);
    add_queues(profile);
    for (const auto& of_port : profile.port_maps) add_queues(of_port.second);
    return queues;
  }

  uint64_t in_switch(uint32_t n, uint32_t profile_index) const {
    const control::Profile& profile = testbed_.profiles[profile_index];
    const size_t ports = fabric_.nodes[n].ports.size();
    if (!profile.qos || !profile.qos->has_buffers()) {
      const std::array<bool, 8> used = queues_in_use(profile);
      uint64_t bytes = 0;
      for (uint32_t q = 0; q < used.size(); ++q) bytes += used[q] ? profile.queue_limit_bytes[q] : 0;
      return ports * (bytes / frame_ + used.size());
    }
    const CellSize cell{profile.qos->cell_bytes};
    const uint64_t charged = uint64_t{cell.cells_of(static_cast<uint32_t>(frame_))} * profile.qos->cell_bytes;
    uint64_t bytes = 0;
    const auto shapes = control::port_shapes(fabric_, testbed_.profiles, n);
    for (size_t i = 0; const control::PoolSizes& pool : control::pool_sizes(*profile.qos, shapes)) {
      bytes += profile.qos->pools[i++].ingress ? pool.size + pool.xoff : 0;
    }
    for (uint16_t p = 0; p < ports; ++p) bytes += own_at({n, p}, *profile.qos, shapes[p]);
    return bytes / charged + ports;
  }

  // The memory of its groups beside the pools: their reserved memory and their headroom, each in whole cells.
  uint64_t own_at(control::LinkEnd end, const control::QosConfig& qos, const control::PortShape& shape) const {
    const FabricLink& link = fabric_.links[fabric_.port(end).link];
    uint64_t bytes = 0;
    for (const int16_t index : qos.port(fabric_.port(end).name).groups) {
      if (index == control::PortQos::kNone) continue;
      const auto group = control::fitted(qos.profiles[static_cast<size_t>(index)], qos, shape);
      bytes += group.automatic ? headroom_cells({.rate = link.rate,
                                                 .propagation = link.propagation,
                                                 .largest_frame = link.mtu + ethernet::kBytes + ethernet::kTagBytes,
                                                 .cell = CellSize{qos.cell_bytes},
                                                 .response = longest_response(link),
                                                 .clock_ppm = fabric_.clock_ppm}) *
                                     qos.cell_bytes
                               : group.xoff;
      bytes += group.reserved() + 2 * uint64_t{qos.cell_bytes};
    }
    return bytes;
  }

  static Duration longest_response(const FabricLink& link) {
    return std::max(link.parameters.pfc_response.value_or(Duration{}), PauseTiming::of(link.rate).response);
  }

  uint64_t in_hosts() const {
    uint64_t packets = 0;
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      const bool answers = acknowledges_ && reached_[n] && fabric_.nodes[n].kind == NodeKind::kHost;
      packets += answers ? fabric_.nodes[n].ports.size() * ControlQueue::kPacketLimit : 0;
    }
    for (const control::HostFault& fault : testbed_.host_faults) {
      for (uint16_t p = 0; p < fabric_.nodes[fault.node].ports.size(); ++p) {
        const uint32_t headroom = control::host_headroom(fabric_, testbed_.profiles, {fault.node, p});
        packets += SlowReceiver{}.with_headroom(headroom).size_bytes / frame_ + 1;
      }
    }
    return packets;
  }

  static uint64_t packets_of(const Workload& workload) {
    if (workload.messages == 0) return UINT64_MAX / 8;
    uint64_t listed = 0;
    for (const control::ListedFlow& flow : workload.flows) listed += (flow.bytes + workload.mtu - 1) / workload.mtu;
    const bool each = workload.scaling == control::Scaling::kEach;
    const uint64_t messages = flows_of(workload) * workload.messages * (each ? workload.qps : 1);
    return workload.flows.empty() ? messages * packets_of_message(workload) : listed;
  }

  uint64_t can_have_sent() const {
    uint64_t packets = 0;
    uint64_t windows = 0;
    bool all_reliable = true;
    std::set<uint32_t> senders;
    for (const Workload& workload : testbed_.workloads) {
      senders.insert(workload.hosts.begin(), workload.hosts.end());
      senders.insert(workload.from.begin(), workload.from.end());
      packets = std::min(packets + packets_of(workload), UINT64_MAX / 8);
      all_reliable &= workload.transport.kind == control::TransportKind::kReliable;
      windows += flows_of(workload) * workload.qps * workload.transport.reliable.window;
    }
    uint64_t by_line = 0;
    for (const uint32_t n : senders) {
      for (const auto& port : fabric_.nodes[n].ports) {
        by_line += in_time(fabric_.links[port.link].rate, testbed_.run.duration) + 1;
      }
    }
    if (acknowledges_) packets *= 2;  // what is sent again
    packets = std::min(packets, by_line);
    return all_reliable ? std::min(packets, 2 * windows) : packets;
  }

  const control::Testbed& testbed_;
  const control::Fabric& fabric_;
  std::vector<bool> reached_;  // by node
  std::set<uint32_t> tors_;    // that hosts in use are on
  std::set<uint8_t> dscps_;
  uint64_t edges_ = 0;
  uint64_t frame_ = kMaxFrameBytes;
  uint32_t largest_frame_ = kMinFrameBytes;
  bool acknowledges_ = false;
};

}  // namespace

PacketNeed packet_need(const control::Testbed& testbed) {
  return NeedCount(testbed)();
}

uint64_t packet_memory_limit(const control::Testbed& testbed, const std::filesystem::path& root) {
  const uint64_t machine = available_memory(root) / 8 * 7;
  return testbed.run.memory_bytes == 0 ? machine : std::min(machine, testbed.run.memory_bytes);
}

}  // namespace softspine::testbeds
