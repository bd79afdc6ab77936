// SPDX-License-Identifier: Apache-2.0
// The emulator's memory shapes no result: what is under way is what links, buffers and windows hold, and where memory
// ends, so does the run.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "dataplane/engine/window_nest.hpp"
#include "testbeds/run/frame_injector.hpp"
#include "testbeds/run/machine_memory.hpp"
#include "testbeds/run/packet_need.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/edge/reference_capture.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::TemporaryFiles;

// One flow over two cables of 100 km: 505 us each way, 25 MB on each at once.
constexpr const char* kFar = R"(
name: far
run: {duration: 10ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 400Gbps},
         fabric_link: {rate: 400Gbps, length: 100km}}
workload: [{name: w, pattern: pairs, from: [h1], to: [h2], message: 1MiB, messages: 128, mtu: 4096}]
)";

TEST(PacketMemory, HoldsAllThatALongFastPathHolds) {
  constexpr double kWire = 14 + 20 + 8 + 12 + 4 + 24;  // RoCEv2's and Ethernet's bytes around a packet's payload
  std::string first;
  for (const uint32_t workers : {1U, 2U, 3U}) {
    const Outcome out = run_text(kFar, {.workers = workers});
    ASSERT_EQ(out.snapshot.flows.size(), 1U);
    ASSERT_TRUE(out.snapshot.flows[0].completion) << workers << " workers";
    const auto& flow = out.snapshot.flows[0];
    // Its first bit takes the way, then all of its bits take the link's rate.
    const double seconds = flow.completion->seconds() - 2 * 505.0505e-6;
    EXPECT_NEAR(static_cast<double>(flow.received_bytes) * 8 / seconds / (400e9 * 4096 / (4096 + kWire)), 1, 0.001);
    if (workers == 1) first = without_engine(out.report);
    EXPECT_EQ(without_engine(out.report), first) << workers << " workers";
    EXPECT_LE(out.most_packets, packet_need(testbed_of(kFar)).packets);
    EXPECT_GE(8 * out.most_packets, packet_need(testbed_of(kFar)).packets) << "an estimate that is of use";
  }
}

