// SPDX-License-Identifier: Apache-2.0
// A kept command and all that it started end with their owner. The witness is a pipe whose write end every process of
// the command inherits: it reads as closed only when the last of them is gone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/process/keeper_program.hpp"
#include "testbeds/process/kept_process.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{10000};

// A shell with a child, an orphan in a session of its own, and one that ignores what it can: all alive until killed.
// Each holds the fifo open for writing; `up` is said when they are.
const std::string kFamily =
    "exec 7>witness; trap '' TERM HUP INT; cat /dev/zero >/dev/null & "
    "(setsid sh -c 'trap \"\" TERM HUP; cat /dev/zero >/dev/null' &) ; echo up >&7; while :; do wait; read x "
    "</dev/null; done";

class Keeper : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    keeper_ = keeper_program();
    const auto fifo = folder_.path() / "witness";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    witness_ = OwnedFd(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }

  std::expected<KeptProcess, Error> start(const std::string& script) {
    std::vector<std::string> command;
    if (!GetParam()) command.push_back("--no-namespace");
    const auto in_folder = "cd " + folder_.path().string() + "; " + script;
    command.insert(command.end(), {"/bin/sh", "-c", in_folder});
    return KeptProcess::start(keeper_, command, {"PATH=/usr/bin:/bin"}, folder_.path() / "output");
  }

  bool witness_says_up() {
    pollfd polled{witness_.get(), POLLIN, 0};
    std::array<char, 3> word{};
    return poll(&polled, 1, kPatience.count()) == 1 && read(witness_.get(), word.data(), 3) == 3 && word[0] == 'u';
  }

  bool nobody_is_left() {
    pollfd polled{witness_.get(), POLLIN, 0};
    char byte = 0;
    return poll(&polled, 1, kPatience.count()) == 1 && read(witness_.get(), &byte, 1) == 0;
  }

  ScratchFolder folder_;
  std::filesystem::path keeper_;
  OwnedFd witness_;
};

TEST_P(Keeper, PassesOnOutputAndExitStatus) {
  auto process = start("echo said; echo wrong >&2; exit 7");
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE(process->await_end(kPatience));
  EXPECT_EQ(process->exit_status(), 7);
  EXPECT_EQ(text_of(folder_.path() / "output"), "said\nwrong\n");
}

