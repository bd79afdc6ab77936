// SPDX-License-Identifier: Apache-2.0
// The parts of a bond, each alone: when it acts on a link, which port a flow leaves by, how a line of flows is divided.
#include <algorithm>
#include <set>

#include "dataplane/units/rng.hpp"
#include "testbeds/hosts/bond_hash.hpp"
#include "testbeds/hosts/link_monitor.hpp"
#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {
namespace {

using control::Bond;
using control::BondMode;
using control::XmitHashPolicy;

constexpr PortNo kFirst{0};
constexpr PortNo kSecond{1};

TEST(LinkMonitor, ActsAtTheFirstMultipleOfMiimonAfterTheChange) {
  LinkMonitor monitor({.miimon = Duration::us(10)}, 2);
  EXPECT_EQ(monitor.usable(), 3);
  EXPECT_TRUE(monitor.next().is_never());
  monitor.link_changed(kSecond, false, us(101));
  EXPECT_EQ(monitor.next(), us(110));
  monitor.advance(us(110));
  EXPECT_EQ(monitor.usable(), 1);
  monitor.link_changed(kSecond, true, us(120));
  EXPECT_EQ(monitor.next(), us(120)) << "a change at a look is seen by that look";
  monitor.advance(us(120));
  EXPECT_EQ(monitor.usable(), 3);
}

TEST(LinkMonitor, DelaysAreMultiplesOfMiimonRoundedDown) {
  LinkMonitor monitor({.miimon = Duration::us(10), .downdelay = Duration::us(29), .updelay = Duration::us(40)}, 2);
  monitor.link_changed(kFirst, false, us(5));
  EXPECT_EQ(monitor.next(), us(10 + 20));
  monitor.advance(us(30));
  EXPECT_EQ(monitor.usable(), 2);
  monitor.link_changed(kFirst, true, us(41));
  EXPECT_EQ(monitor.next(), us(50 + 40));
}

TEST(LinkMonitor, WhatChangesBackBeforeItHasActedChangesNothing) {
  LinkMonitor monitor({.miimon = Duration::us(10)}, 2);
  monitor.link_changed(kFirst, false, us(101));
  monitor.link_changed(kFirst, true, us(109));
  EXPECT_TRUE(monitor.next().is_never());
  EXPECT_EQ(monitor.usable(), 3);
}

TEST(LinkMonitor, WithoutMiimonAndWithOnePortNobodyLooks) {
  LinkMonitor never({.miimon = Duration{}}, 2);
  LinkMonitor single({.miimon = Duration::us(10)}, 1);
  never.link_changed(kFirst, false, us(1));
  single.link_changed(kFirst, false, us(1));
  EXPECT_TRUE(never.next().is_never());
  EXPECT_TRUE(single.next().is_never());
}

// Linux's hashes come down to one bit of the XOR of single bytes: taken here from the frames as they are sent.
uint8_t xor_of(const std::vector<uint8_t>& frame, size_t from, size_t count) {
  uint8_t out = 0;
  for (size_t i = from; i < from + count; ++i) out ^= frame[i];
  return out;
}

uint32_t expected_port(XmitHashPolicy policy, const std::vector<uint8_t>& frame, bool is_v6) {
  constexpr size_t kSourceMac = 11;
  constexpr size_t kDestinationMac = 5;
  const size_t addresses = is_v6 ? 14 + 8 : 14 + 12;
  const size_t both = is_v6 ? 32 : 8;
  const size_t ports = is_v6 ? 14 + 40 : 14 + 20;
  const auto type = static_cast<uint8_t>(frame[13]);
  const auto macs = static_cast<uint8_t>(frame[kSourceMac] ^ frame[kDestinationMac]);
  switch (policy) {
    case XmitHashPolicy::kLayer2: return (macs ^ type) & 1;
    case XmitHashPolicy::kLayer23: return (macs ^ type ^ frame[12] ^ xor_of(frame, addresses, both)) & 1;
    default: return (xor_of(frame, addresses, both) ^ xor_of(frame, ports, 4)) >> 1 & 1;
  }
}

TEST(BondHash, IsLinuxs) {
  Rng rng{7, 0};
  for (int i = 0; i < 500; ++i) {
    HostConfig host = host_config(static_cast<uint8_t>(1 + rng.below(2)));
    host.ports = 2;
    for (uint8_t& byte : host.mac) byte = static_cast<uint8_t>(rng.next());
    for (uint8_t& byte : host.gateway) byte = static_cast<uint8_t>(rng.next());
    host.mac[0] = host.gateway[0] = 2;
    host.ipv4 = static_cast<uint32_t>(rng.next()) | 1;
    for (uint8_t& byte : host.ipv6) byte = static_cast<uint8_t>(rng.next());
    FlowConfig flow = flow_config(static_cast<uint32_t>(i));
    flow.source_port = static_cast<uint16_t>(rng.next());
    const bool is_v6 = rng.below(2) == 0;
    if (is_v6) {
      Ipv6Address other{};
      for (uint8_t& byte : other) byte = static_cast<uint8_t>(rng.next());
      flow.destination = other;
    } else {
      flow.destination = static_cast<uint32_t>(rng.next());
    }
    std::vector<uint8_t> frame(kTemplateBytes);
    templates_of(host, flow).front().write(frame.data(), 0, 0);
    for (const auto policy : {XmitHashPolicy::kLayer2, XmitHashPolicy::kLayer23, XmitHashPolicy::kLayer34}) {
      host.bond.xmit_hash_policy = policy;
      ASSERT_EQ(bond_port(host, flow).value(), expected_port(policy, frame, is_v6)) << i;
    }
  }
}

TEST(BondHash, DealsOutQueuePairsInTurnUnlessOneIsABackup) {
  HostConfig host = host_config(1);
  host.ports = 2;
  for (uint32_t id = 0; id < 6; ++id) EXPECT_EQ(bond_port(host, flow_config(id)).value(), id % 2);
  host.bond.mode = BondMode::kActiveBackup;
  for (uint32_t id = 0; id < 6; ++id) EXPECT_EQ(bond_port(host, flow_config(id)).value(), 0);
}

// Against a list that is divided in the same way.
TEST(SendOrder, IsDividedWithoutLosingAnybodyOrTheirTurn) {
  Rng rng{11, 0};
  for (int round = 0; round < 200; ++round) {
    SendOrder from;
    SendOrder to;
    const auto count = static_cast<uint32_t>(1 + rng.below(40));
    from.reserve(count);
    to.reserve(count);
    std::vector<std::pair<Instant, uint32_t>> waiting[2];
    std::vector<uint32_t> ring[2];
    const uint64_t leaving = rng.next();
    const auto leaves = [leaving](uint32_t id) { return (leaving >> id & 1) != 0; };
    for (uint32_t id = 0; id < count; ++id) {
      const Instant at = us(static_cast<int64_t>(rng.below(20)));
      from.add(id, at, us(10));
      if (at <= us(10)) ring[leaves(id)].push_back(id);
      if (at > us(10)) waiting[leaves(id)].emplace_back(at, id);
    }
    from.move_to(to, us(10), leaves);
    for (int side = 0; side < 2; ++side) {
      SendOrder& order = side == 0 ? from : to;
      std::ranges::sort(waiting[side]);
      for (const uint32_t id : ring[side]) ASSERT_EQ(order.take(us(10)), id);
      for (const auto& [at, id] : waiting[side]) {
        ASSERT_LE(order.next(), at) << "or somebody stands in the ring already";
        ASSERT_EQ(order.take(at), id);
      }
      ASSERT_TRUE(order.next().is_never());
    }
  }
}

}  // namespace
}  // namespace softspine::testbeds
