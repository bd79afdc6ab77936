// SPDX-License-Identifier: Apache-2.0
// What a testbed file says about pairs of ToRs that are one system.
#include <gtest/gtest.h>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

// h1 and h3 have ports at both ToRs, which two links join; h2 and h4 have one.
constexpr const char* kLinks =
    "topology:\n"
    "  links:\n"
    "    - {endpoints: [h1, tor2], rate: 100Gbps}\n"
    "    - {endpoints: [h3, tor1], rate: 100Gbps}\n"
    "    - {endpoints: [tor1, tor2], rate: 100Gbps}\n"
    "    - {endpoints: [tor1, tor2], rate: 100Gbps}\n";

std::string stacked(const std::string& stacks) {
  return with_fabric(std::string(kLinks) + "  stacks: {" + stacks + "}\n");
}

TEST(Stacks, HaveTheTimersOfVpcUnlessToldOtherwise) {
  const Testbed testbed = read_well(stacked("rack: {switches: [tor1, tor2]}"));
  ASSERT_EQ(testbed.fabric.stacks.size(), 1u);
  const Stack& stack = testbed.fabric.stacks[0];
  EXPECT_EQ(stack.name, "rack");
  EXPECT_EQ(testbed.fabric.nodes[stack.switches[0]].name, "tor1");
  EXPECT_EQ(testbed.fabric.nodes[stack.switches[1]].name, "tor2");
  ASSERT_EQ(stack.peer_links.size(), 2u);
  for (const uint32_t link : stack.peer_links) {
    EXPECT_EQ(testbed.fabric.links[link].a.node, stack.switches[0]);
    EXPECT_EQ(testbed.fabric.links[link].b.node, stack.switches[1]);
  }
  EXPECT_TRUE(stack.management);
  EXPECT_EQ(stack.keepalive_interval, Duration::s(1));
  EXPECT_EQ(stack.keepalive_timeout, Duration::s(5));
  EXPECT_EQ(stack.hold_timeout, Duration::s(3));
  EXPECT_EQ(stack.delay_restore, Duration::s(30));
}

TEST(Stacks, ReadEveryKey) {
  const Testbed testbed =
      read_well(stacked("rack: {switches: [tor1, tor2], primary: tor2, management: false, keepalive_interval: 1ms, "
                        "keepalive_timeout: 2ms, hold_timeout: 3ms, delay_restore: 4ms}"));
  ASSERT_EQ(testbed.fabric.stacks.size(), 1u);
  const Stack& stack = testbed.fabric.stacks[0];
  EXPECT_EQ(testbed.fabric.nodes[stack.switches[0]].name, "tor2");
  EXPECT_EQ(testbed.fabric.nodes[stack.switches[1]].name, "tor1");
  EXPECT_FALSE(stack.management);
  EXPECT_EQ(stack.keepalive_interval, Duration::ms(1));
  EXPECT_EQ(stack.keepalive_timeout, Duration::ms(2));
  EXPECT_EQ(stack.hold_timeout, Duration::ms(3));
  EXPECT_EQ(stack.delay_restore, Duration::ms(4));
}

TEST(Stacks, AreOfTwoDifferentToRsThatExist) {
  EXPECT_EQ(complaints_about(stacked("rack: {switches: [tor1]}")),
            (Complaints{"10 topology.stacks.rack.switches: a stack is two ToRs, not 1"}));
  EXPECT_EQ(complaints_about(stacked("rack: {switches: [tor1, {a: b}]}")),
            (Complaints{"10 topology.stacks.rack.switches[1]: expected a text, found a map"}));
  EXPECT_EQ(complaints_about(stacked("rack: {switches: [tor1, tor1]}")),
            (Complaints{"10 topology.stacks.rack.switches[1]: a stack is two ToRs, and both are tor1"}));
  EXPECT_EQ(complaints_about(stacked("rack: {switches: [tor1, tor3]}")),
            (Complaints{"10 topology.stacks.rack.switches[1]: there is no ToR 'tor3': did you mean 'tor1'?"}));
  EXPECT_EQ(complaints_about(stacked("rack: {switches: [spine1, tor1]}")),
            (Complaints{"10 topology.stacks.rack.switches[0]: a stack is two ToRs, and the role of spine1 is "
                        "aggregation"}));
  EXPECT_EQ(complaints_about(stacked("rack: {switches: [tor1, h1]}")),
            (Complaints{"10 topology.stacks.rack.switches[1]: a stack is two ToRs, and the role of h1 is host"}));
  EXPECT_EQ(complaints_about(stacked("rack: {switches: [tor1, tor2], primary: spine1}")),
            (Complaints{"10 topology.stacks.rack.primary: 'spine1' is neither tor1 nor tor2"}));
}

