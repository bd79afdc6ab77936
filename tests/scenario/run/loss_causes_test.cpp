// SPDX-License-Identifier: Apache-2.0
// Which fault a lost packet is lost by: the table of loss_causes.hpp, row by row, of records made by hand.
#include "testbeds/run/loss_causes.hpp"

#include "tests/scenario/run/built_fabric.hpp"

namespace softspine::testbeds {
namespace {

using control::LinkEnd;
using dataplane::DropReason;
using dataplane::LossKind;
using dataplane::LossRecord;
using Kind = control::FaultKind;
using Cause = std::optional<uint32_t>;

// h1 – tor1 = spine1, spine2 = tor2 – h2. The flow 0 goes from h1 to h2.
class LossCausesByHand : public BuiltFabric {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(build(R"(
name: causes
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload: [{name: w, pattern: pairs, from: [h1], to: [h2], message: 1KiB, messages: 1, mtu: 1024}]
)"));
    causes_.emplace(testbed_.fabric, fabric_->assembly().flows);
  }

  // A drop of the flow's by a reason, which came in at one port of a node and was for another.
  static LossRecord dropped(DropReason reason, LinkEnd out, uint16_t in = 0) {
    return {
        .node = out.node, .flow = 0, .in_port = in, .out_port = out.port, .kind = LossKind::kDropped, .reason = reason};
  }
  static LossRecord lost(LossKind kind, LinkEnd out) {
    return {.node = out.node, .flow = 0, .out_port = out.port, .kind = kind};
  }
  // The only fault's number is 7.
  Cause by(FaultScope scope, const LossRecord& record) {
    LossCauses causes(testbed_.fabric, fabric_->assembly().flows);
    causes.begin(7, std::move(scope));
    return causes.of(record);
  }

