// SPDX-License-Identifier: Apache-2.0
// What sinks make of what the network did.
#include <tuple>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/materialise.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {
namespace {

FlowConfig short_messages(uint32_t id, uint64_t messages) {
  FlowConfig flow = flow_config(id);
  flow.mtu = 1024;
  flow.message_bytes = 4 * 1024;
  flow.messages = messages;
  return flow;
}

TEST(HostJudgement, EverythingArrivesInOrderOnACleanLink) {
  TwoHosts hosts;
  for (uint32_t i = 0; i < 4; ++i) {
    FlowConfig flow = short_messages(i, 100);
    flow.verb = i % 2 == 0 ? Verb::kWrite : Verb::kSend;
    if (i >= 2) flow.destination = host_config(2).ipv6;
    hosts.flow(flow);
  }
  ASSERT_EQ(hosts.run(), RunEnd::kIdle);
  for (uint32_t i = 0; i < 4; ++i) {
    const FlowReceived& received = hosts.b().received(i);
    EXPECT_EQ(received.packets, 400u);
    EXPECT_EQ(received.messages, 100u);
    EXPECT_EQ(received.bytes, 100u * 4096);
    EXPECT_EQ(std::tuple(received.gaps, received.skipped, received.behind), std::tuple(0u, 0u, 0u));
    EXPECT_EQ(received.id, i);
  }
  EXPECT_EQ(hosts.b().counters().dropped_packets(), 0u);
  EXPECT_EQ(hosts.b().sinks().latency().count(), 1600u);
}

TEST(HostJudgement, PsnsGoOnBehindTheirWrap) {
  TwoHosts hosts;
  FlowConfig flow = short_messages(0, 10);
  flow.first_psn = 0xfffffd;
  hosts.flow(flow);
  hosts.run();
  EXPECT_EQ(hosts.b().received(0).messages, 10u);
  EXPECT_EQ(hosts.b().received(0).skipped, 0u);
}

TEST(HostJudgement, LossIsAGapAndBreaksItsMessage) {
  uint32_t seen = 0;
  TwoHosts hosts{{.meddle = [&seen](Meddler& self, Packet packet) {
    const uint32_t n = seen++;
    if (n == 5 || n == 6 || n == 40) return PacketPool::release(std::move(packet));
    self.pass(std::move(packet));
  }}};
  hosts.flow(short_messages(0, 25));
  hosts.run();
  const FlowReceived& received = hosts.b().received(0);
  EXPECT_EQ(received.gaps, 2u);
  EXPECT_EQ(received.skipped, 3u);
  EXPECT_EQ(received.behind, 0u);
  EXPECT_EQ(received.packets, 97u);
  EXPECT_EQ(received.messages, 23u);
}

TEST(HostJudgement, ALatePacketIsBehindAndAnEarlierOneMissing) {
  Packet held;
  TwoHosts hosts{{.meddle = [&held](Meddler& self, Packet packet) {
    const uint32_t psn = load24(packet.data() + 14 + 20 + 8 + bth::kPsn);
    if (psn == 7) {
      held = std::move(packet);
      return;
    }
    const Instant now = packet.meta().at;
    self.pass(std::move(packet));
    if (psn != 9) return;
    held.meta().at = now;
    self.pass(std::move(held));
  }}};
  hosts.flow(short_messages(0, 5));
  hosts.run();
  const FlowReceived& received = hosts.b().received(0);
  EXPECT_EQ(std::tuple(received.gaps, received.skipped, received.behind), std::tuple(1u, 1u, 1u));
  EXPECT_EQ(received.bytes, 19u * 1024);
}

TEST(HostJudgement, ATwicedPacketIsBehind) {
  PacketPool* pool = nullptr;
  TwoHosts hosts{{.meddle = [&pool](Meddler& self, Packet packet) {
    if (load24(packet.data() + 14 + 20 + 8 + bth::kPsn) == 3) self.pass(pool->copy(packet));
    self.pass(std::move(packet));
  }}};
  pool = &hosts.pool();
  hosts.flow(short_messages(0, 5));
  hosts.run();
  EXPECT_EQ(hosts.b().received(0).behind, 1u);
  EXPECT_EQ(hosts.b().received(0).skipped, 0u);
  EXPECT_EQ(hosts.b().received(0).bytes, 20u * 1024);
}

TEST(HostJudgement, AFlippedBitFailsTheIcrcAndCountsAsMissing) {
  Rng rng{7, 0};
  TwoHosts hosts{{.meddle = [&rng](Meddler& self, Packet packet) {
    const uint32_t psn = load24(packet.data() + 14 + 20 + 8 + bth::kPsn);
    // Behind the UDP header, but for BTH byte 4, the ICRC covers every bit; from the RETH on nothing else looks.
    if (psn % 10 == 4)
      packet.data()[14 + 20 + 8 + bth::kBytes + rng.below(20)] ^= static_cast<uint8_t>(1 << rng.below(8));
    self.pass(std::move(packet));
  }}};
  FlowConfig flow = flow_config();
  flow.message_bytes = 512;
  flow.messages = 100;
  hosts.flow(flow);
  hosts.run();
  EXPECT_EQ(dropped(hosts.b(), DropReason::kBadIcrc), 10u);
  EXPECT_EQ(hosts.b().received(0).skipped, 10u);
  EXPECT_EQ(hosts.b().received(0).packets, 90u);
}

TEST(HostJudgement, WhatARouterChangesLeavesTheIcrcGood) {
  TwoHosts hosts{{.meddle = [](Meddler& self, Packet packet) {
    uint8_t* l3 = packet.data() + ethernet::kBytes;
    decrement_ttl(l3);
    replace_tos(l3, l3[ipv4::kTos] | ip::kCe);
    l3[20 + 8 + bth::kCongestion] |= bth::kFecn;
    self.pass(std::move(packet));
  }}};
  hosts.flow(short_messages(0, 5));
  hosts.run();
  EXPECT_EQ(hosts.b().received(0).messages, 5u);
  EXPECT_EQ(hosts.b().received(0).marked, 20u);
}

TEST(HostJudgement, MaterialisedPacketsAreTheSame) {
  PacketPool whole{"whole", 1023, kMaxFrameBytes};
  {
    TwoHosts hosts{{.meddle = [&whole](Meddler& self, Packet packet) {
      Packet copy = materialise(packet, whole);
      EXPECT_EQ(copy.stored_bytes(), packet.frame_bytes());
      EXPECT_EQ(copy.frame_bytes(), packet.frame_bytes());
      PacketPool::release(std::move(packet));
      self.pass(std::move(copy));
    }}};
    FlowConfig flow = flow_config();
    flow.messages = 3;
    flow.message_bytes = 3 * 4096 + 1001;
    hosts.flow(flow);
    hosts.run();
    EXPECT_EQ(hosts.b().received(0).messages, 3u);
    EXPECT_EQ(hosts.b().received(0).bytes, 3u * (3 * 4096 + 1001));
    EXPECT_EQ(hosts.b().counters().dropped_packets(), 0u);
  }
  EXPECT_EQ(whole.in_use(), 0u);
}

TEST(HostJudgement, APacketTooLargeForThePoolIsNotMaterialised) {
  PacketPool whole{"small", 63, 1000};
  Packet packet = whole.make(96);
  packet.meta().frame_bytes = 1001;
  EXPECT_FALSE(materialise(packet, whole));
  packet.meta().frame_bytes = 1000;
  Packet copy = materialise(packet, whole);
  EXPECT_TRUE(copy);
  PacketPool::release(std::move(copy));
  PacketPool::release(std::move(packet));
}

TEST(HostJudgement, AnUnknownQueuePairIsNamed) {
  TwoHosts hosts;
  hosts.a().add_flow(short_messages(0, 2));
  hosts.run();
  EXPECT_EQ(dropped(hosts.b(), DropReason::kUnknownQp), 8u);
}

TEST(HostJudgement, AnotherHostsPacketsAreNotOurs) {
  TwoHosts hosts;
  FlowConfig flow = short_messages(0, 2);
  flow.destination = Ipv4Address{0x0a000063};
  hosts.flow(flow);
  hosts.run();
  EXPECT_EQ(dropped(hosts.b(), DropReason::kNotForUs), 8u);
}

// Everything that a report could print.
auto outcome_with(uint32_t workers) {
  TwoHosts hosts{{.workers = workers}};
  for (uint32_t i = 0; i < 50; ++i) {
    FlowConfig flow = short_messages(i, 20);
    if (i % 3 != 0) flow.rate = Rate::mbps(100 + 77 * i);
    flow.start = Instant::at(Duration::ns(i * 13));
    hosts.flow(flow);
    FlowConfig back = flow;
    back.destination = host_config(1).ipv4;
    back.source_qp += 1000;
    back.destination_qp += 1000;
    hosts.b().add_flow(back);
    hosts.a().add_sink({.id = i, .qp = back.destination_qp});
  }
  EXPECT_EQ(hosts.run(), RunEnd::kIdle);
  std::vector<std::tuple<uint64_t, uint64_t, int64_t, int64_t, double, Instant, Instant>> all;
  for (RoceHost* host : {&hosts.a(), &hosts.b()}) {
    for (uint32_t i = 0; i < host->sink_count(); ++i) {
      const FlowReceived& r = host->received(i);
      all.emplace_back(r.packets, r.messages, r.latency_min_ps, r.latency_max_ps, r.latency_sum_ps, r.last_arrived,
                       host->sent(i).last_left);
    }
  }
  return all;
}

TEST(HostJudgement, TwoWorkersSeeWhatOneSees) {
  EXPECT_EQ(outcome_with(1), outcome_with(2));
}

}  // namespace
}  // namespace softspine::testbeds
