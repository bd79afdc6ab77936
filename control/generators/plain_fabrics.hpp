// SPDX-License-Identifier: Apache-2.0
// Fabrics of one or two tiers.
//
//   star        one switch and its hosts, one layer 2: Meta's first generation (RoCEv1, ethertype 0x8915, which no
//               router forwards)
//   crossbar    one switch between inputs and outputs: as many crosspoints as their product
//   leaf-spine  tors × spines, full mesh; the hosts of tor1 are h1 … hN, of tor2 hN+1 …
//   clos        three stages, (m, n, r): see model/clos.hpp. Inputs send, outputs receive; links work both ways, as
//               Ethernet's do
#pragma once

#include <optional>

#include "control/generators/draft.hpp"
#include "control/generators/size.hpp"

namespace softspine::control {

struct Star {
  Value where;
  uint32_t hosts = 0;
  LinkSpec host_link;
  std::optional<std::string> servers_of;  // as in every generator: topology/generated.hpp
  std::optional<VlanRow> host_vlan;       // of every host; this, too
};

struct Crossbar {
  Value where;
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  LinkSpec host_link;
  std::optional<std::string> servers_of;
  std::optional<VlanRow> host_vlan;
};

struct LeafSpine {
  Value where;
  uint32_t tors = 0;
  uint32_t spines = 0;
  uint32_t hosts_per_tor = 0;
  uint32_t links_per_spine = 1;
  LinkSpec host_link;
  LinkSpec fabric_link;
  std::optional<std::string> servers_of;
  std::optional<VlanRow> host_vlan;
};

struct Clos {
  Value where;
  uint32_t m = 0;
  uint32_t n = 0;
  uint32_t r = 0;
  std::optional<Blocking> nonblocking;  // what it must be
  LinkSpec host_link;
  LinkSpec fabric_link;
  std::optional<std::string> servers_of;
  std::optional<VlanRow> host_vlan;
};

StagedFabric stages_of(const Clos& spec);

Size size_of(const Star& spec);
Size size_of(const Crossbar& spec);
Size size_of(const LeafSpine& spec);
Size size_of(const Clos& spec);

// To be called only if size_of() is within its limits.
void draft(const Star& spec, Draft& out);
void draft(const Crossbar& spec, Draft& out);
void draft(const LeafSpine& spec, Draft& out);
void draft(const Clos& spec, Draft& out);

}  // namespace softspine::control
