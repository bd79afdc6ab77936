// SPDX-License-Identifier: Apache-2.0
// What acknowledgements say of the packets that they name: marks, and in-band telemetry. The node between the hosts
// marks and writes as a switch would.
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/telemetry_writer.hpp"
#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint32_t kEchoPackets = 20;

FlowConfig echoed_flow(const CongestionParameters& control) {
  FlowConfig flow = flow_config();
  flow.transport = TransportKind::kReliable;
  flow.mtu = 1024;
  flow.message_bytes = 5 * 1024 - 3;
  flow.messages = kEchoPackets / 5;
  flow.reliable.congestion_control = control;
  return flow;
}

void connect(TwoHosts& pair, const FlowConfig& flow) {
  pair.a().add_flow(flow);
  SinkConfig sink{.qp = flow.destination_qp, .transport = flow.transport};
  sink.source = host_config(1).ipv4;
  if (std::holds_alternative<Ipv6Address>(flow.destination)) sink.source = host_config(1).ipv6;
  sink.source_qp = flow.source_qp;
  sink.echoes_ce = uses_echo(flow.reliable.congestion_control);
  sink.echoes_telemetry = uses_telemetry(flow.reliable.congestion_control);
  pair.b().add_sink(sink);
}

// A packet whose frame shows its BTH, the IPv4 header being without options.
uint8_t* bth_in(const Packet& packet) {
  return packet.data() + ethernet::kBytes + ipv4::kMinBytes + udp::kBytes;
}

TEST(Echo, AcknowledgementsSayWhichPacketsCameMarked) {
  for (const bool asked : {true, false}) {
    uint32_t number = 0;
    uint32_t said = 0;
    TwoHosts pair({.meddle = [&](Meddler& node, Packet packet) {
      if (packet.meta().in_port == 0) {
        if (number++ % 3 == 0) replace_tos(packet.data() + ethernet::kBytes, 26 << 2 | ip::kCe);
      } else {
        said += (bth_in(packet)[bth::kCongestion] & bth::kBecn) != 0 ? 1 : 0;
      }
      node.pass(std::move(packet));
    }});
    connect(pair, echoed_flow(asked ? CongestionParameters{DctcpParameters{}} : TimelyParameters{}));
    pair.run();
    EXPECT_EQ(pair.b().received(0).marked, 7U);
    EXPECT_EQ(said, asked ? 7U : 0U);
    EXPECT_EQ(pair.a().sent(0).reliable.ce_echoes, asked ? 7U : 0U);
    EXPECT_EQ(pair.b().received(0).reliable.acks_sent, asked ? kEchoPackets : 4U) << "every packet asks";
    EXPECT_EQ(pair.a().sent(0).reliable.completed_messages, 4U);
  }
}

// Three hops write into each packet, by either version of IP, either verb, with the hosts' tag and without.
TEST(Echo, TelemetryComesBackAsTheSwitchesWroteIt) {
  for (const bool is_v6 : {false, true}) {
    for (const Verb verb : {Verb::kSend, Verb::kWrite}) {
      for (const uint16_t vlan : {uint16_t{0}, uint16_t{7}}) {
        uint32_t wrote = 0;
        std::vector<uint32_t> data_bytes;
        std::vector<uint32_t> ack_bytes;
        TwoHosts pair({.tag = {.vlan = vlan}, .meddle = [&](Meddler& node, Packet packet) {
                         if (packet.meta().in_port == 0) {
                           data_bytes.push_back(packet.frame_bytes());
                           parse(packet);
                           for (uint8_t hop = 0; hop < 3; ++hop)
                             add_telemetry(packet, {.rate = hop, .time = ++wrote, .queue = 9});
                         } else {
                           ack_bytes.push_back(packet.frame_bytes());
                           parse(packet);
                           add_telemetry(packet, {.rate = 4});  // as a switch would: an acknowledgement takes none
                         }
                         node.pass(std::move(packet));
                       }});
        FlowConfig flow = echoed_flow(HpccParameters{});
        flow.verb = verb;
        if (is_v6) flow.destination = host_config(2).ipv6;
        connect(pair, flow);
        pair.run();
        const FlowSent& sent = pair.a().sent(0);
        EXPECT_EQ(sent.reliable.telemetry_acks, kEchoPackets);
        EXPECT_EQ(sent.reliable.completed_messages, 4U);
        EXPECT_EQ(pair.b().received(0).bytes, flow.message_bytes * 4) << "telemetry is no payload";
        EXPECT_EQ(pair.a().counters().dropped_packets() + pair.b().counters().dropped_packets(), 0U);
        const uint32_t headers = 14U + (is_v6 ? 40 : 20) + 8 + 12 + (vlan == 0 ? 0 : 4);
        // 1,024 and 42 bytes, and two of padding; the last packet of a message has three less, and three more.
        EXPECT_EQ(data_bytes[1], headers + 1024 + 44 + 4);
        EXPECT_EQ(data_bytes[0], headers + (verb == Verb::kWrite ? 16 : 0) + 1024 + 44 + 4);
        EXPECT_EQ(data_bytes[4], headers + 1064 + 4);
        for (const uint32_t bytes : ack_bytes) EXPECT_EQ(bytes, headers + 4 + 44 + 4);
      }
    }
  }
}

