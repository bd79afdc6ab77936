// SPDX-License-Identifier: Apache-2.0
// How a testbed file writes a congestion control: by a word, or as a map of what differs.
#include <gtest/gtest.h>

#include "control/rows/congestion_format.hpp"
#include "dataplane/congestion/algorithms.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using dataplane::BdpCapParameters;
using dataplane::CongestionParameters;
using dataplane::Duration;
using dataplane::Fraction;
using dataplane::Rate;
using dataplane::ReactionParameters;
using dataplane::TimelyParameters;
using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

std::string workload(const std::string& control, const std::string& more = "") {
  return with_fabric("workload:\n  - {name: w, pattern: ring, transport: rc" + more +
                     ",\n     congestion_control: " + control + "}\n");
}
CongestionParameters read(const std::string& control) {
  return read_well(workload(control)).workloads.at(0).transport.reliable.congestion_control;
}
// Behind the place that all share.
Complaints wrong(const std::string& control, const std::string& more = "") {
  Complaints out;
  for (std::string each : complaints_about(workload(control, more))) {
    const std::string place = "6 workload[0].congestion_control";
    if (each.starts_with(place)) each = each.substr(place.size());
    out.push_back(each);
  }
  return out;
}

TEST(Congestion, AWordStandsForASetOfParameters) {
  EXPECT_TRUE(read("none") == CongestionParameters{});
  EXPECT_TRUE(read("dcqcn_paper") == CongestionParameters{ReactionParameters::paper()});
  EXPECT_TRUE(read("dcqcn_connectx") == CongestionParameters{ReactionParameters::connectx()});
  EXPECT_TRUE(read("timely") == CongestionParameters{TimelyParameters{}});
  EXPECT_TRUE(read("timely_patched") == CongestionParameters{dataplane::Timely::kSets[1].parameters});
  EXPECT_TRUE(read("bdp_fc") == CongestionParameters{BdpCapParameters{}});
  EXPECT_TRUE(read("dctcp") == CongestionParameters{dataplane::DctcpParameters{}});
  EXPECT_TRUE(read("hpcc") == CongestionParameters{dataplane::HpccParameters{}});
  EXPECT_TRUE(read("swift") == CongestionParameters{dataplane::SwiftParameters{}});
}

TEST(Congestion, AMapStandsForItsKindsSetButForItsKeys) {
  EXPECT_TRUE(read("{kind: dcqcn_connectx}") == read("dcqcn_connectx"));
  ReactionParameters expected = ReactionParameters::connectx();
  expected.g = {1, 128};
  EXPECT_TRUE(read("{kind: dcqcn_connectx, g: 1/128}") == CongestionParameters{expected});
}

TEST(Congestion, EveryParameterOfDcqcnIsAKey) {
  const ReactionParameters expected{.g = {1, 128},
                                    .initial_alpha = {1, 2},
                                    .alpha_timer = Duration::us(2),
                                    .time_reset = Duration::us(3),
                                    .byte_reset = {4096},
                                    .threshold = 4,
                                    .ai_rate = Rate::mbps(6),
                                    .hai_rate = Rate::mbps(7),
                                    .hai_scales = false,
                                    .min_rate = Rate::mbps(8),
                                    .min_dec_fac = {9, 10},
                                    .rate_reduce_monitor_period = Duration::us(11),
                                    .clamp_tgt_rate = false,
                                    .clamp_tgt_rate_after_time_inc = false,
                                    .cnp_interval = Duration::us(12),
                                    .nic_delay = Duration::us(13)};
  EXPECT_TRUE(read("{kind: dcqcn_paper, g: 1/128, initial_alpha: 0.5, alpha_timer: 2us, time_reset: 3us, "
                   "byte_reset: 4KiB, threshold: 4, ai_rate: 6Mbps, hai_rate: 7Mbps, hai_scales: false, "
                   "min_rate: 8Mbps, min_dec_fac: 0.9, rate_reduce_monitor_period: 11us, clamp_tgt_rate: false, "
                   "clamp_tgt_rate_after_time_inc: false, cnp_interval: 12us, nic_delay: 13us}") ==
              CongestionParameters{expected});
}

TEST(Congestion, EveryParameterOfTimelyIsAKey) {
  const TimelyParameters expected{.alpha = {1, 2},
                                  .beta = {1, 3},
                                  .delta = Rate::mbps(20),
                                  .t_low = Duration::us(30),
                                  .t_high = Duration::us(40),
                                  .min_rtt = Duration::us(5),
                                  .hai_after = 6,
                                  .hai_steps = 7,
                                  .weighted = true,
                                  .initial_rate = {1, 8},
                                  .min_rate = Rate::mbps(90)};
  EXPECT_TRUE(read("{kind: timely, alpha: 0.5, beta: 1/3, delta: 20Mbps, t_low: 30us, t_high: 40us, min_rtt: 5us, "
                   "hai_after: 6, hai_steps: 7, weighted: true, initial_rate: 1/8, min_rate: 90Mbps}") ==
              CongestionParameters{expected});
}

TEST(Congestion, TheParameterOfBdpFcIsAKey) {
  EXPECT_TRUE(read("{kind: bdp_fc, rtt: 8us}") == CongestionParameters{BdpCapParameters{.rtt = Duration::us(8)}});
}

TEST(Congestion, EveryParameterOfDctcpIsAKey) {
  const dataplane::DctcpParameters expected{
      .g = {1, 8}, .rtt = Duration::us(9), .ai_rate = Rate::mbps(700), .min_rate = Rate::mbps(200)};
  EXPECT_TRUE(read("{kind: dctcp, g: 1/8, rtt: 9us, ai_rate: 700Mbps, min_rate: 200Mbps}") ==
              CongestionParameters{expected});
}

