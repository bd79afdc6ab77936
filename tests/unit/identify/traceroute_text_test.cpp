// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/traceroute_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/identify/probes.hpp"

namespace softspine::tests {
namespace {

using analysis::ObservationCollector;
using analysis::Observations;
using testing::ElementsAre;
using testing::HasSubstr;

struct Read {
  analysis::TracesRead traces;
  Observations seen;
};

Read read(const std::string& text, uint32_t hop) {
  ObservationCollector out;
  const auto read = read_traceroutes(text, "traces.txt", hop, out);
  EXPECT_TRUE(read) << to_string(read.error().front());
  return {read ? *read : analysis::TracesRead{}, std::move(out).take()};
}

TEST(TracerouteText, HasTheFlowInTheCommandThatTheShellPrinted) {
  const Read found = read(
      "+ traceroute -n -U -q 1 --sport=50000 -p 4000 -s 10.1.0.2 10.2.0.5\n"
      "traceroute to 10.2.0.5 (10.2.0.5), 30 hops max, 60 byte packets\n"
      " 1  10.1.0.1  0.123 ms\n 2  10.0.0.6  0.301 ms\n 3  10.2.0.5  0.4 ms\n"
      "$ sudo-less line\n"
      "$ traceroute -T --sport 50001 --port=443 --source=10.1.0.2 10.2.0.5\n"
      "traceroute to 10.2.0.5 (10.2.0.5), 30 hops max, 60 byte packets\n"
      " 1  tor1 (10.1.0.1)  0.123 ms\n 2  spine2 (10.0.0.10)  0.301 ms *  0.2 ms\n",
      2);
  EXPECT_EQ(found.traces.traces, 2u);
  EXPECT_EQ(found.traces.without_flow, 0u);
  EXPECT_THAT(found.seen.links, ElementsAre("10.0.0.6", "10.0.0.10"));
  ASSERT_EQ(found.seen.flows.size(), 2u);
  EXPECT_EQ(to_string(found.seen.flows[0].flow), "tcp 10.1.0.2:50001 → 10.2.0.5:443");
  EXPECT_EQ(found.seen.flows[0].link, 1u);
  EXPECT_EQ(to_string(found.seen.flows[1].flow), "udp 10.1.0.2:50000 → 10.2.0.5:4000");
  EXPECT_EQ(found.seen.flows[1].link, 0u);
}

TEST(TracerouteText, OfIpv6HasANameOfItsOwn) {
  const Read found = read(
      "$ /usr/bin/traceroute6 -n -U -q 1 --sport=50000 -p 4000 -s fd00::2 fd00:0:0:2::5\n"
      "traceroute6 to fd00:0:0:2::5 (fd00:0:0:2::5) from fd00::2, 30 hops max, 60 byte packets\n"
      " 1  fd00::1  0.123 ms\n 2  fd00:ffff::6  0.301 ms\n",
      2);
  EXPECT_EQ(found.traces.traces, 1u);
  ASSERT_EQ(found.seen.flows.size(), 1u);
  EXPECT_EQ(found.seen.flows[0].flow.source_port, 50'000);
  EXPECT_TRUE(found.seen.flows[0].flow.is_ipv6);
  EXPECT_THAT(found.seen.links, ElementsAre("fd00:ffff::6"));
}

TEST(TracerouteText, WithoutAFlowIsCountedAndNotGuessed) {
  for (const char* command : {"", "$ traceroute -n 10.2.0.5\n", "$ traceroute -U --sport=5 10.2.0.5\n",
                              "$ traceroute -n --sport=5 -s 10.1.0.2 10.2.0.5\n"}) {
    const Read found = read(
        std::string(command) + "traceroute to 10.2.0.5 (10.2.0.5), 30 hops max, 60 byte packets\n 2  10.0.0.6  1 ms\n",
        2);
    EXPECT_EQ(found.traces.traces, 1u) << command;
    EXPECT_EQ(found.traces.without_flow, 1u) << command;
    EXPECT_TRUE(found.seen.flows.empty()) << command;
  }
  // A command is of one trace.
  const Read twice = read(
      "$ traceroute -n -U --sport=50000 -p 4000 -s 10.1.0.2 10.2.0.5\n"
      "traceroute to 10.2.0.5 (10.2.0.5), 30 hops max\n 2  10.0.0.6  1 ms\n"
      "traceroute to 10.2.0.9 (10.2.0.9), 30 hops max\n 2  10.0.0.10  1 ms\n",
      2);
  EXPECT_EQ(twice.traces.without_flow, 1u);
  EXPECT_EQ(twice.seen.flows.size(), 1u);
}

TEST(TracerouteText, OfParisHasTheFlowInItsFirstLine) {
  const Read found = read(
      "traceroute [(10.1.0.2:33456) -> (10.2.0.5:33457)], protocol udp, algo hopbyhop, duration 3 s\n"
      " 1  P(1, 1) 10.1.0.1 (10.1.0.1)  0.4/0.4/0.4/0.0 ms\n 2  P(1, 1) 10.0.0.6 (10.0.0.6)  0.4/0.4/0.4/0.0 ms\n"
      "traceroute [(10.1.0.2:0) -> (10.2.0.5:0)], protocol icmp, algo hopbyhop, duration 3 s\n"
      " 2  P(1, 1) 10.0.0.10 (10.0.0.10)  0.4/0.4/0.4/0.0 ms\n",
      2);
  EXPECT_EQ(found.traces.traces, 2u);
  EXPECT_EQ(found.traces.without_flow, 1u);
  ASSERT_EQ(found.seen.flows.size(), 1u);
  EXPECT_EQ(to_string(found.seen.flows[0].flow), "udp 10.1.0.2:33456 → 10.2.0.5:33457");
  EXPECT_THAT(found.seen.links, ElementsAre("10.0.0.6"));
}

TEST(TracerouteText, OfDublinHasTheFlowWithEachProbe) {
  const Read found = read(R"({"flows": {"33434": [
      {"sent": {"ip": {"src": "10.1.0.2", "dst": "10.2.0.5", "ttl": 1}, "udp": {"sport": 12345, "dport": 33434}},
       "received": {"ip": {"src": "10.1.0.1"}}},
      {"sent": {"ip": {"src": "10.1.0.2", "dst": "10.2.0.5", "ttl": 2}, "udp": {"sport": 12345, "dport": 33434}},
       "received": {"ip": {"src": "10.0.0.6"}}}],
    "33435": [
      {"sent": {"ip": {"src": "10.1.0.2", "dst": "10.2.0.5", "ttl": 2}, "udp": {"sport": 12345, "dport": 33435}},
       "received": null}],
    "33436": [
      {"sent": {"ip": {"src": "10.1.0.2", "dst": "10.2.0.5", "ttl": 2}, "udp": {"sport": 12345, "dport": 33436}},
       "received": {"ip": {}}}]}})",
                          2);
  EXPECT_EQ(found.traces.traces, 3u);
  ASSERT_EQ(found.seen.flows.size(), 1u);
  EXPECT_EQ(to_string(found.seen.flows[0].flow), "udp 10.1.0.2:12345 → 10.2.0.5:33434");
  EXPECT_EQ(found.seen.links.front(), "10.0.0.6");
}

