// SPDX-License-Identifier: Apache-2.0
// From configuration and routes to what a switch forwards by: a pure function, once per switch and route change.
//
//   hosts of a ToR        one untagged VLAN per subnet (1000, 1001, …); the ToR is their gateway
//   hosts elsewhere       a routed port each; the switch answers ARP and ND for the others (proxy)
//   host whose MAC is planned (built-in, guest, namespace, file): a static adjacency
//   host whose MAC is its own (other edges):                learned by ARP and ND
//   subnet behind two ToRs: both are its gateway, with one router MAC (an anycast gateway), and proxies
//
// Groups: one per set of ports (and, where the dead matter, per set of ports that there would be with every link up).
// Pinned: a route for each host, to the port of its slice; a slice is a host's place among its subnet's.
//
// Router MAC: of the switch's first port; switches that share a subnet take the first one's.
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

// What a switch cannot do though the file may say it: groups larger than a switch's. Empty: nothing.
Errors unsupported_in(const Testbed& testbed);

dataplane::MacAddress packet_mac(const MacAddress& mac);

class Compiler {
 public:
  // The testbed outlives it and has nothing unsupported.
  explicit Compiler(const Testbed& testbed);

  // Over the links that are up. With all of them: computed once.
  std::shared_ptr<const std::vector<RouteTable>> routes(const std::vector<bool>& link_up) const;
  std::shared_ptr<const dataplane::ForwardingState> compile(uint32_t node, const RouteTable& routes) const;
  // From the next compile() on, this switch has the maps, buffers and queues of another profile of the testbed. Its
  // hash and its groups stay: flows keep their paths.
  void use_profile(uint32_t node, uint32_t profile);
  uint32_t profile_of(uint32_t node) const { return profile_of_[node]; }
  // What the hosts behind a switch send to.
  dataplane::MacAddress router_mac(uint32_t node) const { return router_macs_[node]; }

 private:
  class StateBuilder;
  const Testbed& testbed_;
  std::vector<dataplane::EcmpHash> hashes_;               // by profile
  std::shared_ptr<const std::vector<RouteTable>> whole_;  // with every link up
  std::vector<dataplane::MacAddress> router_macs_;        // by node; zero at hosts
  std::vector<std::vector<uint32_t>> subnets_of_;         // by node: the subnets that it serves
  std::vector<uint32_t> profile_of_;                      // by node
  // By node, null where nothing is shared or paused; kept, so that new routes come without a new plan.
  std::vector<std::shared_ptr<const dataplane::QosPlan>> plans_;
};

}  // namespace softspine::control
