// SPDX-License-Identifier: Apache-2.0
// Programs on a line without a guest: softspine-agent is a process of this machine, and runs them here. Between it and
// `softspine exec` is everything that there is with a guest, but the guest's kernel.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/units/rng.hpp"
#include "testbeds/guest_line/guest_line.hpp"
#include "testbeds/guests/installation.hpp"
#include "tests/harness/seed.hpp"
#include "tests/wire/process/scratch_folder.hpp"
#include "tools/softspine/labs/guest_program.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::OwnedFd;

struct Outcome {
  int status = -1;
  std::string output;
  std::string errors;
};

// A user who speaks frames.
class Talk {
 public:
  explicit Talk(const std::filesystem::path& socket) : socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.native().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  void begin(const std::vector<std::string>& command, const BeginTerms& terms = {}) {
    append_frame(out_, {.kind = FrameKind::kWords, .payload = words_text({{"TERM=dumb"}, command})});
    append_begin(out_, 0, terms);
    flush();
  }
  void type(std::string_view bytes) { say({.kind = FrameKind::kData, .payload = bytes}); }
  void say(const LineFrame& frame) {
    append_frame(out_, frame);
    flush();
  }
  void say_number(FrameKind kind, uint32_t number) {
    append_number(out_, kind, Stream::kInput, 0, number);
    flush();
  }
  void say_size(TerminalSize size) {
    append_size(out_, 0, size);
    flush();
  }
  // Of this kind; what comes before it goes into `output`. False if none comes.
  bool await(FrameKind kind) {
    for (;;) {
      while (const auto frame = reader_.next()) {
        if (frame->kind == FrameKind::kData) output += frame->payload;
        if (frame->kind == FrameKind::kEnded) status = static_cast<int>(number_in(*frame).value_or(0));
        if (frame->kind == kind) return true;
      }
      char bytes[4096];
      const ssize_t got = recv(socket_.get(), bytes, sizeof bytes, 0);
      if (got <= 0) return false;
      reader_.add({bytes, static_cast<size_t>(got)});
    }
  }
  bool await_text(const std::string& text) {
    while (output.find(text) == std::string::npos) {
      if (!await(FrameKind::kData)) return false;
    }
    output.erase(0, output.find(text) + text.size());
    return true;
  }
  void leave() { socket_ = {}; }

  std::string output;
  int status = -1;

 private:
  void flush() {
    EXPECT_EQ(send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL), static_cast<ssize_t>(out_.size()));
    out_.clear();
  }
  OwnedFd socket_;
  std::string out_;
  FrameReader reader_;
};