// Ports and times to live at their bounds, and answers from which something is missing.
TEST(TracerouteText, OfDublinLeavesOutProbesThatDoNotSayTheirFlow) {
  const auto flows_of = [](const std::string& sent, const std::string& received = R"({"ip": {"src": "10.0.0.6"}})") {
    return read(R"({"flows": {"1": [{"sent": )" + sent + R"(, "received": )" + received + "}]}}", 2).seen.flows.size();
  };
  const auto sent = [](const std::string& ports, const std::string& ttl = "2") {
    return R"({"ip": {"src": "10.1.0.2", "dst": "10.2.0.5", "ttl": )" + ttl + R"(}, "udp": {)" + ports + "}}";
  };
  const std::string good = R"("sport": 1, "dport": 2)";
  EXPECT_EQ(flows_of(sent(good)), 1u);
  EXPECT_EQ(flows_of(sent(R"("sport": 65535, "dport": 65535)")), 1u);
  EXPECT_EQ(flows_of(sent(R"("sport": 65536, "dport": 2)")), 0u);
  EXPECT_EQ(flows_of(sent(R"("sport": 1, "dport": 65536)")), 0u);
  EXPECT_EQ(flows_of(sent(R"("sport": -1, "dport": 2)")), 0u);
  EXPECT_EQ(flows_of(sent(R"("sport": 1)")), 0u);
  EXPECT_EQ(flows_of(sent(R"("dport": 2)")), 0u);
  EXPECT_EQ(flows_of(sent(good, "3")), 0u) << "another hop";
  EXPECT_EQ(flows_of(sent(good, R"("2")")), 0u) << "no number";
  EXPECT_EQ(flows_of(R"({"ip": {"src": "10.1.0.2", "dst": "10.2.0.5", "ttl": 2}})"), 0u) << "no ports";
  EXPECT_EQ(flows_of(R"({"udp": {"sport": 1, "dport": 2}})"), 0u) << "no hop";
  EXPECT_EQ(flows_of(R"({"ip": {"src": "10.1.0.2", "ttl": 2}, "udp": {"sport": 1, "dport": 2}})"), 0u);
  for (const char* nobody : {"{}", R"({"ip": {}})", R"({"ip": {"src": 5}})", R"({"ip": 5})", "5"})
    EXPECT_EQ(flows_of(sent(good), nobody), 0u) << nobody;
  EXPECT_EQ(read(R"({"flows": {"1": 5, "2": [5, {"sent": 5}]}})", 2).traces.traces, 2u);
}

