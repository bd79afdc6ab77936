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

TrafficRead read_traffic(const std::string& flows, const std::optional<std::string>& config = {},
                         const std::string& rack = kNs3Rack) {
  const std::vector<ImportFile> files{{"t.txt", rack}};
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
  const auto* dcqcn =
      std::get_if<dataplane::ReactionParameters>(&testbed.workloads[0].transport.reliable.congestion_control);
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
  EXPECT_THAT(hpcc.notes, ElementsAre(HasSubstr("CC_MODE 3 (HPCC) is not taken over"), HasSubstr("4096")));
  EXPECT_EQ(hpcc.testbed->workloads[0].mtu, 4'096U);
  EXPECT_FALSE(dataplane::controls_congestion(hpcc.testbed->workloads[0].transport.reliable.congestion_control));
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

constexpr const char* kOneFlow = "1\n0 1 3 100 1000 0\n";

TEST(Ns3Traffic, LeadsFromAHostToAHost) {
  EXPECT_THAT(read_traffic("2\n3 0 3 100 1 2\n9 0 3 100 1 2\n").complaints,
              ElementsAre("flow.txt:2:1: the node '3' is a switch: a flow leads from host to host",
                          "flow.txt:3:1: there is no node '9' in the topology"));
  const TrafficRead right = read_traffic("1\n2 1 0 100 1 0\n");
  ASSERT_TRUE(right.traffic);
  EXPECT_EQ(right.traffic->flows.at(0).from, 2U);
  EXPECT_EQ(right.traffic->flows.at(0).to, 1U);
}

TEST(Ns3Traffic, PrioritiesAreFrom0To7) {
  const TrafficRead read = read_traffic("2\n0 1 0 100 1 0\n0 1 7 100 1 0\n");
  ASSERT_TRUE(read.traffic);
  EXPECT_EQ(read.traffic->flows.at(0).priority, 0U);
  EXPECT_EQ(read.traffic->flows.at(1).priority, 7U);
  for (const char* wrong : {"8", "-1", "256", "x", "3.0"}) {
    EXPECT_THAT(read_traffic("1\n0 1 " + std::string(wrong) + " 100 1 0\n").complaints,
                ElementsAre("flow.txt:2:5: a priority is from 0 to 7, not '" + std::string(wrong) + "'"));
  }
}

TEST(Ns3Traffic, HasAtMostAMillionFlows) {
  EXPECT_THAT(read_traffic("1000000\n").complaints,
              ElementsAre("flow.txt:1:1: 1000000 flows are declared, and 0 stand here"));
  for (const char* wrong : {"1000001\n", "1 2\n", "-1\n", "one\n"}) {
    EXPECT_THAT(read_traffic(wrong).complaints,
                ElementsAre("flow.txt:1:1: the first line must be the number of flows, at most 1000000"))
        << wrong;
  }
}

// A mistake of either file is one of both.
TEST(Ns3Traffic, IsNoneIfOneOfItsFilesIsWrong) {
  EXPECT_TRUE(read_traffic(kOneFlow, "BUFFER_SIZE 1\n").traffic);
  EXPECT_FALSE(read_traffic(kOneFlow, "BUFFER_SIZE many\n").traffic);
  EXPECT_FALSE(read_traffic("1\n0 1 8 100 1000 0\n", "BUFFER_SIZE 1\n").traffic);
}

// The nearest of 256, 512, 1,024, 2,048 and 4,096; nothing is said of one of them.
TEST(Ns3Traffic, PacketsHaveTheNearestMtuOfRoce) {
  for (const auto& [payload, mtu, is_exact] : {std::tuple(0, 256U, false),
                                               {256, 256U, true},
                                               {383, 256U, false},
                                               {385, 512U, false},
                                               {512, 512U, true},
                                               {1'024, 1'024U, true},
                                               {1'535, 1'024U, false},
                                               {1'537, 2'048U, false},
                                               {2'048, 2'048U, true},
                                               {4'096, 4'096U, true},
                                               {65'535, 4'096U, false}}) {
    const TrafficRead read = read_traffic(kOneFlow, "PACKET_PAYLOAD_SIZE " + std::to_string(payload) + "\n");
    ASSERT_TRUE(read.traffic) << payload;
    EXPECT_EQ(read.traffic->mtu, mtu) << payload;
    const std::string note = "config.txt:1:21: a payload of " + std::to_string(payload) +
                             " bytes is none of RoCE's MTUs: " + std::to_string(mtu);
    EXPECT_EQ(read.notes, is_exact ? std::vector<std::string>{} : std::vector{note}) << payload;
  }
}

// DCQCN and TIMELY are taken over from HPCC's own modes, the others are named.
TEST(Ns3Traffic, NamesTheModesThatAreNotTakenOver) {
  for (const auto& [mode, name] :
       {std::pair{"2", ""}, {"3", " (HPCC)"}, {"8", " (DCTCP)"}, {"9", ""}, {"10", " (HPCC-PINT)"}}) {
    const TrafficRead read = read_traffic(kOneFlow, "CC_MODE " + std::string(mode) + "\n");
    ASSERT_TRUE(read.traffic);
    EXPECT_EQ(read.traffic->congestion_control, "");
    EXPECT_THAT(read.notes, ElementsAre("config.txt:1:9: CC_MODE " + std::string(mode) + name +
                                        " is not taken over: flows have no congestion control"));
  }
  for (const auto& [mode, control] : {std::pair{"0", ""}, {"1", "{kind: dcqcn_connectx}"}, {"7", "timely"}}) {
    const TrafficRead read = read_traffic(kOneFlow, "CC_MODE " + std::string(mode) + "\n");
    ASSERT_TRUE(read.traffic);
    EXPECT_EQ(read.traffic->congestion_control, control);
    EXPECT_THAT(read.notes, IsEmpty());
  }
}

// Rates as they stand, times in microseconds, the gain as a fraction.
TEST(Ns3Traffic, DcqcnHasEachParameterOfTheFile) {
  const TrafficRead read = read_traffic(
      kOneFlow,
      "CC_MODE 1\nRATE_AI 50Mb/s\nRATE_HAI 0.1Gb/s\nMIN_RATE 1000Kb/s\nRP_TIMER 900\nALPHA_RESUME_INTERVAL 1.5\n"
      "RATE_DECREASE_INTERVAL 4\nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 5\nCLAMP_TARGET_RATE 1\n");
  ASSERT_TRUE(read.testbed);
  EXPECT_EQ(read.traffic->congestion_control,
            "{kind: dcqcn_connectx, ai_rate: 50000000bps, hai_rate: 100000000bps, min_rate: 1000000bps, time_reset: "
            "900000000ps, alpha_timer: 1500000ps, rate_reduce_monitor_period: 4000000ps, g: 3906250/1000000000, "
            "threshold: 5, clamp_tgt_rate: true}");
  EXPECT_THAT(read_traffic(kOneFlow, "CC_MODE 1\nCLAMP_TARGET_RATE 0\n").traffic->congestion_control,
              "{kind: dcqcn_connectx, clamp_tgt_rate: false}");
}

TEST(Ns3Traffic, NumbersOfTheConfigHaveBounds) {
  for (const auto& [key, most] : {std::pair{"PACKET_PAYLOAD_SIZE", "65535"},
                                  {"BUFFER_SIZE", "32768"},
                                  {"ENABLE_QCN", "1"},
                                  {"CC_MODE", "1000"}}) {
    EXPECT_TRUE(read_traffic(kOneFlow, std::string(key) + " " + most + "\n").traffic) << key;
    for (const std::string& wrong : {std::string(most) + "0", std::string("-1"), std::string("1x")}) {
      EXPECT_THAT(read_traffic(kOneFlow, std::string(key) + " " + wrong + "\n").complaints,
                  ElementsAre(HasSubstr(std::string(key) + ": '" + wrong + "' is no number of its kind")));
    }
  }
}

// A stop beyond a million seconds is none; a buffer of 0 is left as it is. MiB are 2^20 bytes.
TEST(Ns3Traffic, SomeNumbersSayThatThereIsNone) {
  const TrafficRead some =
      read_traffic("1\n0 1 3 100 1000 2\n", "SIMULATOR_STOP_TIME 1e6\nBUFFER_SIZE 0.5\nENABLE_QCN 0\n");
  ASSERT_TRUE(some.traffic);
  EXPECT_EQ(some.traffic->stop_ps, (1'000'000 - 2) * int64_t{1'000'000'000'000}) << "from the first flow on";
  EXPECT_EQ(some.traffic->buffer_bytes, uint64_t{1} << 19);
  EXPECT_FALSE(some.traffic->marks);
  const TrafficRead none = read_traffic(kOneFlow, "SIMULATOR_STOP_TIME 1000001\nBUFFER_SIZE 0\nENABLE_QCN 1\n");
  ASSERT_TRUE(none.traffic);
  EXPECT_EQ(none.traffic->stop_ps, std::nullopt);
  EXPECT_EQ(none.traffic->buffer_bytes, std::nullopt);
  EXPECT_TRUE(none.traffic->marks);
}

TEST(Ns3Traffic, MarksAreANumberOfPairs) {
  EXPECT_THAT(
      read_traffic(kOneFlow, "KMIN_MAP 1 25000000000 0.5\n").traffic->marks_by_bps.at(25'000'000'000).least_bytes,
      500U);
  for (const char* wrong : {"KMIN_MAP 1", "KMIN_MAP 1 100", "KMIN_MAP 1 100 1 2", "KMIN_MAP x 100 1",
                            "KMIN_MAP 2 100 1", "KMIN_MAP 0 100 1"}) {
    EXPECT_THAT(read_traffic(kOneFlow, std::string(wrong) + "\n").complaints,
                ElementsAre("config.txt:1:10: KMIN_MAP must be a number N, and then N times a rate and a value"));
  }
  for (const char* wrong : {"KMIN_MAP 1 fast 1", "KMIN_MAP 1 100 -1", "KMIN_MAP 1 100 1e9", "KMIN_MAP 1 100 x"}) {
    EXPECT_THAT(read_traffic(kOneFlow, std::string(wrong) + "\n").complaints,
                ElementsAre("config.txt:1:12: KMIN_MAP must have numbers"));
  }
}

// Two links of 25 Gb/s and one of 100: marks are those of 25, and 3,125 bytes take a microsecond there.
TEST(Ns3Traffic, TheRunIsThatOfTheUsualAndTheSlowestLink) {
  const std::string rack = "4 1 3\n3\n0 3 25Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 25Gbps 1us 0\n";
  const std::string config =
      "KMIN_MAP 2 25000000000 100 100000000000 400\nKMAX_MAP 2 25000000000 200 100000000000 800\n"
      "PMAX_MAP 2 25000000000 0.1 100000000000 0.2\n";
  const TrafficRead read = read_traffic("2\n0 1 3 100 3125 0\n1 2 3 100 6250 0.001\n", config, rack);
  ASSERT_TRUE(read.testbed);
  EXPECT_EQ(read.testbed->run.duration,
            dataplane::Duration::s(1) + dataplane::Duration::ms(1) + dataplane::Duration::us(3));
  const auto& wreds = read.testbed->profiles.front().qos->wreds;
  ASSERT_EQ(wreds.size(), 1U);
  EXPECT_EQ(wreds[0].second.mark.min_bytes, 100'000U);
  EXPECT_EQ(wreds[0].second.mark.max_bytes, 200'000U);
}

}  // namespace
}  // namespace softspine::control
