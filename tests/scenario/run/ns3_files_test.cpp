// SPDX-License-Identifier: Apache-2.0
// Pauses and queues in the files of HPCC's ns-3, against what the run has counted itself.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "testbeds/run/pfc_file.hpp"
#include "testbeds/run/queue_lengths.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::Duration;

// Seven hosts send to h1, whose port fills: tor1 pauses them. Hosts are 0 to 7, tor1 is 8, spine1 9.
constexpr const char* kPausingIncast =
    "name: i\nrun: {duration: 1ms}\nfabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 8, host_link: {rate: "
    "100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 3m}}\n"
    "profiles: {default: {base: sonic-tomahawk-100g-40m}}\n"
    "workload: [{name: w, pattern: incast, from: [h2, h3, h4, h5, h6, h7, h8], to: h1, message: 1MiB, dscp: 3}]\n";

struct Ns3Files {
  control::FabricSnapshot snapshot;
  std::string pauses;
  std::string queues;
};

Ns3Files files_of(const std::string& text, uint32_t workers = 1, bool flat = false) {
  const control::Testbed testbed = testbed_of(text, {.workers = workers});
  auto fabric = RunningFabric::make(testbed, {.run_folder = {}, .capture = std::nullopt, .flat = flat});
  if (!fabric) {
    ADD_FAILURE() << fabric.error();
    return {};
  }
  const auto path = std::filesystem::path(testing::TempDir()) / "softspine-pfc.txt";
  EXPECT_TRUE((*fabric)->part<PfcFile>().open(path.string()));
  (*fabric)->part<QueueLengths>().begin_every(Duration::us(1));
  EXPECT_TRUE((*fabric)->run());
  Ns3Files out{.snapshot = (*fabric)->snapshot(), .queues = (*fabric)->part<QueueLengths>().text()};
  (*fabric)->drain();
  out.pauses = bytes_of(path);
  std::filesystem::remove(path);
  return out;
}

TEST(Ns3Files, HaveEachPauseThatAHostHasReceived) {
  const Ns3Files files = files_of(kPausingIncast);
  std::map<uint32_t, uint64_t> lines;
  std::istringstream text(files.pauses);
  uint64_t time = 0;
  uint64_t last = 0;
  uint32_t node = 0;
  uint32_t is_switch = 0;
  uint32_t port = 0;
  uint32_t type = 0;
  while (text >> time >> node >> is_switch >> port >> type) {
    ++lines[node];
    EXPECT_EQ(is_switch, node >= 8 ? 1U : 0U);
    EXPECT_EQ(port, 1U);
    EXPECT_LE(type, 1U);
    EXPECT_GE(time, last);
    last = time;
  }
  EXPECT_TRUE(text.eof());
  uint64_t all = 0;
  for (uint32_t host = 0; host < 8; ++host) {
    const uint64_t frames = files.snapshot.hosts[host].ports[0].pause[3].rx_frames;
    EXPECT_EQ(lines[host], frames) << host;
    all += frames;
  }
  EXPECT_GT(all, 10U);
}

TEST(Ns3Files, CountEachSampleOfEachPortOnce) {
  const Ns3Files files = files_of(kPausingIncast);
  std::istringstream lines(files.queues);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto end = static_cast<uint64_t>(files.snapshot.instant.count_ps());
  EXPECT_EQ(line, "time: " + std::to_string(end / 1'000));
  size_t ports = 0;
  while (std::getline(lines, line)) {
    ++ports;
    std::istringstream fields(line);
    uint32_t node = 0;
    uint32_t port = 0;
    fields >> node >> port;
    uint64_t all = 0;
    uint64_t longest = 0;
    uint64_t index = 0;
    for (uint64_t count = 0; fields >> count; ++index) {
      all += count;
      if (count > 0) longest = index;
    }
    EXPECT_EQ(all, end / 1'000'000) << line;
    const bool is_full = node == 8 && port == 1;
    EXPECT_EQ(longest > 100, is_full) << line.substr(0, 80);
  }
  EXPECT_EQ(ports, files.snapshot.switches[0].ports.size() + files.snapshot.switches[1].ports.size());
}

TEST(Ns3Files, AreTheSameForAnyNumberOfWorkers) {
  std::set<std::string> all;
  for (const uint32_t workers : {1U, 2U}) {
    const Ns3Files files = files_of(kPausingIncast, workers);
    all.insert(files.pauses + files.queues);
  }
  const Ns3Files flat = files_of(kPausingIncast, 1, true);
  all.insert(flat.pauses + flat.queues);
  EXPECT_EQ(all.size(), 1U);
}

}  // namespace
}  // namespace softspine::testbeds