TEST(TracerouteText, HasNoFlowWhereItsSourcePortIsNone) {
  const auto flows_of = [](const std::string& port) {
    return read("$ traceroute -U --sport=" + port +
                    " -s 10.1.0.2 10.2.0.5\ntraceroute to 10.2.0.5, 30 hops max\n"
                    " 2  10.0.0.6  1 ms\n",
                2)
        .seen.flows;
  };
  ASSERT_EQ(flows_of("65535").size(), 1u);
  EXPECT_EQ(flows_of("65535")[0].flow.source_port, 65'535u);
  EXPECT_EQ(flows_of("65535")[0].flow.destination_port, 53u) << "traceroute's own for UDP";
  for (const char* none : {"65536", "5x", "x", ""}) EXPECT_TRUE(flows_of(none).empty()) << none;
}

// What traceroute takes for TCP; options with values of their own; a shell's prompt with nothing behind it.
TEST(TracerouteText, PassesOverWhatDoesNotConcernTheFlow) {
  const Read found = read(
      "$\n+\n#\n$ traceroute\n"
      "# traceroute -T -f 2 -m 9 -q 1 -w 3 -z 4 -N 8 --sport=7 -s 10.1.0.2 10.2.0.5 60\n"
      "traceroute to 10.2.0.5 (10.2.0.5), 9 hops max, 60 byte packets\n"
      " 2  10.0.0.6 (10.0.0.6)  1 ms 10.0.0.10 (10.0.0.10)  1 ms\n",
      2);
  EXPECT_EQ(found.traces.traces, 1u);
  EXPECT_EQ(found.traces.without_flow, 0u);
  ASSERT_EQ(found.seen.flows.size(), 1u);
  EXPECT_EQ(to_string(found.seen.flows[0].flow), "tcp 10.1.0.2:7 → 10.2.0.5:80");
  EXPECT_THAT(found.seen.links, ElementsAre("10.0.0.6", "10.0.0.10"));
  EXPECT_EQ(found.seen.on_several_links, 1u);
}

TEST(TracerouteText, IsRefusedIfItIsNone) {
  for (const char* text : {"", "hello\n", "{", "{\"flows\": 3}", "src,dst,link\n"}) {
    ObservationCollector out;
    const auto read = read_traceroutes(text, "traces.txt", 2, out);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(to_string(read.error().front()), HasSubstr("traceroute"));
  }
}

// The port that the kernel makes of a flow label: its lower 14 bits and its upper 6, added up, above 0xc000.
TEST(ProbeLines, OfRoceHaveTheFlowLabelThatGivesTheirSourcePort) {
  for (const uint32_t port : {0xc000U, 0xc001U, 0xd234U, 0xffffU}) {
    analysis::Flow flow{.source_port = static_cast<uint16_t>(port), .destination_port = 4791, .qp = 17};
    flow.source = {10, 1, 0, 2};
    flow.destination = {10, 2, 0, 5};
    const std::string line = analysis::ib_write_bw_line(flow);
    EXPECT_THAT(line, HasSubstr("ib_write_bw"));
    EXPECT_THAT(line, HasSubstr(" 10.2.0.5"));
    const auto label = static_cast<uint32_t>(std::stoul(line.substr(line.find("--flow_label=") + 13)));
    ASSERT_NE(label, 0u) << "zero says nothing";
    EXPECT_EQ(((label & 0x3fff) ^ (label >> 14)) | 0xc000, port);
    flow.destination_port = 80;
    EXPECT_EQ(analysis::ib_write_bw_line(flow), "");
    EXPECT_NE(analysis::iperf3_line(flow), "");
  }
  analysis::Flow low{.source_port = 0xbfff, .destination_port = 4791};
  EXPECT_EQ(analysis::ib_write_bw_line(low), "") << "no adapter sends from there";
  for (const analysis::Flow& flow : analysis::first_probes(64, {}, 1)) {
    if (!flow.is_roce()) continue;
    EXPECT_GE(flow.source_port, 0xc000);
  }
}

TEST(TracerouteText, AddressesOfTwoVersionsAreNoFlow) {
  const Read found = read(
      "+ traceroute -U --sport=50000 -p 4000 -s fd00::2 10.2.0.5\n"
      "traceroute to 10.2.0.5 (10.2.0.5), 30 hops max, 60 byte packets\n 1  10.1.0.1  0.1 ms\n 2  10.0.0.6  0.3 ms\n"
      "traceroute [(10.1.0.2:33456) -> (fd00::5:33457)], protocol udp, algo hopbyhop\n 2  10.0.0.6  0.3 ms\n",
      2);
  EXPECT_EQ(found.traces.traces, 2u);
  EXPECT_EQ(found.traces.without_flow, 2u);
  EXPECT_TRUE(found.seen.flows.empty());
}

}  // namespace
}  // namespace softspine::tests
