// SPDX-License-Identifier: Apache-2.0
// A reliable connection, frame by frame: what a requester sends and a responder answers, and when.
#include "dataplane/packet/checksum.hpp"
#include "tests/scenario/hosts/reliable_frames.hpp"

namespace softspine::testbeds {
namespace {

bool has_good_icrc(const Bytes& frame) {
  const auto bytes = static_cast<uint32_t>(frame.size()) - ethernet::kBytes - kIcrcBytes;
  const uint8_t* l3 = frame.data() + ethernet::kBytes;
  return has_good_ipv4_checksum(l3, ipv4::kMinBytes) && icrc_of(l3, bytes, 0, IpVersion::k4) == load_icrc(l3 + bytes);
}

struct Answer {
  uint8_t syndrome;
  uint32_t psn;
  uint32_t msn;
  friend bool operator==(const Answer&, const Answer&) = default;
};
std::vector<Answer> answers_of(const Puppet& puppet) {
  std::vector<Answer> answers;
  for (const Heard& heard : puppet.heard()) {
    EXPECT_TRUE(has_good_icrc(heard.frame));
    if (heard.opcode() != bth::kAcknowledge) continue;
    answers.push_back({heard.extension()[0], heard.psn(), load24(heard.extension() + 1)});
  }
  return answers;
}
std::vector<uint32_t> psns_of(const Puppet& puppet, Instant from = Instant{}) {
  std::vector<uint32_t> psns;
  for (const Heard& heard : puppet.heard()) {
    if (heard.started >= from) psns.push_back(heard.psn());
  }
  return psns;
}

TEST(ReliableResponder, AcknowledgesWhatAsksForItWithAValidFrame) {
  HostAndPuppet pair;
  pair.host().add_sink(reliable_sink());
  for (uint32_t n = 0; n < 24; ++n) pair.puppet().say(us(1), request(n));
  pair.run();
  EXPECT_EQ(answers_of(pair.puppet()), (std::vector<Answer>{{0x1f, 107, 1}, {0x1f, 115, 2}, {0x1f, 123, 3}}));
  const Heard& ack = pair.puppet().heard().front();
  EXPECT_EQ(ack.frame.size(), 62u);
  EXPECT_EQ(ack.dscp(), 26);
  EXPECT_EQ(ack.frame[15] & ip::kEcnMask, ip::kEct0);
  EXPECT_EQ(load24(ack.bth() + bth::kDestinationQp), 300u);
  EXPECT_EQ(load16(ack.bth() - udp::kBytes), rxe_source_port(200, 300));
  EXPECT_EQ(pair.host().received(0).reliable.acks_sent, 3u);
}

TEST(ReliableResponder, AnswersAtOnce) {
  HostAndPuppet pair;
  pair.host().add_sink(reliable_sink());
  const Bytes whole = request(0);
  for (uint32_t n = 0; n < 8; ++n) pair.puppet().say(us(n), request(n));
  pair.run();
  EXPECT_EQ(pair.puppet().heard().front().started, pair.arrival(us(7), static_cast<uint32_t>(request(7).size())));
}

TEST(ReliableResponder, ComplainsOnceForEachExpectedPsn) {
  HostAndPuppet pair;
  pair.host().add_sink(reliable_sink());
  for (const uint32_t n : {0, 2, 3, 4, 1, 2, 5, 6, 3}) pair.puppet().say(us(1), request(n));
  pair.run();
  EXPECT_EQ(answers_of(pair.puppet()), (std::vector<Answer>{{0x60, 101, 0}, {0x60, 103, 0}}));
  const FlowReceived& received = pair.host().received(0);
  EXPECT_EQ(received.reliable.out_of_sequence, 5u);
  EXPECT_EQ(received.gaps, 2u);
  EXPECT_EQ(received.packets, 9u);
  EXPECT_EQ(received.bytes, 4u * 1024);
}

TEST(ReliableResponder, AcknowledgesADuplicateAgainWithTheLastItTook) {
  HostAndPuppet pair;
  pair.host().add_sink(reliable_sink());
  for (const uint32_t n : {0, 1, 2, 0, 1}) pair.puppet().say(us(1), request(n));
  pair.run();
  EXPECT_EQ(answers_of(pair.puppet()), (std::vector<Answer>{{0x1f, 102, 0}, {0x1f, 102, 0}}));
  EXPECT_EQ(pair.host().received(0).reliable.duplicate_request, 2u);
  EXPECT_EQ(pair.host().received(0).bytes, 3u * 1024);
}

TEST(ReliableResponder, AnswersMarksWithACnpAsAnAdapterSendsIt) {
  HostAndPuppet pair;
  pair.host().add_sink(reliable_sink());
  for (uint32_t n = 0; n < 100; ++n) pair.puppet().say(us(2 * n), request(n, n < 10 ? ip::kEct0 : ip::kCe));
  pair.run();
  std::vector<Instant> sent;
  for (const Heard& heard : pair.puppet().heard()) {
    if (heard.opcode() != bth::kCnp) continue;
    sent.push_back(heard.started);
    EXPECT_TRUE(has_good_icrc(heard.frame));
    // What was captured from a ConnectX-4 Lx, at other addresses: put them in, and its ICRC must come out.
    Bytes cnp = heard.frame;
    uint8_t* l3 = cnp.data() + ethernet::kBytes;
    EXPECT_EQ(load16(l3 + ipv4::kTotalLength), 60);
    store16(l3 + ipv4::kId, 0x718c);
    store32(l3 + ipv4::kSource, 0x0a001101);
    store32(l3 + ipv4::kDestination, 0x0a001201);
    store16(l3 + 20 + udp::kSourcePort, 0);
    store24(l3 + 28 + bth::kDestinationQp, 0x000118);
    store16(l3 + ipv4::kChecksum, 0);
    store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, 20));
    store_icrc(l3 + 56, icrc_of(l3, 56, 0, IpVersion::k4));
    const Bytes captured{0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61, 0x0a, 0x00, 0x11,
                         0x01, 0x0a, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00, 0x81, 0x00,
                         0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                         0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a};
    EXPECT_EQ(Bytes(l3, cnp.data() + cnp.size()), captured);
  }
  // Marked at 20, 22 … 198 us; every 50 us at most.
  const auto bytes = static_cast<uint32_t>(request(1).size());
  EXPECT_EQ(sent, (std::vector<Instant>{pair.arrival(us(20), bytes), pair.arrival(us(70), bytes),
                                        pair.arrival(us(120), bytes), pair.arrival(us(170), bytes)}));
  EXPECT_EQ(pair.host().received(0).reliable.np_cnp_sent, 4u);
  EXPECT_EQ(pair.host().received(0).marked, 90u);
}

