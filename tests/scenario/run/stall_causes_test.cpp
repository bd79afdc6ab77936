// SPDX-License-Identifier: Apache-2.0
// Which fault a flow stands still by: the list of stall_causes.hpp, line by line, of stalls made by hand.
#include "testbeds/run/stall_causes.hpp"

#include "tests/scenario/run/built_fabric.hpp"

namespace softspine::testbeds {
namespace {

using control::LinkEnd;
using dataplane::Duration;
using dataplane::Instant;
using Kind = control::FaultKind;

Instant at_us(int64_t us) {
  return Instant::at(Duration::us(us));
}

// h1 – tor1 – spine1 – tor2 – h2. The flow 0 goes from h1 to h2, and stands from 1,000 us to 2,000 us; that it stands
// is known 100 us after its last packet.
class StallCausesByHand : public BuiltFabric {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(build(R"(
name: causes
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload: [{name: w, pattern: pairs, from: [h1], to: [h2], message: 1KiB, messages: 1, mtu: 1024}]
)"));
    const LinkEnd port{node("spine1"), 0};
    elsewhere_ = {.kind = Kind::kDown, .links = {testbed_.fabric.port(port).link}};
    silent_ = {.kind = Kind::kTxDisabled, .links = {}, .ports = {port}};
    at_host_ = {.kind = Kind::kDown, .links = {link("h1", "eth0")}};
  }

  std::optional<Suspicion> of(const StallSuspect& suspect) const { return of(suspect, stall_); }
  std::optional<Suspicion> of(const StallSuspect& suspect, const Stall& stall) const {
    return suspicion(testbed_.fabric, fabric_->assembly().flows, stall, suspect);
  }
  static StallSuspect with_loss(StallSuspect suspect, Instant lost) {
    suspect.first_lost = suspect.last_lost = lost;
    return suspect;
  }

  Stall stall_{.flow = 0, .from = at_us(1'000), .to = at_us(2'000), .least = Duration::us(100)};
  FaultScope elsewhere_;
  FaultScope silent_;
  FaultScope at_host_;
};

TEST_F(StallCausesByHand, OnlyFaultsThatStruckBeforeItStoodAndWereNotOverCanBeIt) {
  const Duration instant = Duration::ps(1);
  EXPECT_TRUE(of({.scope = elsewhere_, .at = at_us(1'100) - instant}));
  EXPECT_FALSE(of({.scope = elsewhere_, .at = at_us(1'100)}));
  Stall shorter = stall_;
  shorter.to = at_us(1'050);
  EXPECT_TRUE(of({.scope = elsewhere_, .at = at_us(1'050) - instant}, shorter));
  EXPECT_FALSE(of({.scope = elsewhere_, .at = at_us(1'050)}, shorter)) << "it moved by then";
  EXPECT_TRUE(of({.scope = elsewhere_, .at = at_us(500), .restored = at_us(1'000) + instant}));
  EXPECT_FALSE(of({.scope = elsewhere_, .at = at_us(500), .restored = at_us(1'000)})) << "it was over by then";
}

TEST_F(StallCausesByHand, TheOneOfWhichMostIsKnownIsSuspectedMost) {
  const Instant before = at_us(900);
  const Instant stopped = at_us(1'000);
  const Instant meanwhile = at_us(1'001);
  const std::vector<std::optional<Suspicion>> list{
      of(with_loss({.scope = elsewhere_, .at = stopped}, meanwhile)),
      of({.scope = at_host_, .at = stopped}),
      of({.scope = silent_, .at = stopped}),
      of(with_loss({.scope = elsewhere_, .at = before}, meanwhile)),
      of({.scope = elsewhere_, .at = stopped}),
      of({.scope = at_host_, .at = before}),
      of({.scope = elsewhere_, .at = before}),
  };
  for (size_t i = 0; i < list.size(); ++i) {
    ASSERT_TRUE(list[i]) << i;
    if (i > 0) {
      EXPECT_GT(*list[i - 1], *list[i]) << i;
    }
  }
  EXPECT_EQ(of({.scope = silent_, .at = before})->first, list.back()->first) << "of no more than that it struck before";
}

// Of its hosts' links and ports, and of the switches' ports that lead to them.
TEST_F(StallCausesByHand, AFaultIsAtAHostFromEitherEndOfItsLinks) {
  const int at_host = of({.scope = at_host_, .at = at_us(1'000)})->first;
  for (const control::FabricNode& node : testbed_.fabric.nodes) {
    if (node.kind != control::NodeKind::kHost) continue;
    const control::FabricLink& link = testbed_.fabric.links[node.ports[0].link];
    for (const LinkEnd end : {link.a, link.b}) {
      const FaultScope scope{.kind = Kind::kDeaf, .links = {}, .ports = {end}};
      EXPECT_EQ(of({.scope = scope, .at = at_us(1'000)})->first, at_host) << node.name << end.node;
    }
    const FaultScope scope{.kind = Kind::kDown, .links = {node.ports[0].link}};
    EXPECT_EQ(of({.scope = scope, .at = at_us(1'000)})->first, at_host) << node.name;
  }
}

// What is on its way when a fault strikes still arrives: it struck as the flow stopped if up to 40 us before.
TEST_F(StallCausesByHand, AFaultStrikesAsTheFlowStopsFrom40UsBeforeItsLastPacket) {
  const int as_it_stopped = of({.scope = elsewhere_, .at = at_us(1'000)})->first;
  EXPECT_EQ(of({.scope = elsewhere_, .at = at_us(960)})->first, as_it_stopped);
  EXPECT_EQ(of({.scope = elsewhere_, .at = at_us(1'099)})->first, as_it_stopped);
  EXPECT_LT(of({.scope = elsewhere_, .at = at_us(960) - Duration::ps(1)})->first, as_it_stopped);
}

// Nothing has arrived in this fabric, so no packet was under way for any time.
TEST_F(StallCausesByHand, LossesAreThoseFromTheLastPacketToTheNext) {
  const StallSuspect suspect{.scope = elsewhere_, .at = at_us(1'000)};
  const int lost = of(with_loss(suspect, at_us(1'500)))->first;
  EXPECT_EQ(of(with_loss(suspect, at_us(1'000)))->first, lost);
  EXPECT_EQ(of(with_loss(suspect, at_us(2'000) - Duration::ps(1)))->first, lost);
  EXPECT_LT(of(with_loss(suspect, at_us(2'000)))->first, lost);
  EXPECT_LT(of(with_loss(suspect, at_us(1'000) - Duration::ps(1)))->first, lost);
}

TEST_F(StallCausesByHand, OfSeveralTheFirstToLoseElseTheLastBeforeElseTheFirstAfter) {
  const StallSuspect suspect{.scope = elsewhere_, .at = at_us(1'000)};
  EXPECT_GT(of(with_loss(suspect, at_us(1'010))), of(with_loss(suspect, at_us(1'020))));
  EXPECT_GT(of({.scope = elsewhere_, .at = at_us(999)}), of({.scope = elsewhere_, .at = at_us(990)}));
  EXPECT_GT(of({.scope = elsewhere_, .at = at_us(961)}), of({.scope = elsewhere_, .at = at_us(1'001)}));
  EXPECT_GT(of({.scope = elsewhere_, .at = at_us(1'001)}), of({.scope = elsewhere_, .at = at_us(1'050)}));
  EXPECT_GT(of({.scope = elsewhere_, .at = at_us(900)}), of({.scope = elsewhere_, .at = at_us(800)}));
}

}  // namespace
}  // namespace softspine::testbeds
