// SPDX-License-Identifier: Apache-2.0
// A fabric of chatting nodes: each remembers what it heard, and when; hears make it say more. What is said
// depends on the content heard, its instant and the node's own random numbers, so a difference anywhere spreads.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "tests/scenario/fabric_environment.hpp"

namespace softspine::tests {

using namespace dataplane;

class Chatter final : public Node {
 public:
  struct Heard {
    Instant at;
    uint16_t port;
    uint64_t word;
    friend bool operator==(const Heard&, const Heard&) = default;
  };

  Chatter(uint32_t ports, uint32_t hops) : Node("chatter", ports), hops_(hops), free_at_(ports) {}

  // Says `word` at `at` out of `port`; before the first run, or from an action that wakes the node.
  void say_at(Instant at, uint16_t port, uint64_t word, uint32_t hops) { to_say_.push_back({at, port, word, hops}); }

  Instant run(Instant until) noexcept override {
    std::erase_if(to_say_, [this, until](const Saying& saying) {
      if (saying.at >= until) return false;
      say(saying.port, saying.at, saying.word, saying.hops);
      return true;
    });
    while (inbox().next() < until) hear(inbox().take_first());
    Instant next = inbox().next();
    for (const Saying& saying : to_say_) next = std::min(next, saying.at);
    return next;
  }
  void link_changed(PortNo, bool up, Instant now) noexcept override { changes_.emplace_back(up, now); }

  const std::vector<Heard>& heard() const { return heard_; }
  const std::vector<std::pair<bool, Instant>>& changes() const { return changes_; }
  uint32_t hops() const { return hops_; }

 private:
  struct Saying {
    Instant at;
    uint16_t port;
    uint64_t word;
    uint32_t hops;
  };
  void say(uint16_t port, Instant at, uint64_t word, uint32_t hops) noexcept {
    Packet packet = packet_pool().make(64 + static_cast<uint32_t>(word % 400));
    ASSERT_TRUE(packet);
    std::memset(packet.data(), static_cast<int>(word & 0xff), packet.stored_bytes());
    std::memcpy(packet.data(), &word, 8);
    std::memcpy(packet.data() + 8, &hops, 4);
    free_at_[port] = transmitter(PortNo{port}).send(std::move(packet), std::max(at, free_at_[port]));
  }
  void hear(Packet packet) noexcept {
    const Instant at = packet.meta().at;
    const uint16_t port = packet.meta().in_port;
    uint64_t word;
    uint32_t hops;
    std::memcpy(&word, packet.data(), 8);
    std::memcpy(&hops, packet.data() + 8, 4);
    PacketPool::release(std::move(packet));
    heard_.push_back({at, port, word});
    if (hops == 0) return;
    state_ = (state_ ^ word ^ static_cast<uint64_t>(at.count_ps()) ^ port) * 0x9E3779B97F4A7C15 + rng().below(1000);
    say(static_cast<uint16_t>(state_ % ports()), at, state_, hops - 1);
    if (state_ % 3 == 0) say(static_cast<uint16_t>((state_ >> 20) % ports()), at, state_ + 1, hops - 1);
  }

  uint32_t hops_;
  uint64_t state_ = 1;
  std::vector<Instant> free_at_;
  std::vector<Saying> to_say_;
  std::vector<Heard> heard_;
  std::vector<std::pair<bool, Instant>> changes_;
};

// A ring of nodes with chords; every third link has the same length, so that instants coincide. As racks: three nodes
// each, whose links to one another are short; two racks next to each other are a pod, whose links are shorter than
// those to other pods.
enum class Places : uint8_t { kAlike, kRacks, kRacksInOneWindow };
class Gossip {
 public:
  explicit Gossip(uint32_t workers, uint32_t nodes = 9, uint64_t seed = 1, Clock* clock = nullptr,
                  Places places = Places::kAlike)
      : engine_(clock == nullptr ? virtual_clock_ : *clock,
                {.workers = workers,
                 .seed = seed,
                 .nest = places != Places::kRacksInOneWindow,
                 .on_worker_start = [](uint32_t) { register_worker_thread(); },
                 .on_worker_stop = [](uint32_t) { unregister_worker_thread(); }}) {
    for (uint32_t i = 0; i < nodes; ++i) {
      const NodeId id = engine_.add(std::make_unique<Chatter>(4, 12), places == Places::kAlike ? i : i / 6);
      nodes_.push_back(static_cast<Chatter*>(&engine_.node(id)));
    }
    for (uint32_t i = 0; i < nodes; ++i) {
      const Duration length = Duration::ns(100 + 37 * static_cast<int64_t>(i % 3));
      const auto away = [&](uint32_t to) {
        if (places == Places::kAlike || i / 3 == to / 3) return Duration{};
        return i / 6 == to / 6 ? Duration::ns(1'000) : Duration::ns(10'000);
      };
      const uint32_t next = (i + 1) % nodes;
      const uint32_t over = (i + 2) % nodes;
      engine_.connect({NodeId{i}, PortNo{0}}, {NodeId{next}, PortNo{1}}, Rate::gbps(100), length + away(next));
      engine_.connect({NodeId{i}, PortNo{2}}, {NodeId{over}, PortNo{3}}, Rate::gbps(25), length * 2 + away(over));
    }
  }
  ~Gossip() {
    const uint64_t on_links = engine_.drain();
    uint64_t sent = 0;
    uint64_t ended = on_links + engine_.lost_on_links();
    for (Chatter* node : nodes_) {
      for (uint16_t p = 0; p < node->ports(); ++p) {
        sent += node->transmitter(PortNo{p}).counters().packets;
        ended += node->transmitter(PortNo{p}).counters().lost_packets;
      }
      ended += node->heard().size();
    }
    EXPECT_EQ(sent, ended) << "sent = heard + lost + still on links";
    EXPECT_EQ(packet_pool().in_use(), 0u);
  }
  Gossip(const Gossip&) = delete;
  Gossip& operator=(const Gossip&) = delete;

  // Every node begins at the same instant.
  void begin(uint32_t hops = 12, Instant at = Instant::at(Duration::ns(5))) {
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->say_at(at, static_cast<uint16_t>(i % 4), i * 1000, hops);
      engine_.wake(NodeId{i}, at);
    }
  }
  std::vector<std::vector<Chatter::Heard>> heard() const {
    std::vector<std::vector<Chatter::Heard>> all;
    for (const Chatter* node : nodes_) all.push_back(node->heard());
    return all;
  }
  uint64_t heard_count() const {
    uint64_t sum = 0;
    for (const Chatter* node : nodes_) sum += node->heard().size();
    return sum;
  }
  Engine& engine() { return engine_; }
  Chatter& node(uint32_t i) { return *nodes_[i]; }

 private:
  VirtualClock virtual_clock_;
  Engine engine_;
  std::vector<Chatter*> nodes_;
};

}  // namespace softspine::tests