TEST(Stacks, ShareNoToR) {
  EXPECT_EQ(complaints_about(stacked("a: {switches: [tor1, tor2]},\n    b: {switches: [tor2, tor1]}")),
            (Complaints{"11 topology.stacks.b.switches[0]: tor2 is in the stack a in line 10 already",
                        "11 topology.stacks.b.switches[1]: tor1 is in the stack a in line 10 already"}));
}

TEST(Stacks, NeedAPeerLink) {
  EXPECT_EQ(complaints_about(with_fabric("topology: {stacks: {rack: {switches: [tor1, tor2]}}}\n")),
            (Complaints{"4 topology.stacks.rack.switches: no link joins tor1 and tor2: a stack needs a peer link "
                        "(topology: links)"}));
}

TEST(Stacks, AreNotLostBetweenTwoKeepalives) {
  EXPECT_EQ(
      complaints_about(stacked("rack: {switches: [tor1, tor2], keepalive_interval: 2ms, keepalive_timeout: 1ms}")),
      (Complaints{"10 topology.stacks.rack.keepalive_timeout: is shorter than keepalive_interval: the peer would be "
                  "lost between two keepalives"}));
}

Complaints warnings(const std::string& text) {
  Complaints out;
  const Testbed testbed = read_well(text);
  for (const Error& warning : testbed.warnings) {
    out.push_back(std::to_string(warning.line) + " " + warning.path + ": " + warning.message);
  }
  return out;
}

TEST(Stacks, OfHostsWithOnePortAreWarnedOf) {
  const std::string fast =
      "rack: {switches: [tor1, tor2], keepalive_interval: 10us, keepalive_timeout: 50us, "
      "hold_timeout: 30us}";
  EXPECT_EQ(warnings(stacked(fast)),
            (Complaints{"10 topology.stacks.rack: h2 and 1 more have a port at one of the two alone: nothing replaces "
                        "it"}));
  const std::string none =
      with_fabric("topology:\n  links: [{endpoints: [tor1, tor2], rate: 100Gbps}]\n  stacks: {" + fast + "}\n");
  EXPECT_EQ(warnings(none),
            (Complaints{"6 topology.stacks.rack: has no effect on any host: none has a port at each of the two"}));
}

TEST(Stacks, ThatOutlastTheRunAreWarnedOf) {
  const std::string more =
      "    - {endpoints: [h2, tor2], rate: 100Gbps}\n    - {endpoints: [h4, tor1], rate: 100Gbps}\n";
  const auto text = [&](const std::string& timers) {
    return with_fabric(kLinks + more + "  stacks: {rack: {switches: [tor1, tor2], keepalive_interval: 1ms, " + timers +
                       "}}\n");
  };
  EXPECT_EQ(warnings(text("hold_timeout: 4ms, keepalive_timeout: 5ms")), Complaints{});
  EXPECT_EQ(warnings(text("hold_timeout: 5ms, keepalive_timeout: 5ms")),
            (Complaints{"12 topology.stacks.rack: may do nothing before the run ends, after 10ms: hold_timeout and "
                        "keepalive_timeout are 10ms"}));
}

}  // namespace
}  // namespace softspine::control
