// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/error_channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <semaphore>
#include <thread>

namespace softspine::control {
namespace {

using dataplane::Instant;

std::string text_of(const ErrorChannel& errors) {
  std::string out;
  for (const RunError& each : errors.all()) {
    out += each.who + ": " + each.what + " " + std::to_string(each.first.count_ps()) + ".." +
           std::to_string(each.last.count_ps()) + " x" + std::to_string(each.count) + "\n";
  }
  return out;
}

TEST(ErrorChannel, KeepsWhoAndWhatAndCountsTheSameUp) {
  int64_t now = 5;
  ErrorChannel errors{[&now] { return Instant::at_ps(now); }};
  EXPECT_TRUE(errors.empty());
  errors.report("sink", "disk full");
  now = 9;
  errors.report("sink", "disk full");
  errors.report("sink", "disk full", Instant::at_ps(3));
  errors.report("tap0", "disk full", Instant::at_ps(4));
  EXPECT_FALSE(errors.empty());
  EXPECT_EQ(text_of(errors), "sink: disk full 3..9 x3\ntap0: disk full 4..4 x1\n");
}

TEST(ErrorChannel, ReadsTheSameInWhateverOrderTheThreadsReported) {
  const std::vector<std::tuple<const char*, const char*, int64_t>> reports{
      {"b", "y", 2}, {"a", "z", 2}, {"a", "x", 2}, {"c", "w", 1}};
  std::string first;
  for (size_t turn = 0; turn < reports.size(); ++turn) {
    ErrorChannel errors{[] { return Instant{}; }};
    for (size_t i = 0; i < reports.size(); ++i) {
      const auto& [who, what, at] = reports[(i + turn) % reports.size()];
      errors.report(who, what, Instant::at_ps(at));
    }
    if (turn == 0) first = text_of(errors);
    EXPECT_EQ(text_of(errors), first);
  }
  EXPECT_EQ(first, "c: w 1..1 x1\na: x 2..2 x1\na: z 2..2 x1\nb: y 2..2 x1\n");
}

TEST(ErrorChannel, KeepsABoundedNumberAndCountsWhatIsBeyond) {
  ErrorChannel errors{[] { return Instant{}; }};
  constexpr size_t kReports = ErrorChannel::kKeptLimit + 100;
  for (size_t i = 0; i < kReports; ++i) errors.report("node" + std::to_string(i), "gone");
  uint64_t counted = 0;
  for (const RunError& each : errors.all()) counted += each.count;
  EXPECT_EQ(counted, kReports);
  EXPECT_EQ(errors.all().size(), ErrorChannel::kKeptLimit + 1);
  errors.report("node7", "gone");  // a known one is still known
  EXPECT_EQ(errors.all().size(), ErrorChannel::kKeptLimit + 1);
}

TEST(ErrorChannel, HandsOutEachErrorOnceInTheOrderOfItsReport) {
  ErrorChannel errors{[] { return Instant{}; }};
  std::vector<std::string> read;
  {
    const std::jthread reader{[&](const std::stop_token& stop) {
      for (;;) {
        const auto more = errors.await_more(read.size(), stop);
        if (more.empty()) return;
        for (const RunError& each : more) read.push_back(each.who);
      }
    }};
    for (const char* who : {"c", "a", "b", "a"}) errors.report(who, "broken");
  }  // the reader is asked to stop, and reads what is left
  EXPECT_THAT(read, testing::ElementsAre("c", "a", "b"));
}

// Each error is reported when the reader has begun to wait for it, or is about to.
TEST(ErrorChannel, AReaderWaitsForTheNextError) {
  constexpr size_t kErrors = 200;
  ErrorChannel errors{[] { return Instant{}; }};
  std::counting_semaphore<> asks{0};
  std::vector<size_t> handed_out;
  {
    const std::jthread reader{[&](const std::stop_token& stop) {
      for (size_t seen = 0; seen < kErrors; ++seen) {
        asks.release();
        handed_out.push_back(errors.await_more(seen, stop).size());
      }
    }};
    for (size_t i = 0; i < kErrors; ++i) {
      asks.acquire();
      errors.report("node" + std::to_string(i), "broken");
    }
  }
  EXPECT_EQ(handed_out, std::vector<size_t>(kErrors, 1));
}

TEST(ErrorChannel, TakesReportsFromManyThreads) {
  ErrorChannel errors{[] { return Instant{}; }};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&errors] {
        for (int n = 0; n < 1'000; ++n) errors.report("node" + std::to_string(n % 10), "broken");
      });
    }
  }
  ASSERT_EQ(errors.all().size(), 10U);
  for (const RunError& each : errors.all()) EXPECT_EQ(each.count, 400U);
}

}  // namespace
}  // namespace softspine::control
