// SPDX-License-Identifier: Apache-2.0
// What a walk says of single hops, and of frames as captures have them.
#include <gtest/gtest.h>

#include "analysis/explain/comparison.hpp"
#include "analysis/explain/probe.hpp"
#include "analysis/explain/walker.hpp"
#include "control/load/load.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {
namespace {

control::Testbed walked_testbed(const std::string& fabric, const std::string& more = "") {
  const auto testbed = control::parse_testbed(
      "name: t\nfabric: {" + fabric + ", host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n" + more,
      "test.yaml");
  if (!testbed) throw std::runtime_error(to_string(testbed.error().front()));
  return *testbed;
}

// From the first host to the last.
class Walked {
 public:
  explicit Walked(const control::Testbed& testbed)
      : testbed_(testbed), walker_(testbed_, std::vector<bool>(testbed_.fabric.links.size(), true)) {
    for (uint32_t n = 0; n < testbed_.fabric.nodes.size(); ++n) {
      if (testbed_.fabric.nodes[n].kind != control::NodeKind::kHost) continue;
      if (first_ == last_ && last_ == UINT32_MAX) first_ = n;
      last_ = n;
    }
  }
  std::vector<uint8_t> frame(uint16_t source_port = 49'152, uint8_t protocol = 17) const {
    const Probe probe{.from = first_, .to = last_, .protocol = protocol, .source_port = source_port};
    return frame_of(testbed_.fabric, probe, walker_.router_mac(testbed_.fabric.peer_of({first_, 0}).node));
  }
  Path path(const std::vector<uint8_t>& frame) {
    return walker_.walk(frame, static_cast<uint32_t>(frame.size()), {first_, 0});
  }
  std::vector<control::LinkEnd> way(const std::vector<uint8_t>& frame) {
    std::vector<control::LinkEnd> out;
    const Path found = path(frame);
    EXPECT_EQ(found.end, PathEnd::kHost);
    EXPECT_EQ(found.node, last_);
    for (const Hop& hop : found.hops) out.push_back({hop.node, hop.out_port});
    return out;
  }
  ComparedFlow compared(const SightedFlow& flow) { return compare_with(walker_, {flow}).flows.at(0); }
  control::LinkEnd sender() const { return {first_, 0}; }
  const control::Fabric& fabric() const { return testbed_.fabric; }

