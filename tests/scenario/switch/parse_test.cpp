// SPDX-License-Identifier: Apache-2.0
// What of layer 4 is believed to be there: no byte beyond the packet's, and every one that is.
#include "dataplane/packet/parse.hpp"

#include <gtest/gtest.h>

#include "dataplane/packet/packet_flag.hpp"
#include "tests/scenario/fabric_environment.hpp"
#include "tests/scenario/switch/frames.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

uint32_t flags_of(const Bytes& frame) {
  Packet packet = packet_pool().make(static_cast<uint32_t>(frame.size()));
  std::ranges::copy(frame, packet.data());
  parse(packet);
  const uint32_t flags = packet.meta().flags;
  PacketPool::release(std::move(packet));
  return flags;
}
Bytes frame4(uint8_t protocol, const Bytes& payload) {
  return ethernet_frame(station(1), station(2), 0x0800,
                        ipv4_packet({.from = ip4("10.0.0.1"), .to = ip4("10.0.0.2"), .protocol = protocol}, payload));
}
Bytes frame6(uint8_t protocol, const Bytes& payload) {
  return ethernet_frame(station(1), station(2), 0x86dd,
                        ipv6_packet({.from = ip6(1, 1), .to = ip6(1, 2), .next_header = protocol}, payload));
}

// Ports are the first four bytes; RoCEv2 is UDP's header, the BTH and the ICRC: 24 bytes.
TEST(Parse, SeesPortsWhereFourBytesAreThere) {
  for (const auto& frame : {frame4, frame6}) {
    EXPECT_NE(flags_of(frame(6, Bytes(4, 1))) & kIsTcp, 0u);
    EXPECT_EQ(flags_of(frame(6, Bytes(3, 1))) & kIsTcp, 0u);
    EXPECT_NE(flags_of(frame(17, udp_datagram(1, 2, {}))) & kIsUdp, 0u);
    EXPECT_EQ(flags_of(frame(17, Bytes(7, 1))) & kIsUdp, 0u);
    EXPECT_EQ(flags_of(frame(1, Bytes(8, 1))) & (kIsUdp | kIsTcp), 0u);
  }
}

TEST(Parse, SeesRoceWhereItsHeadersAndIcrcAreThere) {
  for (const auto& frame : {frame4, frame6}) {
    EXPECT_NE(flags_of(frame(17, udp_datagram(1, 4791, Bytes(16, 1)))) & kIsRoce, 0u);
    EXPECT_EQ(flags_of(frame(17, udp_datagram(1, 4791, Bytes(15, 1)))) & kIsRoce, 0u);
    EXPECT_EQ(flags_of(frame(17, udp_datagram(1, 4792, Bytes(16, 1)))) & kIsRoce, 0u);
  }
}

}  // namespace
}  // namespace softspine::tests
