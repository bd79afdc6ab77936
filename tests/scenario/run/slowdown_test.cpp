// SPDX-License-Identifier: Apache-2.0
// A flow that is alone takes the time that ideal_time.hpp has for it, to the picosecond: its slowdown is 1.
#include <fmt/format.h>

#include "control/report/fct_file.hpp"
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

}  // namespace
}  // namespace softspine::testbeds
