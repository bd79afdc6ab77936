// SPDX-License-Identifier: Apache-2.0
// Links that fail: what is lost is counted, routes follow after the convergence, and all is well again afterwards.
#include "tests/scenario/run/paced_flow.hpp"

namespace softspine::testbeds {
namespace {

uint64_t sum_of_drops(const Outcome& out, const char* reason) {
  return out.report["totals"]["drops"][reason].get<uint64_t>();
}

// That carries the flow.
std::string used_uplink() {
  return "tor1:Ethernet" + std::to_string(4 * used_spine());
}

TEST(Faults, CostWhatIsSentIntoTheDeadLinkUntilRoutesFollow) {
  const Outcome whole = run_text(paced(""));
  const std::string uplink = used_uplink();
  ASSERT_EQ(whole.snapshot.flows[0].received_packets, 1000U);
  // A frame of 1098 + 24 bytes at 8.976 Gb/s is 1 us. The link is down from 100 us on, routes follow at 150 us: 50
  // packets are sent into it, give or take the one that is just there.
  const Outcome broken =
      run_text(paced("faults: [{at: 100us, link: \"" + uplink + "\", set: down}]\nconvergence: 50us\n"));
  const uint64_t lost = 1000 - broken.snapshot.flows[0].received_packets;
  EXPECT_GE(lost, 49U);
  EXPECT_LE(lost, 52U);
  EXPECT_EQ(sum_of_drops(broken, "link_down") + broken.report["totals"]["lost_on_links"].get<uint64_t>() +
                sum_of_drops(broken, "lost_on_link"),
            lost);
  EXPECT_EQ(broken.snapshot.flows[0].missing(), lost);
}

TEST(Faults, CostNothingMoreOnceRoutesHaveFollowed) {
  const std::string uplink = used_uplink();
  const Outcome out = run_text(paced("faults: [{at: 100us, link: \"" + uplink + "\", set: down}]\n"));
  EXPECT_LE(1000 - out.snapshot.flows[0].received_packets, 2U) << "only what was on the link";
  EXPECT_EQ(out.report["totals"]["route_changes"], 3u);
}

TEST(Faults, EndWhenTheLinkComesBack) {
  const std::string uplink = used_uplink();
  const Outcome out = run_text(paced("faults: [{at: 100us, link: \"" + uplink + "\", set: down}, {at: 200us, link: \"" +
                                     uplink + "\", set: up}]\nconvergence: 10us\n"));
  // The link's two ends, and the other ToR, which no longer goes over that spine: three of four, twice.
  EXPECT_EQ(out.report["totals"]["route_changes"], 6u);
  const uint64_t by_it = out.report["links"][uplink]["tx_packets"].get<uint64_t>();
  EXPECT_NEAR(static_cast<double>(by_it), 1000 - 100, 15) << "all but 100 us of it, the convergence included";
}

TEST(Faults, OfANodeTakeAllOfItsLinks) {
  const Outcome out =
      run_text(paced("faults: [{at: 100us, node: spine1, set: down}, {at: 100us, node: spine2, set: down}]\n"));
  EXPECT_NEAR(static_cast<double>(out.snapshot.flows[0].received_packets), 100, 3);
  EXPECT_NEAR(static_cast<double>(sum_of_drops(out, "no_route")), 900, 3);
}

}  // namespace
}  // namespace softspine::testbeds
