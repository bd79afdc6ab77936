// SPDX-License-Identifier: Apache-2.0
// Workloads whose flows differ: lists in files, and flows that arrive by chance at a load.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "control/compile/review.hpp"
#include "control/load/listed_flows.hpp"
#include "control/traffic/plan.hpp"
#include "control/traffic/workload_demands.hpp"
#include "control/traffic/workload_packets.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::with_fabric;

class FlowList : public testing::Test {
 protected:
  FlowList()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("softspine-flows-") + std::to_string(getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~FlowList() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::expected<Testbed, Errors> load(const std::string& workload, const std::string& run = "{duration: 10ms}") const {
    return load_testbed(write("testbed.yaml", with_fabric("run: " + run + "\nworkload: [" + workload + "]\n")));
  }
  // FILE:LINE:COLUMN and the message, the folder left out.
  std::vector<std::string> complaints(const std::string& workload) const {
    std::vector<std::string> out;
    const auto testbed = load(workload);
    for (const Error& error : testbed ? Errors{} : testbed.error()) {
      const std::string name = std::filesystem::path(error.file).filename().string();
      out.push_back(name + ":" + std::to_string(error.line) + ":" + std::to_string(error.column) + ": " +
                    error.message);
    }
    return out;
  }
  std::vector<std::string> complaints_of_list(std::string_view text, const std::string& more = "") const {
    write("flow.txt", text);
    return complaints("{name: w, pattern: list, file: flow.txt" + more + "}");
  }
  std::vector<std::string> complaints_of_sizes(std::string_view text) const {
    write("sizes.txt", text);
    return complaints("{name: w, pattern: poisson, load: 30%, sizes: sizes.txt, flows: 10}");
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(FlowList, HpccsNumbersAreHostsInOrderAndItsPrioritiesDscps) {
  write("flow.txt", "3\n0 3 3 100 3250000 2.000017439\n2 1 4 100 1 2\n0 3 3 100 7 2.001\n");
  const auto testbed = load("{name: w, pattern: list, file: flow.txt, zero: 2s, start: 1us, transport: rc}");
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  const Workload& w = testbed->workloads.at(0);
  const auto name = [&](uint32_t node) { return testbed->fabric.nodes[node].name; };
  EXPECT_EQ(name(w.from.at(0)) + name(w.to.at(0)) + name(w.from.at(1)) + name(w.to.at(1)), "h1h4h3h2");
  EXPECT_EQ(w.flows.at(0).bytes, 3'250'000U);
  EXPECT_EQ(w.flows[0].start, Instant::at(Duration::ps(17'439'000 + 1'000'000)));
  EXPECT_EQ(w.flows[0].dscp, 3);
  EXPECT_EQ(w.flows[1].dscp, 4);
  EXPECT_EQ(w.message_bytes, 1U);
  EXPECT_EQ(largest_message(w), 3'250'000U);
  EXPECT_THAT(dscps_of(w), ElementsAre(3, 4));
  EXPECT_EQ(data_demands_of(w).size(), 2U) << "one for each source, whatever it sends";
  EXPECT_EQ(review(*testbed).workloads.size(), 2U) << "one for each DSCP";
}

TEST_F(FlowList, CsvNamesItsColumnsAndHosts) {
  write("flow.csv", "start, bytes,destination,source,dscp\r\n10us,1MiB,h1,h2,5\r\n\r\n0.000002,77,h3,h4,\r\n");
  const auto testbed = load("{name: w, pattern: list, file: flow.csv, format: csv}");
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  const Workload& w = testbed->workloads.at(0);
  ASSERT_EQ(w.flows.size(), 2U);
  EXPECT_EQ(testbed->fabric.nodes[w.from[0]].name, "h2");
  EXPECT_EQ(w.flows[0].bytes, 1U << 20);
  EXPECT_EQ(w.flows[0].start, Instant::at(Duration::us(10)));
  EXPECT_EQ(w.flows[0].dscp, 5);
  EXPECT_EQ(w.flows[1].start, Instant::at(Duration::us(2)));
  EXPECT_FALSE(w.flows[1].dscp) << "that of the workload";
}

// The same flows, each a workload of its own.
TEST_F(FlowList, PlansWhatAWorkloadForEachFlowWould) {
  std::string list = "40\n";
  std::string rows;
  for (int i = 0; i < 40; ++i) {
    const int from = i % 4;
    const int to = (from + 1 + i / 4 % 3) % 4;
    list += std::to_string(from) + " " + std::to_string(to) + " 3 100 " + std::to_string(1'000 + 777 * i) + " 0.00000" +
            std::to_string(i % 10) + "\n";
    rows += (i > 0 ? ", " : "") + std::string("{name: f") + std::to_string(i) + ", pattern: pairs, from: [h" +
            std::to_string(from + 1) + "], to: [h" + std::to_string(to + 1) +
            "], message: " + std::to_string(1'000 + 777 * i) + "B, start: " + std::to_string(i % 10) +
            "us, dscp: 3, transport: rc}";
  }
  write("flow.txt", list);
  const auto one = load("{name: w, pattern: list, file: flow.txt, transport: rc}");
  const auto many = load(rows);
  ASSERT_TRUE(one && many) << to_string((one ? many : one).error().front());
  std::vector<TrafficHost> hosts(one->fabric.nodes.size());
  for (uint32_t n = 0; n < hosts.size(); ++n) hosts[n] = {.address = n, .rack = 0};
  const auto found = plan_flows(one->workloads, hosts, 1);
  const auto expected = plan_flows(many->workloads, hosts, 1);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const auto& [a, b] = std::pair(found[i], expected[i]);
    EXPECT_EQ(std::tie(a.source, a.destination, a.flow.message_bytes, a.flow.start, a.flow.dscp, a.flow.source_qp,
                       a.flow.destination_qp, a.flow.source_port, a.flow.messages, a.sink.ack_dscp),
              std::tie(b.source, b.destination, b.flow.message_bytes, b.flow.start, b.flow.dscp, b.flow.source_qp,
                       b.flow.destination_qp, b.flow.source_port, b.flow.messages, b.sink.ack_dscp))
        << i;
  }
}

TEST_F(FlowList, TheWorkloadsOwnDscpIsThatOfAllFlows) {
  write("flow.txt", "2\n0 1 3 100 5 0\n0 1 4 100 5 0\n");
  const auto testbed = load("{name: w, pattern: list, file: flow.txt, dscp: 11}");
  ASSERT_TRUE(testbed);
  EXPECT_THAT(dscps_of(testbed->workloads[0]), ElementsAre(11));
}

// SONiC's AZURE maps give class 0 to DSCP 8, and none to class 7.
TEST_F(FlowList, PrioritiesAreClassesOfTheAzureMaps) {
  write("flow.txt", "4\n0 1 0 100 5 0\n0 1 5 100 5 0\n0 1 6 100 5 0\n0 1 1 100 5 0\n");
  const auto testbed = load("{name: w, pattern: list, file: flow.txt}");
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  std::vector<int> found;
  for (const ListedFlow& flow : testbed->workloads[0].flows) found.push_back(flow.dscp.value());
  EXPECT_THAT(found, ElementsAre(8, 46, 48, 1));
}

TEST_F(FlowList, AcknowledgementsHaveTheDscpThatTheWorkloadGivesThem) {
  write("flow.txt", "1\n0 1 4 100 5 0\n");
  for (const auto& [keys, dscp] : {std::pair{"", 4}, {", ack_dscp: 48", 48}}) {
    const auto testbed = load(std::string("{name: w, pattern: list, file: flow.txt, transport: rc") + keys + "}");
    ASSERT_TRUE(testbed) << to_string(testbed.error().front());
    const auto plan = plan_flows(testbed->workloads, std::vector<TrafficHost>(testbed->fabric.nodes.size()), 1);
    EXPECT_EQ(plan.at(0).sink.ack_dscp, dscp);
    EXPECT_EQ(plan.at(0).flow.dscp, 4);
  }
}

TEST_F(FlowList, NumbersAreThoseOfTheHostsThatAreNamed) {
  write("flow.txt", "1\n0 1 3 100 5 0\n");
  const auto testbed = load("{name: w, pattern: list, file: flow.txt, hosts: [h3, h1]}");
  ASSERT_TRUE(testbed);
  EXPECT_EQ(testbed->fabric.nodes[testbed->workloads[0].from[0]].name, "h3");
  EXPECT_THAT(complaints_of_list("1\n0 2 3 100 5 0\n", ", hosts: [h3, h1]"),
              ElementsAre("flow.txt:2:3: there is no host '2': 'hosts' of the workload are 0 to 1"));
}

TEST_F(FlowList, MistakesOfAListHaveItsLines) {
  EXPECT_THAT(complaints_of_list(""), ElementsAre(HasSubstr("the first line must be the number of flows")));
  EXPECT_THAT(complaints_of_list("2\n0 1 3 100 5 0\n"),
              ElementsAre("flow.txt:2:1: 2 flows are declared, and 1 stand here"));
  EXPECT_THAT(complaints_of_list("1\n0 1 3 100\n"),
              ElementsAre(HasSubstr("flow.txt:2:1: a flow is SOURCE DESTINATION")));
  EXPECT_THAT(complaints_of_list("1\n0 9 3 100 5 0\n"), ElementsAre(HasSubstr("flow.txt:2:3: there is no host '9'")));
  EXPECT_THAT(complaints_of_list("1\n1 1 3 100 5 0\n"), ElementsAre("flow.txt:2:3: leads to its own source"));
  EXPECT_THAT(complaints_of_list("1\n0 1 3 100 0 0\n"), ElementsAre("flow.txt:2:11: '0' is no number of bytes"));
  EXPECT_THAT(complaints_of_list("1\n0 1 3 100 2147483649 0\n"),
              ElementsAre("flow.txt:2:11: a flow has at most 2^31 bytes"));
  EXPECT_THAT(complaints_of_list("1\n0 1 3 100 5 soon\n"), ElementsAre("flow.txt:2:13: 'soon' is no time in seconds"));
  EXPECT_THAT(complaints_of_list("1\n0 1 3 100 5 -1\n"), ElementsAre("flow.txt:2:13: '-1' is no time in seconds"));
  EXPECT_THAT(complaints_of_list("1\n0 1 8 100 5 0\n"), ElementsAre(HasSubstr("a priority is from 0 to 7")));
  EXPECT_THAT(complaints_of_list("1\n0 1 3 100 5 1\n", ", zero: 2s"),
              ElementsAre("flow.txt:2:13: starts before 2s, the workload's zero"));
  EXPECT_THAT(complaints_of_list("1\n0 1 3 100 5 2\n"),
              ElementsAre("flow.txt:2:13: starts 2s after the workload: the run ends before (zero: 2s would start this "
                          "flow at once)"));
  EXPECT_THAT(complaints_of_list("0\n"), ElementsAre(HasSubstr("has no flow")));
  EXPECT_THAT(complaints_of_list("1000001\n"), ElementsAre(HasSubstr("at most 1000000")));
  EXPECT_THAT(complaints_of_list("2\n0 0 3 100 1 0\n1 1 3 100 1 0\n"),
              ElementsAre(HasSubstr("(and 1 more of this kind)")));
  EXPECT_THAT(complaints("{name: w, pattern: list, file: none.txt}"),
              ElementsAre(HasSubstr("'none.txt' cannot be opened")));
  EXPECT_THAT(complaints("{name: w, pattern: list}"), ElementsAre(HasSubstr("the key 'file' is missing")));
}

TEST_F(FlowList, MistakesOfCsvHaveItsLines) {
  const std::string csv = ", format: csv";
  EXPECT_THAT(complaints_of_list("", csv), ElementsAre(HasSubstr("source is missing")));
  EXPECT_THAT(complaints_of_list("source,destination,bytes\n", csv), ElementsAre(HasSubstr("flow.txt:1:1")));
  EXPECT_THAT(complaints_of_list("source,destination,bytes,start,x\n", csv),
              ElementsAre(HasSubstr("'x' is no column")));
  EXPECT_THAT(complaints_of_list("source,destination,bytes,start,start\n", csv),
              ElementsAre(HasSubstr("stands here twice")));
  const std::string head = "source,destination,bytes,start,dscp\n";
  EXPECT_THAT(complaints_of_list(head + "h1,h2,5\n", csv),
              ElementsAre("flow.txt:2:1: 5 columns are named, and here are 3"));
  EXPECT_THAT(complaints_of_list(head + "h1,h9,5,0,1\n", csv), ElementsAre("flow.txt:2:4: there is no host 'h9'"));
  EXPECT_THAT(complaints_of_list(head + "h1,tor1,5,0,1\n", csv), ElementsAre(HasSubstr("tor1 is not a built-in host")));
  EXPECT_THAT(complaints_of_list(head + "h1,h2,5,0,64\n", csv),
              ElementsAre("flow.txt:2:11: a DSCP is from 0 to 63, not '64'"));
  EXPECT_THAT(complaints_of_list(head + "h1,h2,5Gb,0,1\n", csv),
              ElementsAre("flow.txt:2:7: '5Gb' is no number of bytes"));
  EXPECT_THAT(complaints_of_list(head + "h1,h2,5,0,1\n", csv + ", hosts: [h1, h2]"),
              ElementsAre(HasSubstr("are for numbers")));
}

TEST_F(FlowList, ArrivalsAreDrawnAtTheLoadOfTheLinks) {
  const auto testbed =
      load("{name: w, pattern: poisson, load: 50%, sizes: hadoop, until: 100ms}", "{duration: 1s, seed: 3}");
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  const Workload& w = testbed->workloads[0];
  double bytes = 0;
  for (const ListedFlow& flow : w.flows) bytes += static_cast<double>(flow.bytes);
  EXPECT_NEAR(bytes * 8 / 0.1 / 400e9, 0.5, 0.05);
  EXPECT_TRUE(std::ranges::is_sorted(w.flows, {}, &ListedFlow::start));
  EXPECT_LT(w.flows.back().start, Instant::at(Duration::ms(100)));
  const auto other =
      load("{name: w, pattern: poisson, load: 50%, sizes: hadoop, until: 100ms}", "{duration: 1s, seed: 4}");
  EXPECT_NE(other->workloads[0].flows[0].bytes, w.flows[0].bytes);
}

TEST_F(FlowList, ArrivalsOfTwoWorkloadsDiffer) {
  const std::string keys = ", pattern: poisson, load: 50%, sizes: hadoop, flows: 5}";
  const auto testbed = load("{name: a" + keys + ", {name: b" + keys);
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  EXPECT_NE(testbed->workloads[0].flows[0].start, testbed->workloads[1].flows[0].start);
}

TEST(RateOfAHost, IsThatOfAllItsLinks) {
  const Testbed testbed = tests::read_well(
      "name: t\nfabric: {kind: hpn, segments: 1, servers_per_segment: 1, rails: 1, planes: 1, "
      "aggregations_per_plane: 1, host_link: {rate: 200Gbps}, fabric_link: {rate: 400Gbps}}\n");
  for (uint32_t n = 0; n < testbed.fabric.nodes.size(); ++n) {
    if (testbed.fabric.nodes[n].kind != NodeKind::kHost) continue;
    EXPECT_EQ(rate_of_host(testbed.fabric, n), dataplane::Rate::gbps(400));
  }
}

TEST_F(FlowList, ADistributionOfOnesOwnIsAFile) {
  write("sizes.txt", "100 0\n200 37.5\n\n1000 100\n");
  const auto testbed = load("{name: w, pattern: poisson, load: 1%, sizes: sizes.txt, flows: 300}");
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  const Workload& w = testbed->workloads[0];
  EXPECT_EQ(w.flows.size(), 300U);
  EXPECT_GE(w.message_bytes, 100U);
  EXPECT_LE(largest_message(w), 1'000U);
}

TEST_F(FlowList, MistakesOfADistributionHaveItsLines) {
  EXPECT_THAT(complaints_of_sizes(""), ElementsAre("sizes.txt:1:1: has no line of BYTES PERCENT"));
  EXPECT_THAT(complaints_of_sizes("0 0\n"), ElementsAre("sizes.txt:1:1: the last line must be at 100 %"));
  EXPECT_THAT(complaints_of_sizes("0 1\n10 100\n"), ElementsAre(HasSubstr("the first line must be at 0 %")));
  EXPECT_THAT(complaints_of_sizes("0 0\n10 50\n10 100\n"),
              ElementsAre("sizes.txt:3:1: the bytes must ascend from line to line"));
  EXPECT_THAT(complaints_of_sizes("0 0\n10 50\n20 50\n30 100\n"),
              ElementsAre("sizes.txt:3:1: the percent must ascend from line to line"));
  EXPECT_THAT(complaints_of_sizes("0 0\n10 99.9\n"), ElementsAre("sizes.txt:2:1: the last line must be at 100 %"));
  EXPECT_THAT(complaints_of_sizes("0 0\n10 101\n"), ElementsAre(HasSubstr("'101' is no percent")));
  EXPECT_THAT(complaints_of_sizes("0 0\n2147483649 100\n"),
              ElementsAre("sizes.txt:2:1: a flow has at most 2^31 bytes"));
  EXPECT_THAT(complaints_of_sizes("0 0 0\n"), ElementsAre("sizes.txt:1:1: a line is BYTES PERCENT"));
}

TEST_F(FlowList, AHostWithoutALinkIsTheOnlyMistakeOfArrivals) {
  const auto testbed = load_testbed(write(
      "testbed.yaml", with_fabric("topology: {nodes: {lone: {kind: host}}}\nrun: {duration: 10ms}\n"
                                  "workload: [{name: w, pattern: poisson, load: 1%, sizes: hadoop, flows: 1}]\n")));
  ASSERT_FALSE(testbed);
  ASSERT_EQ(testbed.error().size(), 1U);
  EXPECT_THAT(to_string(testbed.error().front()), HasSubstr("lone has no link"));
}

TEST_F(FlowList, KeysOfArrivalsAreHeldToWhatFits) {
  const auto poisson = [&](const std::string& keys) { return complaints("{name: w, pattern: poisson, " + keys + "}"); };
  EXPECT_THAT(poisson("load: 0%, sizes: hadoop, flows: 1"), ElementsAre(HasSubstr("must be")));
  EXPECT_THAT(poisson("load: 101%, sizes: hadoop, flows: 1"), ElementsAre(HasSubstr("must be")));
  EXPECT_THAT(poisson("sizes: hadoop, flows: 1"), ElementsAre(HasSubstr("the key 'load' is missing")));
  EXPECT_THAT(poisson("load: 1%, flows: 1"), ElementsAre(HasSubstr("the key 'sizes' is missing")));
  EXPECT_THAT(poisson("load: 1%, sizes: hadoop"), ElementsAre(HasSubstr("needs 'flows', how many, or 'until'")));
  EXPECT_THAT(poisson("load: 1%, sizes: hadoop, flows: 1, until: 1ms"), ElementsAre(HasSubstr("one of them ends it")));
  EXPECT_THAT(poisson("load: 1%, sizes: hadop, flows: 1"), ElementsAre(HasSubstr("there are websearch, hadoop")));
  EXPECT_THAT(poisson("load: 1%, sizes: websearch, flows: 1000"), ElementsAre(HasSubstr("the run ends before")));
  EXPECT_THAT(poisson("load: 1%, sizes: websearch, until: 11ms"), ElementsAre(HasSubstr("the run ends before")));
  EXPECT_THAT(poisson("load: 1%, sizes: websearch, until: 1ps"),
              ElementsAre(HasSubstr("no flow arrives in this time")));
  EXPECT_THAT(poisson("load: 1%, sizes: googlerpc, flows: 1, qps: 2"),
              ElementsAre(HasSubstr("is not for this pattern")));
  EXPECT_THAT(poisson("load: 1%, sizes: googlerpc, flows: 1, file: x"),
              ElementsAre(HasSubstr("is not for this pattern")));
  EXPECT_THAT(complaints("{name: w, pattern: ring, load: 1%}"), ElementsAre(HasSubstr("is not for this pattern")));
}

}  // namespace
}  // namespace softspine::control