  std::optional<LossCauses> causes_;
};

TEST_F(LossCausesByHand, LinksThatAreDownTakeWhatIsOnThemAndSentIntoThem) {
  const LinkEnd up = port("tor1", "Ethernet4");
  const FaultScope scope{.kind = Kind::kDown, .links = {link("tor1", "Ethernet4")}};
  EXPECT_EQ(by(scope, lost(LossKind::kLinkDown, up)), 7U);
  EXPECT_EQ(by(scope, lost(LossKind::kLinkDown, port("spine1", "Ethernet0"))), 7U) << "from its other end";
  EXPECT_EQ(by(scope, dropped(DropReason::kLinkDown, up)), 7U);
  EXPECT_EQ(by(scope, lost(LossKind::kLinkDown, port("tor1", "Ethernet8"))), Cause{}) << "another link";
  EXPECT_EQ(by(scope, lost(LossKind::kVanished, up)), Cause{});
  EXPECT_EQ(by(scope, lost(LossKind::kDamaged, up)), Cause{});
  for (const DropReason other : {DropReason::kQueueFull, DropReason::kIngressFull, DropReason::kPfcWatchdog})
    EXPECT_EQ(by(scope, dropped(other, up)), Cause{}) << "that is congestion";
}

TEST_F(LossCausesByHand, FramesThatDieAreThoseThatThePortSends) {
  const LinkEnd sender = port("tor1", "Ethernet4");
  const FaultScope scope{.kind = Kind::kDead, .links = {}, .ports = {sender}};
  for (const LossKind kind : {LossKind::kVanished, LossKind::kDamaged}) {
    EXPECT_EQ(by(scope, lost(kind, sender)), 7U);
    EXPECT_EQ(by(scope, lost(kind, port("spine1", "Ethernet0"))), Cause{}) << "the other direction";
    EXPECT_EQ(by({.kind = Kind::kDeaf, .links = {}, .ports = {sender}}, lost(kind, sender)), Cause{});
  }
  EXPECT_EQ(by(scope, lost(LossKind::kLinkDown, sender)), Cause{});
  // Its pauses die, too: what overruns it is the fault's.
  for (const DropReason full : {DropReason::kHeadroomFull, DropReason::kIngressFull}) {
    EXPECT_EQ(by(scope, dropped(full, port("tor1", "Ethernet0"), sender.port)), 7U);
    EXPECT_EQ(by(scope, dropped(full, sender, port("tor1", "Ethernet0").port)), Cause{});
  }
}

TEST_F(LossCausesByHand, ADeafPortOverrunsThePortThatItSendsTo) {
  const FaultScope scope{.kind = Kind::kDeaf, .links = {}, .ports = {port("tor1", "Ethernet4")}};
  const LinkEnd overrun = port("spine1", "Ethernet0");
  for (const DropReason full : {DropReason::kHeadroomFull, DropReason::kIngressFull}) {
    EXPECT_EQ(by(scope, dropped(full, port("spine1", "Ethernet4"), overrun.port)), 7U);
    EXPECT_EQ(by(scope, dropped(full, overrun, port("spine1", "Ethernet4").port)), Cause{}) << "came from elsewhere";
    EXPECT_EQ(by(scope, dropped(full, port("tor1", "Ethernet0"), port("tor1", "Ethernet4").port)), Cause{});
  }
  EXPECT_EQ(by(scope, dropped(DropReason::kQueueFull, port("tor1", "Ethernet4"))), Cause{});
}

TEST_F(LossCausesByHand, APortThatSendsNothingFillsItsOwnQueues) {
  const LinkEnd silent = port("tor1", "Ethernet4");
  const LinkEnd other = port("tor1", "Ethernet8");
  for (const DropReason reason : {DropReason::kQueueFull, DropReason::kWredDropped, DropReason::kPfcWatchdog}) {
    EXPECT_EQ(by({.kind = Kind::kTxDisabled, .links = {}, .ports = {silent}}, dropped(reason, silent)), 7U);
    EXPECT_EQ(by({.kind = Kind::kTxDisabled, .links = {}, .ports = {silent}}, dropped(reason, other)), Cause{});
    for (const Kind kind : {Kind::kDown, Kind::kDead, Kind::kDeaf, Kind::kStorm, Kind::kClear})
      EXPECT_EQ(by({.kind = kind, .links = {}, .ports = {silent}}, dropped(reason, silent)), Cause{});
  }
  EXPECT_EQ(by({.kind = Kind::kTxDisabled, .links = {}, .ports = {silent}}, dropped(DropReason::kIngressFull, silent)),
            Cause{});
}

TEST_F(LossCausesByHand, AHostsFaultIsWhatTheWatchdogBeforeItAndItsOwnBufferDrop) {
  const FaultScope scope{.kind = Kind::kStorm, .links = {}, .ports = {port("h2", "eth0")}};
  const LinkEnd to_host = port("tor2", "Ethernet0");
  const LinkEnd uplink = port("tor2", "Ethernet4");
  EXPECT_EQ(by(scope, dropped(DropReason::kPfcWatchdog, to_host, uplink.port)), 7U);
  EXPECT_EQ(by(scope, dropped(DropReason::kPfcWatchdog, uplink, to_host.port)), Cause{});
  EXPECT_EQ(by(scope, dropped(DropReason::kPfcWatchdogIngress, uplink, to_host.port)), 7U);
  EXPECT_EQ(by(scope, dropped(DropReason::kPfcWatchdogIngress, to_host, uplink.port)), Cause{});
  EXPECT_EQ(by(scope, dropped(DropReason::kReceiveBufferFull, port("h2", "eth0"))), 7U);
  EXPECT_EQ(by(scope, dropped(DropReason::kReceiveBufferFull, port("h1", "eth0"))), Cause{});
  for (const DropReason other : {DropReason::kQueueFull, DropReason::kTtlExpired, DropReason::kMtuExceeded})
    EXPECT_EQ(by(scope, dropped(other, to_host)), Cause{});
}

TEST_F(LossCausesByHand, TheLatestFaultThatExplainsALossHasIt) {
  const FaultScope scope{.kind = Kind::kDown, .links = {link("tor1", "Ethernet4")}};
  const LossRecord record = lost(LossKind::kLinkDown, port("tor1", "Ethernet4"));
  causes_->begin(1, scope);
  causes_->begin(2, {.kind = Kind::kDown, .links = {link("tor1", "Ethernet8")}});
  EXPECT_EQ(causes_->of(record), 1U);
  causes_->begin(3, scope);
  EXPECT_EQ(causes_->of(record), 3U);
  causes_->forget(3);
  EXPECT_EQ(causes_->of(record), 1U);
  causes_->forget(1);
  EXPECT_EQ(causes_->of(record), Cause{});
}

// tor1 has a route by spine2, so what finds none is of the fault that routes have not followed yet.
TEST_F(LossCausesByHand, WhereThereIsARouteTheLatestThatIsNotFollowedIsTheCause) {
  const LossRecord record = dropped(DropReason::kNoRoute, port("spine1", "Ethernet0"));
  std::vector<bool> usable(testbed_.fabric.links.size(), true);
  causes_->set_links(usable);
  causes_->begin(1, {.kind = Kind::kDown, .links = {link("tor1", "Ethernet4")}});
  causes_->begin(2, {.kind = Kind::kDown, .links = {link("tor2", "Ethernet4")}});
  causes_->begin(3, {.kind = Kind::kDeaf, .links = {}, .ports = {port("tor1", "Ethernet4")}});
  EXPECT_EQ(causes_->of(record), 2U) << "the third is no fault of links";
  causes_->followed(2);
  EXPECT_EQ(causes_->of(record), 1U);
  causes_->followed(1);
  EXPECT_EQ(causes_->of(record), 2U) << "the latest whose end they have not followed";
  causes_->forget(2);
  EXPECT_EQ(causes_->of(record), 1U);
}

// Each of the spines' links is down in its turn, and after the second there is no way.
TEST_F(LossCausesByHand, WhereThereIsNoRouteTheFaultWithoutWhichThereWouldBeOneIsTheCause) {
  const LossRecord record = dropped(DropReason::kNoRoute, port("tor1", "Ethernet0"));
  const uint32_t first = link("tor1", "Ethernet4");
  const uint32_t second = link("tor1", "Ethernet8");
  causes_->begin(1, {.kind = Kind::kDown, .links = {first}});
  causes_->begin(2, {.kind = Kind::kDown, .links = {second}});
  std::vector<bool> usable(testbed_.fabric.links.size(), true);
  usable[first] = usable[second] = false;
  causes_->set_links(usable);
  EXPECT_EQ(causes_->of(record), 2U);
  causes_->forget(2);
  EXPECT_EQ(causes_->of(record), 1U);
  usable[link("tor2", "Ethernet4")] = usable[link("tor2", "Ethernet8")] = false;  // by no fault
  causes_->set_links(usable);
  EXPECT_EQ(causes_->of(record), Cause{});
}

// A packet of no flow has its destination in its header.
TEST_F(LossCausesByHand, AFrameFromOutsideIsBoundForTheHostOfItsAddress) {
  const FaultScope scope{.kind = Kind::kDown, .links = {link("tor2", "Ethernet0")}};
  LossRecord record = dropped(DropReason::kNeighbourIncomplete, port("tor2", "Ethernet0"));
  EXPECT_EQ(by(scope, record), 7U) << "the flow's destination is h2";
  record.flow = dataplane::kNoFlow;
  EXPECT_EQ(by(scope, record), Cause{}) << "neither IPv4 nor IPv6";
  for (const auto& [host, cause] : {std::pair{"h2", Cause{7}}, {"h1", Cause{7}}}) {
    const control::FabricNode& to = testbed_.fabric.nodes[node(host)];
    LossRecord v4 = record;
    v4.has_ipv4 = true;
    for (size_t i = 0; i < 4; ++i) v4.destination[i] = static_cast<uint8_t>(to.ipv4.value >> (24 - 8 * i));
    EXPECT_EQ(by(scope, v4), cause) << host;
    LossRecord v6 = record;
    v6.has_ipv6 = true;
    v6.destination = to.ipv6.bytes;
    EXPECT_EQ(by(scope, v6), cause) << host;
  }
  LossRecord nobody = record;
  nobody.has_ipv4 = true;
  nobody.destination = {203, 0, 113, 9};
  EXPECT_EQ(by(scope, nobody), Cause{}) << "no host has that address";
}

}  // namespace
}  // namespace softspine::testbeds
