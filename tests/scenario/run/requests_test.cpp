// SPDX-License-Identifier: Apache-2.0
// What a running fabric answers to requests: frames that are put into it, how it was stopped, what stands in its
// report.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "testbeds/run/frame_injector.hpp"
#include "testbeds/run/live_control.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/edge/reference_capture.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::TemporaryFiles;

constexpr const char* kRackOfThree = R"(
name: rack
run: {duration: 100us}
fabric: {kind: leaf-spine, tors: 1, spines: 0, hosts_per_tor: 3, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
)";

uint32_t node_named(const control::Testbed& testbed, std::string_view name) {
  const auto found = std::ranges::find(testbed.fabric.nodes, name, &control::FabricNode::name);
  return static_cast<uint32_t>(found - testbed.fabric.nodes.begin());
}

// A broadcast with an EtherType that nobody knows: an Ethernet header of 14 bytes, and more.
std::vector<uint8_t> broadcast(size_t bytes) {
  std::vector<uint8_t> frame(bytes, 0xAB);
  std::ranges::fill(frame.begin(), frame.begin() + static_cast<ptrdiff_t>(std::min<size_t>(6, bytes)), 0xFF);
  const std::vector<uint8_t> rest{2, 9, 9, 9, 9, 9, 0x88, 0xB5};
  for (size_t i = 0; i < rest.size() && 6 + i < bytes; ++i) frame[6 + i] = rest[i];
  return frame;
}

// From an Ethernet header to 9,216 bytes behind it, and a tag.
TEST(InjectedFrames, HaveFrom14To9234Bytes) {
  const control::Testbed testbed = testbed_of(kRackOfThree);
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric) << fabric.error();
  std::map<size_t, std::string> answers;
  for (const size_t bytes : {0U, 13U, 14U, 60U, 9'234U, 9'235U}) {
    (*fabric)->part<FrameInjector>().inject(
        {node_named(testbed, "tor1"), 0}, broadcast(bytes),
        [&answers, bytes](const auto& at) { answers[bytes] = at ? "arrived" : at.error(); });
  }
  ASSERT_TRUE((*fabric)->run());
  const auto refused = [](size_t bytes) { return fmt::format("a frame has 14 to 9234 bytes, not {}", bytes); };
  EXPECT_EQ(answers, (std::map<size_t, std::string>{{0, refused(0)},
                                                    {13, refused(13)},
                                                    {14, "arrived"},
                                                    {60, "arrived"},
                                                    {9'234, "arrived"},
                                                    {9'235, refused(9'235)}}));
  EXPECT_EQ((*fabric)->drain(), 0U);
}

TEST(InjectedFrames, DoNotComeThroughALinkThatIsDown) {
  const control::Testbed testbed = testbed_of(kRackOfThree);
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric) << fabric.error();
  const control::LinkEnd port{node_named(testbed, "tor1"), 0};
  (*fabric)->part<LiveControl>().set_links({testbed.fabric.port(port).link}, false);
  std::string answer;
  (*fabric)->part<FrameInjector>().inject(port, broadcast(60),
                                          [&](const auto& at) { answer = at ? "arrived" : at.error(); });
  ASSERT_TRUE((*fabric)->run());
  EXPECT_EQ(answer, "the link is down");
  EXPECT_EQ((*fabric)->drain(), 0U);
}

// One by one through the port, however many come at once: the last of ten begins when nine have passed.
TEST(InjectedFrames, AreThoseThatTheLinkCounts) {
  const control::Testbed testbed = testbed_of(kRackOfThree);
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric) << fabric.error();
  for (int i = 0; i < 10; ++i)
    (*fabric)->part<FrameInjector>().inject({node_named(testbed, "tor1"), 0}, broadcast(60), [](const auto&) {});
  ASSERT_TRUE((*fabric)->run());
  const control::FabricSnapshot out = (*fabric)->snapshot();
  for (const control::HostSnapshot& host : out.hosts)
    EXPECT_EQ(host.counters.received_packets, host.name == "h1" ? 0U : 10U) << host.name;
  const auto sender = (*fabric)->assembly().nodes->transmitter_at({node_named(testbed, "h1"), 0});
  EXPECT_EQ(sender->counters().injected_packets, 10U) << "as if the other end had sent them";
  EXPECT_EQ((*fabric)->drain(), 0U);
}

