// SPDX-License-Identifier: Apache-2.0
// What comes together in a burst decides nothing: a switch that is run in one go does with each packet what one does
// that is run from nanosecond to nanosecond, whatever it learns, forgets, answers and draws meanwhile.
#include <functional>
#include <optional>
#include <string>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

// A host with two MACs, at ports 0 and 1: it moves. Another of the kind at port 6. One behind the fabric.
const Bytes kMover = ip4("10.0.10.7");
const Bytes kRouted = ip4("10.0.30.9");
const Bytes kFar = ip4("10.2.7.7");
const Bytes kFar6 = ip6(0x102, 7);

struct Timed {
  Instant at;
  uint16_t port;
  Bytes frame;
};

class Talk {
 public:
  explicit Talk(uint64_t seed) : rng_(seed, 0) {}
  std::vector<Timed> frames(int count) {
    std::vector<Timed> out;
    for (int i = 0; i < count; ++i) {
      const Instant at = Instant::at_ps(static_cast<int64_t>(rng_.below(20'000'000)));
      out.push_back(one(at));
    }
    return out;
  }

 private:
  Mac either(uint8_t n) { return station(static_cast<uint8_t>(n + 10 * rng_.below(2))); }
  Bytes data(const Bytes& to, uint8_t ttl) {
    return ipv4_packet({.from = kFar, .to = to, .ttl = ttl},
                       udp_datagram(static_cast<uint16_t>(rng_.below(64)), 6, counting(rng_.below(120))));
  }
  Timed from_fabric(Instant at, const Bytes& to, uint8_t ttl = 9) {
    const auto port = static_cast<uint16_t>(4 + rng_.below(2));
    return {at, port, ethernet_frame(kRouter, station(static_cast<uint8_t>(100 + port)), 0x0800, data(to, ttl))};
  }
  Timed arp(Instant at, uint16_t port, const Bytes& host, const Mac& mac, const std::string& gateway) {
    return {at, port, ethernet_frame(kRouter, mac, 0x0806, arp_packet(2, mac, host, kRouter, ip4(gateway)))};
  }
  Timed discovery(Instant at) {
    const Mac mac = either(9);
    return {at, 6,
            ethernet_frame(kRouter, mac, 0x86dd, advertisement(ip6(0x30, 9), ip6(0x30, 1), ip6(0x30, 9), mac, 0x60))};
  }
  Timed one(Instant at) {
    const Bytes payload = udp_datagram(5, 6, counting(rng_.below(120)));
    switch (rng_.below(12)) {
      case 0: return arp(at, static_cast<uint16_t>(rng_.below(2)), kMover, either(7), "10.0.10.1");
      case 1: return arp(at, 6, kRouted, either(9), "10.0.30.1");
      case 2: return discovery(at);
      case 3: return from_fabric(at, kMover);
      case 4: return from_fabric(at, kRouted);
      case 5:
        return {at, 4,
                ethernet_frame(kRouter, kPeer, 0x86dd, ipv6_packet({.from = kFar6, .to = ip6(0x30, 9)}, payload))};
      case 6: return from_fabric(at, kMover, 1);  // the error goes to kFar
      case 7: {
        const Bytes echo = icmp4(8, 0, static_cast<uint32_t>(rng_.below(9)), {});
        return {at, 5,
                ethernet_frame(kRouter, station(105), 0x0800,
                               ipv4_packet({.from = kFar, .to = ip4("10.255.0.1"), .protocol = 1}, echo))};
      }
      case 8: return {at, 1, ethernet_frame(either(7), station(8), 0x88b5, counting(50 + rng_.below(90)))};
      default: return {at, 6, ethernet_frame(kRouter, either(9), 0x0800, data(kFar, 9))};
    }
  }

  Rng rng_;
};

struct Outcome {
  std::vector<std::pair<Instant, Frame>> arrived;
  std::vector<DropCounters> drops;
  uint64_t floods = 0;
  uint64_t flowlets = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

template <typename Role>
Outcome run(const ForwardingState& state, const std::vector<Timed>& frames, std::optional<Duration> step) {
  Bench<Role> bench{state};
  for (const Timed& each : frames) bench.send_at(each.at, each.port, each.frame);
  for (Instant at; step && at < Instant::at(Duration::us(25)); at = at + *step) bench.engine().run(at);
  (void)bench.run();
  Outcome out;
  for (uint16_t p = 0; p < kBenchPorts; ++p) {
    for (const Probe::Arrival& each : bench.arrivals(p)) out.arrived.push_back({each.at, {p, each.bytes}});
    out.drops.push_back(bench.counters(p).drops);
  }
  const SwitchTables& tables = bench.node().tables();
  out.floods = tables.unknown_floods;
  out.flowlets = tables.chances.flowlets.begun() + tables.own_chances.flowlets.begun();
  return out;
}

struct Kind {
  const char* name;
  std::function<void(ForwardingState&)> change;
};
NeighbourAges ages(UnicastMiss miss) {
  return {.arp_timeout = Duration::us(9), .fdb_aging_time = Duration::us(2), .fdb_unicast_miss = miss};
}
void draw(ForwardingState& state, HashAlgorithm algorithm) {
  state.hash = EcmpHash{{.algorithm = algorithm}};
  LagTable lags{.lags = {{.first = 0, .count = 2, .way = 4}}, .members = {4, 5}, .hash = state.hash};
  state.lags = std::make_shared<const LagTable>(std::move(lags));
  state.adjacencies[0].port = kFirstLag;
}
const Kind kKinds[] = {
    {"what is learned", [](ForwardingState&) {}},
    {"what ages is flooded", [](ForwardingState& state) { state.ages = ages(UnicastMiss::kFlood); }},
    {"what ages is dropped", [](ForwardingState& state) { state.ages = ages(UnicastMiss::kDrop); }},
    {"spraying", [](ForwardingState& state) { state.groups[0].mode = EcmpGroupMode::kSpray; }},
    {"flowlets",
     [](ForwardingState& state) {
       state.groups[0].mode = EcmpGroupMode::kFlowlet;
       state.flowlets = {.gap = Duration::ns(200), .slots = 16};
     }},
    {"random numbers", [](ForwardingState& state) { draw(state, HashAlgorithm::kRandom); }},
    {"taking turns", [](ForwardingState& state) { draw(state, HashAlgorithm::kRoundRobin); }},
};

using BurstRoles = testing::Types<pipelines::Tor, pipelines::Aggregation>;
template <typename Role>
class Bursts : public testing::Test {};
TYPED_TEST_SUITE(Bursts, BurstRoles);

TYPED_TEST(Bursts, DecideNothing) {
  for (const Kind& kind : kKinds) {
    for (uint64_t round = 0; round < to_repeat(5); ++round) {
      SCOPED_TRACE(std::string{kind.name} + ", " + std::to_string(seed() * 100 + round));
      ForwardingState state = bench_state();
      state.chance = seed() * 100 + round;
      kind.change(state);
      const std::vector<Timed> frames = Talk{seed() * 100 + round}.frames(1'500);
      const Outcome at_once = run<TypeParam>(state, frames, {});
      const Outcome in_steps = run<TypeParam>(state, frames, Duration::ns(2));
      ASSERT_GT(at_once.arrived.size(), 500u);
      ASSERT_EQ(at_once.arrived, in_steps.arrived);
      ASSERT_EQ(at_once, in_steps);
    }
  }
}

}  // namespace
}  // namespace softspine::tests
