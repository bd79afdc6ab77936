// SPDX-License-Identifier: Apache-2.0
// Events on their way to readers: whole and in order, or counted as lost; and the fabric waits for none.
#include "control/server/event_hub.hpp"

#include <gtest/gtest.h>

#include "control/telemetry/json.hpp"

namespace softspine::control {
namespace {

using dataplane::Instant;

ControlNote note(int64_t at) {
  return {.at = Instant::at(dataplane::Duration::ps(at)), .kind = ControlEvent::kFault, .what = "link \"a\" down"};
}

class EventHubTest : public testing::Test {
 protected:
  EventHubTest() : hub_(std::make_shared<EventHub>()), sink_(hub_->sink()) { sink_->begin("t"); }
  std::shared_ptr<EventSubscription> reader() {
    return hub_->subscribe([this] { ++woken_; });
  }
  static Json taken(EventSubscription& from) {
    const auto text = from.take();
    return text ? Json::parse(*text) : Json{};
  }

  std::shared_ptr<EventHub> hub_;
  std::unique_ptr<EventSink> sink_;
  int woken_ = 0;
};

TEST_F(EventHubTest, GivesEachReaderTheHeadAndWhatComesAfterIt) {
  sink_->event(note(1));
  const auto first = reader();
  sink_->event(note(2));
  sink_->event(note(3));
  const auto second = reader();
  const Json head{{"events", 1}, {"testbed", "t"}};
  const Json two{{"t_ps", 2}, {"event", "fault"}, {"what", "link \"a\" down"}};
  const Json three{{"t_ps", 3}, {"event", "fault"}, {"what", "link \"a\" down"}};
  EXPECT_EQ(taken(*first), Json::array({head, two, three}));
  EXPECT_EQ(taken(*second), Json::array({head}));
  EXPECT_TRUE(taken(*first).is_null());
}

TEST_F(EventHubTest, WakesAReaderThatHasFoundNothing) {
  const auto one = reader();
  EXPECT_EQ(woken_, 1) << "the head";
  sink_->event(note(1));
  EXPECT_EQ(woken_, 1) << "it has not looked yet";
  EXPECT_FALSE(taken(*one).is_null());
  EXPECT_TRUE(taken(*one).is_null());
  sink_->event(note(2));
  EXPECT_EQ(woken_, 2);
}

TEST_F(EventHubTest, CountsWhatASlowReaderLoses) {
  const auto slow = reader();
  const auto quick = reader();
  const int most = 2 * EventSubscription::kMostBytes / 50;
  size_t seen_by_quick = 0;
  for (int i = 0; i < most; ++i) {
    sink_->event(note(i));
    if (i % 1000 == 0) seen_by_quick += taken(*quick).size();
  }
  seen_by_quick += taken(*quick).size();
  EXPECT_EQ(seen_by_quick, most + 1U);
  EXPECT_EQ(quick->lost(), 0U);
  const auto text = slow->take();
  ASSERT_TRUE(text);
  EXPECT_LE(text->size(), EventSubscription::kMostBytes + 100);
  const Json got = Json::parse(*text);
  const uint64_t lost = got.back()["lost"].get<uint64_t>();
  EXPECT_EQ(lost, slow->lost());
  EXPECT_GT(lost, 0U);
  EXPECT_EQ(got.size() - 2 + lost, static_cast<size_t>(most)) << "what it got and what it lost";
  EXPECT_EQ(got[got.size() - 2]["t_ps"], got.size() - 3) << "the first of them, without a gap";
  sink_->event(note(7));
  EXPECT_EQ(taken(*slow), Json::array({Json{{"t_ps", 7}, {"event", "fault"}, {"what", "link \"a\" down"}}}));
}

TEST(EventSubscription, LosesWhatWouldFitBehindWhatIsLost) {
  EventSubscription one{[] {}};
  one.offer(Json(std::string(EventSubscription::kMostBytes - 20, 'x')).dump());
  one.offer(Json(std::string(100, 'y')).dump());
  one.offer("1");
  const Json got = Json::parse(*one.take());
  EXPECT_EQ(got.size(), 2U);
  EXPECT_EQ(got.back(), (Json{{"lost", 2}}));
}

TEST_F(EventHubTest, EndsWithTheLog) {
  const auto one = reader();
  sink_->event(note(1));
  sink_->end(Instant::at(dataplane::Duration::ps(9)));
  EXPECT_FALSE(one->is_over());
  EXPECT_EQ(taken(*one).back(), (Json{{"end_ps", 9}, {"lines", 1}}));
  EXPECT_TRUE(one->is_over());
  const auto late = reader();
  EXPECT_EQ(taken(*late).size(), 1U);
  EXPECT_TRUE(late->is_over());
}

TEST_F(EventHubTest, ForgetsWhoHasGone) {
  {
    const auto one = reader();
  }
  sink_->event(note(1));
  EXPECT_EQ(woken_, 1);
}

}  // namespace
}  // namespace softspine::control
