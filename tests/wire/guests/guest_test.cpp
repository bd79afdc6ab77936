// SPDX-License-Identifier: Apache-2.0
// Guests without a NIC: a real kernel boots, runs a command, and is gone; no fabric needed.
#include "testbeds/guests/guest.hpp"

#include <gtest/gtest.h>

#include <array>

#include "testbeds/guests/installation.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::testbeds {
namespace {

using std::chrono::seconds;

class UmlGuest : public testing::Test {
 protected:
  static void SetUpTestSuite() { installation_ = prepare_installation({GuestKind::kUml}); }
  void SetUp() override {
    ASSERT_TRUE(installation_) << installation_.error().path << ": " << installation_.error().message;
  }

  Guest start(const std::string& run, const std::string& name = "h1") {
    GuestSpec spec{.name = name, .run = run, .memory_mib = 96, .env = {{"NOTE", "it's $HOME"}}};
    auto guest = Guest::start(spec, *installation_, folder_.path());
    if (!guest) throw std::runtime_error(guest.error().front().message);
    return std::move(*guest);
  }

  static std::expected<Installation, Error> installation_;
  ScratchFolder folder_;
};

std::expected<Installation, Error> UmlGuest::installation_;

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
  ASSERT_FALSE(guest.await_end(seconds{3}));
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
  GuestSpec spec{.name = "h1",
                 .nics = {{folder_.path() / "nobody.sock", "02:00:00:00:00:01", {"10.0.0.1/24"}, {}, 1500}},
                 .run = "true",
                 .memory_mib = 96};
  auto guest = Guest::start(spec, *installation_, folder_.path());
  ASSERT_TRUE(guest);
  ASSERT_TRUE(guest->await_end(seconds{30}));
  ASSERT_TRUE(guest->result());
  EXPECT_EQ(guest->result()->exit_status, 125);
  EXPECT_NE(text_of(guest->result()->stderr_path).find("eth0 is missing"), std::string::npos);
}

}  // namespace
}  // namespace softspine::testbeds