// Not in the variant without namespaces: it says that it cannot.
TEST_P(Keeper, ShowsACommandThePathsThatItIsTold) {
  const auto path = [this](const char* name) { return (folder_.path() / name).string(); };
  for (const char* name : {"mine", "shown", "hidden"}) std::filesystem::create_directory(path(name));
  std::ofstream(path("shown/file")) << "read";
  std::ofstream(path("hidden/file")) << "secret";
  const std::string script = "cat " + path("shown/file") + "; cat " + path("hidden/file") + " /etc/passwd; echo x >" +
                             path("shown/new") + "; echo y >" + path("mine/new") + "; mknod " + path("mine/disk") +
                             " b 8 0; echo x >/proc/sys/kernel/domainname && echo sysctl; ls /; grep -c : "
                             "/proc/net/dev; grep CapBnd /proc/self/status; mount -t tmpfs x " +
                             path("mine") + "; true";
  std::vector<std::string> command{"/bin/sh", "-c", script};
  if (!GetParam()) command.insert(command.begin(), "--no-namespace");
  const Sight sight{.read = {path("shown")}, .write = {path("mine")}};
  auto process = KeptProcess::start(keeper_, command, {"PATH=/usr/bin:/bin"}, path("output"), sight);
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE(process->await_end(kPatience));
  const std::string said = text_of(path("output"));
  if (said.find("kept from no file") != std::string::npos) {
    EXPECT_EQ(text_of(path("hidden/file")), "secret");
    EXPECT_NE(said.find("secret"), std::string::npos) << said;
    return;
  }
  EXPECT_EQ(process->exit_status(), 0);
  EXPECT_TRUE(GetParam());
  EXPECT_NE(said.find("read"), std::string::npos) << said;
  EXPECT_EQ(said.find("secret"), std::string::npos) << said;
  EXPECT_EQ(said.find("root:"), std::string::npos) << said;
  EXPECT_EQ(said.find("\nsysctl\n"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(path("shown/new")));
  EXPECT_EQ(text_of(path("mine/new")), "y\n");
  EXPECT_FALSE(std::filesystem::exists(path("mine/disk")));
  EXPECT_EQ(said.find("\nhome\n"), std::string::npos) << said;
  EXPECT_NE(said.find("\n1\n"), std::string::npos) << "lo alone: " << said;
  EXPECT_NE(said.find("CapBnd:\t000000000000001b\n"), std::string::npos) << said;
}

TEST_P(Keeper, LetsACommandInheritTheDescriptorThatItIsTold) {
  int kept[2];
  int other[2];
  ASSERT_EQ(pipe2(kept, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(other, O_CLOEXEC), 0);
  for (const int* ends : {kept, other}) {
    const OwnedFd reads(ends[0]);
    const OwnedFd writes(ends[1]);
    std::vector<std::string> command{"/bin/bash", "-c", "echo here >&" + std::to_string(kept[1])};
    if (!GetParam()) command.insert(command.begin(), "--no-namespace");
    auto process = KeptProcess::start(keeper_, command, {}, folder_.path() / "output", {}, ends[1]);
    ASSERT_TRUE(process) << process.error().message;
    ASSERT_TRUE(process->await_end(kPatience));
    EXPECT_EQ(process->exit_status() == 0, ends == kept);
    std::array<char, 8> said{};
    pollfd polled{reads.get(), POLLIN, 0};
    EXPECT_EQ(poll(&polled, 1, 0) == 1 && read(reads.get(), said.data(), 8) == 5, ends == kept);
  }
}

TEST_P(Keeper, TellsThatACommandCouldNotBeStarted) {
  std::vector<std::string> command;
  if (!GetParam()) command.push_back("--no-namespace");
  command.push_back("/nonexistent");
  auto process = KeptProcess::start(keeper_, command, {}, folder_.path() / "output");
  ASSERT_TRUE(process);
  ASSERT_TRUE(process->await_end(kPatience));
  EXPECT_EQ(process->exit_status(), 126);
  EXPECT_NE(text_of(folder_.path() / "output").find("/nonexistent"), std::string::npos);
}

TEST_P(Keeper, KillsTheWholeFamilyWhenAsked) {
  auto process = start(kFamily);
  ASSERT_TRUE(process);
  ASSERT_TRUE(witness_says_up());
  EXPECT_TRUE(process->running());
  process->kill();
  EXPECT_FALSE(process->running());
  EXPECT_EQ(process->exit_status(), 128 + SIGKILL);
  EXPECT_TRUE(nobody_is_left());
}

TEST_P(Keeper, KillsWhatTheCommandLeavesBehind) {
  auto process = start("exec 7>witness; (setsid cat /dev/zero >/dev/null &); echo up >&7; exit 3");
  ASSERT_TRUE(process);
  ASSERT_TRUE(process->await_end(kPatience));
  EXPECT_EQ(process->exit_status(), 3);
  ASSERT_TRUE(witness_says_up());
  EXPECT_TRUE(nobody_is_left());
}

TEST_P(Keeper, KillsTheFamilyOfAnOwnerThatWasKilled) {
  const pid_t owner = fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    auto process = start(kFamily);
    while (process) pause();
    _exit(1);
  }
  EXPECT_TRUE(witness_says_up());
  kill(owner, SIGKILL);
  EXPECT_EQ(waitpid(owner, nullptr, 0), owner);
  EXPECT_TRUE(nobody_is_left());
}

INSTANTIATE_TEST_SUITE_P(ByNamespaceAndByReaping, Keeper, testing::Bool(),
                         [](const auto& it) { return it.param ? "InANamespace" : "WithoutOne"; });

}  // namespace
}  // namespace softspine::testbeds
