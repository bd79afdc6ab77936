// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/observation_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softspine::tests {
namespace {

using analysis::ObservationCollector;
using analysis::Observations;
using testing::ElementsAre;
using testing::HasSubstr;

Observations read(const std::string& text) {
  ObservationCollector out;
  const auto read = read_observations(text, "seen.csv", out);
  EXPECT_TRUE(read) << to_string(read.error().front());
  return std::move(out).take();
}

std::string first_error(const std::string& text) {
  ObservationCollector out;
  const auto read = read_observations(text, "seen.csv", out);
  return read ? "none" : to_string(read.error().front());
}

TEST(ObservationText, ReadsFlowsByTheNamesOfTheColumns) {
  const Observations seen = read(
      "# from the lab\n\nlink, dport ,src,dst,proto,sport\n"
      "Ethernet0,80,10.0.0.1,10.0.1.1,tcp,0x1000\r\nEthernet4,53,10.0.0.1,10.0.1.2,17,99\n");
  EXPECT_THAT(seen.links, ElementsAre("Ethernet0", "Ethernet4"));
  ASSERT_EQ(seen.flows.size(), 2u);
  EXPECT_EQ(to_string(seen.flows[0].flow), "tcp 10.0.0.1:4096 → 10.0.1.1:80");
  EXPECT_EQ(to_string(seen.flows[1].flow), "udp 10.0.0.1:99 → 10.0.1.2:53");
  EXPECT_EQ(seen.flows[1].link, 1u);
}

TEST(ObservationText, TakesUdpToRoceWhereNothingElseIsSaid) {
  const Observations seen = read("src,dst,sport,dest_qp,link\n10.0.0.1,10.0.1.1,49152,17,a\n");
  EXPECT_EQ(to_string(seen.flows.at(0).flow), "udp 10.0.0.1:49152 → 10.0.1.1:4791, QP 17");
  EXPECT_TRUE(seen.flows[0].flow.is_roce());
}

TEST(ObservationText, GivesAPacketOnlyWhatItHas) {
  const Observations seen = read("src,dst,proto,sport,dport,dest_qp,flow_label,link\n10.0.0.1,10.0.1.1,1,5,6,17,9,a\n");
  EXPECT_EQ(to_string(seen.flows.at(0).flow), "protocol 1 10.0.0.1 → 10.0.1.1");
  EXPECT_EQ(seen.flows[0].flow.source_port, 0);
  EXPECT_EQ(seen.flows[0].flow.qp, 0u);
  EXPECT_EQ(seen.flows[0].flow.flow_label, 0u);
  EXPECT_EQ(read("src,dst,flow_label,link\nfd00::1,fd00::2,77,a\n").flows.at(0).flow.flow_label, 77u);
}

TEST(ObservationText, ReadsSflowtoolsSamplesByTheirOutputInterface) {
  const Observations seen = read(
      "CNTR,10.0.0.254,17,6,100000000,0,2147483648,175283006,136405187\n"
      "FLOW,10.0.0.254,3,52,00902773db08,001083265e00,0x0800,0,0,10.0.0.1,10.0.1.1,17,0x00,64,35690,53,0x00,143,125,"
      "80\n"
      "FLOW,10.0.0.254,3,52,00902773db08,001083265e00,0x0806,0,0,-,-,0,0x00,0,0,0,0x00,64,46,80\n");
  ASSERT_EQ(seen.flows.size(), 1u);
  EXPECT_EQ(to_string(seen.flows[0].flow), "udp 10.0.0.1:35690 → 10.0.1.1:53");
  EXPECT_THAT(seen.links, ElementsAre("52"));
}

// Behind a good line, so that a port which cannot be read is not the one before it.
TEST(ObservationText, OfSflowtoolNamesALineWithoutProtocolAndPorts) {
  const auto sample = [](const std::string& protocol, const std::string& ports, const std::string& output = "80") {
    return "FLOW,10.0.0.254,3," + output + ",00902773db08,001083265e00,0x0800,0,0,10.0.0.1,10.0.1.1," + protocol +
           ",0x00,64," + ports + ",0x00,143,125,80\n";
  };
  const std::string good = sample("17", "7,8");
  EXPECT_EQ(read(good + sample("6", "65535,65535")).flows.size(), 2u);
  EXPECT_EQ(read(good + sample("255", "65535,0")).flows.at(1).flow.source_port, 0u) << "which has no ports";
  for (const auto& [protocol, ports] :
       {std::pair{"17", "65536,5"}, std::pair{"17", "5,65536"}, std::pair{"17", "x,5"}, std::pair{"17", "5,x"},
        std::pair{"256", "5,5"}, std::pair{"udp", "5,5"}, std::pair{"17", ",5"}}) {
    EXPECT_THAT(first_error(good + sample(protocol, ports)),
                HasSubstr("seen.csv:2:1: has no protocol and ports where sflowtool -l has them"))
        << protocol << " " << ports;
  }
  EXPECT_THAT(first_error(good + sample("17", "7,9", "")), HasSubstr("seen.csv:2:1: has no output interface"));
  EXPECT_THAT(first_error(good + "FLOW,1,2,3,4,5,6,7,8,9,10,11,12,13,14\n"), HasSubstr("has too few columns"));
}

// The lines are nfdump 1.7.1's, but for the interfaces.
TEST(ObservationText, ReadsNfdumpsRecordsByTheirOutputInterface) {
  const std::string columns =
      "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt,in,out,sas,das,smk,dmk,dtos,dir,nh\n";
  const auto record = [](const std::string& ports, const std::string& out) {
    return "2023-11-14 22:13:20,2023-11-14 22:13:20,0.000,10.0.1.2,10.0.2.2," + ports + ",........,0,0,1,48,0,0,49," +
           out + ",0,0,0,0,0,0,0.0.0.0\n";
  };
  const Observations seen =
      read(columns + record("0,2048,ICMP", "52") + record("5,80,TCP", "56") + record("50000,4791,UDP", "60") +
           record("0,0,IGMP", "60") + record("7,8,UDP", "0") + "Summary\nflows,bytes,packets\n3,152,3\n");
  ASSERT_EQ(seen.flows.size(), 3u);
  EXPECT_EQ(to_string(seen.flows[1].flow), "tcp 10.0.1.2:5 → 10.0.2.2:80");
  EXPECT_EQ(seen.flows[0].flow.protocol, 1u);
  EXPECT_EQ(seen.flows[2].flow.source_port, 50'000u);
  EXPECT_THAT(seen.links, ElementsAre("52", "56", "60"));
  EXPECT_THAT(first_error(columns + "1,2,3\n"), HasSubstr("seen.csv:2:1: has too few columns for a record"));
  for (const char* ports : {"5,x,TCP", "x,5,TCP", ",5,UDP", "65536,5,UDP", "5,65536,UDP"})
    EXPECT_THAT(first_error(columns + record(ports, "56")), HasSubstr("has no ports")) << ports;
  const std::string good = columns + record("7,8,UDP", "56");
  for (const char* ports : {"x,5,TCP", "5,x,TCP", "5x,5,TCP", "5,5x,TCP", ",5,TCP", "99999999999999999999,5,TCP"})
    EXPECT_THAT(first_error(good + record(ports, "56")), HasSubstr("seen.csv:3:1: has no ports")) << ports;
  EXPECT_EQ(read(columns + record("65535,65535,UDP", "56")).flows.size(), 1u);
  EXPECT_THAT(first_error(columns + record("5,6,TCP", "eth0")), HasSubstr("has no output interface"));
}

// Each column was compared with each other one, and each was an error.
TEST(ObservationText, AMillionColumnsAreSoonRefused) {
  std::string header;
  for (int i = 0; i < 1'000'000; ++i) header += "x,";
  ObservationCollector out;
  const auto read = read_observations(header + "\n", "seen.csv", out);
  ASSERT_FALSE(read.has_value());
  EXPECT_LE(read.error().size(), 24u);  // twenty, and those that are missing
}

TEST(ObservationText, NamesTheLineOfAnError) {
  EXPECT_THAT(first_error(""), HasSubstr("is empty"));
  EXPECT_THAT(first_error("src,dst\n"), HasSubstr("seen.csv:1:1: has no column 'link'"));
  EXPECT_THAT(first_error("src,dst,link,colour\n"), HasSubstr("there is no column 'colour'"));
  EXPECT_THAT(first_error("src,dst,link,src\n"), HasSubstr("the column 'src' stands here twice"));
  EXPECT_THAT(first_error("src,dst,link\n10.0.0.1,10.0.0.2\n"), HasSubstr("seen.csv:2:1: has 2 columns instead of 3"));
  EXPECT_THAT(first_error("src,dst,link\n\n10.0.0.1,fd00::1,a\n"),
              HasSubstr("seen.csv:3:1: src and dst: expected two addresses of one IP version"));
  EXPECT_THAT(first_error("src,dst,sport,link\n10.0.0.1,10.0.0.2,65536,a\n"),
              HasSubstr("seen.csv:2:1: sport: expected a number from 0 to 65535, not '65536'"));
  EXPECT_THAT(first_error("src,dst,proto,link\n10.0.0.1,10.0.0.2,icmp,a\n"), HasSubstr("proto: expected a number"));
  EXPECT_THAT(first_error("src,dst,link\n10.0.0.1,10.0.0.2,\n"), HasSubstr("link: is empty"));
  EXPECT_THAT(first_error("FLOW,1,2,3\n"), HasSubstr("too few columns for a FLOW line"));
}

TEST(ObservationText, TellsTwentyErrorsAndNoMore) {
  std::string text = "src,dst,link\n";
  for (int i = 0; i < 100; ++i) text += "x,y,z\n";
  ObservationCollector out;
  EXPECT_EQ(read_observations(text, "f", out).error().size(), 20u);
  EXPECT_EQ(out.flows(), 0u);
}

analysis::Flow flow_number(uint32_t i) {
  analysis::Flow out{.source_port = 5, .destination_port = 80};
  out.source = {10, static_cast<uint8_t>(i >> 16), static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)};
  return out;
}

// Of each kind of text; from 10.15.66.64 on.
TEST(ObservationText, TellsAMillionFlowsAndRefusesMore) {
  ObservationCollector out;
  uint32_t added = 0;
  for (; added < 999'999; ++added) out.add(flow_number(added), "a");
  const auto refusal_of = [](const auto& read) { return read ? "none" : to_string(read.error().front()); };
  const std::string columns = "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt,in,out\n";
  const std::string table = "src,dst,link\n10.0.0.1,10.0.1.1,a\n";
  const auto read_all = [&] {
    return std::vector<std::string>{
        refusal_of(read_observations(table, "t", out)),
        refusal_of(read_observations("FLOW,1,3,a,5,6,7,0,0,10.0.0.1,10.0.1.1,17,0,64,7,8\n", "s", out)),
        refusal_of(read_observations(columns + "1,2,3,10.0.0.1,10.0.1.1,7,8,UDP,,0,0,1,1,0,0,1,2\n", "n", out)),
        refusal_of(read_counters({"probe,link,before,after\n1,a,0,9\n", "c"},
                                 {"probe,src,dst\n1,10.0.0.1,10.0.1.1\n", "p"}, out))};
  };
  EXPECT_TRUE(read_observations(table, "t", out)) << "the millionth";
  EXPECT_EQ(out.flows(), 1'000'000u);
  EXPECT_THAT(read_all(), ElementsAre("t:2:1: more than a million flows", "s:1:1: more than a million flows",
                                      "n:2:1: more than a million flows", "p:2:1: more than a million flows"));
}

constexpr const char* kSent =
    "probe,src,dst,sport\n1,10.0.0.1,10.0.1.1,50\n2,10.0.0.1,10.0.1.1,51\n3,10.0.0.1,10.0.1.1,52\n";

TEST(Counters, GiveEachProbeToTheLinkThatGrewMost) {
  ObservationCollector out;
  const auto unsure = read_counters(
      {"probe,link,before,after\n1,a,100,1110\n1,b,50,60\n2,a,1110,1115\n2,b,60,1070\n", "c"}, {kSent, "s"}, out);
  ASSERT_TRUE(unsure);
  EXPECT_EQ(*unsure, 0u);
  const Observations seen = std::move(out).take();
  ASSERT_EQ(seen.flows.size(), 2u) << "the third has not been sent";
  EXPECT_EQ(seen.links[seen.flows[0].link], "a");
  EXPECT_EQ(seen.links[seen.flows[1].link], "b");
}

TEST(Counters, LeaveOutProbesThatNoCounterShowsClearly) {
  ObservationCollector out;
  const auto unsure =
      read_counters({"probe,link,before,after\n1,a,0,1000\n1,b,0,600\n2,a,5,5\n2,b,5,5\n3,a,0,1000\n3,b,0,500\n", "c"},
                    {kSent, "s"}, out);
  EXPECT_EQ(unsure.value(), 2u);
  EXPECT_EQ(out.flows(), 1u);
}

TEST(Counters, RefuseACounterThatFell) {
  ObservationCollector out;
  const auto read = read_counters({"probe,link,before,after\n1,a,100,90\n", "c.csv"}, {kSent, "s.csv"}, out);
  EXPECT_THAT(to_string(read.error().front()), HasSubstr("c.csv:2:1: the counter fell"));
  const auto other = read_counters({"probe,link,before,after\n1,a,1,9\n", "c.csv"}, {"probe,src\n", "s.csv"}, out);
  EXPECT_THAT(to_string(other.error().front()), HasSubstr("s.csv:1:1: has no column 'dst'"));
}

TEST(Counters, HaveAListOfProbesWithALineForEach) {
  analysis::Flow four{.protocol = 6, .source_port = 50'000, .destination_port = 80};
  four.source = {10, 0, 0, 1};
  four.destination = {10, 0, 1, 1};
  analysis::Flow six{
      .is_ipv6 = true, .source_port = 1, .destination_port = 4'791, .qp = 77, .opcode = 10, .flow_label = 5};
  six.source = {0xfd, 1};
  six.destination = {0xfd, 2};
  EXPECT_EQ(analysis::probes_csv({four, six}),
            "probe,src,dst,proto,sport,dport,dest_qp,opcode,flow_label\n"
            "1,10.0.0.1,10.0.1.1,6,50000,80,0,0,0\n2,fd01::,fd02::,17,1,4791,77,10,5\n");
}

// A link of which no probe has grown the counter is a link of the group all the same.
TEST(Counters, NameAllLinks) {
  ObservationCollector out;
  EXPECT_EQ(read_counters({"probe,link,before,after\n1,a,0,9\n1,b,5,5\n9,c,1,2\n", "c"}, {kSent, "s"}, out).value(),
            0u);
  EXPECT_THAT(std::move(out).take().links, ElementsAre("a", "b", "c"));
}

TEST(Counters, TakeTheListOfProbesAsItIsWritten) {
  analysis::Flow flow;
  flow.source = {10, 0, 0, 1};
  flow.destination = {10, 0, 1, 1};
  flow.source_port = 50'000;
  flow.destination_port = 4'791;
  flow.qp = 77;
  flow.opcode = 10;
  const std::string sent = analysis::probes_csv({flow});
  ObservationCollector out;
  ASSERT_TRUE(read_counters({"probe,link,before,after\n1,a,0,9\n", "c"}, {sent, "s"}, out));
  EXPECT_EQ(std::move(out).take().flows.at(0).flow, flow);
}

}  // namespace
}  // namespace softspine::tests
