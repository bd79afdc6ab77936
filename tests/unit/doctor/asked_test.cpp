// SPDX-License-Identifier: Apache-2.0
#include "testbeds/doctor/asked.hpp"

#include <gmock/gmock.h>

#include "dataplane/packet/pool.hpp"
#include "tests/unit/doctor/invented_machine.hpp"

namespace softspine::testbeds {
namespace {

using testing::HasSubstr;

struct Case {
  const char* host;
  UseSet used;
  uint64_t locked_bytes = 0;
};

TEST(Asked, IsWhatEachKindOfHostUses) {
  const Case cases[] = {
      {"edge: {tap: {name: t0}}", uses(Use::kTap)},
      {"edge: {af_packet: {interface: eth1}}", uses(Use::kAfPacket), 2ULL * 2048 * 2048},
      {"edge: {dpdk: \"net_af_packet0,iface=eth1\"}", uses(Use::kAfPacket), 2ULL * 2048 * 512},
      {"edge: {dpdk: \"net_af_packet0,iface=eth1,framesz=4096,framecnt=100\"}", uses(Use::kAfPacket),
       2ULL * 4096 * 100},
      {"edge: {dpdk: \"net_pcap0,iface=eth1\"}", uses(Use::kDpdkPcap)},
      {"edge: {dpdk: \"net_pcap0,rx_pcap=a.pcap\"}", 0},
      {"edge: {dpdk: \"net_tap0,iface=new\"}", uses(Use::kTap)},
      {"edge: {dpdk: \"0000:3b:00.0\"}", uses(Use::kPci)},
      {"edge: {vhost_user: {socket: /tmp/s}}", 0},
      {"namespace: {run: \"true\"}", uses(Use::kNamespace)},
      {"verbs: {run: \"true\"}", uses(Use::kVerbs)},
      {"guest: {kind: uml, run: \"true\"}", uses(Use::kUml)},
      {"guest: {kind: qemu, run: \"true\"}", uses(Use::kQemu)},
  };
  for (const Case& each : cases) {
    const control::Testbed testbed = testbed_with(each.host);
    const Asked asked = asked_by(testbed);
    EXPECT_EQ(asked.used, each.used) << each.host << ": " << words_of(asked.used);
    EXPECT_EQ(asked.locked_bytes, each.locked_bytes) << each.host;
  }
}

TEST(Asked, OfAnXdpEdgeLocksItsPool) {
  const control::Testbed testbed = testbed_with("edge: {dpdk: \"net_af_xdp0,iface=eth1\"}");
  const Asked asked = asked_by(testbed);
  EXPECT_EQ(asked.used, uses(Use::kAfXdp));
  EXPECT_EQ(asked.locked_bytes,
            16'384ULL * dataplane::PacketPool::memory_bytes(dataplane::PacketPool::room_in_a_page()));
}

TEST(Asked, NamesDevicesInFullAndWithoutTheirArguments) {
  for (const char* device : {"3b:00.0", "0000:3b:00.0", "0000:3b:00.0,mprq_en=1"}) {
    const control::Testbed testbed = testbed_with(std::string("edge: {dpdk: \"") + device + "\"}");
    const Asked asked = asked_by(testbed);
    ASSERT_EQ(asked.devices.size(), 1U);
    EXPECT_EQ(asked.devices.front().address, "0000:3b:00.0") << device;
  }
}

TEST(Asked, OfNamespacesHasBondsAndVlans) {
  EXPECT_FALSE(asked_by(testbed_with("namespace: {}")).bonds);
  EXPECT_FALSE(asked_by(testbed_with("namespace: {}")).vlans);
  EXPECT_TRUE(asked_by(testbed_with("namespace: {}, vlan: {id: 100}")).vlans);
}

// 64 MiB for DPDK itself and 192 for rings, as soon as something is outside; a PCI device's packets beside them.
TEST(DeviceNeed, IsTheSumOfItsParts) {
  EXPECT_EQ(device_need(0, {}, 0).eal_mebibytes, 64U);
  EXPECT_EQ(device_need(3, {}, 0).eal_mebibytes, 256U);
  const DeviceNeed one = device_need(1, {"3b:00.0"}, 0);
  EXPECT_EQ(one.frame_packets, 16'383U) << "the least";
  EXPECT_EQ(one.eal_mebibytes, 256 + (16'383ULL * dataplane::PacketPool::memory_bytes(9'280) >> 20));
  EXPECT_EQ(device_need(6, {"3b:00.0"}, 0).frame_packets, 6 * 4'096U);
  EXPECT_EQ(device_need(100, {"3b:00.0"}, 0).frame_packets, 65'535U) << "the most";
}

TEST(UseSet, IsInWords) {
  EXPECT_EQ(words_of(0), "");
  EXPECT_EQ(words_of(uses(Use::kNamespace, Use::kTap)), "TAP edges, namespaces");
  EXPECT_THAT(words_of(uses(Use::kUio)), HasSubstr("uio_pci_generic"));
}

}  // namespace
}  // namespace softspine::testbeds