// RFC 3168: 01 is ECT(1), 10 is ECT(0), 11 is CE; only the last is a mark.
TEST(ReliableResponder, TakesNoOtherCodepointForAMark) {
  HostAndPuppet pair;
  pair.host().add_sink(reliable_sink());
  for (uint32_t n = 0; n < 8; ++n) pair.puppet().say(us(2 * n), request(n, static_cast<uint8_t>(n == 7 ? 3 : n % 3)));
  pair.run(us(100));
  uint32_t cnps = 0;
  for (const Heard& heard : pair.puppet().heard()) cnps += heard.opcode() == bth::kCnp;
  EXPECT_EQ(cnps, 1u);
  EXPECT_EQ(pair.host().received(0).marked, 1u);
  EXPECT_EQ(pair.host().received(0).packets, 8u);
  EXPECT_EQ(pair.host().received(0).qp, 200u);
}

// Their priority is 6 by their DSCP. What else the port has to say goes on.
TEST(ReliableResponder, CnpsOfAPausedPriorityWait) {
  HostAndPuppet pair;
  pair.host().add_sink(reliable_sink());
  pair.puppet().say(us(0), pfc_frame(0x40, 0xffff));
  for (uint32_t n = 0; n < 8; ++n) pair.puppet().say(us(20), request(n, ip::kCe));
  pair.puppet().say(us(60), pfc_frame(0x40, 0));
  pair.run(us(100));
  ASSERT_EQ(pair.puppet().heard().size(), 2u);
  EXPECT_EQ(pair.puppet().heard()[0].opcode(), bth::kAcknowledge);
  EXPECT_LT(pair.puppet().heard()[0].started, us(25));
  EXPECT_EQ(pair.puppet().heard()[1].opcode(), bth::kCnp);
  EXPECT_EQ(pair.puppet().heard()[1].started, pair.arrival(us(60), 60));
}

