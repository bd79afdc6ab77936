// SPDX-License-Identifier: Apache-2.0
// What goes wrong at the edges of a running fabric is on its error channel, and so in the report.
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "control/telemetry/prometheus.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/edge/reference_capture.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::TemporaryFiles;

constexpr int64_t kFileFrames = 256;
constexpr uint32_t kFrameBytes = 1'000;
constexpr uint32_t kRecordBytes = 16 + kFrameBytes;
constexpr uint64_t kHeaderBytes = 24;

// No file of this process may grow beyond so many bytes: as on a full disk, write() takes what fits and then fails.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

class RunErrors : public testing::Test {
 protected:
  // From a file at h1 over two ToRs to a file at h2; a frame a microsecond.
  control::Testbed testbed(const std::vector<uint8_t>& in, uint32_t workers) {
    out_ = files_.path();
    return testbed_of("name: files\nrun: {duration: 10ms, workers: " + std::to_string(workers) +
                      "}\n"
                      "fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps}, "
                      "fabric_link: {rate: 100Gbps}}\n"
                      "topology: {nodes: {h1: {edge: {pcap: {in: " +
                      files_.with(in) + "}}}, h2: {edge: {pcap: {out: " + out_ + "}}}}}\n");
  }
  // Frames that the fabric routes from h1 to h2: UDP from 10.0.1.2 to 10.0.2.2 at tor1's MAC address.
  std::vector<dataplane::CapturedFrame> frames(const control::Testbed& testbed) const {
    std::vector<uint8_t> bytes(kFrameBytes, 0);
    const auto& fabric = testbed.fabric;
    const auto port = [&](const char* node) -> const control::FabricPort& {
      return std::ranges::find(fabric.nodes, node, &control::FabricNode::name)->ports[0];
    };
    std::ranges::copy(port("tor1").mac.bytes, bytes.begin());
    std::ranges::copy(port("h1").mac.bytes, bytes.begin() + 6);
    const std::vector<uint8_t> ip{
        8,  0, 0x45, 0, (kFrameBytes - 14) >> 8, (kFrameBytes - 14) & 0xFF, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 1, 2,
        10, 0, 2,    2};
    std::ranges::copy(ip, bytes.begin() + 12);
    uint32_t sum = 0;
    for (size_t i = 14; i < 34; i += 2) sum += static_cast<uint32_t>(bytes[i] << 8 | bytes[i + 1]);
    sum = ~((sum & 0xFFFF) + (sum >> 16)) & 0xFFFF;
    bytes[24] = static_cast<uint8_t>(sum >> 8);
    bytes[25] = static_cast<uint8_t>(sum);
    std::vector<dataplane::CapturedFrame> out;
    for (int64_t i = 0; i < kFileFrames; ++i) out.push_back({i * 1'000, bytes, kFrameBytes});
    return out;
  }
  std::vector<uint8_t> whole_input() { return dataplane::pcap_bytes(frames(testbed({}, 1))); }

  TemporaryFiles files_;
  std::string out_;
};

TEST_F(RunErrors, AreNoneWhenEveryFrameCameThrough) {
  const Outcome outcome = run_whole(testbed(whole_input(), 1));
  EXPECT_EQ(outcome.report["edges"]["h2"]["out_packets"], kFileFrames);
  EXPECT_EQ(outcome.report["errors"], control::Json::array());
  EXPECT_NE(control::prometheus_text(outcome.snapshot).find("\nsoftspine_errors_total 0\n"), std::string::npos);
}

TEST_F(RunErrors, NameTheFileThatADiskHadNoRoomForAndCountWhatIsNotInIt) {
  const std::vector<uint8_t> in = whole_input();
  std::string first;
  for (const uint32_t workers : {1U, 2U}) {
    const control::Testbed files = testbed(in, workers);
    Outcome outcome;
    {
      const FileSizeLimit limit{100'000};
      outcome = run_whole(files);
    }
    const uint64_t room = (100'000 - kHeaderBytes) / kRecordBytes;
    const control::Json& sink = outcome.report["edges"]["h2"];
    EXPECT_EQ(sink["out_packets"], room);
    EXPECT_EQ(sink["out_bytes"], room * kFrameBytes);
    EXPECT_EQ(sink["out_drops"]["edge_full"], kFileFrames - room);
    EXPECT_EQ(std::filesystem::file_size(out_), kHeaderBytes + room * kRecordBytes);  // whole frames only
    EXPECT_EQ(dataplane::parse_pcap(TemporaryFiles::content(out_)).size(), room);
    ASSERT_EQ(outcome.report["errors"].size(), 1U);
    control::Json error = outcome.report["errors"][0];
    EXPECT_EQ(error["who"], "h2");
    EXPECT_EQ(error["what"], out_ + ": File too large");
    EXPECT_EQ(error["count"], 1);
    // Between the first frame beyond the room and the end of the input.
    EXPECT_GT(error["first_ps"].get<int64_t>(), static_cast<int64_t>(room) * 1'000'000);
    EXPECT_LT(error["first_ps"].get<int64_t>(), kFileFrames * 1'000'000);
    EXPECT_NE(control::prometheus_text(outcome.snapshot).find("\nsoftspine_errors_total 1\n"), std::string::npos);
    error.erase("what");  // the file's name is of this run
    if (first.empty()) first = error.dump();
    EXPECT_EQ(error.dump(), first) << workers << " workers";
  }
}

TEST_F(RunErrors, NameADiskThatFailsWithTheLastFrames) {
  const std::vector<dataplane::CapturedFrame> all = frames(testbed({}, 1));
  const std::vector<dataplane::CapturedFrame> two{all.begin(), all.begin() + 2};
  const control::Testbed files = testbed(dataplane::pcap_bytes(two), 1);
  Outcome outcome;
  {
    const FileSizeLimit limit{kHeaderBytes + kRecordBytes};
    outcome = run_whole(files);
  }
  EXPECT_EQ(outcome.report["edges"]["h2"]["out_packets"], 1);
  EXPECT_EQ(outcome.report["edges"]["h2"]["out_drops"]["edge_full"], 1);
  ASSERT_EQ(outcome.report["errors"].size(), 1U);
  EXPECT_EQ(outcome.report["errors"][0]["who"], "h2");
}

TEST_F(RunErrors, NameTheInputThatBreaksOff) {
  std::vector<uint8_t> in = whole_input();
  in.resize(in.size() - 1);
  const Outcome outcome = run_whole(testbed(in, 1));
  EXPECT_EQ(outcome.report["edges"]["h1"]["in_packets"], kFileFrames - 1);
  ASSERT_EQ(outcome.report["errors"].size(), 1U);
  const control::Json& error = outcome.report["errors"][0];
  EXPECT_EQ(error["who"], "h1");
  EXPECT_NE(error["what"].get<std::string>().find("truncated"), std::string::npos) << error;
  EXPECT_EQ(error["first_ps"], (kFileFrames - 2) * 1'000'000);  // when the frame before it entered
}

TEST_F(RunErrors, EndARunThatCannotGoOn) {
  const control::Testbed files = testbed(whole_input(), 1);
  auto fabric = RunningFabric::make(files, {});
  ASSERT_TRUE(fabric) << fabric.error();
  (*fabric)->assembly().engine->at(dataplane::Instant::at(dataplane::Duration::us(100)),
                                   [&](dataplane::Instant) { (*fabric)->fail("packet memory", "exhausted"); });
  ASSERT_TRUE((*fabric)->run());
  const control::FabricSnapshot snapshot = (*fabric)->snapshot();
  ASSERT_EQ(snapshot.errors.size(), 1U);
  EXPECT_EQ(snapshot.errors[0].who, "packet memory");
  EXPECT_EQ(snapshot.errors[0].first, dataplane::Instant::at(dataplane::Duration::us(100)));
  EXPECT_LT(snapshot.instant, dataplane::Instant::at(dataplane::Duration::us(200)));
  EXPECT_EQ((*fabric)->drain(), 0U);
}

}  // namespace
}  // namespace softspine::testbeds
