// SPDX-License-Identifier: Apache-2.0
#include "tests/model/storm/pause_simulator.hpp"

#include <algorithm>
#include <utility>

namespace softspine::tests {

using dataplane::Rng;

uint32_t SimFabric::add_node(std::string name, bool is_host) {
  nodes.push_back({.name = std::move(name), .is_host = is_host, .out = {}});
  return static_cast<uint32_t>(nodes.size() - 1);
}

void SimFabric::join(uint32_t a, uint32_t b) {
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    SimNode& node = nodes[from];
    const std::string port =
        (node.is_host ? ":eth" : ":Ethernet") + std::to_string(node.out.size() * (node.is_host ? 1 : 4));
    node.out.push_back(static_cast<uint32_t>(links.size()));
    links.push_back({.from = from, .to = to, .port = node.name + port});
  }
}

std::vector<uint32_t> SimFabric::path(uint32_t from, uint32_t to, Rng& rng) const {
  std::vector<uint32_t> distance(nodes.size(), UINT32_MAX);
  std::deque<uint32_t> next{to};
  distance[to] = 0;
  for (; !next.empty(); next.pop_front()) {
    for (const uint32_t link : nodes[next.front()].out) {
      const uint32_t there = links[link].to;
      if (distance[there] != UINT32_MAX) continue;
      distance[there] = distance[next.front()] + 1;
      next.push_back(there);
    }
  }
  std::vector<uint32_t> path;
  for (uint32_t here = from; here != to;) {
    std::vector<uint32_t> nearer;
    for (const uint32_t link : nodes[here].out) {
      if (distance[links[link].to] < distance[here]) nearer.push_back(link);
    }
    path.push_back(nearer[rng.below(nearer.size())]);
    here = links[path.back()].to;
  }
  return path;
}

namespace {

// Hands out names: by role, or plain numbers.
class Names {
 public:
  explicit Names(bool plain) : plain_(plain) {}
  std::string next(const std::string& role, uint32_t number) {
    ++count_;
    return plain_ ? "n" + std::to_string(count_) : role + std::to_string(number);
  }

 private:
  bool plain_;
  uint32_t count_ = 0;
};

}  // namespace

SimFabric random_leaf_spine(Rng& rng, bool plain_names) {
  SimFabric out;
  Names names{plain_names};
  const auto tors = static_cast<uint32_t>(2 + rng.below(5));
  const auto spines = static_cast<uint32_t>(1 + rng.below(4));
  const auto hosts = static_cast<uint32_t>(2 + rng.below(5));
  std::vector<uint32_t> leaves;
  uint32_t host = 0;
  for (uint32_t t = 0; t < tors; ++t) {
    leaves.push_back(out.add_node(names.next("tor", t + 1), false));
    for (uint32_t h = 0; h < hosts; ++h) out.join(leaves[t], out.add_node(names.next("h", ++host), true));
  }
  for (uint32_t s = 0; s < spines; ++s) {
    const uint32_t spine = out.add_node(names.next("spine", s + 1), false);
    for (const uint32_t leaf : leaves) out.join(leaf, spine);
  }
  return out;
}

SimFabric random_fat_tree(Rng& rng, bool plain_names) {
  SimFabric out;
  Names names{plain_names};
  const auto pods = static_cast<uint32_t>(2 + rng.below(3));
  const auto half = static_cast<uint32_t>(1 + rng.below(2));
  const auto hosts = static_cast<uint32_t>(1 + rng.below(3));
  std::vector<uint32_t> cores;
  for (uint32_t c = 0; c < half * 2; ++c) cores.push_back(out.add_node(names.next("core", c + 1), false));
  uint32_t host = 0;
  for (uint32_t pod = 1; pod <= pods; ++pod) {
    const std::string prefix = "p" + std::to_string(pod);
    std::vector<uint32_t> tors;
    for (uint32_t t = 1; t <= 2; ++t) {
      tors.push_back(out.add_node(names.next(prefix + "-tor", t), false));
      for (uint32_t h = 0; h < hosts; ++h) out.join(tors.back(), out.add_node(names.next("h", ++host), true));
    }
    for (uint32_t a = 0; a < half; ++a) {
      const uint32_t aggregation = out.add_node(names.next(prefix + "-agg", a + 1), false);
      for (const uint32_t tor : tors) out.join(tor, aggregation);
      for (uint32_t c = 0; c < 2; ++c) out.join(aggregation, cores[a * 2 + c]);
    }
  }
  return out;
}

PauseSimulator::PauseSimulator(SimFabric fabric, SimTraffic traffic, Rng rng)
    : fabric_(std::move(fabric)),
      traffic_(traffic),
      rng_(rng),
      links_(fabric_.links.size()),
      asked_ps_(fabric_.links.size(), 0),
      carries_(fabric_.links.size(), false) {
  add_flows();
}

uint32_t PauseSimulator::random_host(uint32_t other_than) {
  for (;;) {
    const auto node = static_cast<uint32_t>(rng_.below(fabric_.nodes.size()));
    if (node != other_than && fabric_.nodes[node].is_host) return node;
  }
}

