// SPDX-License-Identifier: Apache-2.0
// What can be said of an expectation before the run: its path, its unit, its kind.
#include "control/load/expectation_check.hpp"

#include <gtest/gtest.h>

#include "control/expect/report_path.hpp"
#include "control/telemetry/json.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

const Json kOutline = Json::parse(R"({
  "clock": "virtual",
  "totals": {"balanced": true, "dropped_packets": 0},
  "flows": {"perm": {"completed": 0, "fct_p99_ps": null, "rate_bps": 0, "sent_bytes": 0},
            "ring": {"completed": 0, "fct_p99_ps": null, "rate_bps": 0, "sent_bytes": 0}},
  "links": {"tor1:Ethernet16": {"share": 0, "up": false, "tx_packets": 0}},
  "commands": {"h1": {"exit_status": null, "counters": {"*": null}}},
  "losses": []
})");

// "LINE PATH: message" of one line of `expect:`; empty: nothing is wrong.
std::string validate(const std::string& line) {
  const Testbed testbed = tests::read_well(tests::with_fabric("expect:\n  - {" + line + "}\n"));
  const Errors errors = check_expectations(testbed.expectations, kOutline, "t.yaml");
  if (errors.empty()) return "";
  EXPECT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].file, "t.yaml");
  return std::to_string(errors[0].line) + " " + errors[0].path + ": " + errors[0].message;
}

TEST(ExpectationCheck, PassesWhatTheReportWillHave) {
  for (const char* line :
       {"value: flows.perm.completed, equal: 64", "value: flows.*.fct_p99, at_most: 40us",
        "value: flows.perm.fct_p99_ps, at_most: 40us", "value: \"links.tor1:Ethernet16.share\", between: [20%, 30%]",
        "value: \"links.tor1:Ethernet16.share\", at_most: 0.3", "value: totals.balanced, equal: true",
        "value: clock, equal: virtual", "value: flows.perm.rate, equal: 97Gbps, within: 1%",
        "value: commands.*.exit_status, equal: 0", "value: flows.ring.sent_bytes, at_most: 1MiB"}) {
    EXPECT_EQ(validate(line), "") << line;
  }
}

TEST(ExpectationCheck, RefusesABareNumberWhereTheValueHasAUnit) {
  EXPECT_EQ(validate("value: flows.perm.rate, at_least: 90"),
            "5 expect[0]: flows.perm.rate: flows.perm.rate_bps is a rate: 90 needs a unit, such as 90Gbps");
  EXPECT_EQ(validate("value: flows.*.fct_p99, at_most: 40"),
            "5 expect[0]: flows.*.fct_p99: flows.perm.fct_p99_ps is a duration: 40 needs a unit, such as 40us");
  EXPECT_EQ(validate("value: flows.perm.sent_bytes, between: [1KiB, 4096KiB]"), "");
  EXPECT_EQ(validate("value: flows.perm.sent_bytes, between: [1024, 4096]"),
            "5 expect[0]: flows.perm.sent_bytes: flows.perm.sent_bytes is a size: 1024 needs a unit, such as 1024KiB");
  EXPECT_EQ(validate("value: flows.perm.rate, equal: 0"), "") << "nothing is nothing in every unit";
}

TEST(ExpectationCheck, RefusesAShareOfMoreThanAll) {
  EXPECT_EQ(
      validate("value: \"links.tor1:Ethernet16.share\", at_most: 30"),
      "5 expect[0]: links.tor1:Ethernet16.share: links.tor1:Ethernet16.share is a share of 1, and 30 is more than "
      "all: 30%?");
  for (const char* bound : {"between: [0, 1]", "at_most: 100%", "between: [0%, 200%]"}) {
    EXPECT_EQ(validate(std::string("value: \"links.tor1:Ethernet16.share\", ") + bound),
              "5 expect[0]: links.tor1:Ethernet16.share: links.tor1:Ethernet16.share is a share, never more than all: "
              "this holds whatever the run does");
  }
  for (const char* bound : {"between: [0, 0.9]", "between: [1%, 100%]", "at_least: 100%", "equal: 100%"}) {
    EXPECT_EQ(validate(std::string("value: \"links.tor1:Ethernet16.share\", ") + bound), "") << bound;
  }
}

