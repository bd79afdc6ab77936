// SPDX-License-Identifier: Apache-2.0
// Compiles configuration and routes into a switch's ForwardingState: a pure function, once per switch and route change.
//
//   hosts of a ToR        one untagged VLAN per subnet (1000, 1001, …); the ToR is their gateway
//   hosts elsewhere       a routed port each; the switch answers ARP and ND for the others (proxy)
//   host whose MAC is planned (built-in, guest, namespace, file): a static adjacency
//   host whose MAC is its own (other edges):                learned by ARP and ND
//   subnet behind two ToRs: both are its gateway, with one router MAC (an anycast gateway), and proxies
//
// ECMP groups: one per set of ports. Resilient groups also differ by the ports that they would have with every link up.
// Pinned groups: every host has a route of its own, to the ports of its slice, which is its place among the hosts of
// its subnet (slices.hpp).
//
// Overrides (override_routes.hpp): the file's, and those that use_engineered() has given the switch.
// LAGs: one next hop each; the members that are there, by port. With fewer than min_links of them there are none.
//
// Router MAC: that of the switch's first port; switches that share a subnet use that of the first of them.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/testbed.hpp"
#include "control/routing/routes.hpp"
#include "dataplane/forwarding/forwarding_state.hpp"

namespace softspine::control {

// Settings that a valid file may ask for but a switch cannot follow: ECMP groups that are too large. Empty if there is
// none.
Errors unsupported_in(const Testbed& testbed);

dataplane::MacAddress packet_mac(const MacAddress& mac);

class Compiler {
 public:
  // The testbed must outlive the Compiler, and unsupported_in() must be empty for it.
  explicit Compiler(const Testbed& testbed);

  // The routes over the links that are up. Those with all links up are computed once and kept.
  std::shared_ptr<const std::vector<RouteTable>> routes(const std::vector<bool>& link_up) const;
  // `members`: by link, whether it is there as a member of its LAG, or, towards a host, whether LACP has agreed on it;
  // empty: all are.
  std::shared_ptr<const dataplane::ForwardingState> compile(uint32_t node, const RouteTable& routes,
                                                            const std::vector<bool>& members = {}) const;
  // From the next compile() on, this switch has the maps, buffers and queues of another profile of the testbed. Its
  // hash and its groups stay: flows keep their paths.
  void use_profile(uint32_t node, uint32_t profile);
  // From the next compile() on, the switch has these overrides of the controller in place of its earlier ones. Returns
  // whether they differ.
  bool use_engineered(uint32_t node, std::vector<Override> overrides);
  // The file's, then the controller's: OverrideEntry::number counts them.
  const std::vector<Override>& overrides_of(uint32_t node) const { return overrides_[node]; }
  uint32_t profile_of(uint32_t node) const { return profile_of_[node]; }
  // The MAC address that hosts behind a switch send their routed packets to.
  dataplane::MacAddress router_mac(uint32_t node) const { return router_macs_[node]; }

 private:
  class StateBuilder;
  const Testbed& testbed_;
  std::vector<dataplane::EcmpHash> hashes_;               // by profile
  std::vector<dataplane::EcmpHash> lag_hashes_;           // by profile
  std::shared_ptr<const std::vector<RouteTable>> whole_;  // with every link up
  std::vector<dataplane::MacAddress> router_macs_;        // by node; zero at hosts
  std::vector<std::vector<uint32_t>> subnets_of_;         // by node: the subnets that it serves
  std::vector<uint32_t> profile_of_;                      // by node
  std::vector<std::vector<Override>> overrides_;          // by node
  // By node, null where nothing is shared or paused. Plans are kept, so that a route change does not compile them
  // again.
  std::vector<std::shared_ptr<const dataplane::QosPlan>> plans_;
};

}  // namespace softspine::control
