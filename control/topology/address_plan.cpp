// SPDX-License-Identifier: Apache-2.0
#include "control/topology/address_plan.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "control/topology/planned_addresses.hpp"
#include "control/topology/subnet_plan.hpp"

namespace softspine::control {
namespace {

constexpr uint32_t kMaxLoopbacks = 65'534;

std::string key_of(const MacAddress& mac) {
  return {mac.bytes.begin(), mac.bytes.end()};
}

void plan_loopbacks(Reader& reader, Expanded& out) {
  uint32_t number = 0;
  for (FabricNode& node : out.fabric.nodes) {
    if (node.kind != NodeKind::kSwitch) continue;
    ++number;
    node.ipv4 = {kLoopbacks + number};
    node.ipv6 = planned_ipv6(kLoopbackArea, 0, number);
  }
  if (number > kMaxLoopbacks) {
    reader.fail({}, "more than " + std::to_string(kMaxLoopbacks) + " switches: their loopback addresses run out");
  }
}

void plan_macs(Reader& reader, Expanded& out) {
  std::unordered_map<std::string, size_t> given;  // to which node
  for (size_t n = 0; n < out.fabric.nodes.size(); ++n) {
    FabricNode& node = out.fabric.nodes[n];
    const bool is_host = node.kind == NodeKind::kHost;
    const NodeRow* row = out.rows[n];
    for (size_t p = 0; p < node.ports.size(); ++p) {
      const size_t port = is_host ? 0 : p;
      node.ports[p].mac.bytes = {0x02,
                                 static_cast<uint8_t>(n >> 16),
                                 static_cast<uint8_t>(n >> 8),
                                 static_cast<uint8_t>(n),
                                 static_cast<uint8_t>(port >> 8),
                                 static_cast<uint8_t>(port)};
      if (is_host && row != nullptr && row->mac && !row->mac->is_zero()) node.ports[p].mac = *row->mac;
    }
    if (!is_host || row == nullptr || !row->mac || row->mac->is_zero()) continue;
    const auto [other, is_new] = given.emplace(key_of(*row->mac), n);
    if (is_new) continue;
    reader.fail(row->where.child("mac"),
                to_string(*row->mac) + " is the address of " + out.fabric.nodes[other->second].name + " already");
  }
  if (given.empty()) return;
  for (size_t n = 0; n < out.fabric.nodes.size(); ++n) {
    const FabricNode& node = out.fabric.nodes[n];
    if (out.rows[n] != nullptr && out.rows[n]->mac) continue;
    for (const FabricPort& port : node.ports) {
      const auto found = given.find(key_of(port.mac));
      if (found == given.end()) continue;
      reader.fail(out.rows[found->second]->where.child("mac"),
                  to_string(port.mac) + " is the planned address of " + node.name);
      break;
    }
  }
}

// One subnet's hosts: those with an address first, the others fill the gaps.
class HostPlan {
 public:
  HostPlan(Reader& reader, Expanded& out, const Subnet& subnet) : reader_(reader), out_(out), subnet_(subnet) {}

  void run() {
    for (const uint32_t host : subnet_.hosts) take_given(host);
    uint32_t number = 2;
    for (const uint32_t host : subnet_.hosts) {
      FabricNode& node = out_.fabric.nodes[host];
      const bool has_v4 = node.ipv4 != Ipv4Address{};
      const bool has_v6 = node.ipv6 != Ipv6Address{};
      if (has_v4 && has_v6) continue;
      while (taken_v4_.contains(subnet_.v4.address.value + number) ||
             taken_v6_.contains(to_string(ipv6_in(subnet_.v6, number))))
        ++number;
      if (!has_v4) {
        node.ipv4 = {subnet_.v4.address.value + number};
        if (node.ipv4.value >= subnet_.v4.last().value) full_ = true;
      }
      if (!has_v6) node.ipv6 = ipv6_in(subnet_.v6, number);
      ++number;
    }
    if (full_) {
      const Value where = subnet_.switches.empty() ? Value{} : where_of(subnet_.switches.front()).child("subnet");
      reader_.fail(where,
                   to_string(subnet_.v4) + " is too small for its " + std::to_string(subnet_.hosts.size()) + " hosts");
    }
  }

 private:
  Value where_of(uint32_t node) const { return out_.rows[node] == nullptr ? Value{} : out_.rows[node]->where; }

  void take_given(uint32_t host) {
    const NodeRow* row = out_.rows[host];
    if (row == nullptr || !row->address) return;
    const std::vector<Value> places = row->where.child("address").each();
    for (size_t i = 0; i < std::min(places.size(), row->address->items.size()); ++i) {
      const Value where = places[i];
      std::visit([&](const auto& address) { take(host, address, where); }, row->address->items[i]);
    }
  }

  void take(uint32_t host, Ipv4Address address, Value where) {
    FabricNode& node = out_.fabric.nodes[host];
    if (address == Ipv4Address{}) return;  // could not be read
    if (node.ipv4 != Ipv4Address{}) {
      reader_.fail(where, "a second IPv4 address: a host has one");
    } else if (!subnet_.v4.contains(address)) {
      reader_.fail(where, outside(to_string(address), to_string(subnet_.v4)));
    } else if (address == subnet_.gateway4 || address == subnet_.v4.address || address == subnet_.v4.last()) {
      reader_.fail(where, to_string(address) + " is the subnet's gateway, network or broadcast address");
    } else if (const auto [other, is_new] = taken_v4_.emplace(address.value, node.name); !is_new) {
      reader_.fail(where, to_string(address) + " is the address of " + other->second + " already");
    } else {
      node.ipv4 = address;
    }
  }

  void take(uint32_t host, const Ipv6Address& address, Value where) {
    FabricNode& node = out_.fabric.nodes[host];
    if (node.ipv6 != Ipv6Address{}) {
      reader_.fail(where, "a second IPv6 address: a host has one");
    } else if (!subnet_.v6.contains(address)) {
      reader_.fail(where, outside(to_string(address), to_string(subnet_.v6)));
    } else if (address == subnet_.gateway6 || address == subnet_.v6.address) {
      reader_.fail(where, to_string(address) + " is the subnet's gateway or network address");
    } else if (const auto [other, is_new] = taken_v6_.emplace(to_string(address), node.name); !is_new) {
      reader_.fail(where, to_string(address) + " is the address of " + other->second + " already");
    } else {
      node.ipv6 = address;
    }
  }

  std::string outside(const std::string& address, const std::string& subnet) const {
    std::string where = "there";
    if (!subnet_.switches.empty()) where = "at " + out_.fabric.nodes[subnet_.switches.front()].name;
    return address + " is not in the subnet " + where + ", " + subnet + ": give the switch its 'subnet'";
  }

  Reader& reader_;
  Expanded& out_;
  const Subnet& subnet_;
  std::unordered_map<uint32_t, std::string> taken_v4_;
  std::unordered_map<std::string, std::string> taken_v6_;
  bool full_ = false;
};

}  // namespace

void plan_addresses(Reader& reader, Expanded& out) {
  plan_loopbacks(reader, out);
  plan_macs(reader, out);
  plan_subnets(reader, out);
  for (const Subnet& subnet : out.fabric.subnets) HostPlan(reader, out, subnet).run();
}

}  // namespace softspine::control
