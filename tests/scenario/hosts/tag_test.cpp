// SPDX-License-Identifier: Apache-2.0
// Built-in hosts with an 802.1Q tag: what is on the wire between them, and what of it they take.
#include "tests/scenario/hosts/puppet.hpp"

namespace softspine::testbeds {
namespace {

HostTag tag_of(uint16_t vlan, uint8_t pcp) {
  HostTag tag{.vlan = vlan};
  tag.pcp_of_dscp.fill(pcp);
  return tag;
}

// Type 0x8100, PCP 5, VLAN 0x123, and behind it what an untagged host sends; four bytes longer.
TEST(HostTags, StandBehindTheMacsOfEveryPacket) {
  std::vector<std::vector<uint8_t>> seen[2];
  for (const bool tagged : {false, true}) {
    auto& frames = seen[tagged ? 1 : 0];
    TwoHosts hosts{{.tag = tagged ? tag_of(0x123, 5) : HostTag{}, .meddle = [&](Meddler& it, Packet packet) {
                      EXPECT_EQ(packet.frame_bytes() - packet.stored_bytes(), packet.elided_bytes());
                      frames.emplace_back(packet.data(), packet.data() + packet.stored_bytes());
                      frames.back().push_back(static_cast<uint8_t>(packet.frame_bytes() >> 8));
                      frames.back().push_back(static_cast<uint8_t>(packet.frame_bytes()));
                      it.pass(std::move(packet));
                    }}};
    FlowConfig flow = flow_config();
    flow.transport = TransportKind::kReliable;
    flow.message_bytes = 10'000;
    hosts.flow(flow);
    hosts.run();
    EXPECT_EQ(hosts.b().counters().delivered_packets, 3u);
    EXPECT_GT(hosts.a().counters().responses, 0u);
  }
  ASSERT_EQ(seen[0].size(), seen[1].size());
  for (size_t i = 0; i < seen[0].size(); ++i) {
    std::vector<uint8_t> expected = seen[0][i];
    const std::vector<uint8_t> tag{0x81, 0x00, 0xa1, 0x23};
    expected.insert(expected.begin() + 12, tag.begin(), tag.end());
    const size_t length = (size_t{expected[expected.size() - 2]} << 8 | expected.back()) + 4;
    expected[expected.size() - 2] = static_cast<uint8_t>(length >> 8);
    expected.back() = static_cast<uint8_t>(length);
    EXPECT_EQ(seen[1][i], expected) << i;
  }
}

// A pause is the link's, and has none: a host of a VLAN obeys it.
TEST(HostTags, AreNotLookedForOnPauses) {
  HostConfig config = host_config(1);
  config.tag = tag_of(100, 3);
  HostAndPuppet pair{config};
  FlowConfig flow = flow_config();
  flow.dscp = kLossless;
  flow.messages = 0;
  pair.host().add_flow(flow);
  pair.puppet().say(us(10), pfc_frame(1 << kLossless, 0xffff));
  pair.puppet().say(us(200), pfc_frame(1 << kLossless, 0));
  pair.run(us(250));
  const auto heard_within = [&pair](Instant from, Instant to) {
    return std::ranges::count_if(pair.puppet().heard(),
                                 [=](const Heard& it) { return it.started >= from && it.started < to; });
  };
  EXPECT_GT(heard_within(us(0), us(10)), 10);
  EXPECT_EQ(heard_within(us(13), us(200)), 0);
  EXPECT_GT(heard_within(us(202), us(245)), 10);
}

// Every second packet comes with another VLAN, every third of the rest without a tag.
TEST(HostTags, OfAnotherVlanOrNoneAreNotTaken) {
  uint64_t wrong = 0;
  uint64_t without = 0;
  uint64_t right = 0;
  TwoHosts hosts{{.tag = tag_of(100, 0), .meddle = [&, n = 0](Meddler& it, Packet packet) mutable {
                    ++n;
                    if (n % 2 == 0) {
                      store16(packet.data() + 14, 101);
                      ++wrong;
                    } else if (n % 3 == 0) {
                      packet.remove_bytes(12, 4);
                      ++without;
                    } else {
                      ++right;
                    }
                    it.pass(std::move(packet));
                  }}};
  FlowConfig flow = flow_config();
  flow.messages = 100;
  flow.message_bytes = 1024;
  hosts.flow(flow);
  hosts.run();
  EXPECT_EQ(wrong, 50u);
  EXPECT_GT(without, 10u);
  EXPECT_EQ(dropped(hosts.b(), DropReason::kVlanNotAllowed), wrong + without);
  EXPECT_EQ(hosts.b().counters().delivered_packets, right);
}

// The PCP is of VLAN 100 as any other.
TEST(HostTags, AreTakenWhateverTheirPcp) {
  TwoHosts hosts{{.tag = tag_of(100, 0), .meddle = [n = 0](Meddler& it, Packet packet) mutable {
                    store16(packet.data() + 14, static_cast<uint16_t>(n++ % 8 << 13 | 100));
                    it.pass(std::move(packet));
                  }}};
  FlowConfig flow = flow_config();
  flow.messages = 16;
  flow.message_bytes = 1024;
  hosts.flow(flow);
  hosts.run();
  EXPECT_EQ(hosts.b().counters().delivered_packets, 16u);
}

}  // namespace
}  // namespace softspine::testbeds