TEST(Echo, WhatWasDamagedBeforeASwitchWroteStaysDamaged) {
  uint32_t number = 0;
  TwoHosts pair({.meddle = [&](Meddler& node, Packet packet) {
    if (packet.meta().in_port == 0) {
      parse(packet);
      if (number++ == 2) bth_in(packet)[bth::kPartitionKey] ^= 1;
      add_telemetry(packet, {.time = 77});
    }
    node.pass(std::move(packet));
  }});
  FlowConfig flow = echoed_flow(HpccParameters{});
  flow.reliable.ack_timeout = 2;
  connect(pair, flow);
  pair.run();
  EXPECT_EQ(dropped(pair.b(), DropReason::kBadIcrc), 1U);
  EXPECT_EQ(pair.a().sent(0).reliable.completed_messages, 4U) << "it is sent again";
}

TEST(Echo, APacketWithoutTheFieldIsLeftAlone) {
  TwoHosts pair({.meddle = [&](Meddler& node, Packet packet) {
    const std::vector<uint8_t> before(packet.data(), packet.data() + packet.stored_bytes());
    parse(packet);
    add_telemetry(packet, {.rate = 3, .time = 1, .bytes = 2, .queue = 3});
    EXPECT_TRUE(std::equal(before.begin(), before.end(), packet.data()));
    node.pass(std::move(packet));
  }});
  connect(pair, echoed_flow(TimelyParameters{}));
  pair.run();
  EXPECT_EQ(pair.a().sent(0).reliable.telemetry_acks, 0U);
  EXPECT_EQ(pair.a().sent(0).reliable.completed_messages, 4U);
}

// The round trip has 1 us and some; each hop of the acknowledgement adds 10 us to a target of 100 ns.
TEST(Echo, SwiftCountsTheHopsOfAcknowledgements) {
  for (const uint8_t hops : {uint8_t{0}, uint8_t{2}}) {
    TwoHosts pair({.meddle = [&](Meddler& node, Packet packet) {
      if (packet.meta().in_port == 1) {
        uint8_t* l3 = packet.data() + ethernet::kBytes;
        l3[ipv4::kTtl] = static_cast<uint8_t>(l3[ipv4::kTtl] - hops);
        store16(l3 + ipv4::kChecksum, 0);
        store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, ipv4::kMinBytes));
      }
      node.pass(std::move(packet));
    }});
    connect(pair, echoed_flow(SwiftParameters{
                      .base_target = Duration::ns(100), .hop_scale = Duration::us(10), .fs_range = Duration{}}));
    pair.run();
    const uint64_t window = pair.a().sender(0)->limiter().control().window_bytes();
    EXPECT_EQ(window > 12 * 1024, hops == 2) << window;
  }
}

}  // namespace
}  // namespace softspine::testbeds
