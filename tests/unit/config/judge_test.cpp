// SPDX-License-Identifier: Apache-2.0
#include "control/expect/judge.hpp"

#include <gtest/gtest.h>

#include "control/expect/report_path.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/packet/drop_reason.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

const Json kReport = Json::parse(R"({
  "clock": "virtual",
  "clean": true,
  "flows": {
    "perm": {"completed": 64, "fct_p99_ps": 51300000, "fct_p50_us": 12.5, "rate_bps": 97500000000,
             "bytes_bytes": 1048576, "ecn_percent": 2.5, "share": 0.25, "state": "done"},
    "ring": {"completed": 63, "fct_p99_ps": 39000000}
  },
  "switches": {
    "tor1": {"drops": {"queue_full": 0, "ttl": 1}},
    "tor2": {"drops": {"queue_full": 3}},
    "tor3": {"drops": {"queue_full": 4}},
    "tor4": {"drops": {"queue_full": 5}},
    "tor5": {"drops": {"queue_full": 6}}
  },
  "links": {"tor1:Ethernet16": {"share": 0.2}, "tor1:Ethernet16.100": {"share": 0.7}},
  "list": [10, 20, 30],
  "empty": {},
  "both": 1, "both_ps": 2,
  "tenth": 0.30000000000000004
})");

// The verdict on one line of `expect:`.
Verdict verdict_on(const std::string& line) {
  static Testbed testbed;  // the verdict points into it
  testbed = tests::read_well(tests::with_fabric("expect: [{" + line + "}]\n"));
  const auto verdicts = judge(testbed.expectations, kReport);
  EXPECT_EQ(verdicts.size(), 1u);
  return verdicts.empty() ? Verdict{} : verdicts[0];
}
bool holds(const std::string& line) {
  return verdict_on(line).held;
}

TEST(Judge, SaysWhatWasExpectedAndWhatWasFound) {
  const Verdict verdict = verdict_on("value: flows.perm.fct_p99, at_most: 40us");
  EXPECT_FALSE(verdict.held);
  EXPECT_EQ(verdict.found, "51.3us");
  EXPECT_EQ(verdict.text, "flows.perm.fct_p99: at_most 40us, is 51.3us");
  EXPECT_EQ(verdict.expectation->path, "expect[0]");
  EXPECT_EQ(verdict_on("value: flows.perm.completed, equal: 64").text, "flows.perm.completed: equal 64, is 64");
}

TEST(Judge, ComparesInTheUnitThatTheKeyEndsIn) {
  EXPECT_TRUE(holds("value: flows.perm.fct_p99, at_most: 51.3us"));
  EXPECT_TRUE(holds("value: flows.perm.fct_p99_ps, equal: 51300ns"));
  EXPECT_TRUE(holds("value: flows.perm.fct_p99_ps, equal: 51300000"));  // no unit: as it stands there
  EXPECT_TRUE(holds("value: flows.perm.fct_p50, equal: 12.5us"));
  EXPECT_FALSE(holds("value: flows.perm.fct_p50, equal: 12.6us"));
  EXPECT_TRUE(holds("value: flows.perm.rate, at_least: 97.5Gbps"));
  EXPECT_FALSE(holds("value: flows.perm.rate, at_least: 97.6Gbps"));
  EXPECT_TRUE(holds("value: flows.perm.bytes, equal: 1MiB"));
  EXPECT_TRUE(holds("value: flows.perm.ecn, equal: 2.5%"));
  EXPECT_TRUE(holds("value: flows.perm.share, equal: 25%"));  // no ending: a fraction
  EXPECT_TRUE(holds("value: list.0, equal: 10ps"));           // no ending: picoseconds
  EXPECT_TRUE(holds("value: list.0, equal: 10bps"));
  EXPECT_TRUE(holds("value: list.0, equal: 10B"));
}

TEST(Judge, ADropReasonIsNoQuantityWhateverItsNameEndsWith) {
  EXPECT_EQ(unit_of_key("fct_us")->ending, "_us");
  for (int i = 0; i < dataplane::kDropReasons; ++i) {
    const auto name = dataplane::name_of(static_cast<dataplane::DropReason>(i));
    EXPECT_FALSE(unit_of_key(name).has_value()) << name;
  }
}

