// SPDX-License-Identifier: Apache-2.0
// Guests without a NIC: a real kernel boots, runs a command, and is gone; no fabric needed.
#include "testbeds/guests/guest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "testbeds/guests/installation.hpp"
#include "testbeds/guests/uml_host.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::testbeds {
namespace {

using std::chrono::seconds;

class UmlGuest : public testing::Test {
 protected:
  static void SetUpTestSuite() { installation_ = prepare_installation({GuestKind::kUml}); }
  void SetUp() override {
    ASSERT_TRUE(installation_) << installation_.error().path << ": " << installation_.error().message;
    const std::string& obstacle = installation_->uml_obstacle;
    ASSERT_FALSE(obstacle.starts_with("the kernel does not start")) << obstacle;
    if (!obstacle.empty()) GTEST_SKIP() << "user-mode Linux cannot run here: " << obstacle;
  }

  HostedCommand start(const std::string& run, const std::string& name = "h1") {
    const GuestSpec spec{{.name = name, .run = run, .env = {{"NOTE", "it's $HOME"}}}, GuestKind::kUml, 96};
    auto guest = start_guest(spec, *installation_, folder_.path());
    if (!guest) throw std::runtime_error(guest.error().front().message);
    return std::move(*guest);
  }

  // A signal on the board, within a minute.
  bool happens(const std::string& signal) const {
    const auto until = std::chrono::steady_clock::now() + seconds{60};
    while (!std::filesystem::exists(folder_.path() / "board" / signal)) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    return true;
  }

  static std::expected<Installation, Error> installation_;
  ScratchFolder folder_;
};

std::expected<Installation, Error> UmlGuest::installation_;

TEST(UmlKernel, HasRoomForTheRegistersOfThisMachinesProcessorOrQemuTakesItsPlace) {
  const auto installation = prepare_installation({GuestKind::kUml});
  ASSERT_TRUE(installation) << installation.error().path << ": " << installation.error().message;
  const UmlHost host = look_at_uml_host();
  if (!host.xsave_bytes) GTEST_SKIP() << "nothing can be traced here: " << host.xsave_bytes.error();
  std::size_t room = 0;
  std::ifstream(installation->uml_kernel.parent_path() / "xsave_bytes") >> room;
  constexpr std::size_t kWithAvx512 = 2'696;
  constexpr std::size_t kWithAmx = 11'008;
  std::printf("# %s AMX: the XSAVE area has %zu bytes here, and the guests' kernel has room for %zu\n",
              *host.xsave_bytes > kWithAvx512 ? "with" : "without", *host.xsave_bytes, room);
  EXPECT_GE(room, kWithAmx);
  if (*host.xsave_bytes <= room) {
    EXPECT_EQ(installation->uml_obstacle, "");
  } else {
    EXPECT_NE(installation->uml_obstacle.find(std::to_string(*host.xsave_bytes)), std::string::npos);
    EXPECT_FALSE(installation->qemu_kernel.empty());
  }
}

TEST_F(UmlGuest, RunsItsCommandAndLeavesItsResult) {
  auto guest = start("echo \"$NOTE on $(hostname)\"; echo oops >&2; exit 5");
  ASSERT_TRUE(guest.await_end(seconds{30})) << text_of(guest.places().folder / "console");
  const auto result = guest.result();
  ASSERT_TRUE(result) << result.error().message << text_of(guest.places().folder / "console");
  EXPECT_EQ(result->exit_status, 5);
  EXPECT_EQ(text_of(result->stdout_path), "it's $HOME on h1\n");
  EXPECT_EQ(text_of(result->stderr_path), "oops\n");
}

TEST_F(UmlGuest, CannotWriteToTheRootThatAllGuestsShare) {
  auto guest = start("touch /etc/mine 2>/dev/null && exit 1; touch /tmp/mine /run/mine /dev/shm/mine");
  ASSERT_TRUE(guest.await_end(seconds{30}));
  ASSERT_TRUE(guest.result());
  EXPECT_EQ(guest.result()->exit_status, 0);
}

// Its root may mount hostfs of any folder of this machine: of what is there, it sees its own, and programs.
TEST_F(UmlGuest, ReachesNoFileOfThisMachineButItsOwn) {
  std::ofstream(folder_.path() / "secret") << "of somebody else";
  auto guest = start("mkdir /tmp/all && mount -t hostfs none /tmp/all -o / && ls /tmp/all && cat /tmp/all" +
                     (folder_.path() / "secret").string() + " && exit 1\n[ -e /tmp/all/etc/passwd ] && exit 2\n" +
                     "touch /tmp/all/usr/it 2>/dev/null && exit 3\nmknod /guest/disk b 8 0 2>/dev/null && exit 4\n" +
                     "ls /tmp/all/proc/1/root/ | grep -q home && exit 5\ntouch /tmp/all" +
                     (folder_.path() / "h1" / "own").string());
  ASSERT_TRUE(guest.await_end(seconds{30}));
  if (text_of(guest.places().folder / "console").find("kept from no file") != std::string::npos) {
    GTEST_SKIP() << "this machine permits no mount namespace";
  }
  ASSERT_TRUE(guest.result()) << text_of(guest.places().folder / "console");
  EXPECT_EQ(guest.result()->exit_status, 0) << text_of(guest.result()->stdout_path);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "h1" / "own"));
}