// Nothing else wants to send, and no XON comes: when its time has run out they go.
TEST(ReliableResponder, AnswersWaitUntilAPauseLapses) {
  HostAndPuppet pair;
  SinkConfig sink = reliable_sink();
  sink.ack_dscp = 3;
  pair.host().add_sink(sink);
  pair.puppet().say(us(0), pfc_frame(0x08, 20'000));  // 102.4 us
  for (uint32_t n = 0; n < 8; ++n) pair.puppet().say(us(20), request(n));
  pair.run();
  ASSERT_EQ(pair.puppet().heard().size(), 1u);
  EXPECT_EQ(pair.puppet().heard()[0].opcode(), bth::kAcknowledge);
  EXPECT_EQ(pair.puppet().heard()[0].started,
            pair.arrival(us(0), mac_control::kFrameBytes) + Duration::ps(5120) * 20'000);
}

// 130 frames of about 1 KiB come at 100 Gb/s and leave at 10 Gb/s: XOFF when more than 96 KiB wait, XON when it is no
// more than 64 KiB.
TEST(SlowResponder, SaysXoffAboveItsXoffThresholdAndXonAtItsXonThreshold) {
  HostAndPuppet pair;
  pair.host().add_sink(reliable_sink());
  pair.host().set_slow_receiver(PortNo{0}, SlowReceiver{.drain = Rate::gbps(10)}, Instant{});
  for (uint32_t n = 0; n < 130; ++n) pair.puppet().say(us(1), request(n, ip::kEct0, 3));
  pair.run(us(200));
  std::vector<Heard> pauses;
  for (const Heard& heard : pair.puppet().heard()) {
    if (heard.type() == ethernet::kTypeMacControl) pauses.push_back(heard);
  }
  ASSERT_EQ(pauses.size(), 2u);
  // The buffer holds what has come less what has left; by the bytes of each.
  const auto sized = [&](uint32_t n) { return static_cast<uint32_t>(request(n, ip::kEct0, 3).size()); };
  Instant came = us(1) + HostAndPuppet::kPropagation;
  Instant leaves = Instant::never();
  uint32_t held = 0;
  uint32_t next_in = 0;
  uint32_t next_out = 0;
  Instant xoff = Instant::never();
  Instant xon = Instant::never();
  while (xon.is_never()) {
    const Instant arrives = next_in < 130 ? came + Rate::gbps(100).time_of_frame(sized(next_in)) : Instant::never();
    if (arrives < leaves) {
      held += sized(next_in);
      if (next_in == next_out) leaves = arrives + Rate::gbps(10).time_of_bytes(sized(next_in));
      came = arrives;
      ++next_in;
      if (held > 96 * 1024 && xoff.is_never()) xoff = arrives;
    } else {
      held -= sized(next_out++);
      if (held <= 64 * 1024 && !xoff.is_never()) xon = leaves;
      leaves = leaves + Rate::gbps(10).time_of_bytes(sized(next_out));
    }
  }
  EXPECT_EQ(pauses[0].started, xoff);
  EXPECT_EQ(load16(pauses[0].frame.data() + 18 + 2 * 3), 0xffff) << "priority 3's time";
  EXPECT_EQ(pauses[1].started, xon);
  EXPECT_EQ(load16(pauses[1].frame.data() + 18 + 2 * 3), 0);
}

void expect_asks_with_the_last_packet(TransportKind transport, Verb verb, uint32_t packets) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.transport = transport;
  flow.verb = verb;
  flow.message_bytes = packets * 1024;
  pair.host().add_flow(flow);
  pair.run(us(20));
  ASSERT_EQ(pair.puppet().heard().size(), packets);
  for (uint32_t i = 0; i < packets; ++i) {
    const bool asks = (pair.puppet().heard()[i].bth()[bth::kAckRequest] & bth::kAckRequestBit) != 0;
    EXPECT_EQ(asks, i + 1 == packets) << "packet " << i << " of " << packets;
  }
}

TEST(ReliableRequester, AsksWithTheLastPacketOfEachMessageWhateverTheVerb) {
  for (const Verb verb : {Verb::kWrite, Verb::kSend}) {
    for (const uint32_t packets : {1U, 2U, 3U})
      expect_asks_with_the_last_packet(TransportKind::kReliable, verb, packets);
  }
}

TEST(OpenLoopSender, AsksWithTheLastPacketOfEachMessageWhateverTheVerb) {
  for (const Verb verb : {Verb::kWrite, Verb::kSend}) {
    for (const uint32_t packets : {1U, 2U, 3U})
      expect_asks_with_the_last_packet(TransportKind::kOpenLoop, verb, packets);
  }
}

TEST(ReliableRequester, SendsAWindowAndWaits) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.reliable = {.window = 6, .ack_every = 3};
  pair.host().add_flow(flow);
  pair.puppet().say(us(50), response(0x1f, 102));
  pair.run(us(100));
  EXPECT_EQ(psns_of(pair.puppet()), (std::vector<uint32_t>{100, 101, 102, 103, 104, 105, 106, 107}));
  std::vector<uint32_t> asked;
  for (const Heard& heard : pair.puppet().heard()) {
    EXPECT_TRUE(has_good_icrc(heard.frame));
    if ((heard.bth()[bth::kAckRequest] & bth::kAckRequestBit) != 0) asked.push_back(heard.psn());
  }
  EXPECT_EQ(asked, (std::vector<uint32_t>{102, 105, 107})) << "every third, and the last of a message";
  EXPECT_EQ(pair.puppet().heard()[6].started, pair.arrival(us(50), 62));
}

TEST(ReliableRequester, GoesBackToWhatANakNames) {
  HostAndPuppet pair;
  pair.host().add_flow(reliable_flow());
  pair.puppet().say(us(50), response(0x60, 103));
  pair.puppet().say(us(60), response(0x1f, 107));
  pair.run(us(100));
  EXPECT_EQ(psns_of(pair.puppet(), us(40)), (std::vector<uint32_t>{103, 104, 105, 106, 107}));
  const FlowSent& sent = pair.host().sent(0);
  EXPECT_EQ(sent.reliable.packet_seq_err, 1u);
  EXPECT_EQ(sent.reliable.retransmitted_packets, 5u);
  EXPECT_EQ(sent.packets, 13u);
  EXPECT_EQ(sent.messages, 1u);
  EXPECT_EQ(sent.reliable.completed_messages, 1u);
  // From the first bit to the last acknowledgement's last.
  EXPECT_EQ(pair.host().counters().completion_ps.max(),
            static_cast<uint64_t>((pair.arrival(us(60), 62) - Instant{}).count_ps()));
}

// It has sent three since the last that asked when it goes back: the fifth of those that it sends again asks.
TEST(ReliableRequester, CountsAnewAfterGoingBackWhichPacketAsks) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.message_bytes = 64 * 1024;
  flow.reliable = {.window = 8, .ack_every = 5};
  pair.host().add_flow(flow);
  pair.puppet().say(us(50), response(0x60, 101));
  pair.run(us(100));
  std::vector<uint32_t> asked;
  for (const Heard& heard : pair.puppet().heard()) {
    if ((heard.bth()[bth::kAckRequest] & bth::kAckRequestBit) != 0) asked.push_back(heard.psn());
  }
  EXPECT_EQ(psns_of(pair.puppet(), us(40)), (std::vector<uint32_t>{101, 102, 103, 104, 105, 106, 107, 108}));
  EXPECT_EQ(asked, (std::vector<uint32_t>{104, 105})) << "104 the first time, 105 the second";
}

