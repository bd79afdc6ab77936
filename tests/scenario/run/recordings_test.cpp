// SPDX-License-Identifier: Apache-2.0
// Captures that go into a fabric at two places: when their frames enter.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/scenario/edge/reference_capture.hpp"
#include "tests/scenario/run/running_testbed.hpp"
#include "tests/unit/telemetry/block_reader.hpp"

namespace softspine::testbeds {
namespace {

constexpr int64_t kMonday = 1'700'000'000'000'000'000;  // ns since 1970
constexpr int64_t kFrame = 6'720;                       // 84 bytes at 100 Gb/s, in ps

class Recordings : public testing::Test {
 protected:
  Recordings() : folder_(std::filesystem::path(testing::TempDir()) / fmt::format("recordings-{}", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Recordings() override { std::filesystem::remove_all(folder_); }

  void record(const std::string& name, const std::vector<int64_t>& at_ns) {
    std::vector<dataplane::CapturedFrame> frames;
    for (const int64_t at : at_ns) frames.push_back({at, std::vector<uint8_t>(60, 0x02), 60});
    const std::vector<uint8_t> bytes = dataplane::pcap_bytes(frames);
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  // When each frame has begun to enter at each host, in ps.
  std::map<std::string, std::vector<int64_t>> enter(const std::string& a, const std::string& b) {
    const Outcome out = run_text(fmt::format(R"(
name: recordings
run: {{clock: virtual, duration: 10s}}
fabric: {{kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {{rate: 100Gbps}}, fabric_link: {{rate: 100Gbps}}}}
topology:
  nodes:
    h1: {{edge: {{pcap: {{in: {0}/a.pcap{1}}}}}}}
    h2: {{edge: {{pcap: {{in: {0}/b.pcap{2}}}}}}}
)",
                                             folder_.string(), a, b),
                                 {}, true);
    const auto path = folder_ / "seen";
    std::ofstream(path, std::ios::binary) << out.capture;
    const tests::ReadFile file = tests::read_pcapng(path.string());
    std::map<std::string, std::vector<int64_t>> at;
    for (const tests::ReadFrame& frame : file.frames) {
      const std::string& port = file.interfaces[frame.interface];
      const bool is_sent = (frame.flags & 3) == 2;
      if (is_sent && port.starts_with("h")) {
        at[port.substr(0, 2)].push_back(static_cast<int64_t>(frame.ticks) * 100 - kFrame);
      }
    }
    return at;
  }

  std::filesystem::path folder_;
};
using Times = std::vector<int64_t>;

void expect_times(const Times& found, const Times& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_LE(std::abs(found[i] - expected[i]), 100) << i;
}

TEST_F(Recordings, KeepTheirRelationIfTheyWereMadeTogether) {
  record("a.pcap", {kMonday + 7'000, kMonday + 9'000});
  record("b.pcap", {kMonday + 2'000, kMonday + 8'500});
  const auto at = enter(", zero: together", ", zero: together");
  expect_times(at.at("h1"), {5'000'000, 7'000'000});
  expect_times(at.at("h2"), {0, 6'500'000});
}

TEST_F(Recordings, BeginEachWithItsFirstFrameIfNothingIsSaid) {
  record("a.pcap", {kMonday + 7'000, kMonday + 9'000});
  record("b.pcap", {kMonday + 2'000, kMonday + 8'500});
  for (const char* zero : {"", ", zero: first_frame"}) {
    const auto at = enter(zero, ", zero: together");
    expect_times(at.at("h1"), {0, 2'000'000});
    expect_times(at.at("h2"), {0, 6'500'000});
  }
}

TEST_F(Recordings, OfAFabricEnterAsTheyWere) {
  record("a.pcap", {3'000, 4'000});
  record("b.pcap", {1'000});
  const auto at = enter(", zero: recorded", ", zero: recorded, offset: 250us");
  expect_times(at.at("h1"), {3'000'000, 4'000'000});
  expect_times(at.at("h2"), {251'000'000});
}

}  // namespace
}  // namespace softspine::testbeds