 private:
  control::Testbed testbed_;
  Walker walker_;
  uint32_t first_ = UINT32_MAX;
  uint32_t last_ = UINT32_MAX;
};

constexpr const char* kFourSpines = "kind: leaf-spine, tors: 2, spines: 4, hosts_per_tor: 1";

// A host in a VLAN that it tags: a capture at its NIC has no tag, one at the ToR has.
TEST(Walk, OfATaggedFrameIsThatOfTheSameFrameWithoutItsTag) {
  Walked walked{walked_testbed(std::string(kFourSpines) + ", host_vlan: 100",
                               "profiles: {default: {hash: {fields: [VLAN_ID, L4_SRC_PORT]}}}\n"
                               "topology: {nodes: {h1: {vlan: 200}}}\n")};
  for (uint16_t port = 50'000; port < 50'016; ++port) {
    std::vector<uint8_t> frame = walked.frame(port);
    const std::vector<control::LinkEnd> bare = walked.way(frame);
    frame.insert(frame.begin() + 12, {0x81, 0x00, 0x00, 200});
    EXPECT_EQ(walked.way(frame), bare);
    frame[15] = 201;
    EXPECT_EQ(walked.path(frame).end, PathEnd::kDropped) << "a VLAN that the port is not in";
  }
}

TEST(Walk, SaysWhetherAHashHasLayer4) {
  Walked walked{walked_testbed(kFourSpines)};
  for (const auto& [protocol, has] : {std::pair<uint8_t, bool>{17, true}, {6, true}, {132, false}, {47, false}}) {
    const Path path = walked.path(walked.frame(49'152, protocol));
    ASSERT_TRUE(path.hops.at(0).choice) << int{protocol};
    EXPECT_EQ(path.hops[0].choice->has_layer4, has) << int{protocol};
    EXPECT_EQ(path.hops[0].choice->buckets, 4u);
    EXPECT_FALSE(path.hops.at(1).choice) << "a spine has one way down";
  }
}

// A ToR with one uplink has no group: its way is that of the slice only if it pins slices.
TEST(Walk, IsPinnedOnlyUpwardsAndOnlyWhereSlicesAre) {
  const auto pinned = [](const std::string& fabric, const std::string& mode) {
    Walked walked{walked_testbed(fabric, "profiles: {default: {groups: {mode: " + mode + "}}}\n")};
    std::vector<bool> out;
    for (const Hop& hop : walked.path(walked.frame()).hops) out.push_back(hop.is_pinned);
    return out;
  };
  const std::string one = "kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1";
  EXPECT_EQ(pinned(one, "pinned"), (std::vector{true, false, false}));
  EXPECT_EQ(pinned(one, "hash"), (std::vector{false, false, false}));
  EXPECT_EQ(pinned(one, "spray"), (std::vector{false, false, false}));
  EXPECT_EQ(pinned(kFourSpines, "hash"), (std::vector{false, false, false}));
  EXPECT_EQ(pinned("kind: leaf-spine, tors: 2, spines: 4, hosts_per_tor: 4", "pinned"),
            (std::vector{true, false, false}));
}

// Where a port cannot be computed, the walk does not go on as if it had been.
TEST(Compared, AFlowIsNotFollowedByAPortThatIsOnlyGuessed) {
  const auto hops = [](const std::string& hash) {
    Walked walked{walked_testbed(kFourSpines, "profiles: {default: {hash: {" + hash + "}}}\n")};
    const ComparedFlow flow =
        walked.compared({.frame = walked.frame(), .frame_bytes = 0, .sender = walked.sender(), .left = {}});
    EXPECT_EQ(flow.verdict, FlowVerdict::kUndecided);
    return flow.hops;
  };
  const auto computed = hops("seed: 1");
  EXPECT_EQ(computed.size(), 3u) << "two ToRs and a spine, as predicted";
  for (const ComparedHop& hop : computed) EXPECT_EQ(hop.verdict, HopVerdict::kNotSeen);
  const auto guessed = hops("fields: [L4_SRC_PORT], udf: [{base: L3, offset: 8, length: 1}]");
  ASSERT_EQ(guessed.size(), 1u) << "the first ToR";
  EXPECT_EQ(guessed[0].verdict, HopVerdict::kNotComputable);
  EXPECT_EQ(guessed[0].why, "hashed by bytes that each switch writes anew");
}

// Bytes 8 and 10 to 11 of IPv4 are TTL and checksum, byte 7 of IPv6 its hop limit; Ethernet's first twelve are MACs.
TEST(Compared, AHashIsNotComputableByTheBytesThatSwitchesRewriteAndNoOthers) {
  const auto is_computable = [](const std::string& base, int offset, int length) {
    Walked walked{walked_testbed(
        kFourSpines, "profiles: {default: {hash: {fields: [L4_SRC_PORT], udf: [{base: " + base +
                         ", offset: " + std::to_string(offset) + ", length: " + std::to_string(length) + "}]}}}\n")};
    const ComparedFlow flow =
        walked.compared({.frame = walked.frame(), .frame_bytes = 0, .sender = walked.sender(), .left = {}});
    return flow.hops.at(0).verdict == HopVerdict::kNotSeen;
  };
  for (int offset = 0; offset < 14; ++offset) {
    EXPECT_EQ(is_computable("L3", offset, 1), offset != 8 && offset != 10 && offset != 11) << offset;
    EXPECT_EQ(is_computable("L2", offset, 1), offset >= 12) << offset;
  }
  EXPECT_FALSE(is_computable("L3", 6, 3)) << "6 to 8";
  EXPECT_FALSE(is_computable("L3", 11, 4)) << "11 to 14";
  EXPECT_FALSE(is_computable("L3", 9, 2)) << "9 and 10";
  EXPECT_TRUE(is_computable("L3", 6, 2)) << "6 and 7";
  EXPECT_TRUE(is_computable("L4", 8, 4)) << "behind another header";
}

}  // namespace
}  // namespace softspine::analysis