void PauseSimulator::add_flow(uint32_t from, uint32_t to, uint32_t first, uint32_t last) {
  flows_.push_back({.path = fabric_.path(from, to, rng_), .first_step = first, .last_step = last});
  for (const uint32_t link : flows_.back().path) carries_[link] = true;
}

// Every host sends to somebody; now and then many send to one; the storm's root is sent to, too.
void PauseSimulator::add_flows() {
  for (uint32_t node = 0; node < fabric_.nodes.size(); ++node) {
    if (fabric_.nodes[node].is_host) add_flow(node, random_host(node), 0, kSteps);
  }
  for (uint64_t incasts = rng_.below(6); incasts > 0; --incasts) {
    const uint32_t to = random_host(UINT32_MAX);
    const auto first = static_cast<uint32_t>(rng_.below(kSteps));
    const auto last = first + static_cast<uint32_t>(40 + rng_.below(400));
    for (uint64_t senders = 2 + rng_.below(7); senders > 0; --senders) add_flow(random_host(to), to, first, last);
  }
  if (traffic_.storms) {
    const uint32_t root = fabric_.links[traffic_.storm_link].to;
    if (fabric_.nodes[root].is_host) {
      for (int i = 0; i < 3; ++i) add_flow(random_host(root), root, 0, kSteps);
    }
  }
  for (uint64_t slow = rng_.below(3); slow > 0; --slow) {
    const uint32_t host = random_host(UINT32_MAX);
    const uint32_t link = SimFabric::back(fabric_.nodes[host].out.front());
    if (traffic_.storms && link == traffic_.storm_link) continue;
    slow_receivers_.push_back(link);
    slow_until_.push_back(0);
  }
}

void PauseSimulator::ask(uint32_t link, uint32_t step) {
  LinkState& it = links_[link];
  if (!it.is_asked) it.asked_since_ps = now_ps(link, step);
  it.is_asked = true;
  it.asked_step = step;
  frames_.push_back({.at_ps = now_ps(link, step), .link = link, .is_xoff = true});
}

void PauseSimulator::release(uint32_t link, uint32_t step) {
  LinkState& it = links_[link];
  it.is_asked = false;
  asked_ps_[link] += now_ps(link, step) - it.asked_since_ps;
  frames_.push_back({.at_ps = now_ps(link, step), .link = link, .is_xoff = false});
}

void PauseSimulator::arrive(uint32_t step) {
  for (uint32_t link = 0; link < links_.size(); ++link) {
    LinkState& it = links_[link];
    if (!it.on_the_way) continue;
    SimPacket packet = *std::exchange(it.on_the_way, std::nullopt);
    if (fabric_.nodes[fabric_.links[link].to].is_host) continue;
    ++packet.hop;
    links_[flows_[packet.flow].path[packet.hop]].queue.push_back(packet);
    if (++it.held >= kXoff && !it.is_asked) ask(link, step);
  }
}

void PauseSimulator::inject(uint32_t step) {
  for (uint32_t flow = 0; flow < flows_.size(); ++flow) {
    if (step < flows_[flow].first_step || step >= flows_[flow].last_step) continue;
    auto& queue = links_[flows_[flow].path.front()].queue;
    if (queue.size() < 2 && rng_.below(3) != 0) queue.push_back({.flow = flow, .hop = 0});
  }
}

void PauseSimulator::send(uint32_t step) {
  for (LinkState& link : links_) {
    if (link.stops || link.queue.empty()) continue;
    const SimPacket packet = link.queue.front();
    link.queue.pop_front();
    link.on_the_way = packet;
    if (packet.hop == 0) continue;
    const uint32_t came_by = flows_[packet.flow].path[packet.hop - 1];
    LinkState& before = links_[came_by];
    if (--before.held <= kXon && before.is_asked && !is_storming(came_by, step)) release(came_by, step);
  }
}

void PauseSimulator::misbehave(uint32_t step) {
  if (traffic_.storms && step >= traffic_.storm_step) {
    LinkState& it = links_[traffic_.storm_link];
    if (!it.is_asked || step - it.asked_step >= traffic_.storm_refresh_steps) ask(traffic_.storm_link, step);
  }
  for (size_t i = 0; i < slow_receivers_.size(); ++i) {
    const uint32_t link = slow_receivers_[i];
    if (links_[link].is_asked && step >= slow_until_[i]) {
      release(link, step);
    } else if (!links_[link].is_asked && rng_.below(60) == 0) {
      slow_until_[i] = step + static_cast<uint32_t>(2 + rng_.below(60));
      ask(link, step);
    }
  }
}

void PauseSimulator::run() {
  for (uint32_t step = 0; step < kSteps; ++step) {
    for (LinkState& link : links_) link.stops = link.is_asked;
    misbehave(step);
    arrive(step);
    inject(step);
    send(step);
    for (uint32_t link = 0; link < links_.size(); ++link) {
      const LinkState& it = links_[link];
      if (it.is_asked && !is_storming(link, step) && step - it.asked_step >= kRefreshSteps) ask(link, step);
    }
  }
  for (uint32_t link = 0; link < links_.size(); ++link) {
    if (links_[link].is_asked) asked_ps_[link] += kEndPs - links_[link].asked_since_ps;
  }
  std::ranges::stable_sort(frames_, {}, &SimPfc::at_ps);
}

}  // namespace softspine::tests
