// SPDX-License-Identifier: Apache-2.0
// Programs on a line: streams, terminals, signals, ends.
#include <sys/socket.h>

#include <future>
#include <string>
#include <vector>

#include "tests/wire/agent/agent_fixture.hpp"

namespace softspine::testbeds {
namespace {

using namespace std::string_literals;
using dataplane::OwnedFd;
using tests::FrameTalk;

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
  FrameTalk lazy{line_->socket()};
  lazy.begin({"sh", "-c", "yes & exec yes >&2"});
  ASSERT_TRUE(lazy.await(FrameKind::kData)) << "it writes";
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run({"echo", "here"}).output, "here\n");
}

TEST_F(AgentTest, WhatAProgramLeavesBehindIsNotWaitedFor) {
  const Outcome outcome = run({"sh", "-c", "sleep 1000 & echo $!"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(kill(std::stoi(outcome.output), SIGKILL), 0) << "it is left";
  const Outcome loud = run({"sh", "-c", "yes & echo $! >&2"});
  EXPECT_EQ(loud.status, 0);
  EXPECT_TRUE(ends_soon(std::stoi(loud.errors))) << "nobody reads it any more";
}

TEST_F(AgentTest, InputThatNobodyReadsHoldsUpNoEnd) {
  EXPECT_EQ(run({"sh", "-c", "exit 3"}, random_bytes(1'000'000, 1)).status, 3);
  EXPECT_EQ(run({"sh", "-c", "exec <&-; echo said; exit 4"}, random_bytes(1'000'000, 1)).output, "said\n");
}

TEST_F(AgentTest, AProgramEndsWithItsUser) {
  FrameTalk user{line_->socket()};
  user.begin({"sh", "-c", "trap '' HUP TERM; echo pid $$; while :; do sleep 1; done"});
  ASSERT_TRUE(user.await_text("pid "));
  const pid_t process = user.await_number();
  ASSERT_GT(process, 0);
  user.leave();
  EXPECT_TRUE(ends_soon(process));
}

TEST_F(AgentTest, ASignalReachesTheProgram) {
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) {
    FrameTalk user{line_->socket()};
    user.begin({"bash", "-c", "trap 'exit 42' TERM INT USR1; echo ready; while :; do read -t 0.02 <> <(:); done"});
    ASSERT_TRUE(user.await_text("ready"));
    user.put_number(FrameKind::kSignal, static_cast<uint32_t>(number));
    EXPECT_TRUE(user.await(FrameKind::kEnded));
    EXPECT_EQ(user.status, 42);
  }
}

TEST_F(AgentTest, ATerminalHasASizeCtrlCAndCtrlZ) {
  FrameTalk user{line_->socket()};
  user.begin({"bash", "-c", "trap 'echo goes-on' CONT; stty size; tty; echo begins; while :; do read -t 0.05; done"},
             {.has_terminal = true, .size = {40, 123}});
  ASSERT_TRUE(user.await_text("40 123"));
  ASSERT_TRUE(user.await_text("/dev/pts/"));
  ASSERT_TRUE(user.await_text("begins"));
  user.type("\x1a");
  ASSERT_TRUE(user.await(FrameKind::kStopped));
  user.put({.kind = FrameKind::kResume});
  ASSERT_TRUE(user.await_text("goes-on"));
  user.type("\x03");
  ASSERT_TRUE(user.await(FrameKind::kEnded));
  EXPECT_EQ(user.status, 128 + SIGINT);
}

TEST_F(AgentTest, AShellOnATerminalControlsJobs) {
  FrameTalk user{line_->socket()};
  user.begin({"bash", "--norc", "-i"}, {.has_terminal = true, .has_errors_apart = false, .size = {24, 80}});
  user.put_size({25, 81});
  user.type("PS1='rea''dy> '; stty size\n");
  ASSERT_TRUE(user.await_text("25 81"));
  user.type("bash -c 'trap \"echo goes\"\"-on\" CONT; echo beg\"\"ins; while :; do read -t 0.05; done'\n");
  ASSERT_TRUE(user.await_text("begins"));
  user.type("\x1a");
  ASSERT_TRUE(user.await_text("Stopped"));
  user.type("fg\n");
  ASSERT_TRUE(user.await_text("goes-on"));
  user.type("\x03");
  ASSERT_TRUE(user.await_text("ready> "));
  user.type("echo it w\"\"as $?\n");
  ASSERT_TRUE(user.await_text("it was 130"));
  user.type("exit 9\n");
  ASSERT_TRUE(user.await(FrameKind::kEnded));
  EXPECT_EQ(user.status, 9);
}

TEST_F(AgentTest, TheEndOfTheGuestIsTheEndOfItsPrograms) {
  FrameTalk user{line_->socket()};
  user.begin({"sh", "-c", "echo pid $$; exec sleep 1000"});
  ASSERT_TRUE(user.await_text("pid "));
  const pid_t process = user.await_number();
  end_guest();
  EXPECT_EQ(user.next_text(), "13 0 0 h1 has ended");
  EXPECT_TRUE(ends_soon(process));
  EXPECT_EQ(run({"true"}).status, 128 + SIGKILL);
}

TEST_F(AgentTest, AnAgentThatIsStartedAgainHasNoneOfThePrograms) {
  FrameTalk user{line_->socket()};
  user.begin({"sh", "-c", "yes >&2 & echo pid $$; exec sleep 1000"});
  ASSERT_TRUE(user.await_text("pid "));
  const pid_t process = user.await_number();
  kill_agent();
  EXPECT_TRUE(ends_soon(process));
  start_agent();
  EXPECT_TRUE(user.await(FrameKind::kLost));
  EXPECT_EQ(user.next_text(), "end");
  EXPECT_EQ(run({"echo", "here"}).output, "here\n");
}

TEST_F(AgentTest, AnswersABeginAndASignalAtOnce) {
  FrameTalk user{line_->socket()};
  user.begin({"sh", "-c", "trap '' TERM; while :; do sleep 1000; done"});
  EXPECT_EQ(user.next_text(), "14 0 0 ");
  user.put_number(FrameKind::kSignal, SIGTERM);
  EXPECT_EQ(user.next_text(), "14 0 0 ");
}

TEST_F(AgentTest, ASecondBeginIsNone) {
  FrameTalk user{line_->socket()};
  user.begin({"sh", "-c", "read line; echo $line; exit 5"});
  user.begin({"touch", "second"});
  user.type("first\n");
  int answers = 0;
  std::string text = user.next_text();
  for (; !text.starts_with("12 ") && text != "end"; text = user.next_text()) answers += text == "14 0 0 " ? 1 : 0;
  EXPECT_EQ(text, "12 0 0 \x05\0\0\0"s);
  EXPECT_EQ(answers, 1);
  EXPECT_FALSE(std::filesystem::exists(guests_folder() / "second"));
}

TEST_F(AgentTest, WithoutATerminalASignalIsForTheProcessGroup) {
  FrameTalk user{line_->socket()};
  user.begin({"sh", "-c", "sleep 1000 & echo pid $!; wait"});
  ASSERT_TRUE(user.await_text("pid "));
  const pid_t process = user.await_number();
  user.put_number(FrameKind::kSignal, SIGTERM);
  EXPECT_TRUE(user.await(FrameKind::kEnded));
  EXPECT_EQ(user.status, 128 + SIGTERM);
  EXPECT_TRUE(ends_soon(process));
}

// The test is the other end of the line, and reads slowly: the first program always has more for it.
TEST(AgentLine, EachProgramHasItsTurn) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const int little = 4'096;  // so that the agent always has more to write than it can
  ASSERT_EQ(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
  FrameTalk line{OwnedFd{ends[0]}};
  OwnedFd theirs{ends[1]};
  Beside agent{[&] {
    const int end = dup(theirs.get());
    execl(agent_program().c_str(), "softspine-agent", std::to_string(end).c_str(), nullptr);
    return 127;
  }};
  theirs = {};
  ASSERT_EQ(line.next_text(), "1 0 0 " + std::string{kHelloText});
  std::string bytes = hello_frame();
  const std::vector<std::vector<std::string>> commands{{"sh", "-c", "yes & exec yes >&2"}, {"yes", "second"}};
  for (uint32_t program = 1; program <= 2; ++program) {
    append_frame(bytes,
                 {.kind = FrameKind::kWords, .program = program, .payload = words_text({{}, commands[program - 1]})});
    append_begin(bytes, program, {});
  }
  line.put_bytes(bytes);
  int of_the_second = 0;
  for (int frames = 0; frames < 300; ++frames) {
    const std::string text = line.next_text();
    for (const Stream stream : {Stream::kOutput, Stream::kErrors}) {
      const std::string head = "4 " + std::to_string(static_cast<int>(stream)) + " ";
      if (!text.starts_with(head)) continue;
      const auto program = static_cast<uint32_t>(text[head.size()] - '0');
      of_the_second += program == 2 ? 1 : 0;
      line.put_number(FrameKind::kTaken, static_cast<uint32_t>(text.size() - head.size() - 2), program, stream);
    }
  }
  EXPECT_GT(of_the_second, 30);
}

}  // namespace
}  // namespace softspine::testbeds