// From its first packet's first bit, whenever that was, to the last bit of what acknowledges its last.
TEST(ReliableRequester, AMessagesTimeRunsFromItsFirstBit) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.start = us(30);
  flow.messages = 2;
  flow.gap = Duration::us(40);
  pair.host().add_flow(flow);
  pair.puppet().say(us(60), response(0x1f, 107));
  pair.puppet().say(us(100), response(0x1f, 115));
  pair.run(us(200));
  std::vector<Instant> first_bits;
  for (const Heard& heard : pair.puppet().heard()) {
    if (heard.psn() == 100 || heard.psn() == 108) first_bits.push_back(heard.started);
  }
  ASSERT_EQ(first_bits.size(), 2u);
  ASSERT_EQ(first_bits[0], us(30));
  const Histogram& times = pair.host().counters().completion_ps;
  EXPECT_EQ(times.count(), 2u);
  EXPECT_EQ(times.min(), static_cast<uint64_t>((pair.arrival(us(100), 62) - first_bits[1]).count_ps()));
  EXPECT_EQ(times.max(), static_cast<uint64_t>((pair.arrival(us(60), 62) - first_bits[0]).count_ps()));
}

// What goes back waits as long as what was just sent, also if nothing new is acknowledged with it.
TEST(ReliableRequester, ANakBeginsTheTimeoutAnew) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.reliable.ack_timeout = 5;  // 131.072 us
  pair.host().add_flow(flow);
  pair.puppet().say(us(100), response(0x60, 100));
  pair.puppet().say(us(300), response(0x1f, 107));
  pair.run();
  const Instant due = pair.arrival(us(100), 62) + Duration::ns(4096) * 32;
  ASSERT_EQ(psns_of(pair.puppet()).size(), 24u) << "sent, sent again for the NAK, and for the timeout";
  EXPECT_EQ(pair.puppet().heard()[16].started, due);
  EXPECT_EQ(pair.host().sent(0).reliable.local_ack_timeout_err, 1u);
}

