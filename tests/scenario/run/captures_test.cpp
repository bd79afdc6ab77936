// SPDX-License-Identifier: Apache-2.0
// Captures that begin and end while a fabric runs.
#include "testbeds/run/captures.hpp"

#include <filesystem>

#include "control/report/report.hpp"
#include "tests/scenario/run/built_fabric.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::Duration;
using dataplane::Instant;

// A packet of 1024 bytes a microsecond from h1 to h2, for 10 ms.
constexpr const char* kPacedTestbed = R"(
name: paced
run: {duration: 12ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 10000, mtu: 1024, rate: 8.976Gbps}
)";

class LiveCaptures : public BuiltFabric {
 protected:
  LiveCaptures()
      : folder_(std::filesystem::path(testing::TempDir()) / ("softspine-captures-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~LiveCaptures() override { std::filesystem::remove_all(folder_); }

  void make(const control::Overrides& overrides = {}) { build(kPacedTestbed, overrides); }
  void at(Duration when, std::function<void(Captures&, Instant)> act) {
    fabric_->assembly().engine->at(Instant::at(when),
                                   [this, act = std::move(act)](Instant) { fabric_->part<Captures>().ask(act); });
  }
  void start(Duration when, const std::string& name, CaptureRequest request) {
    request.path = path(name);
    fabric_->assembly().engine->at(Instant::at(when), [this, name, request](Instant) { start_now(name, request); });
  }
  void start_now(const std::string& name, const CaptureRequest& request) {
    fabric_->part<Captures>().start_live(
        name, request, [this](const Captures::Done& done) { answers_.push_back(done ? "started" : done.error()); });
  }
  void stop(Duration when, const std::string& name) {
    at(when, [this, name](Captures& captures, Instant) {
      auto ended = captures.stop(name);
      answers_.push_back(ended ? std::to_string(ended->close()->frames) : ended.error());
    });
  }
  uint64_t run() {
    EXPECT_TRUE(fabric_->run());
    const auto closed = fabric_->part<Captures>().close_all();
    EXPECT_TRUE(closed) << closed.error();
    EXPECT_EQ(fabric_->drain(), 0u);
    return closed ? closed->frames : 0;
  }
  std::string path(const std::string& name) const { return (folder_ / (name + ".pcapng")).string(); }

  std::filesystem::path folder_;
  std::vector<std::string> answers_;
};

constexpr Duration ms(int64_t n) {
  return Duration::ms(n);
}
using Answers = std::vector<std::string>;

TEST_F(LiveCaptures, HoldWhatCrossedTheirPortsInTheirTime) {
  make();
  start(ms(2), "uplink", {.ports = {"tor1:Ethernet4"}, .filter = "udp port 4791"});
  stop(ms(5), "uplink");
  run();
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_NEAR(std::stod(answers_[1]), 3'000, 2);
}

TEST_F(LiveCaptures, EndByThemselvesAndWithTheRun) {
  make();
  start(ms(2), "short", {.ports = {"tor1:Ethernet4"}, .lasts = ms(1)});
  start(ms(2), "open", {.ports = {"tor1:Ethernet4"}});
  at(ms(8), [this](Captures& captures, Instant now) {
    for (const Captures::Row& row : captures.list(now)) {
      answers_.push_back(row.name + (row.running ? " runs" : " is over") + " at " + std::to_string(row.ports));
    }
  });
  stop(ms(9), "short");
  run();
  ASSERT_EQ(answers_.size(), 5u);
  EXPECT_EQ(answers_[2], "open runs at 1");
  EXPECT_EQ(answers_[3], "short is over at 1");
  EXPECT_NEAR(std::stod(answers_[4]), 1'000, 2);
  EXPECT_GT(std::filesystem::file_size(path("open")), 8'000u * 100) << "whole, though nobody stopped it";
}

TEST_F(LiveCaptures, ShareAPortAndSeeTheSame) {
  make();
  CaptureRequest all{.path = path("run"), .ports = {"tor1:Ethernet4"}};
  ASSERT_TRUE(fabric_->part<Captures>().open_for_run(all));
  start(ms(0), "twin", {.ports = {"tor1:Ethernet4"}});
  start(ms(3), "third", {.ports = {"tor1:*"}});
  stop(ms(4), "third");
  run();
  EXPECT_EQ(bytes_of(path("run")), bytes_of(path("twin")));
  // Of each packet: in by Ethernet0, out by Ethernet4.
  EXPECT_NEAR(std::stod(answers_[2]), 2'000, 4);
}

// At tor1 a packet comes in by Ethernet0 and leaves by Ethernet4, and nothing goes the other way.
TEST_F(LiveCaptures, KeepOneDirection) {
  make();
  start(ms(1), "host", {.ports = {"h2:*"}, .watched = Watched::kReceived});
  start(ms(2), "file", {.for_reader = true});
  start(ms(3), "sent", {.ports = {"tor1:*"}, .watched = Watched::kSent});
  start(ms(3), "received", {.ports = {"tor1:Ethernet0"}, .watched = Watched::kReceived});
  start(ms(3), "none", {.ports = {"tor1:Ethernet4"}, .watched = Watched::kReceived});
  for (const char* name : {"sent", "received", "none"}) stop(ms(4), name);
  run();
  ASSERT_EQ(answers_.size(), 8u);
  EXPECT_EQ(answers_[0], "what hosts receive is captured where their switch sends it");
  EXPECT_EQ(answers_[1], path("file") + " is no pipe with a reader");
  EXPECT_NEAR(std::stod(answers_[5]), 1'000, 2);
  EXPECT_NEAR(std::stod(answers_[6]), 1'000, 2);
  EXPECT_EQ(answers_[7], "0");
}

TEST_F(LiveCaptures, AreTheSameForAnyNumberOfWorkers) {
  std::vector<std::string> files;
  for (const uint32_t workers : {1u, 2u}) {
    for (const auto& old : std::filesystem::directory_iterator(folder_)) std::filesystem::remove(old);
    make({.workers = workers});
    start(ms(1), "some", {.filter = "udp[16:4] & 3 = 0", .rotation = {.bytes = 100'000, .keep = 3}, .lasts = ms(6)});
    run();
    std::string all;
    for (const auto& each : std::filesystem::directory_iterator(folder_)) all += each.path().filename();
    for (int n = 1; n < 200; ++n) {
      const std::string digits = std::to_string(n);
      all += bytes_of(folder_ / ("some-" + std::string(5 - digits.size(), '0') + digits + ".pcapng"));
    }
    EXPECT_GT(all.size(), 150'000u);
    files.push_back(all);
  }
  EXPECT_EQ(files[0].size(), files[1].size());
  EXPECT_TRUE(files[0] == files[1]) << "to the byte";
}

TEST_F(LiveCaptures, SayWhyNot) {
  make();
  start(ms(1), "a", {});
  start(ms(2), "a", {});
  start(ms(2), "b", {.ports = {"tor9:*"}});
  start(ms(2), "c", {.filter = "udp prot"});
  at(ms(3), [this](Captures& captures, Instant) {
    start_now("d", {.path = path("a")});
    start_now("e", {.path = "/nonexistent/e"});
    answers_.push_back(captures.stop("f").error());
  });
  stop(ms(4), "");
  stop(ms(5), "");
  run();
  ASSERT_EQ(answers_.size(), 9u);
  EXPECT_EQ(answers_[1], "a capture named 'a' is there already");
  EXPECT_EQ(answers_[2], "no port to capture is named tor9:*");
  EXPECT_TRUE(answers_[3].starts_with("the filter 'udp prot': ")) << answers_[3];
  EXPECT_EQ(answers_[4], "capture 'a' writes to that file");
  EXPECT_EQ(answers_[5], "cannot write the capture /nonexistent/e: No such file or directory");
  EXPECT_EQ(answers_[6], "there is no capture 'f'");
  EXPECT_EQ(answers_[8], "nothing is captured");
}

TEST_F(LiveCaptures, ChangeNothingOfWhatTheFabricDoes) {
  const auto report_of = [&](bool captured) {
    make();
    if (captured) {
      start(ms(2), "it", {});
      stop(ms(4), "it");
    }
    run();
    control::Json report = control::report_json(fabric_->snapshot(), {.testbed = "t", .clock = "virtual", .seed = 1});
    report.erase("engine");
    return report.dump();
  };
  EXPECT_EQ(report_of(true), report_of(false));
}

}  // namespace
}  // namespace softspine::testbeds
