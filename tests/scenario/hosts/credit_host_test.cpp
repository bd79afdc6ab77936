// SPDX-License-Identifier: Apache-2.0
// A built-in host on a link that goes by credit: what it promises, and what it sends without a promise.
#include "dataplane/packet/credit.hpp"
#include "tests/scenario/hosts/puppet.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint32_t kFrame = 14 + 20 + 8 + 12 + 16 + 1024 + 4;  // the first of a message, the largest

HostConfig by_credit() {
  HostConfig config = host_config(1);
  config.links[0] = {
      .parameters = {.flow_control = LinkMode::kCredit}, .credit_priorities = 1 << 3 | 1 << 4, .largest_frame = kFrame};
  return config;
}
std::vector<CreditFrame> credits_of(const Puppet& puppet) {
  std::vector<CreditFrame> found;
  for (const Heard& heard : puppet.heard()) {
    if (const auto credit = read_credit(heard.frame.data(), static_cast<uint32_t>(heard.frame.size()))) {
      found.push_back(*credit);
    }
  }
  return found;
}
Bytes promise(uint16_t cells) {
  CreditFrame frame{.priorities = 1 << 3 | 1 << 4, .cell_bytes = 256};
  frame.limit[3] = cells;
  Bytes bytes(mac_control::kFrameBytes);
  write_credit(bytes.data(), {2, 0, 0, 0, 0, 2}, frame);
  return bytes;
}

TEST(HostByCredit, PromisesAHundredAndTwentyEightKibibytesAPriority) {
  HostAndPuppet pair{by_credit()};
  pair.run(us(20));
  const auto credits = credits_of(pair.puppet());
  ASSERT_FALSE(credits.empty());
  EXPECT_EQ(credits[0].priorities, 1 << 3 | 1 << 4);
  for (const size_t priority : {size_t{3}, size_t{4}}) {
    EXPECT_EQ(uint32_t{credits[0].limit[priority]} * credits[0].cell_bytes, 128u << 10);
  }
}

// 50 cells of 256 bytes: a packet takes five, and the last must still have room for the link's largest.
TEST(HostByCredit, SendsWhatItWasPromisedAndNoMore) {
  HostAndPuppet pair{by_credit()};
  FlowConfig flow = flow_config();
  flow.dscp = 3;
  flow.mtu = 1024;
  flow.messages = 0;
  pair.host().add_flow(flow);
  pair.puppet().say(us(10), promise(50));
  pair.puppet().say(us(40), promise(65));
  pair.run(us(60));
  uint32_t first = 0;
  uint32_t second = 0;
  for (const Heard& heard : pair.puppet().heard()) {
    if (heard.type() != ethernet::kTypeIpv4) continue;
    EXPECT_GE(heard.started, pair.arrival(us(10), mac_control::kFrameBytes));
    ++(heard.started < us(40) ? first : second);
  }
  EXPECT_EQ(first, 10u);
  EXPECT_EQ(second, 3u);
  EXPECT_FALSE(pair.run(us(300)) == RunEnd::kIdle) << "it asks for more";
  EXPECT_TRUE(credits_of(pair.puppet()).back().asks);
}

// An acknowledgement takes a cell like any frame of its priority: of the five that were promised four are left, which
// is not enough for the link's largest.
TEST(HostByCredit, AcknowledgementsAreChargedToo) {
  HostAndPuppet pair{by_credit()};
  SinkConfig sink;
  sink.qp = 200;
  sink.transport = TransportKind::kReliable;
  sink.source = host_config(2).ipv4;
  sink.source_qp = 300;
  sink.ack_dscp = 3;
  pair.host().add_sink(sink);
  FlowConfig flow = flow_config();
  flow.destination = host_config(1).ipv4;
  flow.source_qp = 300;
  flow.destination_qp = 200;
  flow.transport = TransportKind::kReliable;
  flow.message_bytes = 64;
  const auto templates = templates_of(host_config(2), flow);
  Bytes request(kTemplateBytes);
  templates[0].write(request.data(), 0, 0);
  request.resize(templates[0].stored_bytes());
  request.insert(request.end() - kIcrcBytes, templates[0].frame_bytes() - templates[0].stored_bytes(), 0);
  pair.puppet().say(us(10), promise(5));
  pair.puppet().say(us(20), request);
  pair.run(us(15));
  EXPECT_EQ(pair.host().flow_control(PortNo{0}).credits().starved(), 1 << 4) << "promised nothing";
  pair.run(us(25));
  EXPECT_EQ(pair.host().received(0).reliable.acks_sent, 1u);
  EXPECT_EQ(pair.host().flow_control(PortNo{0}).credits().starved(), 1 << 3 | 1 << 4);
}

}  // namespace
}  // namespace softspine::testbeds