// The time is up in the middle of a window that goes slowly: the rest of it stays where it is.
TEST(ReliableRequester, AConnectionThatHasFailedSendsNothingMore) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.message_bytes = 64 * 1024;
  flow.rate = Rate::gbps(1);
  flow.reliable = {.window = 64, .ack_every = 64, .ack_timeout = 4, .retries = 0};  // 65.536 us
  pair.host().add_flow(flow);
  pair.run(us(1'000));
  EXPECT_EQ(pair.host().sent(0).reliable.retry_exceeded_err, 1u);
  ASSERT_FALSE(pair.puppet().heard().empty());
  const Instant failed =
      Instant{} + Rate::gbps(100).time_of_frame(14 + 20 + 8 + 12 + 16 + 1024 + 4) + Duration::ns(4096) * 16;
  EXPECT_LE(pair.puppet().heard().back().started, failed);
  EXPECT_LT(pair.puppet().heard().size(), 10u);
}

TEST(ReliableRequester, NamesBothEndsOfIpv6) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.destination = host_config(2).ipv6;
  pair.host().add_flow(flow);
  pair.run(us(20));
  ASSERT_EQ(pair.puppet().heard().size(), 8u);
  const Bytes& frame = pair.puppet().heard()[0].frame;
  EXPECT_EQ(load_ipv6(frame.data() + ethernet::kBytes + ipv6::kSource), host_config(1).ipv6);
  EXPECT_EQ(load_ipv6(frame.data() + ethernet::kBytes + ipv6::kDestination), host_config(2).ipv6);
  EXPECT_EQ(frame[ethernet::kBytes + ipv6::kNextHeader], ip::kUdp);
}

TEST(ReliableRequester, WhatIsNotUnderWayIsIgnored) {
  HostAndPuppet pair;
  pair.host().add_flow(reliable_flow());
  pair.puppet().say(us(50), response(0x1f, 108));  // never sent
  pair.puppet().say(us(51), response(0x60, 108));
  pair.puppet().say(us(52), response(0x1f, 99));
  pair.puppet().say(us(53), response(0x63, 103));  // another NAK than ours
  pair.run(us(100));
  EXPECT_EQ(pair.host().sent(0).packets, 8u);
  EXPECT_EQ(pair.host().sent(0).reliable.completed_messages, 0u);
  EXPECT_EQ(pair.host().sent(0).responses, 4u);
}

