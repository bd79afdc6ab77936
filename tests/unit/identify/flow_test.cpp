// SPDX-License-Identifier: Apache-2.0
// A flow's frame, read again, is the flow; and a hash sees in it all that the flow has.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/identify/hashed_flow.hpp"
#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/scratch_packet.hpp"

namespace softspine::tests {
namespace {

using analysis::Flow;
using analysis::FlowFrame;
using analysis::FlowPart;
using dataplane::HashField;

// Port 49152 to port 4791 unless it is told otherwise: no other default is one that a probe has, too.
Flow flow(uint8_t protocol, uint16_t destination_port) {
  Flow out{.protocol = protocol, .source_port = 777, .destination_port = destination_port};
  out.source = {10, 1, 2, 3};
  out.destination = {10, 4, 5, 6};
  return out;
}

Flow roce() {
  Flow out = flow(dataplane::ip::kUdp, dataplane::udp::kRoceV2Port);
  out.qp = 0x123456;
  out.opcode = 6;
  return out;
}

Flow over_ipv6(Flow flow) {
  flow.is_ipv6 = true;
  flow.flow_label = 0xabcde;
  for (uint8_t i = 0; i < 16; ++i) {
    flow.source[i] = static_cast<uint8_t>(0x20 + i);
    flow.destination[i] = static_cast<uint8_t>(0x50 + i);
  }
  return flow;
}

Flow without_ports() {
  Flow out = flow(1, 0);
  out.source_port = 0;
  return out;
}

Flow read_again(const Flow& flow) {
  const std::vector<uint8_t> frame = frame_of(flow);
  dataplane::ScratchPacket scratch;
  dataplane::Packet& packet = scratch.load(frame, static_cast<uint32_t>(frame.size()));
  dataplane::parse(packet);
  return analysis::flow_of(packet);
}

TEST(FlowFrame, ReadAgainIsTheFlow) {
  const Flow udp = flow(dataplane::ip::kUdp, 53);
  const Flow tcp = flow(dataplane::ip::kTcp, 80);
  for (const Flow& it : {udp, tcp, roce(), without_ports(), over_ipv6(udp), over_ipv6(tcp), over_ipv6(roce())})
    EXPECT_EQ(read_again(it), it) << to_string(it);
}

// Each part by itself: a hash of its field alone tells the flow from one without it.
TEST(FlowFrame, ShowsAHashEachPartOfTheFlow) {
  const auto hash_of = [](const Flow& flow, FlowPart part) {
    const dataplane::EcmpHash hash{{.fields = {analysis::field_of(part)}}};
    dataplane::HashKey key;
    hash.build(FlowFrame{flow}.view(), key);
    return hash.of(key);
  };
  Flow whole = over_ipv6(roce());
  whole.in_port = 9;
  whole.vlan = 300;
  for (size_t i = 0; i < analysis::kFlowParts; ++i) {
    const auto part = static_cast<FlowPart>(i);
    if (part == FlowPart::kProtocol) continue;  // without which the frame has no other part either
    for (size_t j = 0; j < analysis::kFlowParts; ++j) {
      const auto other = static_cast<FlowPart>(j);
      const bool makes_it_roce = other == FlowPart::kProtocol || other == FlowPart::kDestinationPort;
      if (makes_it_roce && other != part) continue;
      EXPECT_EQ(hash_of(whole, part) != hash_of(without(whole, other), part), part == other) << i << " " << j;
    }
  }
}

TEST(FlowPart, HasTheFlowsValueAndNoneInAFlowWithoutIt) {
  Flow whole = roce();
  whole.flow_label = 8;
  whole.in_port = 9;
  whole.vlan = 300;
  using enum FlowPart;
  for (const auto& [part, value] : {std::pair{kSourcePort, 777u}, std::pair{kDestinationPort, 4791u},
                                    std::pair{kProtocol, 17u}, std::pair{kQp, 0x123456u}, std::pair{kOpcode, 6u},
                                    std::pair{kFlowLabel, 8u}, std::pair{kInPort, 9u}, std::pair{kVlan, 300u}})
    EXPECT_EQ(value_of(whole, part), value);
  for (size_t i = 0; i < analysis::kFlowParts; ++i) {
    const auto part = static_cast<FlowPart>(i);
    EXPECT_NE(value_of(whole, part), 0u);
    EXPECT_EQ(value_of(without(whole, part), part), 0u);
    const auto is_kept = [&](size_t other) {
      const auto it = static_cast<FlowPart>(other);
      return it == part || value_of(without(whole, part), it) == value_of(whole, it);
    };
    for (size_t other = 0; other < analysis::kFlowParts; ++other) EXPECT_TRUE(is_kept(other)) << i << " " << other;
  }
}

TEST(FlowPart, OfAnAddressDiffersInEachByte) {
  const Flow whole = over_ipv6(roce());
  for (size_t byte = 0; byte < 16; ++byte) {
    Flow other = whole;
    other.source[byte] ^= 1;
    EXPECT_NE(value_of(other, FlowPart::kSource), value_of(whole, FlowPart::kSource)) << byte;
    EXPECT_EQ(value_of(other, FlowPart::kDestination), value_of(whole, FlowPart::kDestination)) << byte;
  }
}

TEST(FlowWords, AreTheProtocolTheEndsAndTheQueuePair) {
  EXPECT_EQ(to_string(flow(dataplane::ip::kTcp, 80)), "tcp 10.1.2.3:777 → 10.4.5.6:80");
  EXPECT_EQ(to_string(flow(dataplane::ip::kUdp, 80)), "udp 10.1.2.3:777 → 10.4.5.6:80");
  EXPECT_EQ(to_string(roce()), "udp 10.1.2.3:777 → 10.4.5.6:4791, QP 1193046");
  EXPECT_EQ(to_string(flow(dataplane::ip::kTcp, 4791)), "tcp 10.1.2.3:777 → 10.4.5.6:4791") << "which is no RoCEv2";
  EXPECT_EQ(to_string(without_ports()), "protocol 1 10.1.2.3 → 10.4.5.6");
}

TEST(FlowAddresses, AreTwoOfOneVersion) {
  Flow out;
  EXPECT_TRUE(set_addresses(out, "10.1.2.3", "10.4.5.6"));
  EXPECT_FALSE(out.is_ipv6);
  EXPECT_EQ(out.source, (Flow::Address{10, 1, 2, 3}));
  EXPECT_EQ(out.destination, (Flow::Address{10, 4, 5, 6}));
  for (const auto& [a, b] : {std::pair{"10.1.2.3", "fd00::1"}, std::pair{"fd00::1", "10.1.2.3"},
                             std::pair{"", "fd00::1"}, std::pair{"fd00::1", "x"}, std::pair{"10.1.2.3", ""}})
    EXPECT_FALSE(set_addresses(out, a, b)) << a << " " << b;
  EXPECT_TRUE(set_addresses(out, "fd00::1", "fd00::2"));
  EXPECT_TRUE(out.is_ipv6);
  EXPECT_EQ(out.source[15], 1);
  EXPECT_EQ(out.destination[15], 2);
}

}  // namespace
}  // namespace softspine::tests
