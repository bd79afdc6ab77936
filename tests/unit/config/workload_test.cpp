// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using dataplane::CongestionParameters;
using dataplane::ReactionParameters;
using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

std::vector<std::string> names(const Testbed& testbed, const std::vector<uint32_t>& nodes) {
  std::vector<std::string> out;
  for (const uint32_t node : nodes) out.push_back(testbed.fabric.nodes.at(node).name);
  return out;
}

using Names = std::vector<std::string>;

TEST(Workload, TakesAllBuiltInHostsIfNoneAreNamed) {
  const Testbed testbed =
      read_well(with_fabric("topology: {nodes: {h2: {edge: {pcap: {in: x}}}}}\n"
                            "workload: [{name: w, pattern: permutation}]\n"));
  EXPECT_EQ(names(testbed, testbed.workloads.at(0).hosts), (Names{"h1", "h3", "h4"}));
}

TEST(Workload, ReadsEveryKey) {
  const Testbed testbed = read_well(with_fabric(
      "workload:\n"
      "  - {name: w, pattern: pairs, from: [h1, h2], to: [h3, h4], message: 64KiB, messages: 5, mtu: 1024,\n"
      "     qps: 3, qp_numbers: rxe, first_qp: 17, source_port: 50000, rate: 10Gbps, start: 1ms, dscp: 3}\n"));
  const Workload& w = testbed.workloads.at(0);
  EXPECT_EQ(w.pattern, Pattern::kPairs);
  EXPECT_EQ(names(testbed, w.from), (Names{"h1", "h2"}));
  EXPECT_EQ(names(testbed, w.to), (Names{"h3", "h4"}));
  EXPECT_EQ(w.message_bytes, 65'536u);
  EXPECT_EQ(w.messages, 5u);
  EXPECT_EQ(w.mtu, 1024u);
  EXPECT_EQ(w.qps, 3u);
  EXPECT_EQ(w.first_qp, 17u);
  EXPECT_EQ(w.source_port, 50'000u);
  EXPECT_EQ(w.rate, dataplane::Rate::gbps(10));
  EXPECT_EQ(w.start, dataplane::Instant::at(dataplane::Duration::ms(1)));
  EXPECT_EQ(w.dscp, 3u);
}

TEST(Workload, IsOpenLoopUnlessToldOtherwise) {
  const Testbed testbed = read_well(with_fabric("workload: [{name: w, pattern: ring, verb: send}]\n"));
  const TransportConfig& transport = testbed.workloads.at(0).transport;
  EXPECT_EQ(transport.kind, TransportKind::kOpenLoop);
  EXPECT_EQ(transport.verb, Verb::kSend);
  EXPECT_FALSE(controls_congestion(transport.reliable.congestion_control));
}

TEST(Workload, ReadsEveryKeyOfItsTransport) {
  const Testbed testbed = read_well(with_fabric(
      "workload:\n"
      "  - {name: w, pattern: ring, transport: rc, congestion_control: dcqcn_paper, window: 64, ack_every: 8,\n"
      "     ack_timeout: 6, retries: 3, ack_dscp: 4, cnp_dscp: 46, cnp_interval: 4us, dscp: 3,\n"
      "     adaptive_retransmission: 2ms}\n"
      "  - {name: v, pattern: ring, transport: rc, window: 4, dscp: 3}\n"));
  const TransportConfig& all = testbed.workloads.at(0).transport;
  EXPECT_EQ(all.kind, TransportKind::kReliable);
  EXPECT_TRUE(all.reliable.congestion_control == CongestionParameters{ReactionParameters::paper()});
  EXPECT_EQ(all.reliable.window, 64u);
  EXPECT_EQ(all.reliable.ack_every, 8u);
  EXPECT_EQ(all.reliable.ack_timeout, 6u);
  EXPECT_EQ(all.reliable.retries, 3u);
  EXPECT_EQ(all.reliable.adaptive_retransmission, dataplane::Duration::ms(2));
  EXPECT_EQ(all.ack_dscp, 4u);
  EXPECT_EQ(all.cnp_dscp, 46u);
  EXPECT_EQ(all.cnp_interval, dataplane::Duration::us(4));
  const TransportConfig& few = testbed.workloads.at(1).transport;
  EXPECT_EQ(few.reliable.ack_every, 4u) << "a window always holds one that asks";
  EXPECT_EQ(few.ack_dscp, 3u) << "the data's class";
  EXPECT_EQ(few.reliable.adaptive_retransmission, dataplane::Duration{}) << "none";
  EXPECT_EQ(few.reliable.retries, ReliableParameters{}.retries);
}

TEST(Workload, OfAWindowThatCannotBeReadNothingFollows) {
  EXPECT_EQ(complaints_about(with_fabric("workload:\n"
                                         "  - {name: a, pattern: ring, transport: rc, window: wide, ack_every: 8}\n"
                                         "  - {name: b, pattern: ring, transport: rc, window: 8, ack_every: often}\n")),
            (Complaints{"5 workload[0].window: expected a whole number, not negative, found 'wide'",
                        "6 workload[1].ack_every: expected a whole number, not negative, found 'often'"}));
}

TEST(Workload, RefusesKeysThatItsTransportHasNoUseFor) {
  EXPECT_EQ(
      complaints_about(
          with_fabric("workload:\n"
                      "  - {name: a, pattern: ring, congestion_control: dcqcn_paper}\n"
                      "  - {name: b, pattern: ring, window: 5, ack_timeout: 3, adaptive_retransmission: 2ms}\n"
                      "  - {name: c, pattern: ring, transport: rc, cnp_dscp: 48}\n"
                      "  - {name: d, pattern: ring, transport: rc, window: 8, ack_every: 9}\n"
                      "  - {name: e, pattern: ring, transport: rc, congestion_control: cubic}\n")),
      (Complaints{"5 workload[0].congestion_control: needs 'transport: rc'",
                  "6 workload[1].window: needs 'transport: rc'", "6 workload[1].ack_timeout: needs 'transport: rc'",
                  "6 workload[1].adaptive_retransmission: needs 'transport: rc'",
                  "7 workload[2].cnp_dscp: needs 'congestion_control'",
                  "8 workload[3].ack_every: exceeds the window of 8: nobody would ever ask",
                  "9 workload[4].congestion_control: 'cubic' is not one of none, dcqcn_connectx, dcqcn_paper, timely, "
                  "timely_patched, bdp_fc, dctcp, hpcc, swift"}));
}

TEST(Workload, SpreadsMessagesOverQueuePairsAsItSays) {
  const Testbed testbed =
      read_well(with_fabric("workload:\n"
                            "  - {name: a, pattern: ring, qps: 4}\n"
                            "  - {name: b, pattern: ring, qps: 4, scaling: split}\n"
                            "  - {name: c, pattern: ring, qps: 4, messages: 4, scaling: round_robin}\n"));
  EXPECT_EQ(testbed.workloads.at(0).scaling, Scaling::kEach);
  EXPECT_EQ(testbed.workloads.at(1).scaling, Scaling::kSplit);
  EXPECT_EQ(testbed.workloads.at(2).scaling, Scaling::kRoundRobin);
  EXPECT_EQ(complaints_about(with_fabric("workload:\n"
                                         "  - {name: a, pattern: ring, qps: 4, messages: 3, scaling: round_robin}\n"
                                         "  - {name: b, pattern: ring, qps: 4, message: 3B, scaling: split}\n"
                                         "  - {name: c, pattern: ring, qps: 4, scaling: by_hand}\n")),
            (Complaints{"5 workload[0].qps: there are not as many messages to take turns",
                        "6 workload[1].qps: there are not as many bytes in a message to split",
                        "7 workload[2].scaling: 'by_hand' is not one of each, split, round_robin, least_outstanding"}));
}

TEST(Workload, NumbersQueuePairsAsTheNamedDriver) {
  const Testbed testbed =
      read_well(with_fabric("workload:\n"
                            "  - {name: a, pattern: ring}\n"
                            "  - {name: b, pattern: ring, qp_numbers: hns}\n"));
  EXPECT_EQ(testbed.workloads.at(0).qp_numbers, QpNumbering::kRxe);
  EXPECT_EQ(testbed.workloads.at(1).qp_numbers, QpNumbering::kHns);
  EXPECT_EQ(complaints_about(with_fabric("workload:\n"
                                         "  - {name: a, pattern: ring, qp_numbers: mlx5, first_qp: 20}\n"
                                         "  - {name: b, pattern: ring, qp_numbers: rdma_rxe}\n")),
            (Complaints{"5 workload[0].first_qp: needs 'qp_numbers: rxe'",
                        "6 workload[1].qp_numbers: 'rdma_rxe' is not one of rxe, mlx5, hns, ionic, random"}));
}

TEST(Workload, SpreadsACountOfSendersOverTheOtherHosts) {
  const Testbed testbed =
      read_well(with_fabric("workload:\n"
                            "  - {name: a, pattern: incast, from: 2, to: h3}\n"
                            "  - {name: b, pattern: incast, from: 3, to: [h1]}\n"
                            "  - {name: c, pattern: incast, from: h2, to: h1}\n"));
  EXPECT_EQ(names(testbed, testbed.workloads.at(0).from), (Names{"h1", "h2"}));  // 0/2 and 3/2 of h1 h2 h4
  EXPECT_EQ(names(testbed, testbed.workloads.at(1).from), (Names{"h2", "h3", "h4"}));
  EXPECT_EQ(names(testbed, testbed.workloads.at(2).from), (Names{"h2"}));
}

TEST(Workload, RefusesHostsThatCannotSend) {
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {h2: {guest: {}}}}\n"
                                         "workload:\n"
                                         "  - {name: a, pattern: ring, hosts: [h1, h2, tor1, h33, h1]}\n"
                                         "  - {name: b, pattern: ring, hosts: [h1, h3, h1]}\n"
                                         "  - {name: c, pattern: ring, hosts: [h1]}\n")),
            (Complaints{"6 workload[0].hosts[1]: h2 is not a built-in host: what it sends is its own business",
                        "6 workload[0].hosts[2]: tor1 is a switch: built-in hosts send and receive",
                        "6 workload[0].hosts[3]: there is no node 'h33': did you mean 'h3'?",
                        "7 workload[1].hosts: h1 stands here twice",
                        "8 workload[2].hosts: needs two built-in hosts, has 1"}));
}

