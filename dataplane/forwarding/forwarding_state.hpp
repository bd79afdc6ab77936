// SPDX-License-Identifier: Apache-2.0
// The state by which a switch forwards: immutable, compiled by control from the configuration, published between
// windows by handing over a pointer. Queue occupancy and what the switch has learned (MACs, neighbours) are not part
// of it: they belong to the worker and survive a publication.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/forwarding/azure_maps.hpp"
#include "dataplane/forwarding/lag_table.hpp"
#include "dataplane/forwarding/neighbour_ages.hpp"
#include "dataplane/forwarding/override_table.hpp"
#include "dataplane/forwarding/prefix_trie.hpp"
#include "dataplane/hashing/ecmp_group.hpp"
#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/hashing/flowlet_config.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

// Where a route leads; packed into the trie's 31-bit value.
enum class RouteKind : uint8_t {
  kAdjacency,  // one next hop
  kEcmpGroup,  // several: chosen by hash
  kSubnet,     // connected: the MAC is in the neighbour table, or is asked for
  kLocal,      // an address of this switch
  kOverride,   // by the port that a packet came in by, or else by another route (override_table.hpp)
};

class RouteValue {
 public:
  static constexpr uint32_t kMaxIndex = (1U << 28) - 1;
  constexpr RouteValue(RouteKind kind, uint32_t index) : value_(static_cast<uint32_t>(kind) << 28 | index) {}
  explicit constexpr RouteValue(uint32_t value) : value_(value) {}
  constexpr RouteKind kind() const { return static_cast<RouteKind>(value_ >> 28); }
  constexpr uint32_t index() const { return value_ & kMaxIndex; }
  constexpr uint32_t packed() const { return value_; }
  // The smallest packed value of this kind; greater values are of this kind or of one that follows it.
  static constexpr uint32_t least_of(RouteKind kind) { return static_cast<uint32_t>(kind) << 28; }

 private:
  uint32_t value_;
};

struct Adjacency {
  MacAddress destination{};
  MacAddress source{};
  uint16_t port = 0;    // or a LAG (lag_table.hpp)
  uint16_t mtu = 9216;  // bytes of layer 3
  uint16_t vlan = 0;    // of a bridged port; 0: a routed one
};

// A connected subnet, on a VLAN or on a routed port: the switch is its gateway.
struct Subnet {
  Prefix prefix;
  AddressBytes gateway{};
  bool is_ipv6 = false;
  bool proxy = false;  // answers ARP and ND for every address it has a route to
  uint16_t vlan = 0;   // 0: on `port`
  uint16_t port = 0;
  uint16_t mtu = 9216;
};

struct VlanMember {
  uint16_t port = 0;
  bool tagged = false;
};
struct Vlan {
  uint16_t id = 0;
  std::vector<VlanMember> members;
};

struct PortForwarding {
  uint16_t untagged_vlan = 0;          // 0: untagged frames are routed, or dropped if there are tagged VLANs only
  bool isolated = false;               // bridged, but frames not for the switch itself are dropped (kNoLayer2)
  std::vector<uint16_t> tagged_vlans;  // sorted
  bool bridged() const { return untagged_vlan != 0 || !tagged_vlans.empty(); }
};

struct QosMaps {
  std::array<uint8_t, 64> dscp_to_tc{};  // all in class 0
  std::array<uint8_t, 8> dot1p_to_tc = kOwnTcOfDot1p;
  uint8_t pcp_flags = 0;  // PacketFlag: of IP packets whose class is their PCP's; kIsTagged where PCP is trusted
  std::array<uint8_t, kQueues> tc_to_queue = kAzureTcToQueue;
  std::array<uint8_t, kQueues> tc_to_pg = kAzureTcToPg;
  std::array<uint32_t, kQueues> queue_limit_bytes{};
};
// SONiC's AZURE maps, and the same limit for each queue.
QosMaps azure_maps(uint32_t queue_limit_bytes);

struct ForwardingState {
  MacAddress router_mac{};
  // The addresses that ICMP errors come from; all zero: none.
  AddressBytes loopback_ipv4{};
  AddressBytes loopback_ipv6{};
  PrefixTrie ipv4;
  PrefixTrie ipv6;
  std::vector<Adjacency> adjacencies;
  std::vector<EcmpGroup> groups;
  std::vector<uint32_t> members;  // the groups' buckets: indices of adjacencies
  OverrideTable overrides;
  std::vector<Subnet> subnets;
  std::vector<PortForwarding> ports;
  std::vector<Vlan> vlans;            // sorted by id
  std::optional<NeighbourAges> ages;  // none: a host's port is known as long as its link is there
  EcmpHash hash;
  std::shared_ptr<const LagTable> lags;  // null: there are none
  FlowletConfig flowlets;
  uint64_t chance = 0;  // the seed of the switch's random draws (ecmp_group.hpp)
  QosMaps qos;
  std::vector<QosMaps>
      port_qos;  // by port, if ports differ: class and group from the ingress port's maps, queue from the egress port's
  std::shared_ptr<const QosPlan> plan;  // null: strict queues with the limits of `qos`, nothing shared or paused

  const Vlan* vlan(uint16_t id) const noexcept;
  // Whether an override's next hop can be used, as the switch sees it: its link is up, or its LAG has members.
  bool is_open(const OverrideEntry& entry, const DownPorts& down) const noexcept {
    const uint16_t port = adjacencies[entry.next_hop].port;
    return is_lag(port) ? !lags->members_of(port).empty() : !down.contains(port);
  }
  // The packed route itself, or for an override the route below it.
  uint32_t below_overrides(uint32_t route) const noexcept {
    const RouteValue value{route};
    return value.kind() == RouteKind::kOverride ? overrides.set(value.index()).route : route;
  }
};

}  // namespace softspine::dataplane
