// SPDX-License-Identifier: Apache-2.0
// The event log and the series of counters grow while the run goes on: what waits for its file is a block of 256 KiB at
// most, however much there is to say.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "testbeds/run/counter_series.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::Duration;
using dataplane::Instant;

constexpr uint64_t kBlock = 256 << 10;

// A link that goes down and up each 2 us, and a packet each microsecond.
constexpr const char* kFlapping = R"(
name: flapping
run: {duration: 10ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 10000, mtu: 1024, rate: 8.976Gbps}
faults: [{at: 1us, link: "tor1:Ethernet4", set: down, flap: {period: 2us, down: 1us, count: 4900}}]
)";

TEST(GrowingFiles, AreBehindTheRunByABlockAtMost) {
  const control::Testbed testbed = testbed_of(kFlapping);
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric) << fabric.error();
  const std::string path = testing::TempDir() + "softspine-growing-" + std::to_string(getpid());
  ASSERT_TRUE(
      (*fabric)->part<CounterSeries>().open({.path = path + ".counters", .interval = Duration::us(1), .counters = {}}));
  ASSERT_TRUE((*fabric)->part<EventLog>().open(path + ".events"));
  const std::vector<std::string> files{path + ".counters", path + ".events"};
  std::vector<uint64_t> at_half;
  (*fabric)->assembly().engine->at(Instant::at(Duration::ms(5)), [&](Instant) {
    for (const std::string& file : files) at_half.push_back(std::filesystem::file_size(file));
  });
  ASSERT_TRUE((*fabric)->run());
  ASSERT_EQ(at_half.size(), files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    const uint64_t whole = std::filesystem::file_size(files[i]);
    // Half of it has been said at half of the time, to a tenth; and a millisecond of events may lie with the workers.
    EXPECT_GT(whole, 4 * kBlock) << files[i];
    EXPECT_GE(at_half[i] + kBlock, whole * 4 / 10 - whole / 10) << files[i];
    EXPECT_LE(at_half[i], whole * 6 / 10) << files[i];
    std::filesystem::remove(files[i]);
  }
  EXPECT_EQ((*fabric)->drain(), 0U);
}

}  // namespace
}  // namespace softspine::testbeds