TEST(Workload, RefusesIncastsAndPairsThatDoNotMatch) {
  EXPECT_EQ(
      complaints_about(with_fabric("workload:\n"
                                   "  - {name: a, pattern: incast, from: 4, to: h1}\n"
                                   "  - {name: b, pattern: incast, from: [h1, h2], to: h1}\n"
                                   "  - {name: c, pattern: incast, from: 1, to: [h1, h2]}\n"
                                   "  - {name: d, pattern: pairs, from: [h1, h2], to: [h3]}\n"
                                   "  - {name: e, pattern: pairs, from: [h1, h2], to: [h1, h3]}\n"
                                   "  - {name: f, pattern: pairs, from: 2, to: h3}\n"
                                   "  - {name: g, pattern: pairs, hosts: [h1, h2]}\n"
                                   "  - {name: h, pattern: ring, from: h1, to: h2}\n"
                                   "  - {name: i, pattern: incast, from: 0, to: h1}\n")),
      (Complaints{"5 workload[0].from: there are 3 other built-in hosts", "6 workload[1].from: h1 would send to itself",
                  "7 workload[2].to: an incast has one receiver", "8 workload[3].to: 1 receivers for 2 senders",
                  "9 workload[4].to[0]: h1 would send to itself", "10 workload[5].from: pairs need the senders by name",
                  "11 workload[6]: the key 'from' is missing: who sends",
                  "11 workload[6]: the key 'to' is missing: who receives",
                  "11 workload[6].hosts: is not for this pattern", "12 workload[7].from: is not for this pattern",
                  "12 workload[7].to: is not for this pattern", "13 workload[8].from: must be at least 1, not '0'"}));
}