TEST_F(UmlGuest, WaitsForAnotherGuestsSignal) {
  auto waiting = start("softspine-guest await hello 20", "h1");
  auto telling = start("softspine-guest signal hello 'from h2'", "h2");
  ASSERT_TRUE(waiting.await_end(seconds{40}) && telling.await_end(seconds{40}));
  ASSERT_TRUE(waiting.result());
  EXPECT_EQ(waiting.result()->exit_status, 0);
  EXPECT_EQ(text_of(waiting.result()->stdout_path), "from h2\n");
}

TEST_F(UmlGuest, EndsItsCommandPolitelyWhenAsked) {
  auto guest =
      start("trap 'echo bye; exit 3' TERM; softspine-guest signal begun; while :; do read -t 0.1 x <>/run/never; done");
  ASSERT_TRUE(happens("begun"));
  EXPECT_TRUE(guest.ready());
  EXPECT_TRUE(guest.stop(seconds{20}));
  ASSERT_TRUE(guest.result());
  EXPECT_EQ(guest.result()->exit_status, 3);
  EXPECT_EQ(text_of(guest.result()->stdout_path), "bye\n");
}

TEST_F(UmlGuest, HasNoResultWhenKilledAndOneAfterARestart) {
  auto guest = start("[ -e /board/second ] && exit 0; while :; do read -t 1 x <>/run/never; done");
  ASSERT_FALSE(guest.await_end(seconds{2}));
  guest.kill();
  EXPECT_FALSE(guest.running());
  EXPECT_FALSE(guest.result());
  std::ofstream(folder_.path() / "board" / "second") << "";
  ASSERT_TRUE(guest.restart());
  ASSERT_TRUE(guest.await_end(seconds{30}));
  ASSERT_TRUE(guest.result());
  EXPECT_EQ(guest.result()->exit_status, 0);
}

TEST_F(UmlGuest, TellsWhichNicDidNotCome) {
  const GuestSpec spec{{.name = "h1",
                        .nics = {{folder_.path() / "nobody.sock", "02:00:00:00:00:01", {"10.0.0.1/24"}, {}, 1500}},
                        .run = "true"},
                       GuestKind::kUml,
                       96};
  auto guest = start_guest(spec, *installation_, folder_.path());
  ASSERT_TRUE(guest);
  ASSERT_TRUE(guest->await_end(seconds{30}));
  ASSERT_TRUE(guest->result());
  EXPECT_EQ(guest->result()->exit_status, 125);
  EXPECT_NE(text_of(guest->result()->stderr_path).find("eth0 is missing"), std::string::npos);
}

}  // namespace
}  // namespace softspine::testbeds
