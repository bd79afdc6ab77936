// SPDX-License-Identifier: Apache-2.0
// The fabric, fully expanded: every node, port, link, subnet and address; nothing left to look up by name.
//
// Nodes, links, subnets and ports refer to each other by index. The order is the same for the same file, always:
// a ToR, then its hosts, the next ToR, …, then the upper tiers; explicit nodes after the generated ones
// (a host directly after the first ToR that it is linked to).
// A host has one address, on all of its ports (two ports = a bond across two ToRs). A server with several NICs
// is several hosts that share `server`.
// Hosts that are attached to the same set of switches, and are in the same VLAN there, share a subnet; each of those
// switches is its gateway.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/address.hpp"
#include "control/model/attachment.hpp"
#include "control/model/bond.hpp"
#include "control/model/builtin_host_parameters.hpp"
#include "control/model/host_vlan.hpp"
#include "control/model/lag.hpp"
#include "control/model/role.hpp"
#include "control/model/stack.hpp"
#include "dataplane/flow_control/link_parameters.hpp"
#include "dataplane/units/clock_offset.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

inline constexpr uint32_t kNone = UINT32_MAX;  // in place of an index: there is none

enum class NodeKind : uint8_t { kSwitch, kHost };

struct FabricPort {
  std::string name;       // Ethernet0, Ethernet4, …; eth0 at hosts
  MacAddress mac;         // unique at switches; at a host the same on all ports
  uint32_t link = kNone;  // every port has one
};

struct FabricNode {
  std::string name;
  NodeKind kind = NodeKind::kHost;
  Role role = Role::kHost;
  std::vector<FabricPort> ports;  // by the number in their names
  Ipv4Address ipv4;               // a host's address, a switch's loopback
  Ipv6Address ipv6;
  uint32_t profile = kNone;       // switches: of Testbed::profiles
  uint32_t subnet = kNone;        // hosts: of Fabric::subnets
  uint32_t plane = 0;             // HPN: which of the disjoint planes
  uint32_t rail = 0;              // hosts that a generator made: which NIC of its server, from 1; 0: its only one
  uint32_t gpu = 0;               // hosts: which GPU of its server it has, where a topology file says so
  std::string server;             // hosts: the machine that this NIC is in; its own name unless it has several
  Attachment attachment;          // hosts: what stands behind it
  HostNic nic;                    // hosts that are not built in
  Bond bond;                      // hosts with two ports
  HostVlan vlan;                  // hosts: of all their ports
  BuiltinHostParameters builtin;  // built-in hosts
  Place place;                    // hosts that are not built in: in the file
  dataplane::ClockOffset clock;   // drawn by the run's seed
};

struct LinkEnd {
  uint32_t node = 0;
  uint16_t port = 0;
  friend auto operator<=>(const LinkEnd&, const LinkEnd&) = default;
};

// How a link's receiver keeps its sender from sending more than it can hold.
using FlowControl = dataplane::LinkMode;

struct FabricLink {
  LinkEnd a;
  LinkEnd b;
  dataplane::Rate rate;
  dataplane::Duration propagation;  // length / 1.98e8 m/s, at least 1 ps
  uint32_t mtu = 9100;              // of the IP packet: the frame may be 14 bytes (18 with a tag) longer
  dataplane::LinkParameters parameters;
  uint32_t lag = kNone;  // of Fabric::lags
};

struct Subnet {
  Ipv4Prefix v4;
  Ipv6Prefix v6;
  Ipv4Address gateway4;  // the .1, on each of `switches`
  Ipv6Address gateway6;
  uint16_t vlan = 0;               // of its hosts, if they have one
  std::vector<uint32_t> switches;  // nodes, ascending; two for a dual-ToR subnet, none for hosts linked back to back
  std::vector<uint32_t> hosts;     // nodes, ascending
};

struct Fabric {
  std::vector<FabricNode> nodes;
  std::vector<FabricLink> links;
  std::vector<Subnet> subnets;
  std::vector<Stack> stacks;
  std::vector<Lag> lags;
  uint32_t clock_ppm = 0;  // no node's clock is further off its nominal rate

  const FabricPort& port(LinkEnd end) const { return nodes[end.node].ports[end.port]; }
  // "tor1:Ethernet4"
  std::string name_of(LinkEnd end) const { return nodes[end.node].name + ":" + port(end).name; }
  LinkEnd peer_of(LinkEnd end) const {
    const FabricLink& link = links[port(end).link];
    return link.a == end ? link.b : link.a;
  }
  // The LAG that the port belongs to; null: none.
  const Lag* lag_of(LinkEnd end) const {
    const uint32_t lag = links[port(end).link].lag;
    return lag == kNone ? nullptr : &lags[lag];
  }
  // Whether routes lead to this port: it belongs to no LAG, or is the first one of its LAG.
  bool is_way(LinkEnd end) const { return way_of(end) == end.port; }
  // The port that routes lead to instead of this one.
  uint16_t way_of(LinkEnd end) const {
    const Lag* lag = lag_of(end);
    return lag == nullptr ? end.port : lag->ports_at(end.node).front();
  }
  // The LAG's name, or the port's.
  const std::string& name_of_way(LinkEnd end) const {
    const Lag* lag = lag_of(end);
    return lag == nullptr ? port(end).name : lag->name_at(end.node);
  }
  // The ports by which packets routed to `end` leave: all ports of its LAG, or `end` alone.
  std::vector<uint16_t> ports_of_way(LinkEnd end) const {
    const Lag* lag = lag_of(end);
    return lag == nullptr ? std::vector<uint16_t>{end.port} : lag->ports_at(end.node);
  }
};

}  // namespace softspine::control