// `at_least: 100%` would be 1 of 4 flows.
TEST(ExpectationCheck, RefusesPerCentOfACount) {
  for (const char* path : {"flows.perm.completed", "totals.dropped_packets", "links.*.tx_packets"}) {
    for (const char* bound : {"at_least: 100%", "equal: 99%", "between: [1%, 2%]", "at_most: 5%"}) {
      const std::string said = validate(std::string("value: ") + path + ", " + bound);
      EXPECT_NE(said.find("a number, not a share of something"), std::string::npos) << path << ", " << bound << said;
    }
  }
  EXPECT_EQ(validate("value: flows.perm.completed, at_least: 100%"),
            "5 expect[0]: flows.perm.completed: flows.perm.completed is a number, not a share of something: 100% of it "
            "would be 1");
  EXPECT_EQ(validate("value: flows.perm.rate, at_least: 90%"),
            "5 expect[0]: flows.perm.rate: flows.perm.rate_bps is a rate, not a share such as 90%");
}

TEST(ExpectationCheck, RefusesAQuantityOfAnotherKind) {
  EXPECT_EQ(validate("value: flows.perm.fct_p99, at_most: 40Gbps"),
            "5 expect[0]: flows.perm.fct_p99: flows.perm.fct_p99_ps is a duration, not a rate such as 40Gbps");
  EXPECT_EQ(
      validate("value: flows.perm.completed, at_least: 5us"),
      "5 expect[0]: flows.perm.completed: flows.perm.completed is a number without a unit, not a duration such as 5us");
  EXPECT_EQ(validate("value: totals.balanced, equal: 1"),
            "5 expect[0]: totals.balanced: totals.balanced is true or false, not a number");
  EXPECT_EQ(validate("value: flows.perm.completed, equal: true"),
            "5 expect[0]: flows.perm.completed: flows.perm.completed is a number, not true or false");
  EXPECT_EQ(validate("value: clock, at_most: 3"), "5 expect[0]: clock: clock is a word, not a number");
  EXPECT_EQ(validate("value: flows.perm, at_most: 3"), "5 expect[0]: flows.perm: flows.perm is a map, not a number");
}

TEST(ExpectationCheck, RefusesAPathThatLeadsNowhereAndSaysWhatWasMeant) {
  EXPECT_EQ(
      validate("value: flows.prem.completed, equal: 64"),
      "5 expect[0]: flows.prem.completed: the report of this testbed has no such value: flows has no 'prem': did you "
      "mean 'perm'?");
  EXPECT_EQ(validate("value: \"links.tor1:Ethernet61.share\", at_most: 30%"),
            "5 expect[0]: links.tor1:Ethernet61.share: the report of this testbed has no such value: links has no "
            "'tor1:Ethernet61': did you mean 'tor1:Ethernet16'?");
  EXPECT_EQ(
      validate("value: flows.*.complete, equal: 1"),
      "5 expect[0]: flows.*.complete: the report of this testbed has no such value: flows.perm has no 'complete': did "
      "you mean 'completed'?");
}

TEST(ExpectationCheck, SaysNothingOfWhatOnlyARunCanTell) {
  EXPECT_EQ(validate("value: commands.h1.counters.rxe0.out_of_seq_request, equal: 0"), "");
  EXPECT_EQ(validate("value: commands.*.counters.*.rx_bytes, at_least: 1"), "");
  EXPECT_EQ(validate("value: losses.0.packets, at_most: 3"), "");
  EXPECT_EQ(find_in_outline(kOutline, "losses.0.packets").matches.size(), 1u);
  EXPECT_TRUE(find_in_report(kOutline, "losses.0.packets").matches.empty()) << "in a report an empty list is empty";
}

TEST(ExpectationCheck, TellsEachLineOfItsOwn) {
  const Testbed testbed =
      tests::read_well(tests::with_fabric("expect:\n  - {value: flows.perm.rate, at_least: 90}\n  - {value: clock, "
                                          "equal: wall}\n  - {value: fows, equal: 1}\n"));
  const Errors errors = check_expectations(testbed.expectations, kOutline, "t.yaml");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].line, 5);
  EXPECT_EQ(errors[1].line, 7);
  EXPECT_EQ(errors[1].path, "expect[2]");
}

}  // namespace
}  // namespace softspine::control
