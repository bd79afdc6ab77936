// SPDX-License-Identifier: Apache-2.0
// Real switches on any number of workers: every byte of every arrival is the same, and so is its instant.
#include <gtest/gtest.h>

#include "dataplane/dpdk/eal.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

constexpr uint16_t kStations[] = {0, 1, 2, 3, 6, 7};

// A ring: port 4 of each leads to port 5 of the next, so packets to 10.1.0.0/16 go round until their TTL is
// over, groups send both ways, and the rest ends at the stations or asks for whom it does not know.
class Ring {
 public:
  explicit Ring(uint32_t workers)
      : engine_(clock_, {.workers = workers,
                         .on_worker_start = [](uint32_t) { register_worker_thread(); },
                         .on_worker_stop = [](uint32_t) { unregister_worker_thread(); }}) {
    ForwardingState state = bench_state();
    for (auto& adjacency : state.adjacencies) adjacency.destination = kRouter;
    state.qos.queue_limit_bytes.fill(20'000);
    const auto shared = std::make_shared<const ForwardingState>(std::move(state));
    add<pipelines::Tor>(shared);
    add<pipelines::Aggregation>(shared);
    add<pipelines::Core>(shared);
    add<pipelines::Tor>(shared);
    const auto count = static_cast<uint32_t>(switches_.size());
    for (uint32_t i = 0; i < count; ++i) {
      engine_.connect({switches_[i]->id(), PortNo{4}}, {switches_[(i + 1) % count]->id(), PortNo{5}}, Rate::gbps(40),
                      Duration::ns(300));
    }
  }
  ~Ring() {
    for (const auto* node : switches_) expect_at_rest(*node);
    engine_.drain();
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // At times of 20 ns, so that many coincide.
  void send_random(uint64_t seed, int frames) {
    Rng rng{seed, 0};
    for (int i = 0; i < frames; ++i) {
      Probe* probe = probes_[rng.below(probes_.size())];
      const auto third = static_cast<uint8_t>(10 * (1 + rng.below(4)));
      const Bytes to{10, static_cast<uint8_t>(rng.below(5)), third, static_cast<uint8_t>(2 + rng.below(3))};
      const Bytes from{10, 0, third, static_cast<uint8_t>(2 + rng.below(3))};
      const Mac mac = station(from[3]);
      const Bytes packet =
          ipv4_packet({.from = from,
                       .to = to,
                       .ttl = static_cast<uint8_t>(1 + rng.below(12)),
                       .tos = static_cast<uint8_t>(rng.next())},
                      roce_datagram(static_cast<uint16_t>(rng.next()), static_cast<uint32_t>(rng.below(1 << 24)),
                                    counting(rng.below(900))));
      const Bytes arp = arp_packet(1, mac, from, Mac{}, {10, 0, third, 1});
      const bool asks = rng.below(6) == 0;
      probe->send_at(Instant::at(Duration::ns(20) * static_cast<int64_t>(rng.below(800))),
                     ethernet_frame(asks ? kAll : kRouter, mac, asks ? 0x0806 : 0x0800, asks ? arp : packet));
    }
  }
  void run() { EXPECT_EQ(engine_.run(Instant::never()), RunEnd::kIdle); }
  Engine& engine() { return engine_; }
  const std::vector<pipelines::Switch*>& switches() const { return switches_; }

  // FNV-1a over every station's arrivals, in order.
  uint64_t fingerprint() const {
    uint64_t hash = 0xcbf29ce484222325;
    const auto mix = [&hash](uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
    for (const Probe* probe : probes_) {
      mix(probe->arrivals().size());
      for (const auto& arrival : probe->arrivals()) {
        mix(static_cast<uint64_t>(arrival.at.count_ps()));
        for (const uint8_t byte : arrival.bytes) mix(byte);
      }
    }
    return hash;
  }
  uint64_t dropped(DropReason reason) const {
    uint64_t sum = 0;
    for (const auto* node : switches_) {
      for (const auto& port : node->counters()) sum += port.drops[static_cast<size_t>(reason)];
    }
    return sum;
  }

 private:
  template <typename Role>
  void add(const std::shared_ptr<const ForwardingState>& state) {
    const auto worker = static_cast<uint32_t>(switches_.size());
    const NodeId id = engine_.add(std::make_unique<Role>("switch", kBenchPorts, packet_pool()), worker);
    switches_.push_back(static_cast<pipelines::Switch*>(&engine_.node(id)));
    switches_.back()->publish(state);
    for (const uint16_t port : kStations) {
      const NodeId probe = engine_.add(std::make_unique<Probe>(packet_pool()), worker + port);
      probes_.push_back(static_cast<Probe*>(&engine_.node(probe)));
      engine_.connect({id, PortNo{port}}, {probe, PortNo{0}}, Rate::gbps(100), Duration::ns(250));
    }
  }
  VirtualClock clock_;
  Engine engine_;
  std::vector<pipelines::Switch*> switches_;
  std::vector<Probe*> probes_;
};

TEST(FabricOnWorkers, IsTheSameByteByByteForAnyNumber) {
  uint64_t alone = 0;
  for (const uint32_t workers : {1u, 2u, 3u}) {
    Ring ring{workers};
    ring.send_random(seed(), 1'200);
    ring.run();
    if (workers == 1) alone = ring.fingerprint();
    EXPECT_EQ(ring.fingerprint(), alone) << workers << " workers";
    for (const DropReason reason : {DropReason::kTtlExpired, DropReason::kQueueFull, DropReason::kNeighbourIncomplete,
                                    DropReason::kNoMember, DropReason::kConsumed}) {
      EXPECT_GT(ring.dropped(reason), 0u) << name_of(reason) << " should have its part in it";
    }
  }
}

// Looking at counters between windows, at odd instants: all add up at each, and nothing comes out otherwise.
TEST(FabricOnWorkers, AddsUpAtEveryInstantAndIsNotChangedByLooking) {
  Ring quiet{1};
  quiet.send_random(seed() + 1, 1'000);
  quiet.run();
  Ring watched{3};
  watched.send_random(seed() + 1, 1'000);
  for (int64_t i = 0; i < 120; ++i) {
    watched.engine().at(Instant::at(Duration::ps(i * 123'457)), [&watched](Instant) {
      for (const auto* node : watched.switches()) expect_conserved(*node);
    });
  }
  watched.run();
  EXPECT_EQ(watched.fingerprint(), quiet.fingerprint());
}

}  // namespace
}  // namespace softspine::tests