TEST(Judge, RefusesAQuantityOfAnotherKind) {
  EXPECT_EQ(verdict_on("value: flows.perm.fct_p99, at_least: 1Gbps").text,
            "flows.perm.fct_p99: at_least 1Gbps, is 51.3us, which is of another kind");
  EXPECT_EQ(verdict_on("value: clock, at_most: 3").text, "clock: at_most 3, is 'virtual', which is no number");
  EXPECT_EQ(verdict_on("value: flows.perm, at_most: 3").text, "flows.perm: at_most 3, is a map, which is no number");
}

// What only a run can tell has been compared with nothing before it.
TEST(Judge, TakesNoPerCentOfACount) {
  EXPECT_EQ(verdict_on("value: flows.perm.completed, at_least: 100%").text,
            "flows.perm.completed: at_least 100%, is 64, which is no share");
  EXPECT_FALSE(holds("value: list.0, between: [1%, 2000%]"));
}

TEST(Judge, BoundsAreIncluded) {
  EXPECT_TRUE(holds("value: list.1, between: [20, 30]"));
  EXPECT_TRUE(holds("value: list.2, between: [20, 30]"));
  EXPECT_FALSE(holds("value: list.0, between: [20, 30]"));
  EXPECT_FALSE(holds("value: list.2, between: [10, 29.999]"));
  EXPECT_TRUE(holds("value: list.1, at_least: 20"));
  EXPECT_FALSE(holds("value: list.1, at_least: 20.001"));
  EXPECT_TRUE(holds("value: list.1, at_most: 20"));
  EXPECT_FALSE(holds("value: list.1, at_most: 19.999"));
  EXPECT_EQ(verdict_on("value: \"links.tor1:Ethernet16.share\", between: [21%, 30%]").text,
            "links.tor1:Ethernet16.share: between 21% and 30%, is 20%");
}

TEST(Judge, ADecimalThatBinaryCannotHoldIsNoFailure) {
  EXPECT_TRUE(holds("value: tenth, equal: 0.3"));
  EXPECT_TRUE(holds("value: tenth, at_most: 0.3"));
  EXPECT_FALSE(holds("value: tenth, equal: 0.3000000001"));
}

TEST(Judge, ATolerancesIsRelativeToWhatIsExpected) {
  EXPECT_TRUE(holds("value: flows.perm.rate, equal: 100Gbps, within: 2.5%"));
  EXPECT_FALSE(holds("value: flows.perm.rate, equal: 100Gbps, within: 2.4%"));
  EXPECT_TRUE(holds("value: flows.perm.rate, equal: 95.2Gbps, within: 2.5%"));  // from above, too
  EXPECT_EQ(verdict_on("value: flows.perm.rate, equal: 100Gbps, within: 1%").text,
            "flows.perm.rate: equal 100Gbps within 1%, is 97.5Gbps");
}

TEST(Judge, ComparesWordsAndTruth) {
  EXPECT_TRUE(holds("value: clock, equal: virtual"));
  EXPECT_TRUE(holds("value: clean, equal: true"));
  EXPECT_EQ(verdict_on("value: clock, equal: wall").text, "clock: equal 'wall', is 'virtual'");
  EXPECT_EQ(verdict_on("value: clean, equal: false").text, "clean: equal false, is true");
  EXPECT_FALSE(holds("value: clean, equal: \"true\""));
  EXPECT_FALSE(holds("value: list.0, equal: \"10\""));
}

TEST(Judge, AStarHoldsIfEveryMatchDoes) {
  EXPECT_EQ(verdict_on("value: flows.*.completed, at_least: 63").text, "flows.*.completed: at_least 63, all 2 are");
  EXPECT_TRUE(holds("value: list.*, between: [10, 30]"));
  EXPECT_FALSE(holds("value: list.*, between: [10, 29]"));
  const Verdict verdict = verdict_on("value: switches.*.drops.queue_full, equal: 0");
  EXPECT_FALSE(verdict.held);
  EXPECT_EQ(verdict.found, "3");
  EXPECT_EQ(verdict.text,
            "switches.*.drops.queue_full: equal 0, switches.tor2.drops.queue_full is 3; "
            "switches.tor3.drops.queue_full is 4; switches.tor4.drops.queue_full is 5; and 1 more of 5");
}