TEST(Workload, RefusesNamesGivenTwiceAndStartsAfterTheEnd) {
  EXPECT_EQ(complaints_about(with_fabric("run: {duration: 1ms}\n"
                                         "workload:\n"
                                         "  - {name: a, pattern: ring}\n"
                                         "  - {name: a, pattern: ring, start: 1ms}\n"
                                         "  - {name: a.b, pattern: ring}\n")),
            (Complaints{"7 workload[1].name: a workload 'a' stands here already",
                        "7 workload[1].start: never starts: the run ends before",
                        "8 workload[2].name: 'a.b' is no name: letters, digits, '_' and '-', at most 63"}));
}

TEST(Workload, RefusesPacketsThatDoNotFitTheLink) {
  const std::string fabric =
      "name: t\n"
      "fabric: {kind: leaf-spine, tors: 1, spines: 0, hosts_per_tor: 2,\n"
      "  host_link: {rate: 1Gbps, mtu: 1500}, fabric_link: {rate: 1Gbps}}\n";
  EXPECT_EQ(complaints_about(fabric + "workload: [{name: a, pattern: ring}, {name: b, pattern: ring, mtu: 1500}]\n"),
            (Complaints{"4 workload[0]: with 80 bytes of headers, 4096 exceeds the link of h1: its mtu is 1500",
                        "4 workload[1].mtu: must be 256, 512, 1024, 2048 or 4096, not '1500'"}));
  read_well(fabric + "workload: [{name: a, pattern: ring, mtu: 1024}]\n");
}

TEST(Workload, TakesSourcePortsOrPerQp) {
  EXPECT_EQ(
      read_well(with_fabric("workload: [{name: a, pattern: ring, source_port: per_qp}]\n")).workloads[0].source_port,
      0u);
  EXPECT_EQ(complaints_about(with_fabric("workload: [{name: a, pattern: ring, source_port: 0}]\n")),
            (Complaints{"4 workload[0].source_port: expected per_qp or a UDP port such as per_qp, found '0'"}));
}

}  // namespace
}  // namespace softspine::control
