// SPDX-License-Identifier: Apache-2.0
// A flow that is alone takes the time that ideal_time.hpp has for it, to the picosecond: its slowdown is 1.
#include <fmt/format.h>

#include "control/report/fct_file.hpp"
#include "dataplane/packet/wire.hpp"
#include "testbeds/hosts/frame_template.hpp"
#include "testbeds/run/ideal_time.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

struct Links {
  const char* host;
  const char* fabric;
};

class Alone : public testing::TestWithParam<Links> {
 protected:
  static control::Testbed testbed(const std::string& how) {
    return testbed_of(fmt::format(R"(
name: alone
run: {{duration: 100ms}}
fabric: {{kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {{rate: {}, length: 7m}}, fabric_link: {{rate: {}, length: 311m}}}}
workload: [{{name: w, pattern: pairs, from: h1, to: h4, start: 12345ns, {}}}]
)",
                                  GetParam().host, GetParam().fabric, how));
  }
};

// From one packet to some hundred; with a last one that is short, and without.
TEST_P(Alone, AFlowTakesItsIdealTime) {
  for (const char* verb : {"write", "send"}) {
    for (const uint64_t bytes : {1, 61, 4'096, 4'097, 8'192, 9'000, 1'000'001}) {
      for (const char* transport : {"rc, window: 4096", "open_loop"}) {
        const auto how = fmt::format("message: {}B, verb: {}, transport: {}", bytes, verb, transport);
        const Outcome out = run_whole(testbed(how));
        const control::FlowSnapshot& flow = out.snapshot.flows.at(0);
        EXPECT_EQ(flow.time_there(), flow.ideal) << how;
        EXPECT_EQ(flow.slowdown_millionths(), 1'000'000) << how;
        if (flow.open_loop) continue;
        EXPECT_EQ(*flow.acked - *flow.completion, flow.ideal_back) << how;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, Alone,
                         testing::Values(Links{"100Gbps", "100Gbps"}, Links{"100Gbps", "400Gbps"},
                                         Links{"100Gbps", "25Gbps"}));

TEST(FctFile, HasHpccsColumns) {
  const control::Testbed testbed = testbed_of(R"(
name: fct
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: late, pattern: pairs, from: h1, to: h4, message: 700B, start: 100us, transport: rc, source_port: 10000}
  - {name: soon, pattern: pairs, from: h3, to: h2, message: 5000B, start: 3us, transport: rc, source_port: 10001}
  - {name: never, pattern: pairs, from: h3, to: h1, message: 1GB, start: 200us, transport: rc}
)");
  const Outcome out = run_whole(testbed);
  const auto alone = [&](size_t flow) {
    const control::FlowSnapshot& found = out.snapshot.flows.at(flow);
    return (found.ideal + found.ideal_back).count_ps() / 1'000;
  };
  EXPECT_EQ(control::fct_text(out.snapshot, testbed.fabric),
            fmt::format("0b000201 0b000101 10001 100 5000 3000 {} {}\n0b000001 0b000301 10000 100 700 100000 {} {}\n",
                        alone(1), alone(1), alone(0), alone(0)));
}

// The second flow's first packet leaves behind the first one's: its time counts from its planned start all the same.
TEST(FctFile, HasTimesFromThePlannedStart) {
  const control::Testbed testbed = testbed_of(R"(
name: fct
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: one, pattern: pairs, from: h1, to: h4, message: 5000B, start: 3us, transport: rc, source_port: 10000}
  - {name: two, pattern: pairs, from: h1, to: h3, message: 9000B, start: 3us, transport: rc, source_port: 10001}
)");
  const Outcome out = run_whole(testbed);
  const auto& [one, two] = std::tie(out.snapshot.flows.at(0), out.snapshot.flows.at(1));
  EXPECT_GT(std::max(one.first_sent, two.first_sent), one.start);
  const auto ns = [](const control::FlowSnapshot& it) {
    return (it.first_sent + *it.acked - it.start).count_ps() / 1'000;
  };
  const std::string text = control::fct_text(out.snapshot, testbed.fabric);
  for (const auto* flow : {&one, &two})
    EXPECT_NE(text.find(fmt::format(" {} 3000 {} ", flow->message_bytes, ns(*flow))), std::string::npos) << text;
}

// Two hosts with two ports each: b is at the second port of a alone.
TEST(IdealTimes, GoByThePortThatLeadsThere) {
  using control::NodeKind;
  control::Fabric fabric;
  const auto add = [&](NodeKind kind) {
    fabric.nodes.push_back({.kind = kind});
    return static_cast<uint32_t>(fabric.nodes.size() - 1);
  };
  const auto join = [&](uint32_t a, uint32_t b, int64_t ns) {
    const auto link = static_cast<uint32_t>(fabric.links.size());
    const auto end = [&](uint32_t node) {
      fabric.nodes[node].ports.push_back({.link = link});
      return control::LinkEnd{node, static_cast<uint16_t>(fabric.nodes[node].ports.size() - 1)};
    };
    const control::LinkEnd from = end(a);
    fabric.links.push_back(
        {.a = from, .b = end(b), .rate = dataplane::Rate::gbps(100), .propagation = dataplane::Duration::ns(ns)});
  };
  const uint32_t a = add(NodeKind::kHost);
  const uint32_t b = add(NodeKind::kHost);
  const uint32_t first = add(NodeKind::kSwitch);
  const uint32_t second = add(NodeKind::kSwitch);
  join(a, first, 1'000);
  join(a, second, 20);
  join(b, second, 300);
  control::PlannedFlow plan{.source = a, .destination = b};
  plan.flow.messages = 1;
  plan.flow.message_bytes = 1'000;
  const dataplane::Duration packet =
      dataplane::Rate::gbps(100).time_of_frame(dataplane::ethernet::kBytes + largest_packet_bytes(plan.flow));
  EXPECT_EQ(ideal_times(fabric, {plan}).at(0).there, dataplane::Duration::ns(320) + packet * 2);
}

}  // namespace
}  // namespace softspine::testbeds
