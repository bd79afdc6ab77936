// SPDX-License-Identifier: Apache-2.0
// The outline of a report, by which expectations are checked before a run, has every value that the run's report has.
#include "control/expect/report_path.hpp"
#include "control/load/expectation_check.hpp"
#include "control/report/outline_models.hpp"
#include "control/report/report.hpp"
#include "testbeds/run/report_outline.hpp"
#include "testbeds/run/workload_flows.hpp"
#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

control::Json outline(const control::Testbed& testbed) {
  control::Json out = control::report_json(outline_of(testbed), {.testbed = testbed.name, .clock = "virtual"});
  out[kPolarizationSection] = polarization_section_outline(testbed);
  control::add_models(out, control::report_fields());
  return out;
}

// Paths of all values that are no containers.
void collect(const control::Json& value, const std::string& way, std::vector<std::string>& out) {
  if (!value.is_structured()) return out.push_back(way);
  for (const auto& [name, child] : value.items()) collect(child, way.empty() ? name : way + "." + name, out);
}

// PFC both ways, a credit link's keys, faults of every kind, drops, an edge, two workloads, RC with DCQCN.
constexpr const char* kBusy = R"(
name: busy
run: {duration: 2ms}
profiles:
  default:
    base: lossless
    WRED_PROFILE:
      AZURE_LOSSLESS: {ecn: ecn_all, wred_green_enable: false, ecn_green_min_threshold: 5000B,
        ecn_green_max_threshold: 200000B, ecn_green_mark_probability: 10%}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: rc, pattern: incast, from: [h5, h6], to: h1, message: 64KiB, messages: 20, dscp: 3, transport: rc,
     congestion_control: dcqcn_paper}
  - {name: open, pattern: incast, from: [h3, h7, h8], to: h1, message: 64KiB, messages: 20, dscp: 26}
faults:
  - {at: 100us, until: 300us, node: h4, set: storm}
  - {at: 100us, until: 300us, node: h2, set: slow_receiver}
  - {at: 200us, until: 400us, link: "tor1:Ethernet16", set: lossy, drop: 1%, corrupt: 1%}
  - {at: 300us, link: "tor1:Ethernet20", set: down}
)";

void expect_all_in_outline(const control::Testbed& testbed) {
  const control::Json possible = outline(testbed);
  const control::Json found = run_whole(testbed).report;
  std::vector<std::string> paths;
  collect(found, "", paths);
  ASSERT_GT(paths.size(), 300u);
  for (const std::string& path : paths) {
    const auto there = control::find_in_outline(possible, path);
    ASSERT_EQ(there.matches.size(), 1u) << path << ": " << there.missing;
    const control::Json& outlined = *there.matches[0].value;
    const control::Json& value = *control::find_in_report(found, path).matches[0].value;
    EXPECT_TRUE(outlined.is_null() || value.is_null() || outlined.is_number() == value.is_number()) << path;
    EXPECT_TRUE(outlined.is_null() || value.is_null() || outlined.is_boolean() == value.is_boolean()) << path;
  }
}

TEST(ReportOutline, HasEveryValueThatAReportHas) {
  expect_all_in_outline(testbed_of(kBusy));
}

TEST(ReportOutline, HasEveryValueOfPolarization) {
  for (const char* name : {"polarized", "two-tier", "cured-offset", "e-ecmp"}) {
    const auto testbed = control::load_testbed(tests::source_root() / "testbeds" / (std::string(name) + ".yaml"));
    ASSERT_TRUE(testbed);
    std::vector<std::string> paths;
    collect(polarization_section(*testbed), "", paths);
    EXPECT_GT(paths.size(), 10u);
    const control::Json possible = polarization_section_outline(*testbed);
    for (const std::string& path : paths)
      EXPECT_EQ(control::find_in_outline(possible, path).matches.size(), 1u) << path;
  }
}

TEST(ReportOutline, HasThoseOfEdgesAndCreditLinks) {
  for (const char* name : {"replay", "credit-incast"}) {
    auto testbed = control::load_testbed(tests::source_root() / "testbeds" / (std::string(name) + ".yaml"));
    ASSERT_TRUE(testbed);
    expect_all_in_outline(*testbed);
  }
  std::filesystem::remove(tests::source_root() / "testbeds/replay/out.pcap");
}

