// SPDX-License-Identifier: Apache-2.0
// How pauses spread, slow and obvious, and without any of the product's code: random leaf-spine and fat-tree fabrics,
// flows on shortest paths, and time in steps of 5 us.
//
// In a step, each link carries one packet, unless its sender was asked to stop in the step before. A switch has one
// queue per egress link and counts per ingress link what came in there and is still in it: at kXoff it asks that
// link's sender to stop, and again every 20 steps; at kXon it says go on. That is all. A host takes what arrives.
// Faults: a port that asks without end (the storm), hosts that ask now and then, and say go on (slow receivers).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/units/rng.hpp"

namespace softspine::tests {

struct SimNode {
  std::string name;
  bool is_host = false;
  std::vector<uint32_t> out;  // directed links that leave it
};

// A directed link. Links 2n and 2n + 1 are the two ways of one cable.
struct SimLink {
  uint32_t from = 0;
  uint32_t to = 0;
  std::string port;  // of the sender: "tor1:Ethernet4"
};

struct SimFabric {
  std::vector<SimNode> nodes;
  std::vector<SimLink> links;
  static uint32_t back(uint32_t link) { return link ^ 1U; }

  uint32_t add_node(std::string name, bool is_host);
  void join(uint32_t a, uint32_t b);
  // A random one of the shortest.
  std::vector<uint32_t> path(uint32_t from, uint32_t to, dataplane::Rng& rng) const;
};

// `plain_names`: nodes are called n1, n2, …, so that no name tells a role.
SimFabric random_leaf_spine(dataplane::Rng& rng, bool plain_names);
SimFabric random_fat_tree(dataplane::Rng& rng, bool plain_names);

struct SimPfc {
  int64_t at_ps = 0;
  uint32_t link = 0;  // whose sender is to stop: the frame goes the other way
  bool is_xoff = false;
};

struct SimTraffic {
  bool storms = false;
  uint32_t storm_link = 0;  // the link that leads to the storm's root
  uint32_t storm_step = 0;
  uint32_t storm_refresh_steps = 20;
};

class PauseSimulator {
 public:
  static constexpr uint32_t kSteps = 4'000;
  static constexpr int64_t kStepPs = 5'000'000;
  static constexpr int64_t kEndPs = kSteps * kStepPs;

  PauseSimulator(SimFabric fabric, SimTraffic traffic, dataplane::Rng rng);
  void run();

  const SimFabric& fabric() const { return fabric_; }
  const std::vector<SimPfc>& frames() const { return frames_; }
  // By link: how long its sender was asked to stand still.
  const std::vector<int64_t>& asked_ps() const { return asked_ps_; }
  bool carries(uint32_t link) const { return carries_[link]; }

 private:
  static constexpr int kXoff = 8;
  static constexpr int kXon = 3;
  static constexpr uint32_t kRefreshSteps = 20;

  struct Flow {
    std::vector<uint32_t> path;
    uint32_t first_step = 0;
    uint32_t last_step = 0;
  };
  struct SimPacket {
    uint32_t flow = 0;
    uint32_t hop = 0;  // of the path: the link it is on, or waits for
  };
  struct LinkState {
    std::deque<SimPacket> queue;  // at its sender
    std::optional<SimPacket> on_the_way;
    int held = 0;           // packets that came by it and are still in its receiver
    bool is_asked = false;  // its sender was asked to stop
    bool stops = false;     // and has heard of it
    uint32_t asked_step = 0;
    int64_t asked_since_ps = 0;
  };

  void add_flow(uint32_t from, uint32_t to, uint32_t first, uint32_t last);
  void add_flows();
  uint32_t random_host(uint32_t other_than);
  void arrive(uint32_t step);
  void inject(uint32_t step);
  void send(uint32_t step);
  void misbehave(uint32_t step);
  void ask(uint32_t link, uint32_t step);
  void release(uint32_t link, uint32_t step);
  bool is_storming(uint32_t link, uint32_t step) const {
    return traffic_.storms && link == traffic_.storm_link && step >= traffic_.storm_step;
  }
  int64_t now_ps(uint32_t link, uint32_t step) const { return step * kStepPs + int64_t{link} * 1'000; }

  SimFabric fabric_;
  SimTraffic traffic_;
  dataplane::Rng rng_;
  std::vector<Flow> flows_;
  std::vector<LinkState> links_;
  std::vector<uint32_t> slow_receivers_;  // links to them
  std::vector<uint32_t> slow_until_;
  std::vector<SimPfc> frames_;
  std::vector<int64_t> asked_ps_;
  std::vector<bool> carries_;
};

}  // namespace softspine::tests
