// SPDX-License-Identifier: Apache-2.0
// Why a flow has not ended when the run has: what the report says of each, and of none that is still under way.
#include <fmt/format.h>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// Two ToRs below one spine, with two hosts each; h1 sends to h3, or to whom is said.
std::string why_stalled(const std::string& faults, const std::string& transport = "", const char* to = "h3",
                        const char* messages = "1000") {
  const Outcome out = run_text(fmt::format(R"(
name: stalled
run: {{duration: 200us}}
fabric: {{kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {{rate: 100Gbps}}, fabric_link: {{rate: 100Gbps}}}}
workload: [{{name: w, pattern: pairs, from: [h1], to: [{}], message: 64KiB, messages: {}, mtu: 4096{}}}]
faults: [{}]
)",
                                           to, messages, transport, faults));
  return out.snapshot.flows.empty() ? "no flow" : out.snapshot.flows[0].stalled;
}

TEST(StalledFlows, AreNoneThatHaveAWayOrAreDone) {
  EXPECT_EQ(why_stalled(""), "") << "64 MB take 5 ms";
  EXPECT_EQ(why_stalled("", ", transport: rc"), "");
  EXPECT_EQ(why_stalled("", "", "h2"), "") << "on the same ToR";
  EXPECT_EQ(why_stalled("", "", "h3", "1"), "") << "it has ended";
  EXPECT_EQ(why_stalled("{at: 10us, node: spine1, set: down}, {at: 20us, node: spine1, set: up}"), "");
}

TEST(StalledFlows, HaveNoLinkOrNoRoute) {
  EXPECT_EQ(why_stalled("{at: 10us, link: \"h1:eth0\", set: down}"), "h1:eth0 has no link");
  EXPECT_EQ(why_stalled("{at: 10us, link: \"h3:eth0\", set: down}"), "h3 has no link");
  EXPECT_EQ(why_stalled("{at: 10us, node: spine1, set: down}"), "tor1 has no route to h3");
  EXPECT_EQ(why_stalled("{at: 10us, node: spine1, set: down}", "", "h2"), "") << "which needs no spine";
}

// 4.096 us x 2^1, twice without progress.
TEST(StalledFlows, HaveLostTheirPacketsOrGivenUp) {
  const std::string lossy = "{at: 0s, link: \"h3:eth0\", set: lossy, drop: 100%}";
  EXPECT_EQ(why_stalled(lossy, ", transport: rc, window: 4, ack_timeout: 0"),
            "its packets were lost and ack_timeout is 0");
  EXPECT_EQ(why_stalled(lossy, ", transport: rc, window: 4, ack_timeout: 1, retries: 1"),
            "given up after 2 timeouts in a row");
}

}  // namespace
}  // namespace softspine::testbeds