// A message of one packet, 1,122 bytes with preamble and gap, is under way on a cable of 1 km: 89.76 ns and the way.
TEST(InjectedFrames, ArriveBehindWhatIsUnderWay) {
  std::string text = kRackOfThree;
  text.replace(text.find("rate: 100Gbps}"), 14, "rate: 100Gbps, length: 1km}");
  text += "workload: [{name: w, pattern: pairs, from: [h1], to: [h2], message: 1KiB, messages: 1, mtu: 1024}]\n";
  const control::Testbed testbed = testbed_of(text);
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric) << fabric.error();
  const control::LinkEnd port{node_named(testbed, "tor1"), 0};
  dataplane::Instant arrived = dataplane::Instant::never();
  (*fabric)->assembly().engine->at(dataplane::Instant::at(dataplane::Duration::us(1)), [&](dataplane::Instant) {
    (*fabric)->part<FrameInjector>().inject(port, broadcast(60), [&](const auto& at) { arrived = at.value(); });
  });
  ASSERT_TRUE((*fabric)->run());
  const dataplane::Duration way = testbed.fabric.links[testbed.fabric.port(port).link].propagation;
  EXPECT_GT(way, dataplane::Duration::us(4));
  EXPECT_EQ(arrived, dataplane::Instant::at(way + dataplane::Duration::ps(89'760)));
  EXPECT_EQ((*fabric)->drain(), 0U);
}

// Where nothing is under way, a frame arrives at the instant at which it is asked for.
TEST(InjectedFrames, ArriveWhenTheyAreAskedFor) {
  const control::Testbed testbed = testbed_of(kRackOfThree);
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric) << fabric.error();
  std::vector<dataplane::Instant> arrived;
  for (const int64_t us : {20, 50}) {
    (*fabric)->assembly().engine->at(dataplane::Instant::at(dataplane::Duration::us(us)), [&](dataplane::Instant) {
      (*fabric)->part<FrameInjector>().inject({node_named(testbed, "tor1"), 0}, broadcast(60), [&](const auto& at) {
        arrived.push_back(at.value_or(dataplane::Instant::never()));
      });
    });
  }
  ASSERT_TRUE((*fabric)->run());
  EXPECT_EQ(arrived, (std::vector{dataplane::Instant::at(dataplane::Duration::us(20)),
                                  dataplane::Instant::at(dataplane::Duration::us(50))}));
  EXPECT_EQ((*fabric)->drain(), 0U);
}

TEST(RunningFabrics, SayHowLongTheRunTook) {
  const control::Testbed testbed = testbed_of(kRackOfThree);
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric) << fabric.error();
  EXPECT_EQ((*fabric)->snapshot().engine.wall_seconds, 0);
  ASSERT_TRUE((*fabric)->run());
  EXPECT_GT((*fabric)->snapshot().engine.wall_seconds, 0);
}

// A run that would have ended by itself, and was stopped before: on the wall clock one without an end is meant to be.
TEST(RunningFabrics, AreInterruptedIfTheyWouldHaveEnded) {
  for (const auto& [run, is_interrupted] : {std::pair{"{duration: 100us}", true},
                                            {"{clock: virtual, duration: 100us}", true},
                                            {"{clock: wall, duration: 1s}", true},
                                            {"{clock: wall}", false}}) {
    std::string text = kRackOfThree;
    text.replace(text.find("{duration: 100us}"), 17, run);
    const control::Testbed testbed = testbed_of(text);
    auto fabric = RunningFabric::make(testbed, {});
    ASSERT_TRUE(fabric) << fabric.error();
    EXPECT_FALSE((*fabric)->was_interrupted()) << run;
    (*fabric)->stop();
    EXPECT_EQ((*fabric)->was_interrupted(), is_interrupted) << run;
  }
}

// h1 is built in, and h2 a file: frames of the one reach the other, whichever comes first.
TEST(RunningFabrics, HaveBuiltInHostsBesideThoseOutside) {
  for (const char* outside : {"h1", "h2", "h3"}) {
    TemporaryFiles files;
    const std::string in = files.with(dataplane::pcap_bytes({{0, broadcast(60), 60}, {1'000, broadcast(60), 60}}));
    const Outcome out = run_text(
        kRackOfThree + fmt::format("topology: {{nodes: {{{}: {{edge: {{pcap: {{in: {}}}}}}}}}}}\n", outside, in));
    ASSERT_EQ(out.snapshot.edges.size(), 1U);
    EXPECT_EQ(out.snapshot.edges[0].counters.in_packets, 2U);
    ASSERT_EQ(out.snapshot.hosts.size(), 2U);
    for (const control::HostSnapshot& host : out.snapshot.hosts) {
      EXPECT_NE(host.name, outside);
      EXPECT_EQ(host.counters.received_packets, 2U) << host.name;
    }
  }
}

}  // namespace
}  // namespace softspine::testbeds
