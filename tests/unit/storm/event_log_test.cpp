// SPDX-License-Identifier: Apache-2.0
// Event logs as the fabric writes them, cut off and wrong; and the story that one tells beside a capture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/storm/event_story.hpp"
#include "tests/unit/storm/made_log.hpp"
#include "tests/unit/storm/scratch_text.hpp"

namespace softspine::analysis::storm {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using tests::MadeLog;

constexpr const char* kFirst = "{\"testbed\":\"t\",\"events\":1}\n";

std::expected<EventLog, std::string> events_of(const std::string& text) {
  return read_event_log(tests::TextFile{text}.path);
}
std::string why_not(const std::string& text) {
  const auto found = events_of(text);
  return found ? "" : found.error();
}

TEST(EventLog, HasItsEventsInTheirOrder) {
  const auto found =
      events_of(std::string{kFirst} +
                "{\"t_ps\":5000,\"event\":\"drops\",\"port\":\"tor1:a\",\"packets\":7,\"reason\":\"buffer\"}\n"
                "{\"t_ps\":6000,\"event\":\"xoff_raised\",\"port\":\"tor1:b\",\"priorities\":[3,4]}\n"
                "{\"end_ps\":9000,\"lost\":2}\n");
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found->testbed, "t");
  ASSERT_EQ(found->events.size(), 2u);
  EXPECT_EQ(found->events[0].at, dataplane::Instant::at_ps(5'000));
  EXPECT_EQ(found->events[0].place, "tor1:a");
  EXPECT_EQ(found->events[0].detail, "7 packets, buffer");
  EXPECT_EQ(found->events[1].priorities, 1 << 3 | 1 << 4);
  EXPECT_TRUE(found->is_whole);
  EXPECT_EQ(found->lost, 2u);
}

TEST(EventLog, DoesNotNeedWhatALineLeavesOut) {
  const auto found = events_of(std::string{kFirst} + "{\"t_ps\":0,\"event\":\"drops\"}\n{\"end_ps\":1}\n");
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found->events.at(0).detail, "0 packets, ");
  EXPECT_EQ(found->lost, 0u);
}

TEST(EventLog, MayBeCutOffWithinItsLastLine) {
  const auto found =
      events_of(std::string{kFirst} + "{\"t_ps\":1,\"event\":\"fault\",\"what\":\"x\"}\n{\"t_ps\":2,\"ev");
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found->events.size(), 1u);
  EXPECT_FALSE(found->is_whole);
}

TEST(EventLog, IsRefusedWithFileAndLine) {
  EXPECT_THAT(why_not(std::string{kFirst} + "{\"t_ps\":2,\"ev\n{\"end_ps\":1}\n"),
              HasSubstr(":2: is no line of an event log"));
  EXPECT_THAT(why_not(std::string{kFirst} + "{\"event\":\"fault\"}\n"), HasSubstr(":2: has no \"t_ps\""));
  EXPECT_THAT(why_not(std::string{kFirst} + "{\"end_ps\":1}\n{\"t_ps\":2,\"event\":\"fault\"}\n"),
              HasSubstr(":3: stands behind the log's last line"));
  EXPECT_THAT(why_not("{\"eve"), HasSubstr(":1: is no line of an event log"));
  EXPECT_THAT(why_not("{\"series\":1}\n"), HasSubstr(":1: counters over time"));
  EXPECT_THAT(why_not(""), HasSubstr("is empty"));
}

// h1 stops tor1 from 1 ms on, and tor1 passes it on.
struct Captured {
  MadeLog made;
  Analysis analysis;
  Captured() {
    made.link("h1", "tor1");
    made.link("tor1", "spine1");
    made.stop("h1", "tor1", 1'000);
    made.stop("tor1", "spine1", 1'010);
    for (LogPort& port : made.log.ports) port.is_captured = true;
    analysis = made.analysis();
  }
  Story story(const std::vector<LoggedEvent>& events) const {
    const EventLog log{.file = "e", .testbed = "t", .events = events, .is_whole = true};
    return tell(log, made.log, analysis, "t", true);
  }
};

LoggedEvent fault(int64_t at_us, const std::string& what) {
  return {.at = MadeLog::us(at_us), .kind = "fault", .place = what};
}

TEST(EventStory, HasBothInTheOrderOfTime) {
  const Story found = Captured{}.story({fault(900, "h1 storms"), fault(5'000, "link tor1:to-spine1 down")});
  EXPECT_EQ(found.misfit, "");
  ASSERT_EQ(found.lines.size(), 4u);
  EXPECT_EQ(found.lines[0].what, "fault: h1 storms");
  EXPECT_EQ(found.lines[0].may_have_caused, 0u);
  EXPECT_TRUE(found.lines[1].is_captured);
  EXPECT_EQ(found.lines[3].what, "fault: link tor1:to-spine1 down");
  EXPECT_EQ(found.lines[3].may_have_caused, std::nullopt) << "4 ms too late";
}

// From 1 ms before the storm on.
TEST(EventStory, AnyFaultShortlyBeforeAStormMayHaveCausedIt) {
  const Story found = Captured{}.story({fault(0, "spine1 restarts"), fault(1'002, "spine1 restarts")});
  EXPECT_EQ(found.lines.at(0).may_have_caused, 0u);
  EXPECT_FALSE(found.lines.at(0).names_its_node);
  EXPECT_EQ(found.lines.at(2).what, "fault: spine1 restarts");
  EXPECT_EQ(found.lines.at(2).may_have_caused, std::nullopt) << "2 us behind its begin";
}

TEST(EventStory, ANameIsAWholeWord) {
  for (const auto& [text, is_named] : {std::pair{"h1 storms", true},
                                       {"link h1:eth0 down", true},
                                       {"down: h1", true},
                                       {"h12 storms", false},
                                       {"link h1-a:eth0 down", false},
                                       {"link a-h1:eth0 down", false},
                                       {"h1_a storms", false},
                                       {"tor1 restarts", true},
                                       {"h12 and h1 storm", true}}) {
    EXPECT_EQ(Captured{}.story({fault(900, text)}).lines.at(0).names_its_node, is_named) << text;
  }
}

TEST(EventStory, OfAnotherRunIsNotTold) {
  const Captured captured;
  EXPECT_THAT(captured.story({fault(30'000, "h1 storms")}).misfit, HasSubstr("within the time of the capture"));
  const EventLog log{.file = "e", .testbed = "other", .events = {}, .is_whole = true};
  EXPECT_THAT(tell(log, captured.made.log, captured.analysis, "t", true).misfit, HasSubstr("of the testbed other"));
  EXPECT_THAT(tell(log, captured.made.log, captured.analysis, "other", false).misfit, HasSubstr("time of day"));
}

// Of ten XOFFs nine have to be in the capture: a pause from that port that is on 100 us later.
TEST(EventStory, NeedsNineOfTenXoffsInTheCapture) {
  for (const auto& [wrong, fits] : {std::pair{1, true}, {2, false}}) {
    std::vector<LoggedEvent> events;
    for (int i = 0; i < 10; ++i) {
      events.push_back({.at = MadeLog::us(i < wrong ? 100 : 1'000 + i),
                        .kind = "xoff_raised",
                        .place = "h1:to-tor1",
                        .priorities = 1 << 3});
    }
    EXPECT_EQ(Captured{}.story(events).misfit.empty(), fits);
  }
  EXPECT_THAT(Captured{}.story({{.at = MadeLog::us(1'000), .kind = "xoff_raised", .place = "tor9:a"}}).misfit,
              HasSubstr("none of its ports"));
}

}  // namespace
}  // namespace softspine::analysis::storm
