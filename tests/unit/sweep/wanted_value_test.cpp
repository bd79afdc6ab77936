// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/wanted_value.hpp"

#include <gtest/gtest.h>

namespace softspine::tools {
namespace {

using control::Json;

const Json kReport = {
    {"flows", {{"a", {{"fct_p99_ps", 40}, {"stalled", "no"}}}, {"b", {{"fct_p99_ps", 7}}}}},
    {"switches", {{"s1", {{"n", 3}}}, {"s2", {{"n", 5}}}, {"s3", {{"n", 1}}}, {"s4", {{"n", Json()}}}}}};

std::string found(std::string_view text) {
  std::string out;
  const WantedValue wanted = wanted_value(text).value();
  for (const CollectedValue& each : collected(kReport, wanted))
    out += (out.empty() ? "" : " ") + each.column + "=" + each.value.dump();
  return out;
}

TEST(WantedValue, IsAColumnForEachThatThereIs) {
  EXPECT_EQ(found("flows.*.fct_p99"), "flows.a.fct_p99_ps=40 flows.b.fct_p99_ps=7");
  EXPECT_EQ(found("flows.a.stalled"), R"(flows.a.stalled="no")");
  EXPECT_EQ(found("flows.c.fct_p99"), "");
  EXPECT_EQ(found("flows.a"), "") << "a map is no value";
}

TEST(WantedValue, IsOneNumberByAFunction) {
  EXPECT_EQ(found("sum(switches.*.n)"), "sum(switches.*.n)=9");
  EXPECT_EQ(found("mean(switches.*.n)"), "mean(switches.*.n)=3");
  EXPECT_EQ(found("min(switches.*.n)"), "min(switches.*.n)=1");
  EXPECT_EQ(found("max(switches.*.n)"), "max(switches.*.n)=5");
  EXPECT_EQ(found("p50(switches.*.n)"), "p50(switches.*.n)=3");
  EXPECT_EQ(found("p99(switches.*.n)"), "p99(switches.*.n)=5");
  EXPECT_EQ(found("count(switches.*.n)"), "count(switches.*.n)=3");
  EXPECT_EQ(found("mean(flows.*.fct_p99)"), "mean(flows.*.fct_p99_ps)=23.5");
  EXPECT_EQ(found("max(flows.c.fct_p99)"), "max(flows.c.fct_p99)=null");
}

TEST(WantedValue, KeepsItsUnitUnderANameOfItsOwn) {
  EXPECT_EQ(found("slow=max(flows.*.fct_p99)"), "slow_ps=40");
  EXPECT_EQ(found("slow_ps=max(flows.*.fct_p99)"), "slow_ps=40");
  EXPECT_EQ(found("p=flows.*.fct_p99"), "p:flows.a.fct_p99_ps=40 p:flows.b.fct_p99_ps=7");
}

TEST(WantedValue, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(wanted_value("most(flows.*.x)").error(),
            "there is no function 'most': there are sum, mean, min, max, p50, p99, count");
  EXPECT_FALSE(wanted_value(""));
  EXPECT_FALSE(wanted_value("a="));
  EXPECT_FALSE(wanted_value("=a"));
  EXPECT_FALSE(wanted_value("max()"));
}

TEST(QuantityText, IsInTheKeysUnit) {
  EXPECT_EQ(quantity_text("fct_p99_ps", 51'300'000), "51.3 us");
  EXPECT_EQ(quantity_text("seconds_us", 2.5), "2.5 us");
  EXPECT_EQ(quantity_text("packets", 12), "12");
  EXPECT_EQ(quantity_text("packets", Json()), "–");
  EXPECT_EQ(quantity_text("packets", "word"), "word");
  EXPECT_EQ(quantity_text("is", true), "true");
}

}  // namespace
}  // namespace softspine::tools
