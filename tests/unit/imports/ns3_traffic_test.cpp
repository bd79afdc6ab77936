// SPDX-License-Identifier: Apache-2.0
// Flow and config files of HPCC's ns-3 and of SimAI as a workload.
#include "control/imports/ns3_traffic.hpp"

#include "tests/unit/imports/importing.hpp"

namespace softspine::control {
namespace {

using namespace tests;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kNs3Rack = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";

struct TrafficRead {
  std::optional<ForeignTraffic> traffic;
  std::vector<std::string> complaints;
  std::vector<std::string> notes;
  std::optional<Testbed> testbed;
};

TrafficRead read_traffic(const std::string& flows, const std::optional<std::string>& config = {}) {
  const std::vector<ImportFile> files{{"t.txt", kNs3Rack}};
  Imported topology = import_files(ImportFormat::kHpcc, files);
  Reader reader("import");
  const ImportFile settings{"config.txt", config.value_or("")};
  TrafficRead out;
  out.traffic = read_ns3_traffic(reader, *topology.topology, {"flow.txt", flows}, config ? &settings : nullptr);
  out.complaints = texts_of(reader.finish());
  if (!out.traffic) return out;
  out.notes = texts_of(out.traffic->notes);
  const std::string text = testbed_text(*topology.topology, ImportFormat::kHpcc, files, &*out.traffic);
  auto testbed = parse_testbed(text, "testbed.yaml");
  EXPECT_TRUE(testbed) << text << to_string(testbed.error().front());
  if (testbed) out.testbed = std::move(*testbed);
  return out;
}

TEST(Ns3Traffic, EachFlowIsAMessageOfItsSizeAndTheFirstBeginsTheRun) {
  const TrafficRead read = read_traffic("2\n0 2 3 100 2600000 2.000017439\n1 2 4 100 1 2\n0 1 3 100 5 2\n");
  ASSERT_TRUE(read.testbed);
  const auto& workloads = read.testbed->workloads;
  ASSERT_EQ(workloads.size(), 2U);
  EXPECT_EQ(workloads[0].message_bytes, 2'600'000U);
  EXPECT_EQ(workloads[0].messages, 1U);
  EXPECT_EQ(workloads[0].start.count_ps(), 17'439'000);
  EXPECT_EQ(workloads[1].message_bytes, 1U);
  EXPECT_EQ(workloads[1].start.count_ps(), 0);
  EXPECT_EQ(workloads[0].transport.kind, TransportKind::kReliable);
  EXPECT_THAT(read.notes, ElementsAre("flow.txt:1:1: the first flow begins at 2s: the run begins then",
                                      "flow.txt:4:1: what stands after the declared 2 flows is not read, as ns-3 does "
                                      "not"));
}

TEST(Ns3Traffic, ConfigGivesSizesMarksAndDcqcn) {
  const TrafficRead read = read_traffic(
      "1\n0 2 3 100 1000 2\n",
      "ENABLE_QCN 1\n\nPACKET_PAYLOAD_SIZE 1000\nSIMULATOR_STOP_TIME 2.005\nCC_MODE 1\nRATE_AI 50Mb/s\n"
      "RATE_HAI 100Mb/s\nMIN_RATE 100Mb/s\nRP_TIMER 900 \nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\n"
      "EWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\nCLAMP_TARGET_RATE 0\nBUFFER_SIZE 32\n"
      "KMAX_MAP 2 25000000000 400 100000000000 1600\nKMIN_MAP 2 25000000000 100 100000000000 400\n"
      "PMAX_MAP 2 25000000000 0.1 100000000000 0.2\nHAS_WIN 1\nL2_ACK_INTERVAL 1\n");
  ASSERT_TRUE(read.testbed);
  const Testbed& testbed = *read.testbed;
  EXPECT_EQ(testbed.run.duration, dataplane::Duration::ms(5));
  EXPECT_EQ(testbed.workloads[0].mtu, 1'024U);
  const Profile& profile = testbed.profiles.front();
  ASSERT_NE(profile.qos, nullptr);
  ASSERT_EQ(profile.qos->wreds.size(), 1U);
  const auto pool = std::ranges::find(profile.qos->pools, "ingress_lossless_pool", &BufferPoolConfig::name);
  ASSERT_NE(pool, profile.qos->pools.end());
  EXPECT_EQ(pool->size, 32U << 20);
  const auto* dcqcn = std::get_if<dataplane::ReactionParameters>(&testbed.workloads[0].transport.congestion_control);
  ASSERT_NE(dcqcn, nullptr);
  EXPECT_EQ(dcqcn->time_reset, dataplane::Duration::us(900));
  EXPECT_EQ(dcqcn->ai_rate, dataplane::Rate::mbps(50));
  EXPECT_EQ(dcqcn->threshold, 1U);
  EXPECT_EQ(read.traffic->marks_by_bps.at(100'000'000'000).least_bytes, 400'000U);
  EXPECT_EQ(read.traffic->marks_by_bps.at(100'000'000'000).most_bytes, 1'600'000U);
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr("a payload of 1000 bytes is none of RoCE's MTUs: 1024"),
                                      HasSubstr("not read: HAS_WIN, L2_ACK_INTERVAL"), HasSubstr("begins at 2s")));
}

TEST(Ns3Traffic, WhatIsNotHereIsSaid) {
  const TrafficRead hpcc = read_traffic("1\n0 2 3 100 1000 0\n",
                                        "CC_MODE 3\nENABLE_QCN 0\nPACKET_PAYLOAD_SIZE 9000\n"
                                        "SIMULATOR_STOP_TIME 40000000000000.00\n");
  ASSERT_TRUE(hpcc.testbed);
  EXPECT_THAT(hpcc.notes, ElementsAre(HasSubstr("CC_MODE 3 (HPCC) is not here"), HasSubstr("4096")));
  EXPECT_EQ(hpcc.testbed->workloads[0].mtu, 4'096U);
  EXPECT_FALSE(dataplane::controls_congestion(hpcc.testbed->workloads[0].transport.congestion_control));
  // 1,000 bytes at 100 Gb/s, and a second.
  EXPECT_EQ(hpcc.testbed->run.duration, dataplane::Duration::s(1) + dataplane::Duration::ns(80));
}

TEST(Ns3Traffic, OneMistakeOfManyFlowsIsOneError) {
  EXPECT_THAT(
      read_traffic("4\n0 3 3 100 1 2\n1 3 3 100 1 2\n0 9 3 100 1 2\n0 0 3 100 1 2\n").complaints,
      ElementsAre("flow.txt:2:3: the node '3' is a switch: a flow leads from host to host (and 1 more of this "
                  "kind)",
                  "flow.txt:4:3: there is no node '9' in the topology", "flow.txt:5:3: leads to its own source"));
  EXPECT_THAT(
      read_traffic("3\n0 1 8 100 0 x\n0 1\n").complaints,
      ElementsAre("flow.txt:2:5: a priority is from 0 to 7, not '8'", "flow.txt:2:11: '0' is no number of bytes",
                  "flow.txt:2:13: 'x' is no time in seconds", "flow.txt:3:1: 3 flows are declared, and 2 stand here",
                  HasSubstr("flow.txt:3:1: a flow is SOURCE")));
  EXPECT_THAT(read_traffic("").complaints, ElementsAre(HasSubstr("the first line must be the number of flows")));
  EXPECT_THAT(read_traffic("1\n0 1 3 1 1 2\n", "KMAX_MAP 2 100 1\nRATE_AI x\nCC_MODE 1\nBUFFER_SIZE many\n").complaints,
              ElementsAre(HasSubstr("config.txt:1:10: KMAX_MAP must be a number N"),
                          HasSubstr("config.txt:2:9: 'x' is no rate"),
                          HasSubstr("config.txt:4:13: BUFFER_SIZE: 'many' is no number")));
}

}  // namespace
}  // namespace softspine::control
