// SPDX-License-Identifier: Apache-2.0
// QP scaling in whole testbeds: what arrives is what was asked for, by arithmetic, whatever the pattern.
#include <fmt/format.h>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

struct Case {
  const char* pattern;
  uint64_t flows;
};

class Scaled : public testing::TestWithParam<Case> {
 protected:
  // Meta's zone: one NIC, and so one host here, for each GPU. Two racks of two servers with two.
  static control::Json run(const std::string& how) {
    return run_text(fmt::format(R"(
name: scaled
run: {{duration: 20ms}}
fabric: {{kind: ai-zone, racks: 2, servers_per_rack: 2, nics_per_server: 2, ctsws: 4, host_link: {{rate: 100Gbps}}, fabric_link: {{rate: 100Gbps}}}}
workload: [{{name: w, pattern: {}, message: 100001B, messages: 9, mtu: 1024, transport: rc, {}}}]
)",
                                GetParam().pattern, how))
        .report["flows"]["w"];
  }
};

constexpr uint64_t kMessage = 100'001;

TEST_P(Scaled, ByItselfEachQueuePairSendsAll) {
  const control::Json w = run("qps: 4");
  EXPECT_EQ(w["completed"], 4 * GetParam().flows);
  EXPECT_EQ(w["received_messages"], 4 * 9 * GetParam().flows);
  EXPECT_EQ(w["received_bytes"], 4 * 9 * kMessage * GetParam().flows);
}

TEST_P(Scaled, SplitMessagesArriveInParts) {
  const control::Json w = run("qps: 4, scaling: split");
  EXPECT_EQ(w["completed"], 4 * GetParam().flows);
  EXPECT_EQ(w["received_messages"], 4 * 9 * GetParam().flows);
  EXPECT_EQ(w["received_bytes"], 9 * kMessage * GetParam().flows);
  // 25,001 and 3 × 25,000 bytes are 25 packets each.
  EXPECT_EQ(w["received_packets"], 4 * 9 * 25 * GetParam().flows);
}

TEST_P(Scaled, MessagesInTurnArriveWhole) {
  const control::Json w = run("qps: 4, scaling: round_robin");
  EXPECT_EQ(w["completed"], 4 * GetParam().flows);
  EXPECT_EQ(w["received_messages"], 9 * GetParam().flows);
  EXPECT_EQ(w["received_bytes"], 9 * kMessage * GetParam().flows);
  EXPECT_EQ(w["received_packets"], 9 * 98 * GetParam().flows);
}

TEST_P(Scaled, ThirtyTwoQueuePairsWithOneSourcePort) {
  const control::Json w = run("qps: 32, scaling: split, source_port: 49152");
  EXPECT_EQ(w["completed"], 32 * GetParam().flows);
  EXPECT_EQ(w["received_bytes"], 9 * kMessage * GetParam().flows);
}

INSTANTIATE_TEST_SUITE_P(Patterns, Scaled,
                         testing::Values(Case{"ring", 8}, Case{"all_to_all", 8 * 7}, Case{"permutation", 8}),
                         [](const auto& it) { return std::string(it.param.pattern); });

}  // namespace
}  // namespace softspine::testbeds