// As many as the log may have, and no section where no log is written.
TEST(ReportOutline, HasTheEventsOfARunThatWritesThem) {
  std::string text = kBusy;
  text.replace(text.find("{duration: 2ms}"), 15, "{duration: 2ms, telemetry: {events_file: e.jsonl}}");
  const control::Json possible = outline(testbed_of(text));
  EXPECT_EQ(control::find_in_outline(possible, "events.lines.xoff_raised").matches.size(), 1u);
  EXPECT_TRUE(control::find_in_outline(possible, "events.lines.nonsense").matches.empty());
  EXPECT_TRUE(control::find_in_outline(outline(testbed_of(kBusy)), "events.lines.xoff_raised").matches.empty());
}

TEST(ReportOutline, HasNothingOfOtherTestbeds) {
  const control::Json possible = outline(testbed_of(kBusy));
  for (const char* path : {"flows.perm.completed", "hosts.h9.rate_bps", "switches.tor3.rx_packets",
                           "links.tor1:Ethernet64.share", "edges.h1.in_packets", "commands.h1.exit_status",
                           "hosts.h1.pause.eth1.3.rx_packets", "links.spine1:Ethernet0.share"}) {
    EXPECT_TRUE(control::find_in_outline(possible, path).matches.empty()) << path;
  }
}

// What only a run can number: any place is good, any field is not.
TEST(ReportOutline, KnowsTheFieldsBelowListsAndOpenMaps) {
  const control::Json possible = outline(testbed_of(kBusy));
  for (const char* path :
       {"losses.0.packets", "losses.*.place", "faults.3.loss_window.window", "faults.0.loss_window.flows.*.stalled",
        "errors.0.what", "ports.*.queues.*.ecn_marked_packets", "ports.tor1:Ethernet0.100.drops.no_buffer",
        "switches.tor1.pools.ingress.lossless.watermark", "notices.0", "faults.0.loss_window.over_time.packets.7"}) {
    const auto found = control::find_in_outline(possible, path);
    ASSERT_EQ(found.matches.size(), 1u) << path << ": " << found.missing;
    EXPECT_FALSE(found.matches[0].value->is_null()) << path;
  }
  for (const char* path : {"losses.0.paktes", "losses.first.packets", "faults.0.nonsense",
                           "faults.0.loss_window.flows.*.x", "errors.0.packets", "ports.*.queues.*.nonsense",
                           "ports.tor1:Ethernet0.drops.nonsense", "switches.*.pools.*.nonsense", "notices.0.text"}) {
    const auto found = control::find_in_outline(possible, path);
    EXPECT_TRUE(found.matches.empty()) << path;
    EXPECT_FALSE(found.missing.empty()) << path;
  }
  EXPECT_EQ(control::find_in_outline(possible, "losses.0.packet").missing,
            "losses.0 has no 'packet': did you mean 'packets'?");
}

TEST(ReportOutline, KnowsWhichNumbersAreSharesOfOne) {
  for (const control::ReportField& field : control::report_fields()) {
    const std::string key = field.path.substr(field.path.rfind('.') + 1);
    EXPECT_EQ(control::is_share_of_one(key), field.is == "a share of 1") << field.path;
    EXPECT_EQ(control::is_ratio(key), field.is == "a share of 1" || field.is == "a ratio") << field.path;
  }
}

TEST(ReportOutline, FitsTheExpectationsOfEveryShippedTestbed) {
  size_t checked = 0;
  for (const auto& file : std::filesystem::directory_iterator(tests::source_root() / "testbeds")) {
    if (file.path().extension() != ".yaml") continue;
    const auto testbed = control::load_testbed(file.path());
    ASSERT_TRUE(testbed) << file.path();
    control::Json possible = outline(*testbed);
    possible["commands"] = control::Json::array();  // the command line's own, known only after the run
    for (const auto& error : check_expectations(testbed->expectations, possible, testbed->file)) {
      ADD_FAILURE() << to_string(error);
    }
    ++checked;
  }
  EXPECT_GE(checked, 25u);
}

}  // namespace
}  // namespace softspine::testbeds
