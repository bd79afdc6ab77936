// SPDX-License-Identifier: Apache-2.0
#include "control/report/step_text.hpp"

#include <gtest/gtest.h>

#include "control/report/step_picture.hpp"
#include "control/telemetry/json.hpp"
#include "tests/unit/steps/microseconds.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using tests::us;

StepsSnapshot two_ranks() {
  StepsSnapshot out;
  JobSteps& job = out.jobs.emplace_back();
  job.name = "grads";
  RankSteps& first = job.ranks.emplace_back();
  first.host = "h1";
  first.spans[0] = {{us(0), us(60), Duration::us(60)}};
  RankSteps& second = job.ranks.emplace_back();
  second.rank = 1;
  second.host = "h2";
  second.waits = 1;
  second.waited = Duration::us(40);
  second.spans[3] = {{us(60), us(100), Duration::us(40)}};
  StepWait& wait = second.longest.emplace_back();
  wait.from = us(60);
  wait.to = us(100);
  wait.peer_host = "h1";
  wait.reason = {.cause = WaitCause::kQueue,
                 .time = Duration::us(30),
                 .host = "h1",
                 .to_host = "h2",
                 .bytes = 4096,
                 .port = "tor1:Ethernet4",
                 .queue = 3,
                 .longest_stay = Duration::us(28)};
  job.causes = {{WaitCause::kQueue, "tor1:Ethernet4", "", Duration::us(40), 1}};
  return out;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(StepText, SaysWhoWaitedAndWhatFor) {
  const std::string said =
      "the message of 4,096 bytes from h1 to h2 was late by 30 us; a packet stayed 28 us at tor1:Ethernet4, queue 3";
  EXPECT_EQ(reason_text(two_ranks().jobs[0].ranks[1].longest[0].reason), said);
  const std::string table = steps_table(two_ranks());
  EXPECT_TRUE(contains(table, said)) << table;
  EXPECT_TRUE(contains(table, "1 (h2)")) << table;
  EXPECT_TRUE(contains(table, "queue")) << table;
}

TEST(StepText, NamesThePauses) {
  const WaitReason reason{.cause = WaitCause::kPause,
                          .time = Duration::us(30),
                          .host = "h1",
                          .to_host = "h2",
                          .bytes = 1,
                          .port = "h1:eth0",
                          .paused = Duration::us(25),
                          .paused_by = {"tor1", "spine1"},
                          .congested_port = "spine1:Ethernet0",
                          .congested_stay = Duration::us(9)};
  EXPECT_TRUE(contains(reason_text(reason),
                       "h1:eth0 was paused for 25 us by tor1, and that by spine1, where packets stayed up to 9 us at "
                       "spine1:Ethernet0"))
      << reason_text(reason);
}

// Its time is the message's own, however little of it was late.
TEST(StepText, OfAMessageThatMetNothingHasItsWholeTime) {
  const WaitReason reason{.cause = WaitCause::kTransfer,
                          .time = Duration::ns(50),
                          .host = "h1",
                          .to_host = "h2",
                          .bytes = 4096,
                          .posted = us(2),
                          .arrived = us(9)};
  EXPECT_TRUE(contains(reason_text(reason), "from h1 to h2 took 7 us: nothing")) << reason_text(reason);
}

TEST(StepText, IsJsonForPrograms) {
  const Json json = steps_json(two_ranks(), "small");
  const Json& rank = json["jobs"][0]["ranks"][1];
  EXPECT_EQ(json["testbed"], "small");
  EXPECT_EQ(rank["spans"]["wait"][0]["from_ps"], 60'000'000);
  EXPECT_EQ(rank["longest_waits"][0]["reason"]["cause"], "queue");
  EXPECT_EQ(rank["longest_waits"][0]["reason"]["at"]["longest_stay_ps"], 28'000'000);
  EXPECT_EQ(json["jobs"][0]["causes"][0]["waits"], 1);
}

// 70 ranks: rank r waits for 1 + (37 r modulo 70) us, which are all different.
StepsSnapshot seventy_ranks() {
  StepsSnapshot out = two_ranks();
  JobSteps& job = out.jobs[0];
  const RankSteps waits = job.ranks[1];
  job.ranks.clear();
  for (uint32_t rank = 0; rank < 70; ++rank) {
    job.ranks.push_back(waits);
    job.ranks.back().rank = rank;
    job.ranks.back().longest[0].to = us(61 + 37 * rank % 70);
  }
  return out;
}

TEST(StepText, ShowsTheRanksWithTheLongestWaitsTheLongestFirst) {
  const Json spans = spans_json(seventy_ranks());
  ASSERT_EQ(spans[0]["rows"].size(), 16U);
  EXPECT_EQ(spans[0]["ranks"], 70);
  EXPECT_EQ(spans[0]["kind"], "collective");
  for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(37 * spans[0]["rows"][i]["rank"].get<uint32_t>() % 70, 69 - i);
  EXPECT_EQ(spans[0]["rows"][0]["spans"]["wait"], Json::parse("[[60000000, 100000000, 40000000]]"));
  EXPECT_TRUE(spans[0]["rows"][0]["spans"]["send"].empty());
  EXPECT_FALSE(contains(spans.dump(), "causes"));
  const Json waits = waits_json(seventy_ranks());
  ASSERT_EQ(waits[0]["rows"].size(), 64U);
  EXPECT_EQ(waits[0]["rows"][0]["rank"], spans[0]["rows"][0]["rank"]);
  EXPECT_EQ(waits[0]["causes"].size(), 1U);
  EXPECT_TRUE(contains(step_picture(seventy_ranks(), "small"), "and 6 ranks that waited less"));
}

// Fewer than are shown: in their own order, also those that have not waited.
TEST(StepText, ShowsAllRanksOfASmallJob) {
  const Json rows = spans_json(two_ranks())[0]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["host"], "h1");
  EXPECT_EQ(rows[0]["spans"]["compute"], Json::parse("[[0, 60000000, 60000000]]"));
}

// 0 to 100 us on 130 to 1,280.
TEST(StepPicture, DrawsSpansWhereTheirTimesAre) {
  const std::string svg = step_picture(two_ranks(), "small");
  EXPECT_TRUE(contains(svg, "<rect x=\"130.0\" y=\"94.0\" width=\"690.0\"")) << svg;
  EXPECT_TRUE(contains(svg, "<rect x=\"820.0\" y=\"135.0\" width=\"460.0\"")) << svg;
  EXPECT_TRUE(contains(svg, "h2 waited longest, 40 us for h1: the message of 4,096 bytes")) << svg;
  EXPECT_TRUE(contains(step_picture({}, "small"), "there are no collectives and no trainings"));
}

}  // namespace
}  // namespace softspine::control
