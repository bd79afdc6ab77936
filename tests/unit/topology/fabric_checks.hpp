// SPDX-License-Identifier: Apache-2.0
// Slow and obvious checks that every expanded fabric must pass, written against fabric.hpp's words alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/load/load.hpp"

namespace softspine::tests {

inline control::Testbed testbed_of(const std::string& body) {
  auto testbed = control::parse_testbed("name: t\n" + body, "t.yaml");
  if (testbed) return std::move(*testbed);
  for (const control::Error& error : testbed.error()) ADD_FAILURE() << to_string(error);
  return {};
}

inline uint32_t node_at(const control::Fabric& fabric, std::string_view name) {
  const auto found = std::ranges::find(fabric.nodes, name, &control::FabricNode::name);
  EXPECT_NE(found, fabric.nodes.end()) << "no " << name;
  return static_cast<uint32_t>(found - fabric.nodes.begin());
}

// The names of what a node is linked to, by port.
inline std::vector<std::string> neighbours(const control::Fabric& fabric, std::string_view name) {
  const uint32_t node = node_at(fabric, name);
  std::vector<std::string> out;
  for (uint16_t p = 0; p < fabric.nodes[node].ports.size(); ++p) {
    out.push_back(fabric.nodes[fabric.peer_of({node, p}).node].name);
  }
  return out;
}

inline size_t count(const control::Fabric& fabric, control::Role role) {
  return static_cast<size_t>(std::ranges::count(fabric.nodes, role, &control::FabricNode::role));
}

// Every port has one link, every link two ports, ports are numbered and named in order.
inline void check_wiring(const control::Fabric& fabric) {
  std::map<std::pair<uint32_t, uint16_t>, int> uses;
  for (uint32_t l = 0; l < fabric.links.size(); ++l) {
    for (const control::LinkEnd end : {fabric.links[l].a, fabric.links[l].b}) {
      ++uses[{end.node, end.port}];
      ASSERT_EQ(fabric.port(end).link, l) << fabric.name_of(end);
    }
    ASSERT_LT(fabric.links[l].a, fabric.links[l].b);
    if (l > 0) {
      ASSERT_LT(fabric.links[l - 1].a, fabric.links[l].a);
    }
    ASSERT_GE(fabric.links[l].propagation, dataplane::Duration::ps(1));
  }
  std::set<std::string> names;
  size_t ports = 0;
  for (const control::FabricNode& node : fabric.nodes) {
    ASSERT_TRUE(names.insert(node.name).second) << node.name;
    ports += node.ports.size();
    for (size_t p = 0; p < node.ports.size(); ++p) {
      const bool is_switch = node.kind == control::NodeKind::kSwitch;
      ASSERT_EQ(node.ports[p].name, is_switch ? "Ethernet" + std::to_string(4 * p) : "eth" + std::to_string(p))
          << node.name;
    }
  }
  ASSERT_EQ(ports, 2 * fabric.links.size());
  for (const auto& [end, times] : uses) ASSERT_EQ(times, 1);
}

// Addresses: each in its subnet, nobody's twice, no subnet over another; all pairs, one by one.
inline void check_addresses(const control::Fabric& fabric) {
  std::set<uint32_t> v4;
  std::set<std::string> v6;
  std::set<std::string> macs;
  const auto bits = [](const control::Ipv6Address& a) {
    std::string out;
    for (const uint8_t byte : a.bytes) {
      for (int b = 7; b >= 0; --b) out += ((byte >> b) & 1) != 0 ? '1' : '0';
    }
    return out;
  };
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    ASSERT_TRUE(v4.insert(node.ipv4.value).second) << node.name;
    ASSERT_TRUE(v6.insert(bits(node.ipv6)).second) << node.name;
    std::set<std::string> own;
    for (const control::FabricPort& port : node.ports) {
      ASSERT_FALSE(port.mac.is_multicast());
      own.insert(to_string(port.mac));
    }
    ASSERT_EQ(own.size(), node.kind == control::NodeKind::kHost ? 1u : node.ports.size()) << node.name;
    for (const std::string& mac : own) ASSERT_TRUE(macs.insert(mac).second) << node.name;
    if (node.kind == control::NodeKind::kSwitch) {
      ASSERT_EQ(node.ipv4.value >> 16, 0x0AFFu) << node.name;
      continue;
    }
    const control::Subnet& subnet = fabric.subnets.at(node.subnet);
    const uint32_t size = 1u << (32 - subnet.v4.length);
    ASSERT_GT(node.ipv4.value, subnet.v4.address.value + 1) << node.name;         // network, gateway
    ASSERT_LT(node.ipv4.value, subnet.v4.address.value + size - 1) << node.name;  // broadcast
    ASSERT_EQ(bits(node.ipv6).substr(0, subnet.v6.length), bits(subnet.v6.address).substr(0, subnet.v6.length));
    ASSERT_EQ(std::ranges::count(subnet.hosts, n), 1) << node.name;
    std::set<uint32_t> switches;
    for (const std::string& name : neighbours(fabric, node.name)) switches.insert(node_at(fabric, name));
    if (!subnet.switches.empty()) {
      ASSERT_EQ(std::vector(switches.begin(), switches.end()), subnet.switches);
    }
  }
  for (size_t i = 0; i < fabric.subnets.size(); ++i) {
    const control::Subnet& a = fabric.subnets[i];
    ASSERT_EQ(a.gateway4.value, a.v4.address.value + 1);
    ASSERT_TRUE(v4.insert(a.gateway4.value).second) << to_string(a.v4);
    ASSERT_TRUE(v6.insert(bits(a.gateway6)).second) << to_string(a.v6);
    for (size_t j = 0; j < i; ++j) {
      const control::Subnet& b = fabric.subnets[j];
      const uint8_t shorter = std::min(a.v4.length, b.v4.length);
      ASSERT_NE(a.v4.address.value >> (32 - shorter), b.v4.address.value >> (32 - shorter)) << to_string(a.v4);
      const uint8_t shorter6 = std::min(a.v6.length, b.v6.length);
      ASSERT_NE(bits(a.v6.address).substr(0, shorter6), bits(b.v6.address).substr(0, shorter6)) << to_string(a.v6);
    }
  }
}

}  // namespace softspine::tests
