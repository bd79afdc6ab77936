// SPDX-License-Identifier: Apache-2.0
// What experiments read out of a report, in the unit of their figure; made-up reports, and the arithmetic beside them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "control/telemetry/json.hpp"
#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {
namespace {

using control::Json;

// Each plan's report, in order.
Grid read_all(std::string_view name, const std::vector<Json>& reports) {
  const Experiment& it = *find_experiment(name);
  Grid out = it.published.emptied();
  for (size_t plan = 0; plan < reports.size(); ++plan) it.read(reports[plan], plan, out);
  return out;
}

Json with_bus_bandwidths(const std::vector<double>& gigabytes) {
  Json sizes = Json::object();
  for (const double each : gigabytes) sizes[std::to_string(sizes.size())] = {{"busbw_bps", each * 8e9}};
  return {{"collectives", {{"grads", {{"sizes", sizes}}}}}};
}

TEST(PapersReadings, HaveNoNumberWhereAReportHasNone) {
  const Json report{{"flows", {{"it", {{"rate", 3}, {"name", "it"}}}}}};
  EXPECT_EQ(number_of(report, {"flows", "it", "rate"}), 3);
  EXPECT_TRUE(std::isnan(number_of(report, {"flows", "it", "name"})));
  EXPECT_TRUE(std::isnan(number_of(report, {"flows", "other", "rate"})));
  EXPECT_TRUE(std::isnan(number_of(report, {"flows", "it", "rate", "more"})));
  Json open = with_bus_bandwidths({2});
  EXPECT_EQ(bus_bandwidth_of(open, "grads", 0), 2);
  EXPECT_TRUE(std::isnan(bus_bandwidth_of(open, "grads", 1)));
  open["collectives"]["grads"]["sizes"]["0"]["busbw_bps"] = Json();
  EXPECT_TRUE(std::isnan(bus_bandwidth_of(open, "grads", 0)));
}

TEST(PapersReadings, SumOverRowsWhoseNamesBeginSo) {
  const Json report{{"switches", {{"s1", {{"n", 3}}}, {"s2", {{"n", 4}}}, {"t1", {{"n", 50}}}}}};
  EXPECT_EQ(sum_over(report, "switches", "s", "n"), 7);
}

TEST(PapersReadings, TakeBusBandwidthsByRowAndColumn) {
  const Grid fig7 = read_all("meta-fig7", {with_bus_bandwidths({1, 2, 3, 4, 5, 6}), with_bus_bandwidths({7, 8, 9})});
  EXPECT_EQ(fig7.at(0, 5), 6);
  EXPECT_EQ(fig7.at(1, 0), 7);
  EXPECT_TRUE(std::isnan(fig7.at(1, 3)));
  const Grid fig17 = read_all("hpn-fig17", {with_bus_bandwidths({1, 2, 3, 4, 5, 6}), with_bus_bandwidths({7})});
  EXPECT_EQ(fig17.at(0, 5), 6);
  EXPECT_EQ(fig17.at(1, 0), 7);
  std::vector<Json> runs;
  for (int plan = 0; plan < 8; ++plan) runs.push_back(with_bus_bandwidths({1.0 + plan}));
  const Grid fig19 = read_all("hpn-fig19", runs);
  EXPECT_EQ(fig19.at(0, 3), 4);
  EXPECT_EQ(fig19.at(1, 0), 5);
}

// 3,000 frames in 3 ms: 1,000 thousands a second. 1.5 of 3 ms: half of the time.
TEST(PapersReadings, OfTable3ArePerSecondAndPercent) {
  Json hosts = Json::object();
  for (int host = 1; host <= 17; ++host) {
    hosts[fmt::format("z1-h{}-nic1", host)] = {{"paused_ps", host == 1 ? 3'000'000'000 : 1'500'000'000}};
  }
  Json switches = Json::object();
  for (const std::string_view name : {"z1-rtsw1", "z1-rtsw2"}) switches[name] = {{"pfc_tx_packets", 3'000}};
  for (int number = 1; number <= 16; ++number) {
    switches[fmt::format("z1-ctsw{}", number)] = {{"pfc_tx_packets", number == 1 ? 600 : 0}};
  }
  const Grid found = read_all("meta-table3", {{{"switches", switches}, {"hosts", hosts}}});
  EXPECT_DOUBLE_EQ(found.at(0, 0), 1'000);
  EXPECT_DOUBLE_EQ(found.at(1, 0), 200);
  EXPECT_DOUBLE_EQ(found.at(2, 0), 50);
}

// 24 gaps in 3 ms of 8 GPUs: 1,000 a second and GPU.
TEST(PapersReadings, OfFlowletsArePerSecondAndGpu) {
  const Json flows{{"h1-5", {{"sequence_gaps", 20}}}, {"h2-6", {{"sequence_gaps", 4}}}};
  EXPECT_DOUBLE_EQ(read_all("meta-flowlets", {{{"flows", flows}}}).at(0, 0), 1'000);
}

TEST(PapersReadings, OfThresholdsAreMilliseconds) {
  const auto taking = [](uint64_t time_ps) {
    const Json sizes{{"134217728", {{"time_ps", time_ps}}}};
    return Json{{"collectives", {{"grads", {{"sizes", sizes}}}}}};
  };
  const Grid found = read_all("meta-ecn", {taking(3'860'000'000), taking(3'500'000'000)});
  EXPECT_DOUBLE_EQ(found.at(0, 0), 3.86);
  EXPECT_DOUBLE_EQ(found.at(1, 0), 3.5);
}

TEST(PapersReadings, OfPermutationsAreMicrosecondsToTheLastAcknowledgement) {
  const Json times{{"fct_max_ps", 9}, {"fct_acked_min_ps", 168'000'000}, {"fct_acked_max_ps", 830'000'000}};
  const Json report{{"flows", {{"it", times}}}};
  const Grid large = read_all("uet-permutation", {report});
  EXPECT_DOUBLE_EQ(large.at(0, 0), 168);
  EXPECT_DOUBLE_EQ(large.at(1, 0), 830);
  EXPECT_DOUBLE_EQ(read_all("uet-single-path", {Json(), report}).at(1, 0), 830);
}

// Four jobs of 10, 20, 30 and 40 GB/s; then twice as much, a tenth more, a hundredth less.
TEST(PapersReadings, OfDisjointPathsAreWhatAllJobsWinInPercent) {
  const auto jobs = [](double share) {
    Json out = Json::object();
    for (int job = 1; job <= 4; ++job)
      out[fmt::format("job{}", job)] = {{"sizes", {{"1", {{"busbw_bps", job * share * 80e9}}}}}};
    return Json{{"collectives", out}};
  };
  const Grid found = read_all("hpn-disjoint", {jobs(1), jobs(2), jobs(1.1), jobs(0.99)});
  EXPECT_DOUBLE_EQ(found.at(0, 0), 100);
  EXPECT_NEAR(found.at(1, 0), 10, 1e-9);
  EXPECT_NEAR(found.at(2, 0), -1, 1e-9);
}

// First whole, then with the link down; the quickest of four AllReduces, and none that ended is a loss of all.
TEST(PapersReadings, OfAFailureAreTheLossInPercent) {
  const auto bytes = [](uint64_t count) { return Json{{"flows", {{"job", {{"received_bytes", count}}}}}}; };
  const auto quickest = [](const Json& time) {
    const Json sizes{{"67108864", {{"time_min_ps", time}, {"time_ps", 9'000}}}};
    return Json{{"collectives", {{"job", {{"sizes", sizes}}}}}};
  };
  const Grid found =
      read_all("hpn-failure", {bytes(1'600), bytes(1'500), quickest(100), quickest(200), quickest(100), quickest({})});
  EXPECT_DOUBLE_EQ(found.at(0, 0), -6.25);
  EXPECT_DOUBLE_EQ(found.at(1, 0), -50);
  EXPECT_DOUBLE_EQ(found.at(2, 0), -100);
}

}  // namespace
}  // namespace softspine::tools
