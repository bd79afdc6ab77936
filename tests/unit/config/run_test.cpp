// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

TEST(Run, ReadsWhatTheFileSays) {
  const Testbed testbed =
      read_well(with_fabric("run: {clock: wall, duration: 1.5ms, seed: 9, workers: 2, dilation: 3}\n"
                            "convergence: 20us\n"));
  EXPECT_EQ(testbed.run.clock, ClockKind::kWall);
  EXPECT_EQ(testbed.run.duration, dataplane::Duration::us(1500));
  EXPECT_EQ(testbed.run.seed, 9u);
  EXPECT_EQ(testbed.run.workers, 2u);
  EXPECT_EQ(testbed.run.dilation, 3u);
  EXPECT_EQ(testbed.convergence, dataplane::Duration::us(20));
  EXPECT_EQ(testbed.file, "t.yaml");
}

TEST(Run, WithoutADurationAWallRunHasNoEndAndAVirtualOneLastsTenMilliseconds) {
  EXPECT_FALSE(read_well(with_fabric("run: {clock: wall}\n")).run.is_limited());
  EXPECT_FALSE(read_well(tests::kSmallFabric, {.clock = ClockKind::kWall}).run.is_limited());
  EXPECT_EQ(read_well(with_fabric("run: {clock: virtual}\n")).run.duration, dataplane::Duration::ms(10));
  EXPECT_EQ(read_well(with_fabric("run: {clock: wall, duration: 1h}\n")).run.duration, dataplane::Duration::s(3600));
  EXPECT_EQ(read_well(with_fabric("run: {clock: wall}\n"), {.duration = dataplane::Duration::s(2)}).run.duration,
            dataplane::Duration::s(2));
}

TEST(Run, TheCommandLineHasTheLastWord) {
  const Testbed testbed = read_well(
      with_fabric("run: {clock: wall, duration: 1ms, seed: 9, workers: 2, dilation: 3}\n"),
      {.clock = ClockKind::kVirtual, .duration = dataplane::Duration::s(1), .seed = 1, .workers = 4, .dilation = 1});
  EXPECT_EQ(testbed.run.clock, ClockKind::kVirtual);
  EXPECT_EQ(testbed.run.duration, dataplane::Duration::s(1));
  EXPECT_EQ(testbed.run.seed, 1u);
  EXPECT_EQ(testbed.run.workers, 4u);
  EXPECT_EQ(testbed.run.dilation, 1u);
}

TEST(Run, ByItselfClocksDifferAsFarAs802Dot3AllowsAndPacketsStartLate) {
  const Testbed testbed = read_well(tests::kSmallFabric);
  EXPECT_EQ(testbed.run.clock_ppm, 100u);
  EXPECT_EQ(testbed.run.start_jitter_millionths, 1'000'000u);
  for (uint32_t n = 0; n < testbed.fabric.nodes.size(); ++n) {
    EXPECT_EQ(testbed.fabric.nodes[n].clock.count_ppb(),
              dataplane::ClockOffset::drawn(testbed.run.seed, n, 100).count_ppb());
  }
}

