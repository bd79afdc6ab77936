// SPDX-License-Identifier: Apache-2.0
// A host with two ports, each before a puppet: what moves when a link goes down, and what may hold it from then on.
#include "dataplane/flow_control/pause_timing.hpp"
#include "tests/scenario/hosts/puppet.hpp"
#include "tests/scenario/switch/frames.hpp"

namespace softspine::testbeds {
namespace {

namespace t = softspine::tests;

constexpr Rate kPortRate = Rate::gbps(100);
constexpr Duration kPropagation = Duration::ns(500);

HostConfig two_ports(control::BondMode mode = control::BondMode::kLacp) {
  HostConfig host = host_config(1);
  host.ports = 2;
  host.bond = {.mode = mode, .miimon = Duration::us(10)};
  return host;
}

FlowConfig endless_at(uint32_t id, uint16_t port) {
  FlowConfig flow = flow_config(id);
  flow.verb = Verb::kSend;
  flow.mtu = 1024;
  flow.messages = 0;
  flow.dscp = kLossless;
  flow.port = PortNo{port};
  return flow;
}

class HostAndTwoPuppets {
 public:
  explicit HostAndTwoPuppets(const HostConfig& config = two_ports())
      : pool_("puppets", 16383, kMaxFrameBytes), engine_(clock_, {.workers = 1, .seed = 1}) {
    const NodeId host = engine_.add(std::make_unique<RoceHost>(config, pool_), 0);
    host_ = &static_cast<RoceHost&>(engine_.node(host));
    for (uint16_t p = 0; p < 2; ++p) {
      const NodeId puppet = engine_.add(std::make_unique<Puppet>(pool_), 0);
      puppets_[p] = &static_cast<Puppet&>(engine_.node(puppet));
      engine_.connect({host, PortNo{p}}, {puppet, PortNo{0}}, kPortRate, kPropagation);
    }
  }
  ~HostAndTwoPuppets() {
    engine_.drain();
    EXPECT_EQ(pool_.in_use(), 0u);
    expect_all_accounted(*host_);
  }
  HostAndTwoPuppets(const HostAndTwoPuppets&) = delete;
  HostAndTwoPuppets& operator=(const HostAndTwoPuppets&) = delete;

  RoceHost& host() { return *host_; }
  Puppet& puppet(size_t port) { return *puppets_[port]; }
  void set_link(Instant at, uint16_t port, bool up) {
    engine_.at(at, [this, port, up](Instant now) { engine_.set_link({host_->id(), PortNo{port}}, up, now); });
  }
  void run(Instant end) { engine_.run(end); }
  // When the host knows of a frame of so many bytes that a puppet sends at `at`.
  static Instant arrival(Instant at, uint32_t bytes) { return at + kPortRate.time_of_frame(bytes) + kPropagation; }

 private:
  PacketPool pool_;
  VirtualClock clock_;
  Engine engine_;
  RoceHost* host_ = nullptr;
  Puppet* puppets_[2] = {};
};

// Of frames with IPv4 that a puppet has heard, at or after `from`.
Instant first_start(const Puppet& puppet, Instant from = Instant{}) {
  for (const Heard& heard : puppet.heard()) {
    if (heard.type() == ethernet::kTypeIpv4 && heard.started >= from) return heard.started;
  }
  return Instant::never();
}

TEST(HostFailover, APauseOfTheDeadPortHoldsNobody) {
  HostAndTwoPuppets bench;
  bench.host().add_flow(endless_at(0, 1));
  bench.puppet(1).say(us(20), pfc_frame(1 << kLossless, 0xffff));
  bench.set_link(us(27), 1, false);
  bench.run(us(60));
  EXPECT_EQ(first_start(bench.puppet(0)), us(30)) << "when the host looks";
  EXPECT_EQ(bench.host().counters().failovers, 1u);
  EXPECT_EQ(bench.host().counters().flows_moved, 1u);
}

TEST(HostFailover, APauseOfTheOtherPortHoldsWhatComes) {
  HostAndTwoPuppets bench;
  bench.host().add_flow(endless_at(0, 1));
  bench.puppet(0).say(us(20), pfc_frame(1 << kLossless, 4000));
  bench.set_link(us(27), 1, false);
  bench.run(us(200));
  const Instant told = HostAndTwoPuppets::arrival(us(20), mac_control::kFrameBytes);
  EXPECT_EQ(first_start(bench.puppet(0)), told + pause_quantum(kPortRate) * 4000);
}

TEST(HostFailover, WhatMovedGoesBackWithTheLink) {
  HostAndTwoPuppets bench;
  bench.host().add_flow(endless_at(0, 0));
  bench.host().add_flow(endless_at(1, 1));
  bench.set_link(us(27), 1, false);
  bench.set_link(us(51), 1, true);
  bench.run(us(100));
  EXPECT_EQ(first_start(bench.puppet(1), us(28)), us(60));
  EXPECT_EQ(bench.host().port_of(1), PortNo{1});
  EXPECT_EQ(bench.host().counters().flows_moved, 2u);
}

// Two frames of 1082 + 24 bytes in turn from then on: the guest has every second one.
TEST(HostFailover, GuestsAndHostsFlowsTakeTurns) {
  HostAndTwoPuppets bench;
  bench.host().add_flow(endless_at(0, 0));
  bench.host().add_flow(endless_at(1, 1));
  bench.set_link(us(30), 1, false);
  bench.run(us(100));
  const double frames = 70e6 / static_cast<double>(kPortRate.time_of_frame(1082).count_ps());
  const FlowSent& guest = bench.host().sent(1);
  const double before = 30e6 / static_cast<double>(kPortRate.time_of_frame(1082).count_ps());
  EXPECT_NEAR(static_cast<double>(guest.packets), before + frames / 2, 2);
}

TEST(HostFailover, AnAnswerThatWaitsAtTheDeadPortLeavesByTheOther) {
  HostAndTwoPuppets bench;
  const t::Mac asker{2, 0, 0, 0, 0, 2};
  bench.puppet(1).say(us(20), pfc_frame(0xff, 0xffff));
  bench.puppet(1).say(us(25),
                      t::ethernet_frame(t::kAll, asker, 0x0806,
                                        t::arp_packet(1, asker, t::ip4("10.0.0.2"), t::Mac{}, t::ip4("10.0.0.1"))));
  bench.set_link(us(27), 1, false);
  bench.run(us(60));
  ASSERT_EQ(bench.puppet(0).heard().size(), 1u);
  EXPECT_EQ(bench.puppet(0).heard()[0].started, us(30));
  EXPECT_TRUE(bench.puppet(1).heard().empty());
  EXPECT_EQ(bench.host().counters().answers_sent, 1u);
}

TEST(HostFailover, AnActiveBackupAnswersByTheActivePort) {
  HostAndTwoPuppets bench{two_ports(control::BondMode::kActiveBackup)};
  const t::Mac asker{2, 0, 0, 0, 0, 2};
  const Bytes question = t::ethernet_frame(t::kAll, asker, 0x0806,
                                           t::arp_packet(1, asker, t::ip4("10.0.0.2"), t::Mac{}, t::ip4("10.0.0.1")));
  bench.puppet(1).say(us(5), question);
  bench.puppet(1).say(us(45), question);
  bench.set_link(us(27), 0, false);
  bench.run(us(60));
  EXPECT_EQ(bench.puppet(0).heard().size(), 1u);
  EXPECT_EQ(bench.puppet(1).heard().size(), 1u);
}

}  // namespace
}  // namespace softspine::testbeds