class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    auto line = GuestLine::open("h1", folder_.path() / "line");
    if (!line) throw std::runtime_error(line.error().message);
    line_ = std::move(*line);
    agent_ = fork();
    if (agent_ == 0) {
      const int end = dup(line_->guest_end());
      execl(agent_program().c_str(), "softspine-agent", std::to_string(end).c_str(), nullptr);
      _exit(127);
    }
    line_->close_guest_end();
  }
  ~AgentTest() override {
    line_.reset();
    int how = 0;
    waitpid(agent_, &how, 0);
    EXPECT_TRUE(is_killed_ || (WIFEXITED(how) && WEXITSTATUS(how) == 0)) << how;
  }

  void kill_agent() {
    is_killed_ = true;
    kill(agent_, SIGKILL);
  }

  Outcome run(const std::vector<std::string>& command, const std::string& given = "") {
    const std::string name = folder_.path() / std::to_string(++runs_);
    std::ofstream(name + ".in") << given;
    const OwnedFd input{open((name + ".in").c_str(), O_RDONLY | O_CLOEXEC)};
    const OwnedFd output{open((name + ".out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    const OwnedFd errors{open((name + ".err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    const auto status =
        tools::run_in_guest({.host = "h1", .environment = {{"OF_HOST", "yes"}}, .line = line_->socket()}, command,
                            {input.get(), output.get(), errors.get(), false});
    EXPECT_TRUE(status) << status.error();
    return {status.value_or(-1), text_of(name + ".out"), text_of(name + ".err")};
  }

  ScratchFolder folder_;
  std::unique_ptr<GuestLine> line_;
  pid_t agent_ = -1;
  bool is_killed_ = false;
  std::atomic<int> runs_ = 0;
};

std::string random_bytes(size_t size, uint64_t stream) {
  dataplane::Rng rng{tests::seed(), stream};
  std::string out(size, '\0');
  for (char& byte : out) byte = static_cast<char>(rng.below(256));
  return out;
}

bool ends_soon(pid_t process) {
  for (int tries = 0; tries < 1'000 && kill(process, 0) == 0; ++tries) usleep(10'000);
  return kill(process, 0) != 0;
}

TEST_F(AgentTest, ProgramsHaveStreamsApartVariablesAndAStatus) {
  const Outcome outcome = run({"sh", "-c", "cat; echo $OF_HOST oops >&2; exit 7"}, "given\n");
  EXPECT_EQ(outcome.status, 7);
  EXPECT_EQ(outcome.output, "given\n");
  EXPECT_EQ(outcome.errors, "yes oops\n");
}

TEST_F(AgentTest, WhatCannotRunHasTheStatusOfAShell) {
  const Outcome missing = run({"nothing-of-that-name"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_EQ(missing.errors, "softspine: nothing-of-that-name: No such file or directory\n");
  EXPECT_EQ(run({"/etc/passwd"}).status, 126);
  EXPECT_EQ(run({"sh", "-c", "kill -TERM $$"}).status, 128 + SIGTERM);
  EXPECT_EQ(run({"true", std::string(kMaxWordsBytes, 'x')}).status, 126);
  EXPECT_EQ(run({"sh", "-c", "printf %s \"$1\" | wc -c", "sh", std::string(100'000, 'x')}).output, "100000\n");
}

TEST_F(AgentTest, AHundredInARowAreAllRun) {
  for (int i = 0; i < 100; ++i) {
    const Outcome outcome = run({"sh", "-c", "echo $1; exit $1", "sh", std::to_string(i)});
    ASSERT_EQ(outcome.status, i);
    ASSERT_EQ(outcome.output, std::to_string(i) + "\n");
  }
}

TEST_F(AgentTest, TenMegabytesPassBothWays) {
  const std::string given = random_bytes(10'000'000, 1);
  const Outcome outcome = run({"cat"}, given);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.output == given) << outcome.output.size();
}

TEST_F(AgentTest, ManyAtOnceGetTheirOwnBytes) {
  std::vector<std::future<bool>> all;
  for (uint64_t i = 0; i < 100; ++i) {  // more than there may be at once
    all.push_back(std::async(std::launch::async, [this, i] {
      const std::string given = random_bytes(100'000 + i * 1'000, i);
      const Outcome outcome = run({"sh", "-c", "cat; exit " + std::to_string(i)}, given);
      return outcome.status == static_cast<int>(i) && outcome.output == given;
    }));
  }
  for (auto& each : all) EXPECT_TRUE(each.get());
}

TEST_F(AgentTest, AUserWhoDoesNotReadHoldsUpNobody) {
  Talk lazy{line_->socket()};
  lazy.begin({"sh", "-c", "yes & yes >&2"});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run({"echo", "here"}).output, "here\n");
}

TEST_F(AgentTest, WhatAProgramLeavesBehindIsNotWaitedFor) {
  const Outcome outcome = run({"sh", "-c", "sleep 1000 & echo $!"});
  EXPECT_EQ(outcome.status, 0);
  kill(std::stoi(outcome.output), SIGKILL);
  const Outcome loud = run({"sh", "-c", "yes & echo $! >&2"});
  EXPECT_EQ(loud.status, 0);
  EXPECT_TRUE(ends_soon(std::stoi(loud.errors))) << "nobody reads it any more";
}

TEST_F(AgentTest, InputThatNobodyReadsHoldsUpNoEnd) {
  EXPECT_EQ(run({"sh", "-c", "exit 3"}, random_bytes(1'000'000, 1)).status, 3);
  EXPECT_EQ(run({"sh", "-c", "exec <&-; echo said; exit 4"}, random_bytes(1'000'000, 1)).output, "said\n");
}

TEST_F(AgentTest, AProgramEndsWithItsUser) {
  Talk user{line_->socket()};
  user.begin({"sh", "-c", "trap '' HUP TERM; echo pid $$; while :; do sleep 1; done"});
  ASSERT_TRUE(user.await_text("pid "));
  while (!user.output.ends_with('\n')) ASSERT_TRUE(user.await(FrameKind::kData));
  const pid_t process = std::stoi(user.output);
  user.leave();
  EXPECT_TRUE(ends_soon(process));
}

TEST_F(AgentTest, ASignalReachesTheProgram) {
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) {
    Talk user{line_->socket()};
    user.begin({"bash", "-c", "trap 'exit 42' TERM INT USR1; echo ready; while :; do read -t 0.02 <> <(:); done"});
    ASSERT_TRUE(user.await_text("ready"));
    user.say_number(FrameKind::kSignal, static_cast<uint32_t>(number));
    EXPECT_TRUE(user.await(FrameKind::kEnded));
    EXPECT_EQ(user.status, 42);
  }
}

TEST_F(AgentTest, ATerminalHasASizeCtrlCAndCtrlZ) {
  Talk user{line_->socket()};
  user.begin({"bash", "-c", "trap 'echo goes-on' CONT; stty size; tty; echo begins; while :; do read -t 0.05; done"},
             {.has_terminal = true, .size = {40, 123}});
  ASSERT_TRUE(user.await_text("40 123"));
  ASSERT_TRUE(user.await_text("/dev/pts/"));
  ASSERT_TRUE(user.await_text("begins"));
  user.type("\x1a");
  ASSERT_TRUE(user.await(FrameKind::kStopped));
  user.say({.kind = FrameKind::kResume});
  ASSERT_TRUE(user.await_text("goes-on"));
  user.type("\x03");
  ASSERT_TRUE(user.await(FrameKind::kEnded));
  EXPECT_EQ(user.status, 128 + SIGINT);
}

TEST_F(AgentTest, AShellOnATerminalControlsJobs) {
  Talk user{line_->socket()};
  user.begin({"bash", "--norc", "-i"}, {.has_terminal = true, .has_errors_apart = false, .size = {24, 80}});
  user.say_size({25, 81});
  user.type("stty size\n");
  ASSERT_TRUE(user.await_text("25 81"));
  user.type("sh -c 'echo beg\"\"ins; exec sleep 1000'\n");
  ASSERT_TRUE(user.await_text("begins"));
  user.type("\x1a");
  ASSERT_TRUE(user.await_text("Stopped"));
  user.type("kill -KILL %1; wait; echo it was $?\n");
  ASSERT_TRUE(user.await_text("it was "));
  // Twice: bash refuses the first one while it has not heard yet that its stopped job is dead.
  user.type("exit 9\nexit 9\n");
  ASSERT_TRUE(user.await(FrameKind::kEnded));
  EXPECT_EQ(user.status, 9);
}

TEST_F(AgentTest, TheEndOfTheGuestIsTheEndOfItsPrograms) {
  Talk user{line_->socket()};
  user.begin({"sh", "-c", "echo ready; exec sleep 5"});
  ASSERT_TRUE(user.await_text("ready"));
  kill_agent();
  EXPECT_TRUE(user.await(FrameKind::kLost));
  EXPECT_EQ(run({"true"}).status, 128 + SIGKILL);
}

}  // namespace
}  // namespace softspine::testbeds