TEST(Run, ClocksAndJitterAreTheFilesAndTheCommandLines) {
  const std::string text = with_fabric("run: {clock_ppm: 20, start_jitter: 12.5%, seed: 4}\n");
  const Testbed testbed = read_well(text);
  EXPECT_EQ(testbed.fabric.clock_ppm, 20u);
  EXPECT_EQ(testbed.fabric.nodes[1].clock.count_ppb(), dataplane::ClockOffset::drawn(4, 1, 20).count_ppb());
  EXPECT_EQ(testbed.run.start_jitter_millionths, 125'000u);
  const Testbed exact = read_well(text, {.clock_ppm = 0, .start_jitter = Share{0}});
  EXPECT_EQ(exact.fabric.nodes[1].clock.count_ppb(), 0);
  EXPECT_EQ(exact.run.start_jitter_millionths, 0u);
  EXPECT_EQ(complaints_about(with_fabric("run: {clock_ppm: 101, start_jitter: 101%}\n")).size(), 2u);
  EXPECT_EQ(complaints_about(tests::kSmallFabric, {.clock_ppm = 101, .start_jitter = Share{1'000'001}}),
            (Complaints{"0 : clock_ppm must be from 0 to 100, not 101",
                        "0 : start_jitter, in millionths, must be from 0 to 1000000, not 1000001"}));
}

TEST(Run, TheCommandLineIsHeldToTheSameLimits) {
  EXPECT_EQ(complaints_about(tests::kSmallFabric, {.duration = dataplane::Duration{}, .workers = 0, .dilation = 0}),
            (Complaints{"0 : dilation must be from 1 to 1000000, not 0", "0 : duration must be at least 1ps",
                        "0 : workers must be from 1 to 128, not 0"}));
  EXPECT_EQ(complaints_about(tests::kSmallFabric, {.workers = 129}),
            (Complaints{"0 : workers must be from 1 to 128, not 129"}));
}

TEST(Run, TheClockIsTheWallsIfAHostLivesThere) {
  EXPECT_EQ(read_well(tests::kSmallFabric).run.clock, ClockKind::kVirtual);
  for (const char* outside :
       {"guest: {}", "namespace: {}", "edge: {tap: {name: x}}", "edge: {af_packet: {interface: x}}",
        "edge: {vhost_user: {socket: x}}", "edge: {dpdk: net_tap0}"}) {
    const std::string nodes = "topology: {nodes: {h1: {" + std::string(outside) + "}}}\n";
    EXPECT_EQ(read_well(with_fabric(nodes)).run.clock, ClockKind::kWall) << outside;
    EXPECT_EQ(complaints_about(with_fabric(nodes + "run: {clock: virtual}\n")),
              (Complaints{"5 run.clock: the virtual clock cannot hold h1, which lives in wall time: clock must be "
                          "wall"}))
        << outside;
    EXPECT_EQ(complaints_about(with_fabric(nodes), {.clock = ClockKind::kVirtual}),
              (Complaints{"0 : the virtual clock cannot hold h1, which lives in wall time: clock must be wall"}));
  }
  EXPECT_EQ(read_well(with_fabric("topology: {nodes: {h1: {edge: {pcap: {in: x}}}}}\n")).run.clock,
            ClockKind::kVirtual);
}

TEST(Run, OnlyTheWallClockIsDilated) {
  EXPECT_EQ(complaints_about(with_fabric("run: {clock: virtual, dilation: 2}\n")),
            (Complaints{"4 run.dilation: only the wall clock can be dilated"}));
}

TEST(Faults, BecomeLinksInTheOrderOfTime) {
  const Testbed testbed =
      read_well(with_fabric("run: {duration: 10ms}\n"
                            "faults:\n"
                            "  - {at: 2ms, node: spine1, set: up}\n"
                            "  - {at: 1ms, link: \"spine1:Ethernet4\", set: down}\n"));
  ASSERT_EQ(testbed.faults.size(), 2u);
  EXPECT_EQ(testbed.faults[0].kind, FaultKind::kDown);
  ASSERT_EQ(testbed.faults[0].links.size(), 1u);
  const FabricLink& link = testbed.fabric.links[testbed.faults[0].links[0]];
  EXPECT_EQ(testbed.fabric.name_of(link.b), "spine1:Ethernet4");
  EXPECT_EQ(testbed.fabric.nodes[link.a.node].name, "tor2");
  EXPECT_EQ(testbed.faults[1].kind, FaultKind::kUp);
  EXPECT_EQ(testbed.faults[1].links.size(), 2u);
}

TEST(Faults, RefuseWhatNeverHappensOrHitsNothing) {
  EXPECT_EQ(complaints_about(with_fabric("run: {duration: 10ms}\n"
                                         "faults:\n"
                                         "  - {at: 10ms, node: spine1, set: up}\n"
                                         "  - {at: 1ms, link: \"spine1:Ethernet40\", set: down}\n"
                                         "  - {at: 1ms, link: spine1, set: down}\n"
                                         "  - {at: 1ms, set: down}\n"
                                         "  - {at: 1ms, node: spine2, link: \"spine1:Ethernet0\", set: down}\n")),
            (Complaints{"6 faults[0].at: never happens: the run ends before",
                        "7 faults[1].link: spine1 has no link at 'Ethernet40': did you mean 'Ethernet0'?",
                        "8 faults[2].link: names no port: expected NODE:PORT such as tor1:Ethernet0",
                        "9 faults[3]: needs either 'link' or 'node'",
                        "10 faults[4]: needs one of 'link', 'node', 'plane' and 'rack'"}));
}

TEST(HostFaults, HaveATimeAPlaceAndAKind) {
  const Testbed testbed =
      read_well(with_fabric("run: {duration: 10ms}\n"
                            "faults:\n"
                            "  - {at: 2ms, until: 3ms, node: h1, set: storm, priorities: [0, 3]}\n"
                            "  - {at: 1ms, node: h2, set: slow_receiver, drain: 10Gbps}\n"
                            "  - {at: 1ms, node: spine1, set: down}\n"));
  EXPECT_EQ(testbed.faults.size(), 1u);
  ASSERT_EQ(testbed.host_faults.size(), 2u);
  const HostFault& slow = testbed.host_faults[0];
  EXPECT_EQ(slow.kind, FaultKind::kSlowReceiver);
  EXPECT_EQ(slow.drain, dataplane::Rate::gbps(10));
  EXPECT_EQ(slow.priorities, 0x18);
  EXPECT_TRUE(slow.until.is_never());
  EXPECT_EQ(testbed.fabric.nodes[slow.node].name, "h2");
  const HostFault& storm = testbed.host_faults[1];
  EXPECT_EQ(storm.kind, FaultKind::kStorm);
  EXPECT_EQ(storm.priorities, 0x09);
  EXPECT_EQ(storm.until, dataplane::Instant::at(dataplane::Duration::ms(3)));
}

TEST(HostFaults, RefuseWhatAHostCannotDo) {
  EXPECT_EQ(
      complaints_about(with_fabric("run: {duration: 10ms}\n"
                                   "faults:\n"
                                   "  - {at: 1ms, node: spine1, set: storm}\n"
                                   "  - {at: 1ms, node: h1, set: storm, drain: 1Gbps}\n"
                                   "  - {at: 1ms, node: h1, set: storm, priorities: [8]}\n"
                                   "  - {at: 1ms, node: h1, set: storm, priorities: []}\n"
                                   "  - {at: 2ms, until: 1ms, node: h1, set: storm}\n"
                                   "  - {at: 1ms, link: \"spine1:Ethernet0\", set: slow_receiver}\n"
                                   "  - {at: 1ms, until: 2ms, node: spine1, set: down}\n")),
      (Complaints{"6 faults[0].node: spine1 is not a built-in host: nobody here can make it fail",
                  "7 faults[1].drain: is not for this fault", "8 faults[2].priorities: has 8: priorities are 0 to 7",
                  "9 faults[3].priorities: names no priority", "10 faults[4].until: ends before it begins",
                  "11 faults[5].link: is not for this fault", "12 faults[6].until: is not for this fault"}));
}

TEST(Expectations, KeepTheirPathAndTheirBounds) {
  const Testbed testbed =
      read_well(with_fabric("expect:\n"
                            "  - {value: flows.w.fct_p99, at_most: 40us}\n"
                            "  - {value: a.*.b, between: [20%, 30%]}\n"
                            "  - {value: a, equal: 97Gbps, within: 1%}\n"
                            "  - {value: a, equal: \"12\"}\n"
                            "  - {value: a, equal: true}\n"
                            "  - {value: a, at_least: 3.5}\n"));
  ASSERT_EQ(testbed.expectations.size(), 6u);
  EXPECT_EQ(testbed.expectations[0].path, "expect[0]");
  EXPECT_EQ(testbed.expectations[0].line, 5);
  EXPECT_EQ(testbed.expectations[0].comparison, Comparison::kAtMost);
  const auto& most = std::get<Measure>(testbed.expectations[0].bounds.at(0));
  EXPECT_EQ(most.dimension, Dimension::kDuration);
  EXPECT_EQ(most.value, 40e6);
  ASSERT_EQ(testbed.expectations[1].bounds.size(), 2u);
  EXPECT_DOUBLE_EQ(std::get<Measure>(testbed.expectations[1].bounds[1]).value, 0.3);
  EXPECT_DOUBLE_EQ(testbed.expectations[2].within, 0.01);
  EXPECT_EQ(std::get<std::string>(testbed.expectations[3].bounds[0]), "12");
  EXPECT_EQ(std::get<bool>(testbed.expectations[4].bounds[0]), true);
  EXPECT_EQ(std::get<Measure>(testbed.expectations[5].bounds[0]).value, 3.5);
}

TEST(Expectations, RefuseWhatCannotBeCompared) {
  EXPECT_EQ(complaints_about(with_fabric("expect:\n"
                                         "  - {value: a, at_most: soon}\n"
                                         "  - {value: a, between: [1us, 2%]}\n"
                                         "  - {value: a, between: [3, 2]}\n"
                                         "  - {value: a, between: [3]}\n"
                                         "  - {value: a, at_most: 3, within: 1%}\n"
                                         "  - {value: a}\n"
                                         "  - {value: a..b, equal: 1}\n"
                                         "  - {value: \"\", equal: 1}\n"
                                         "  - {value: a, equal: word, within: 1%}\n")),
            (Complaints{"5 expect[0].at_most: a word has no more and no less: expected a number or a quantity",
                        "6 expect[1].between: '1us' and '2%' are not of one kind",
                        "7 expect[2].between: '3' is more than '2'", "8 expect[3].between: needs two bounds",
                        "9 expect[4].within: goes with 'equal' only",
                        "10 expect[5]: needs exactly one of equal, at_least, at_most, between",
                        "11 expect[6].value: 'a..b' is no path: keys joined by single dots",
                        "12 expect[7].value: '' is no path: keys joined by single dots",
                        "13 expect[8].equal: a word has no more and no less: expected a number or a quantity"}));
}

TEST(Expectations, RefuseWhatHoldsWhateverARunDoes) {
  EXPECT_EQ(complaints_about(with_fabric("expect:\n"
                                         "  - {value: a, at_least: 0}\n"
                                         "  - {value: a, at_least: 0us}\n"
                                         "  - {value: a, at_least: -1}\n"
                                         "  - {value: a, equal: 5, within: 100%}\n"
                                         "  - {value: a, equal: 5us, within: 250%}\n"
                                         "  - {value: a, equal: 5, within: 99.9%}\n"
                                         "  - {value: a, at_least: 1}\n"
                                         "  - {value: a, equal: 0}\n"
                                         "  - {value: a, at_most: 0}\n")),
            (Complaints{
                "5 expect[0].at_least: holds whatever the run does, since nothing is less than 0: expected more than 0",
                "6 expect[1].at_least: holds whatever the run does, since nothing is less than 0: expected more than 0",
                "7 expect[2].at_least: holds whatever the run does, since nothing is less than 0: expected more than 0",
                "8 expect[3].within: holds for every value from 0 to the double: expected less than 100%",
                "9 expect[4].within: holds for every value from 0 to the double: expected less than 100%"}));
}

TEST(Load, SaysWhyAFileCannotBeRead) {
  const auto missing = load_testbed("no/such/file.yaml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(to_string(missing.error().at(0)), "no/such/file.yaml: cannot be opened: No such file or directory");
  const auto folder = load_testbed("/");
  ASSERT_FALSE(folder);
  EXPECT_EQ(to_string(folder.error().at(0)), "/: is a directory");
}

// A pipe with the text in it, to be read once.
class Pipe {
 public:
  explicit Pipe(std::string_view text) {
    EXPECT_EQ(pipe(ends_.data()), 0);
    EXPECT_EQ(write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { close(ends_[0]); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[0]); }

 private:
  std::array<int, 2> ends_{};
};

TEST(Load, HandsOutTheFabricOfAWrongFileThatItReadsOnce) {
  const Pipe wrong(tests::with_fabric("no_such_key: 1\n"));
  const auto refused = load_testbed_or_fabric(wrong.path());
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.error().errors.size(), 1u) << to_string(refused.error().errors.front());
  ASSERT_TRUE(refused.error().fabric);
  EXPECT_FALSE(refused.error().fabric->nodes.empty());
}

TEST(Load, HandsOutNoFabricWhoseNamesAreNotKnown) {
  const Pipe wrong("fabric: {kind: fat-tree, k: 3}\n");
  const auto refused = load_testbed_or_fabric(wrong.path());
  ASSERT_FALSE(refused);
  EXPECT_FALSE(refused.error().errors.empty());
  EXPECT_FALSE(refused.error().fabric);
}

TEST(Load, ReadsNoMoreOfAnEndlessFileThanItsLimit) {
  const auto endless = load_testbed("/dev/zero");
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().size(), 1u);
}

}  // namespace
}  // namespace softspine::control
