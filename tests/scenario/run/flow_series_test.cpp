// SPDX-License-Identifier: Apache-2.0
// Flows over time: sums against the report, states against what each control has, and the same bytes for any number of
// workers.
#include "testbeds/run/flow_series.hpp"

#include <map>
#include <sstream>

#include "control/report/report.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;
using dataplane::Duration;

constexpr const char* kControls = R"(
name: controls
run: {duration: 900us}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles:
  default:
    base: lossless
    in_band_telemetry: true
    WRED_PROFILE:
      AZURE_LOSSLESS: {ecn: ecn_all, wred_green_enable: false, ecn_green_min_threshold: 20KB,
        ecn_green_max_threshold: 200KB, ecn_green_mark_probability: 50%}
workload:
  - {name: dctcp, pattern: pairs, from: [h5], to: [h1], message: 256KiB, messages: 1000, dscp: 3, transport: rc, congestion_control: dctcp}
  - {name: hpcc, pattern: pairs, from: [h6], to: [h2], message: 256KiB, messages: 1000, dscp: 3, transport: rc, congestion_control: {kind: hpcc, rtt: 6us}}
  - {name: swift, pattern: pairs, from: [h7], to: [h1], message: 256KiB, messages: 1000, dscp: 3, transport: rc, congestion_control: {kind: swift, base_target: 8us}}
  - {name: dcqcn, pattern: pairs, from: [h8], to: [h1], message: 256KiB, messages: 1000, dscp: 3, transport: rc, congestion_control: dcqcn_connectx}
  - {name: open, pattern: pairs, from: [h2], to: [h3], message: 64KiB, messages: 1000, dscp: 3, rate: 10Gbps}
  - {name: one, pattern: pairs, from: [h3], to: [h4], message: 64KiB, messages: 1, dscp: 3, transport: rc}
)";

struct Sampled {
  std::string text;
  Json report;
};

Sampled run_sampled(uint32_t workers, const char* text = kControls) {
  Sampled out;
  const control::Testbed testbed = testbed_of(text, {.workers = workers});
  auto fabric = RunningFabric::make(testbed, {.run_folder = {}, .capture = std::nullopt});
  if (!fabric) {
    ADD_FAILURE() << fabric.error();
    return out;
  }
  const std::string path = testing::TempDir() + "softspine-flows-" + std::to_string(getpid());
  EXPECT_TRUE((*fabric)->part<FlowSeries>().open(path, Duration::us(20)));
  EXPECT_TRUE((*fabric)->run());
  out.text = bytes_of(path);
  std::filesystem::remove(path);
  out.report = control::report_json((*fabric)->snapshot(), {.testbed = "controls", .clock = "virtual", .seed = 1});
  EXPECT_EQ((*fabric)->drain(), 0U);
  return out;
}

TEST(FlowSeries, SumsAreTheReportsAndStatesTheControls) {
  const Sampled run = run_sampled(1);
  std::map<std::string, std::map<std::string, uint64_t>> sums;
  std::map<std::string, Json> last;
  std::istringstream text(run.text);
  uint64_t lines = 0;
  Json end;
  for (std::string line; std::getline(text, line);) {
    const Json json = Json::parse(line);
    if (json.contains("end_ps")) end = json;
    if (!json.contains("flow")) continue;
    ++lines;
    const std::string flow = json["flow"];
    EXPECT_EQ(json["t_ps"].get<uint64_t>() % 20'000'000, 0U) << line;
    for (const char* key : {"sent_bytes", "acks", "cnps", "ce_echoes"}) sums[flow][key] += json[key].get<uint64_t>();
    last[flow] = json;
  }
  ASSERT_EQ(end["lines"], lines);
  EXPECT_EQ(end["samples"], 45) << "the last multiple is the end";
  for (const auto& [flow, row] : run.report["flows"].items()) {
    SCOPED_TRACE(flow);
    if (flow == "open") {
      EXPECT_FALSE(last.contains(flow)) << "an open loop has no control";
      continue;
    }
    EXPECT_EQ(sums[flow]["sent_bytes"], row["sent_bytes"]);
    EXPECT_EQ(sums[flow]["ce_echoes"], row["ce_echoes"]);
    EXPECT_EQ(sums[flow]["cnps"], row["rp_cnp_handled"].get<uint64_t>() + row["rp_cnp_ignored"].get<uint64_t>());
    EXPECT_GT(sums[flow]["acks"], 0U);
    const bool has_rtt = flow == "dctcp" || flow == "hpcc" || flow == "swift";
    EXPECT_EQ(last[flow]["rtt_ps"].is_null(), !has_rtt);
    EXPECT_EQ(last[flow]["window_bytes"].is_null(), !has_rtt);
    EXPECT_EQ(last[flow]["rate_bps"].is_null(), flow == "one" || flow == "swift") << "Swift paces below one packet";
  }
  EXPECT_GT(sums["dctcp"]["ce_echoes"], 0U);
  EXPECT_GT(sums["dcqcn"]["cnps"], 0U);
  EXPECT_GT(run.report["flows"]["hpcc"]["telemetry_acks"], 1000);
  EXPECT_GE(last["hpcc"]["rtt_ps"], 900'000) << "cables of 86 m, there and back";
}

// What is between the begin and the flow costs no look.
TEST(FlowSeries, LooksAtTheFirstMultipleBehindThatAtWhichSomethingHappens) {
  constexpr const char* kLate = R"(
name: late
run: {duration: 900us}
fabric: {kind: star, hosts: 2, host_link: {rate: 100Gbps, length: 3m}}
workload: [{name: late, pattern: pairs, from: [h1], to: [h2], message: 256KiB, messages: 2, transport: rc, start: 505us, congestion_control: dctcp}]
)";
  std::istringstream text(run_sampled(1, kLate).text);
  std::vector<uint64_t> instants;
  for (std::string line; std::getline(text, line);) {
    const Json json = Json::parse(line);
    if (json.contains("flow")) instants.push_back(json["t_ps"]);
  }
  ASSERT_GE(instants.size(), 3U);
  instants.resize(3);
  EXPECT_EQ(instants, (std::vector<uint64_t>{20'000'000, 520'000'000, 540'000'000})) << "the first is its rate";
}

TEST(FlowSeries, HasTheSameBytesForAnyNumberOfWorkers) {
  EXPECT_EQ(run_sampled(1).text, run_sampled(3).text);
}

}  // namespace
}  // namespace softspine::testbeds
