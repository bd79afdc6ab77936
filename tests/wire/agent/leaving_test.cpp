// SPDX-License-Identifier: Apache-2.0
// A user can leave: a guest that does not answer, a program that has ended, a reader that is gone.
#include <pty.h>
#include <termios.h>

#include <string>
#include <string_view>

#include "tests/wire/agent/agent_fixture.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::OwnedFd;
using tests::FrameTalk;

struct PipeEnds {
  OwnedFd out;
  OwnedFd in;
};

PipeEnds pipe_ends() {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {OwnedFd{ends[0]}, OwnedFd{ends[1]}};
}

std::string all_of(const OwnedFd& file) {
  std::string text;
  char bytes[4096];
  for (ssize_t got = 0; (got = read(file.get(), bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<size_t>(got));
  return text;
}

// The signal again and again, as somebody sends it who waits.
int status_after_many(Beside& user, int number) {
  for (int tries = 0; tries < 100 && !ends_soon(user.process(), 100); ++tries) kill(user.process(), number);
  return user.status();
}

// The test is the guest.
class Leaving : public testing::Test {
 protected:
  Leaving() {
    auto line = GuestLine::open("h1", folder_.path() / "line");
    if (!line) throw std::runtime_error(line.error().message);
    line_ = std::move(*line);
    guest_ = std::make_unique<FrameTalk>(OwnedFd{fcntl(line_->guest_end(), F_DUPFD_CLOEXEC, 3)});
    line_->close_guest_end();
  }
  void greet() const {
    guest_->put_bytes(hello_frame());
    EXPECT_EQ(guest_->next_text(), "1 0 0 " + std::string{kHelloText});
    guest_->put_number(FrameKind::kTaken, 0);
  }
  tools::HostEntrance entrance() const {
    return {.host = "h1", .environment = {}, .folder = {}, .process = {}, .line = line_->socket()};
  }
  int run(int output = 1, bool may_be_terminal = false) const {
    const tools::ProgramStreams streams{.input = 0, .output = output, .errors = 2, .may_be_terminal = may_be_terminal};
    return tools::run_in_guest(entrance(), {"true"}, streams).value_or(200);
  }

  ScratchFolder folder_;
  std::unique_ptr<GuestLine> line_;
  std::unique_ptr<FrameTalk> guest_;
};

TEST_F(Leaving, ASignalEndsOneWhoWaitsForTheGuestToBoot) {
  for (const int number : {SIGINT, SIGTERM}) {
    Beside user{[this] { return run(); }};
    user.send(number);
    EXPECT_EQ(user.status(), 128 + number);
  }
}

TEST_F(Leaving, ASignalEndsOneWhoseProgramHasNotBegun) {
  greet();
  Beside user{[this] { return run(); }};
  ASSERT_TRUE(guest_->await(FrameKind::kBegin));
  user.send(SIGTERM);
  EXPECT_EQ(user.status(), 128 + SIGTERM);
  EXPECT_TRUE(guest_->await(FrameKind::kHangUp));
}

TEST_F(Leaving, ASignalEndsOneWhoseProgramHasEndedButIsNotRead) {
  greet();
  const PipeEnds stuck = pipe_ends();
  Beside user{[&] { return run(stuck.in.get()); }};
  ASSERT_TRUE(guest_->await(FrameKind::kBegin));
  guest_->put({.kind = FrameKind::kAnswer, .program = 1});
  for (int i = 0; i < 8; ++i) {
    guest_->put({FrameKind::kData, Stream::kOutput, 1, std::string(kMaxPayloadBytes / 2, 'x')});
  }
  // The pipe is full when it has taken as much as a pipe holds.
  for (size_t taken = 0; taken < kWindowBytes - 8'192;) {
    const std::string text = guest_->next_text();
    ASSERT_NE(text, "end");
    if (!text.starts_with("6 1 1 ")) continue;
    taken += static_cast<uint8_t>(text[6]) + (static_cast<size_t>(static_cast<uint8_t>(text[7])) << 8);
  }
  guest_->put({FrameKind::kData, Stream::kOutput, 1, std::string(kMaxPayloadBytes, 'x')});
  guest_->put_number(FrameKind::kEnded, 0, 1);
  EXPECT_FALSE(ends_soon(user.process(), 0));
  EXPECT_EQ(status_after_many(user, SIGTERM), 128 + SIGTERM);
}

TEST_F(Leaving, ASecondSignalEndsOneWhoseGuestDoesNotAnswerTheFirst) {
  greet();
  const PipeEnds output = pipe_ends();
  PipeEnds errors = pipe_ends();
  Beside user{[&] {
    dup2(errors.in.get(), 2);
    return run(output.in.get());
  }};
  errors.in = {};
  ASSERT_TRUE(guest_->await(FrameKind::kBegin));
  guest_->put({.kind = FrameKind::kAnswer, .program = 1});
  guest_->put({FrameKind::kData, Stream::kOutput, 1, "x"});
  ASSERT_TRUE(guest_->await(FrameKind::kTaken)) << "it has the answer, too";
  user.send(SIGTERM);
  EXPECT_TRUE(guest_->await(FrameKind::kSignal)) << "the first one is the program's";
  EXPECT_EQ(status_after_many(user, SIGTERM), 128 + SIGTERM);
  EXPECT_EQ(all_of(errors.out), "softspine: the guest does not answer\n");
}

TEST_F(Leaving, TheTerminalIsRawOnlyOnceTheGuestAnswersAndCtrlCLeavesASilentOne) {
  greet();
  int master = -1;
  const pid_t process = forkpty(&master, nullptr, nullptr, nullptr);
  if (process == 0) _exit(run(1, true));
  const OwnedFd keys{master};
  const auto is_raw = [&] {
    termios settings{};
    tcgetattr(keys.get(), &settings);
    return (settings.c_lflag & ICANON) == 0;
  };
  ASSERT_TRUE(guest_->await(FrameKind::kBegin));
  EXPECT_FALSE(is_raw());
  guest_->put({.kind = FrameKind::kAnswer, .program = 1});
  while (!is_raw()) ASSERT_FALSE(ends_soon(process, 10));
  EXPECT_EQ(write(keys.get(), "x", 1), 1);
  ASSERT_TRUE(guest_->await_text("x")) << "without a newline";
  for (int tries = 0; tries < 100 && !ends_soon(process, 100); ++tries) {
    EXPECT_EQ(write(keys.get(), "\x03", 1), 1);
  }
  EXPECT_TRUE(guest_->await_text("\x03")) << "the first one was the program's";
  int how = 0;
  kill(process, SIGKILL);
  waitpid(process, &how, 0);
  EXPECT_EQ(exit_status_of(how), 128 + SIGINT);
  EXPECT_FALSE(is_raw());
}

TEST_F(AgentTest, AnAnsweredSignalMayComeAgain) {
  const PipeEnds output = pipe_ends();
  Beside user{[&] {
    const auto status = tools::run_in_guest(
        entrance(),
        {"bash", "-c", "trap 'echo t' TERM; trap 'exit 9' INT; echo ready; while :; do read -t 0.02 <> <(:); done"},
        {.input = 0, .output = output.in.get(), .errors = 2, .may_be_terminal = false});
    return status.value_or(200);
  }};
  char byte = 0;
  for (int lines = 0; lines < 20;) {
    if (read(output.out.get(), &byte, 1) != 1) break;
    if (byte != '\n') continue;
    ++lines;
    user.send(SIGTERM);
  }
  user.send(SIGINT);
  EXPECT_EQ(user.status(), 9);
}

TEST_F(AgentTest, AReaderWhoIsGoneEndsIt) {
  PipeEnds output = pipe_ends();
  output.out = {};
  const auto status = tools::run_in_guest(
      entrance(), {"yes"}, {.input = 0, .output = output.in.get(), .errors = 2, .may_be_terminal = false});
  EXPECT_EQ(status.value_or(200), 128 + SIGPIPE);
  const OwnedFd full{open("/dev/full", O_WRONLY | O_CLOEXEC)};
  EXPECT_EQ(tools::run_in_guest(entrance(), {"yes"}, {.input = 0, .output = full.get(), .may_be_terminal = false}), 1);
}

}  // namespace
}  // namespace softspine::testbeds
