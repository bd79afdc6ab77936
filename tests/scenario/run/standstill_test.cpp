// SPDX-License-Identifier: Apache-2.0
// What a port sends and what it stands still, at ports that always have something to send: together the whole time.
#include <fmt/format.h>

#include "dataplane/packet/wire.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::Duration;
using dataplane::Rate;

constexpr Rate kLine = Rate::gbps(100);
const Duration kWhole = Duration::ms(5);
// Until the first frame is in: 1,098 bytes and 3 m of fibre.
const Duration kFirst = kLine.time_of_frame(1'098) + Duration::ps(15'152);

// h1 storms. Its switch's port sends from when the first frame is in; h2 from the start, and stands still from when the
// switch's buffer is full. No other frame leaves by these ports.
Outcome run_stormed(const char* mode) {
  return run_text(fmt::format(R"(
name: standstill
run: {{duration: 5ms}}
topology:
  nodes: {{tor1: {{kind: switch, role: tor}}, h1: {{kind: host}}, h2: {{kind: host}}}}
  links:
    - {{endpoints: [tor1, h1], rate: 100Gbps, length: 3m, flow_control: {0}}}
    - {{endpoints: [tor1, h2], rate: 100Gbps, length: 3m, flow_control: {0}}}
roles: {{tor: lossless}}
workload: [{{name: w, pattern: pairs, from: h2, to: h1, message: 1GiB, mtu: 1024, dscp: 3}}]
faults: [{{at: 100us, node: h1, set: storm, priorities: [3]}}]
)",
                              mode));
}

Duration on_the_wire(const dataplane::LinkCounters& link) {
  return kLine.time_of_bytes(link.bytes + link.packets * dataplane::kWireOverheadBytes);
}

TEST(Standstill, AndSendingTakeTheWholeTime) {
  const Outcome out = run_stormed("pfc");
  ASSERT_EQ(out.snapshot.switches.size(), 1U);
  const control::PortSnapshot& port = out.snapshot.switches[0].ports[0];
  const control::HostPortSnapshot& sender = host_of(out, "h2").ports[0];
  EXPECT_EQ(port.pauses[3].time + on_the_wire(port.link), kWhole - kFirst);
  EXPECT_EQ(sender.pause[3].paused + on_the_wire(sender.link), kWhole);
  EXPECT_GT(sender.pause[3].paused, Duration::ms(1)) << "the buffer was full";
  EXPECT_EQ(port.pauses[4].time, Duration{});
}

TEST(Standstill, OfAWholeLinkAndSendingTakeTheWholeTime) {
  const Outcome out = run_stormed("pause");
  ASSERT_EQ(out.snapshot.switches.size(), 1U);
  const control::PortSnapshot& port = out.snapshot.switches[0].ports[0];
  const control::HostPortSnapshot& sender = host_of(out, "h2").ports[0];
  EXPECT_EQ(port.link_pause.time + on_the_wire(port.link), kWhole - kFirst);
  EXPECT_EQ(sender.link_pause.time + on_the_wire(sender.link), kWhole);
  EXPECT_GT(sender.link_pause.time, Duration::ms(1)) << "the buffer was full";
}

}  // namespace
}  // namespace softspine::testbeds
