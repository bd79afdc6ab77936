// SPDX-License-Identifier: Apache-2.0
// A fabric while it is being put together: nodes and links, ports by number or name, no addresses yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/document/document.hpp"
#include "control/format/quantity.hpp"
#include "control/generators/bond_row.hpp"
#include "control/generators/link_spec.hpp"
#include "control/generators/vlan_row.hpp"
#include "control/model/clos.hpp"
#include "control/model/fabric.hpp"

namespace softspine::control {

struct DraftNode {
  std::string name;
  NodeKind kind = NodeKind::kHost;
  Role role = Role::kHost;
  uint32_t plane = 0;
  std::string server;
  uint32_t rail = 0;
  uint32_t ports = 0;             // that the generator has used
  const BondRow* bond = nullptr;  // of a host, if its generator has one; outlives the draft
  const VlanRow* vlan = nullptr;  // likewise
  Value where;                    // without a position if it is generated
};

struct DraftEnd {
  uint32_t node = 0;
  std::string port;  // empty: the next free one
  Value where;
};

struct DraftLink {
  DraftEnd a;
  DraftEnd b;
  dataplane::Rate rate;
  Length length;
  std::optional<uint32_t> mtu;
  dataplane::LinkParameters parameters;
};

// Ethernet0, Ethernet4, … (SONiC numbers a port by its first lane of four) at a switch; eth0, eth1, … at a host.
std::string port_name(NodeKind kind, uint32_t number);

// PREFIX and i + 1: things are counted from 1 in names.
std::string numbered(std::string_view prefix, uint64_t i);

struct Draft {
  std::vector<DraftNode> nodes;
  std::vector<DraftLink> links;
  std::unordered_map<std::string, uint32_t> by_name;
  std::vector<StagedFabric> staged;
  std::string prefix;             // of the names that are added from now on
  const BondRow* bond = nullptr;  // of the hosts that are added from now on
  const VlanRow* vlan = nullptr;  // likewise

  uint32_t add_switch(const std::string& name, Role role, uint32_t plane = 0);
  // `server` is empty for a host that is a machine by itself; `rail` is counted from 1, 0: none.
  uint32_t add_host(const std::string& name, const std::string& server = "", uint32_t rail = 0);
  void connect(uint32_t a, uint32_t b, const LinkSpec& spec);
};

}  // namespace softspine::control
