// SPDX-License-Identifier: Apache-2.0
// What tshark makes of our captures: no complaint, and the times, names and comments that went in.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "control/capture/capture.hpp"
#include "tests/harness/bare_packet.hpp"

namespace softspine::control {
namespace {

using dataplane::Direction;
using dataplane::Instant;
using dataplane::Rate;
using tests::BarePacket;

struct Outcome {
  int status = -1;
  std::string output;  // and what it complained of
};

Outcome outcome_of(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> chunk{};
  for (size_t n = 0; (n = fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) outcome.output.append(chunk.data(), n);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

class Tshark : public testing::Test {
 protected:
  void SetUp() override {
    if (outcome_of("command -v tshark").status != 0) GTEST_SKIP() << "tshark is not installed";
    std::string folder = (std::filesystem::temp_directory_path() / "softspine-tshark-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string file() const { return (folder_ / "it.pcapng").string(); }

  // Root is warned on stderr; that is about the user, not the file.
  std::string fields(const std::string& wanted) const {
    return outcome_of("tshark -n -r " + file() + " -T fields " + wanted + " 2>&1 | grep -v 'Running as user'").output;
  }

 private:
  std::filesystem::path folder_;
};

// To 01:80:C2:00:00:01 from 02:…:01, 0x8808 0x0101, priority 3 for 65535 quanta.
std::string pfc_frame() {
  const unsigned char head[] = {0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1,    0x88,
                                0x08, 1,    1,    0, 8, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::string frame{reinterpret_cast<const char*>(head), sizeof head};
  frame.resize(60);
  return frame;
}

void capture_to(const std::string& path) {
  auto capture = Capture::open(path, {.comment = "two-tier, seed 1, dilation 1"});
  ASSERT_TRUE(capture) << capture.error();
  auto* fast = (*capture)->add_port("tor1:Ethernet4", Rate::gbps(400), 0);
  auto* slow = (*capture)->add_port("core1:Ethernet0", Rate::gbps(100), 0);
  (*capture)->start();
  fast->frame(Direction::kTransmitted, *BarePacket{pfc_frame()}, Instant::at_ps(1'680), "XOFF raised: priority 3");
  slow->frame(Direction::kReceived, *BarePacket{pfc_frame()}, Instant::at_ps(18'500'000'123), nullptr);
  fast->frame(Direction::kReceived, *BarePacket{pfc_frame(), 1086}, Instant::at_ps(999'999'999'999), nullptr);
  slow->frame(Direction::kReceived, *BarePacket{pfc_frame()}, Instant::at_ps(9'000'017'999'999'999), nullptr);
  ASSERT_TRUE((*capture)->close());
}

TEST_F(Tshark, ReadsTimesDirectionsLengthsAndCommentsAsTheyWentIn) {
  capture_to(file());
  EXPECT_EQ(
      fields(
          "-e frame.time_epoch -e frame.interface_name -e frame.packet_flags_direction -e frame.len -e frame.cap_len "
          "-e frame.comment -e macc.opcode"),
      "0.000000001\ttor1:Ethernet4\t0x00000002\t60\t60\tXOFF raised: priority 3\t0x0101\n"
      "0.018500000\tcore1:Ethernet0\t0x00000001\t60\t60\t\t0x0101\n"
      "0.999999999\ttor1:Ethernet4\t0x00000001\t1086\t56\t\t0x0101\n"
      "9000.017999999\tcore1:Ethernet0\t0x00000001\t60\t60\t\t0x0101\n");
}

TEST_F(Tshark, FindsNothingMalformedAndNoGuessedFcs) {
  // 0x400000: from notes upwards; our own comments are experts below them.
  capture_to(file());
  EXPECT_EQ(fields("-e frame.number -Y '_ws.malformed || eth.fcs || _ws.expert.severity >= 0x400000'"), "");
}

TEST_F(Tshark, ShowsEachInterfaceWithItsSpeedAndResolution) {
  capture_to(file());
  const std::string about = outcome_of("capinfos " + file()).output;
  for (const char* line : {"Capture application: softspine", "Capture comment:     two-tier, seed 1, dilation 1",
                           "Name = tor1:Ethernet4", "Speed = 400000000000", "Name = core1:Ethernet0",
                           "Speed = 100000000000", "Time resolution = 0x0a", "Strict time order:   True"}) {
    EXPECT_NE(about.find(line), std::string::npos) << line << "\nis missing from\n" << about;
  }
}

}  // namespace
}  // namespace softspine::control