TEST(Congestion, EveryParameterOfHpccIsAKey) {
  const dataplane::HpccParameters expected{.rtt = Duration::us(9),
                                           .eta = {9, 10},
                                           .max_stage = 3,
                                           .ai_rate = Rate::mbps(50),
                                           .min_rate = Rate::mbps(200),
                                           .multi_rate = true,
                                           .fast_react = false};
  EXPECT_TRUE(read("{kind: hpcc, rtt: 9us, eta: 0.9, max_stage: 3, ai_rate: 50Mbps, min_rate: 200Mbps, multi_rate: "
                   "true, fast_react: false}") == CongestionParameters{expected});
}

TEST(Congestion, EveryParameterOfSwiftIsAKey) {
  const dataplane::SwiftParameters expected{.base_target = Duration::us(9),
                                            .hop_scale = Duration::us(2),
                                            .fs_range = Duration::us(30),
                                            .fs_min_cwnd = {1, 4},
                                            .fs_max_cwnd = 50,
                                            .ai = {1, 2},
                                            .beta = {7, 10},
                                            .max_mdf = {3, 10},
                                            .min_cwnd = {1, 20},
                                            .max_cwnd = 500,
                                            .initial_cwnd = 20,
                                            .retx_reset_threshold = 4};
  EXPECT_TRUE(read("{kind: swift, base_target: 9us, hop_scale: 2us, fs_range: 30us, fs_min_cwnd: 1/4, fs_max_cwnd: 50, "
                   "ai: 1/2, beta: 0.7, max_mdf: 0.3, min_cwnd: 0.05, max_cwnd: 500, initial_cwnd: 20, "
                   "retx_reset_threshold: 4}") == CongestionParameters{expected});
  EXPECT_EQ(wrong("{kind: swift, initial_cwnd: 11, max_cwnd: 10}"), (Complaints{".initial_cwnd: exceeds 'max_cwnd'"}));
}

TEST(Congestion, WhoAsksForEachAcknowledgementHasNoOtherInterval) {
  for (const char* word : {"dctcp", "hpcc", "swift"}) {
    EXPECT_EQ(wrong(word, ", ack_every: 1"), Complaints{}) << word;
    EXPECT_EQ(wrong(word, ", ack_every: 2"),
              (Complaints{"5 workload[0].ack_every: must be 1: with this congestion control every packet asks"}))
        << word;
  }
}

TEST(Congestion, APartOfOneIsExactAndNeitherNothingNorMore) {
  using Traits = WordTraits<Fraction>;
  EXPECT_EQ(Traits::parse("5/1024"), (Fraction{5, 1024}));
  EXPECT_EQ(Traits::parse("0.875"), (Fraction{7, 8}));
  EXPECT_EQ(Traits::parse("1"), (Fraction{1, 1}));
  EXPECT_EQ(Traits::parse("1.0"), (Fraction{1, 1}));
  EXPECT_EQ(Traits::parse("0.000000001"), (Fraction{1, 1'000'000'000}));
  EXPECT_EQ(Traits::parse("2/4"), (Fraction{1, 2}));
  for (const char* bad : {"",   "0", "0/5",   "2",   "1.5",  "5/4",          "1/0",          "/",    "1/", "/2", "-1/2",
                          "0.", ".", "1/2/3", "0.0", "1e-3", "0.1234567891", "1/4294967297", " 1/2", "50%"}) {
    EXPECT_FALSE(Traits::parse(bad)) << bad;
  }
}

TEST(Congestion, RefusesWhatIsNoControl) {
  const std::string words = "dcqcn_connectx, dcqcn_paper, timely, timely_patched, bdp_fc, dctcp, hpcc, swift";
  EXPECT_EQ(wrong("dcqcn"), (Complaints{": 'dcqcn' is not one of none, " + words}));
  EXPECT_EQ(wrong("{kind: none}"), (Complaints{".kind: 'none' is not one of " + words}));
  EXPECT_EQ(wrong("{g: 1/256}"), (Complaints{": the key 'kind' is missing (" + words + ")"}));
  EXPECT_EQ(wrong("[timely]"), (Complaints{": expected one of none, " + words + ", found a list"}));
  EXPECT_EQ(wrong("{kind: timely, g: 1/256}").size(), 1u) << "another algorithm's key";
}

TEST(Congestion, RefusesParametersThatCannotBe) {
  EXPECT_EQ(wrong("{kind: dcqcn_paper, g: 2, time_reset: 1ns, byte_reset: 10B, ai_rate: 1kbps, clamp_tgt_rate: 3}"),
            (Complaints{".g: expected a part of one such as 1/256 or 0.8, found '2'",
                        ".time_reset: must be at least 1us, not '1ns'", ".byte_reset: must be at least 64B, not '10B'",
                        ".ai_rate: must be at least 1Mbps, not '1kbps'",
                        ".clamp_tgt_rate: expected true or false, found '3'"}));
  EXPECT_EQ(wrong("{kind: dcqcn_paper, ai_rate: 2Gbps, hai_rate: 1Gbps}"),
            (Complaints{".hai_rate: is less than 'ai_rate', the slower increase's"}));
  EXPECT_EQ(wrong("{kind: timely, t_low: 600us, t_high: 600us}"), (Complaints{".t_high: must exceed 't_low'"}));
}

TEST(Congestion, NoCnpsGoToWhoHeedsNone) {
  EXPECT_EQ(wrong("timely", ", cnp_dscp: 48"),
            (Complaints{"5 workload[0].cnp_dscp: needs a 'congestion_control' that reacts to CNPs"}));
}

}  // namespace
}  // namespace softspine::control