TEST(PacketMemory, HoldsAQueueOf64MebibytesUntilItDrops) {
  constexpr uint64_t kLimit = 64 << 20;
  constexpr uint64_t kFrame = 14 + 20 + 8 + 12 + 1024 + 4 + 16;  // a write's first packet has 16 bytes more
  const Outcome out = run_text(R"(
name: deep
run: {duration: 7ms}
fabric: {kind: leaf-spine, tors: 1, spines: 0, hosts_per_tor: 3, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
profiles: {default: {queue_limit: 64MiB}}
workload: [{name: w, pattern: incast, from: [h2, h3], to: h1, message: 1GiB, mtu: 1024}]
)");
  const uint64_t most = out.report["switches"]["tor1"]["queue_watermark_bytes"].get<uint64_t>();
  EXPECT_LE(most, kLimit);
  EXPECT_GT(most, kLimit - kFrame);
  EXPECT_GT(out.report["totals"]["drops"]["queue_full"].get<uint64_t>(), 0U);
  EXPECT_EQ(out.report["totals"]["drops"]["no_buffer"], 0U);
}

TEST(PacketMemory, EndsTheRunWithAnErrorWhereItEnds) {
  for (const uint32_t workers : {1U, 2U}) {
    std::string text = kFar;
    text.replace(text.find("{duration: 10ms}"), 16, "{duration: 10ms, memory: 12MiB}");
    const control::Testbed testbed = testbed_of(text, {.workers = workers});
    auto fabric = RunningFabric::make(testbed, {});
    ASSERT_TRUE(fabric);
    const auto ran = (*fabric)->run();
    ASSERT_FALSE(ran);
    EXPECT_TRUE((*fabric)->ran_out_of_memory());
    EXPECT_THAT(ran.error(), testing::AllOf(testing::HasSubstr("out of memory for packets at "),
                                            testing::HasSubstr("there are 12582912 B (run: memory)"),
                                            testing::HasSubstr("may need up to")));
    // A packet of 4178 bytes at 400 Gb/s each 83.56 ns, until 12 MiB of them are under way, or lie in a worker's cache.
    // The run ends with the window in which that is so.
    const uint64_t packets = (12U << 20) / dataplane::PacketPool::memory_bytes(kHeaderRoom);
    EXPECT_LE((*fabric)->progress().count_ps(),
              static_cast<int64_t>(packets + 1) * 83'560 + dataplane::kLongestWindow.count_ps());
    EXPECT_GE((*fabric)->progress().count_ps(), static_cast<int64_t>(packets - workers * 1'280) * 83'560);
    EXPECT_EQ((*fabric)->snapshot().errors.size(), 1U);
    EXPECT_EQ((*fabric)->drain(), 0U);
  }
}

// A frame of 1,500 bytes into a ToR whose own packets have room for headers.
TEST(PacketMemory, FloodsWholeFramesToo) {
  const control::Testbed testbed = testbed_of(R"(
name: flood
run: {duration: 100us}
fabric: {kind: leaf-spine, tors: 1, spines: 0, hosts_per_tor: 3, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
)");
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric);
  std::vector<uint8_t> frame(1514, 0xAB);
  std::fill_n(frame.begin(), 6, 0xFF);
  std::ranges::copy(std::vector<uint8_t>{2, 9, 9, 9, 9, 9, 0x88, 0xB5}, frame.begin() + 6);
  bool arrived = false;
  const auto tor = std::ranges::find(testbed.fabric.nodes, "tor1", &control::FabricNode::name);
  (*fabric)->part<FrameInjector>().inject({static_cast<uint32_t>(tor - testbed.fabric.nodes.begin()), 0}, frame,
                                          [&arrived](const auto& at) { arrived = at.has_value(); });
  ASSERT_TRUE((*fabric)->run());
  EXPECT_TRUE(arrived);
  const control::FabricSnapshot out = (*fabric)->snapshot();
  ASSERT_EQ(out.hosts.size(), 3U);
  for (const control::HostSnapshot& host : out.hosts) {
    EXPECT_EQ(host.counters.received_bytes, host.name == "h1" ? 0U : 1514U) << host.name;
  }
  EXPECT_EQ((*fabric)->drain(), 0U);
}

// 60,000 of the smallest frames from two files into a buffer of 12 MB before a slow link.
TEST(PacketMemory, HoldsABufferFullOfTheSmallestFramesFromFiles) {
  constexpr int64_t kFrames = 30'000;
  std::vector<uint8_t> frame(60, 0);
  std::ranges::copy(std::vector<uint8_t>{2, 9, 9, 9, 9, 1, 2, 9, 9, 9, 9, 2, 0x88, 0xB5}, frame.begin());
  std::vector<dataplane::CapturedFrame> all;
  for (int64_t i = 0; i < kFrames; ++i) all.push_back({0, frame, 60});
  TemporaryFiles files;
  const std::string in = files.with(dataplane::pcap_bytes(all));
  const Outcome out = run_text(fmt::format(R"(
name: small
run: {{duration: 1s}}
fabric: {{kind: leaf-spine, tors: 1, spines: 0, hosts_per_tor: 2, host_link: {{rate: 100Gbps}}, fabric_link: {{rate: 100Gbps}}}}
profiles: {{default: {{queue_limit: 12MB}}}}
topology:
  nodes: {{h1: {{edge: {{pcap: {{in: {0}}}}}}}, h2: {{edge: {{pcap: {{in: {0}}}}}}}, slow: {{kind: host}}}}
  links: [{{endpoints: [slow, tor1], rate: 1Gbps, length: 3m}}]
)",
                                           in));
  EXPECT_EQ(out.report["totals"]["drops"]["no_buffer"], 0U);
  for (const auto& edge : out.snapshot.edges) {
    EXPECT_EQ(edge.counters.in_packets, static_cast<uint64_t>(kFrames));
    EXPECT_EQ(edge.counters.in_drops[static_cast<size_t>(dataplane::DropReason::kNoBuffer)], 0U);
  }
  const auto slow = std::ranges::find(out.snapshot.hosts, "slow", &control::HostSnapshot::name);
  ASSERT_NE(slow, out.snapshot.hosts.end());
  EXPECT_EQ(slow->counters.received_packets, 2U * kFrames) << "flooded to it, one by one";
  EXPECT_GT(out.most_packets, static_cast<uint64_t>(kFrames)) << "they waited there";
}

// As the kernel writes them; the tighter of what is available and what each group has left.
TEST(MachineMemory, IsWhatIsAvailableOrWhatTheGroupsLeave) {
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / ("machine-" + std::to_string(getpid()));
  const auto write = [&root](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  };
  EXPECT_EQ(available_memory(root), UINT64_MAX) << "nothing is known";
  write("proc/meminfo", "MemTotal:  9000 kB\nMemAvailable:    8000 kB\n");
  EXPECT_EQ(available_memory(root), 8000U * 1024);
  write("proc/self/cgroup", "0::/a.slice/b.service\n");
  write("sys/fs/cgroup/a.slice/b.service/memory.max", "max\n");
  write("sys/fs/cgroup/a.slice/b.service/memory.current", "1000\n");
  EXPECT_EQ(available_memory(root), 8000U * 1024);
  write("sys/fs/cgroup/a.slice/memory.max", "5000000\n");
  write("sys/fs/cgroup/a.slice/memory.current", "3000000\n");
  write("sys/fs/cgroup/a.slice/memory.stat", "anon 1\ninactive_file 500000\n");
  EXPECT_EQ(available_memory(root), 2'500'000U) << "cache that nobody works with can go";
  write("proc/self/cgroup", "7:cpu,memory:/job\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "700000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "900000\n");
  EXPECT_EQ(available_memory(root), 0U) << "more than it may have";
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace softspine::testbeds
