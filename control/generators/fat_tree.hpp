// SPDX-License-Identifier: Apache-2.0
// Fat trees.
//
//   fat-tree        k pods of k/2 edge (tor) and k/2 aggregation switches, (k/2)² cores: core i joins aggregation
//                   i / (k/2) of every pod (Al-Fares et al., SIGCOMM 2008). Its largest use in the papers: k = 48
//   2-ary-fat-tree  a binary tree whose links grow towards the root (Leiserson, IEEE Trans. Comp. 1985): each switch
//                   has two children, and twice as many links to its parent as each of them to itself, so that the
//                   bisection is half of the hosts. At most three levels of switches: tor, aggregation, core
#pragma once

#include <optional>

#include "control/generators/draft.hpp"
#include "control/generators/size.hpp"

namespace softspine::control {

struct FatTree {
  Value where;
  uint32_t k = 0;
  std::optional<uint32_t> hosts_per_tor;  // k / 2
  LinkSpec host_link;
  LinkSpec fabric_link;
  std::optional<LinkSpec> core_link;  // as fabric_link
  std::optional<std::string> servers_of;
  std::optional<VlanRow> host_vlan;
};

struct BinaryFatTree {
  Value where;
  uint32_t levels = 0;
  LinkSpec host_link;
  std::optional<LinkSpec> fabric_link;  // as host_link
  std::optional<std::string> servers_of;
  std::optional<VlanRow> host_vlan;
};

Size size_of(const FatTree& spec);
Size size_of(const BinaryFatTree& spec);

// To be called only if size_of() is within its limits.
void draft(const FatTree& spec, Draft& out);
void draft(const BinaryFatTree& spec, Draft& out);

}  // namespace softspine::control