TEST(Judge, AStarTakesTheMatchesThatAreThere) {
  EXPECT_TRUE(holds("value: switches.*.drops.ttl, equal: 1"));  // only tor1 counts one
  EXPECT_TRUE(holds("value: flows.*.fct_p99, at_most: 60us"));
}

TEST(Judge, FindsKeysThatHoldDotsThemselves) {
  EXPECT_TRUE(holds("value: \"links.tor1:Ethernet16.100.share\", equal: 70%"));
}

TEST(Judge, TheKeyAsWrittenComesBeforeTheOneWithAUnit) {
  EXPECT_TRUE(holds("value: both, equal: 1"));
  EXPECT_TRUE(holds("value: both_ps, equal: 2ps"));
}

TEST(Judge, WhatIsNotThereIsNotHeldAndNamedByItsNeighbour) {
  const Verdict verdict = verdict_on("value: flows.prem.completed, equal: 64");
  EXPECT_FALSE(verdict.held);
  EXPECT_EQ(verdict.found, "");
  EXPECT_EQ(verdict.text, "flows.prem.completed: equal 64, but flows has no 'prem': did you mean 'perm'?");
  EXPECT_EQ(verdict_on("value: flows.perm.fct_p999, at_most: 1us").text,
            "flows.perm.fct_p999: at_most 1us, but flows.perm has no 'fct_p999': did you mean 'fct_p99'?");
  EXPECT_EQ(verdict_on("value: flows.*.complete, equal: 1").text,
            "flows.*.complete: equal 1, but flows.perm has no 'complete': did you mean 'completed'?");
  EXPECT_EQ(verdict_on("value: list.3, equal: 1").text,
            "list.3: equal 1, but list has 3 items, numbered from 0: there is no '3'");
  EXPECT_EQ(verdict_on("value: clock.speed, equal: 1").text, "clock.speed: equal 1, but clock is no map");
  EXPECT_EQ(verdict_on("value: empty.*, equal: 1").text, "empty.*: equal 1, but empty is empty");
  EXPECT_EQ(verdict_on("value: flows.zzzzzzzz, equal: 1").text,
            "flows.zzzzzzzz: equal 1, but flows has no 'zzzzzzzz': it has perm, ring");
}

TEST(Judge, AnEmptyReportHoldsNothing) {
  const Testbed testbed =
      tests::read_well(tests::with_fabric("expect: [{value: a, equal: 0}, {value: \"*\", equal: 0}]\n"));
  for (const Json& report : {Json(), Json::object(), Json::array(), Json(5)}) {
    for (const Verdict& verdict : judge(testbed.expectations, report)) EXPECT_FALSE(verdict.held) << verdict.text;
  }
}

TEST(Judge, CountsStalledFlowsThatNoExpectationNames) {
  const Json report = Json::parse(R"({"totals": {"stalled_flows": 5}, "flows": {"perm": {"stalled_flows": 2},
    "ring": {"stalled_flows": 3}}})");
  const auto unexpected = [&](const std::string& value) {
    const Testbed testbed = tests::read_well(tests::with_fabric("expect: [{value: " + value + ", equal: 0}]\n"));
    return unexpected_stalls(testbed.expectations, report);
  };
  EXPECT_EQ(unexpected("clock"), 5u);
  EXPECT_EQ(unexpected("flows.perm.stalled_flows"), 3u);
  EXPECT_EQ(unexpected("flows.ring.stalled_flows"), 2u);
  EXPECT_EQ(unexpected("flows.*.stalled_flows"), 0u);
  EXPECT_EQ(unexpected("totals.stalled_flows"), 0u);
}

TEST(Judge, KeepsTheOrderOfTheFile) {
  const Testbed testbed =
      tests::read_well(tests::with_fabric("expect: [{value: both, equal: 1}, {value: both, equal: 2}]\n"));
  const auto verdicts = judge(testbed.expectations, kReport);
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_TRUE(verdicts[0].held);
  EXPECT_FALSE(verdicts[1].held);
  EXPECT_EQ(verdicts[1].expectation, &testbed.expectations[1]);
}

}  // namespace
}  // namespace softspine::control