TEST(ReliableRequester, TimesOutAfterAllWasSentWithoutProgressAndGivesUpInTheEnd) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.reliable.ack_timeout = 5;  // 131.072 us
  flow.reliable.retries = 2;
  pair.host().add_flow(flow);
  ASSERT_EQ(pair.run(), RunEnd::kIdle);
  const Duration timeout = Duration::ns(4096) * 32;
  const Instant first_left = Instant{} + Rate::gbps(100).time_of_frame(14 + 20 + 8 + 12 + 16 + 1024 + 4);
  for (int64_t round = 1; round <= 2; ++round) {
    const Instant due = first_left + timeout * round;
    EXPECT_EQ(pair.puppet().heard()[static_cast<size_t>(8 * round)].started, due);
  }
  EXPECT_EQ(pair.puppet().heard().size(), 24u);
  EXPECT_EQ(pair.host().sent(0).reliable.local_ack_timeout_err, 3u);
  EXPECT_EQ(pair.host().sent(0).reliable.retry_exceeded_err, 1u);
  EXPECT_TRUE(pair.host().sender(0)->has_failed());
}

TEST(ReliableRequester, ProgressMovesTheTimeout) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.reliable.ack_timeout = 5;
  pair.host().add_flow(flow);
  pair.puppet().say(us(100), response(0x1f, 103));
  pair.puppet().say(us(240), response(0x1f, 107));
  pair.run();
  const Instant due = pair.arrival(us(100), 62) + Duration::ns(4096) * 32;
  EXPECT_EQ(psns_of(pair.puppet(), us(50)), (std::vector<uint32_t>{104, 105, 106, 107}));
  EXPECT_EQ(pair.puppet().heard()[8].started, due);
  EXPECT_EQ(pair.host().sent(0).reliable.completed_messages, 1u);
  EXPECT_EQ(pair.host().sent(0).reliable.local_ack_timeout_err, 1u);
}

TEST(ReliableRequester, ACnpHalvesTheRateOfItsQueuePair) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.messages = 0;
  flow.reliable.window = 1 << 20;
  flow.reliable.ack_timeout = 0;
  flow.reliable.congestion_control = ReactionParameters::paper();
  pair.host().add_flow(flow);
  pair.puppet().say(us(100), cnp());
  pair.run(us(150));
  uint64_t before = 0;
  uint64_t after = 0;
  for (const Heard& heard : pair.puppet().heard()) {
    before += heard.started >= us(50) && heard.started < us(100);
    after += heard.started >= us(102) && heard.started < us(148);  // later ones have not arrived by the end
  }
  EXPECT_NEAR(static_cast<double>(after) / 46, static_cast<double>(before) / 50 / 2, 0.06);
  EXPECT_EQ(pair.host().sent(0).reliable.rp_cnp_handled, 1u);
}

// Whoever is at the other end: both are counted, and change nothing.
TEST(OpenLoopSender, CountsAcknowledgementsAndIgnoresCnps) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.transport = TransportKind::kOpenLoop;
  flow.messages = 4;
  pair.host().add_flow(flow);
  pair.puppet().say(us(1), cnp());
  pair.puppet().say(us(2), response(0, 100));
  pair.puppet().say(us(3), cnp());
  pair.run();
  const FlowSent& sent = pair.host().sent(0);
  EXPECT_EQ(sent.responses, 3u);
  EXPECT_EQ(sent.reliable.rp_cnp_ignored, 2u);
  EXPECT_EQ(sent.reliable.rp_cnp_handled, 0u);
  EXPECT_EQ(pair.puppet().heard().size(), 4u * 8);
}

TEST(ReliableRequester, TheAcknowledgementsOfAPausedPriorityWait) {
  HostAndPuppet pair;
  SinkConfig sink = reliable_sink();
  sink.ack_dscp = 3;
  pair.host().add_sink(sink);
  pair.puppet().say(us(0), pfc_frame(0x08, 0xffff));
  for (uint32_t n = 0; n < 8; ++n) pair.puppet().say(us(20), request(n, ip::kCe));
  pair.puppet().say(us(60), pfc_frame(0x08, 0));
  pair.run();
  ASSERT_EQ(pair.puppet().heard().size(), 2u);
  EXPECT_EQ(pair.puppet().heard()[0].opcode(), bth::kCnp) << "it has a priority of its own";
  EXPECT_LT(pair.puppet().heard()[0].started, us(25));
  EXPECT_EQ(pair.puppet().heard()[1].started, pair.arrival(us(60), 60));
}

}  // namespace
}  // namespace softspine::testbeds
