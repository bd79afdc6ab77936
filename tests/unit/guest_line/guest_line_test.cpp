// SPDX-License-Identifier: Apache-2.0
// The run's end of a line. The test is the guest's agent, and the users of its programs.
#include "testbeds/guest_line/guest_line.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "tests/unit/server/socket_scratch.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::OwnedFd;

// One end of a conversation of frames. Waits for what it expects.
class Speaker {
 public:
  explicit Speaker(OwnedFd socket) : socket_(std::move(socket)) {}

  void say(const LineFrame& frame) const {
    std::string bytes;
    append_frame(bytes, frame);
    say_bytes(bytes);
  }
  void say_bytes(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // As text: kind, stream, program, payload; "end" if no more comes.
  std::string hear() {
    for (;;) {
      if (const auto frame = reader_.next()) {
        return std::to_string(static_cast<int>(frame->kind)) + " " + std::to_string(static_cast<int>(frame->stream)) +
               " " + std::to_string(frame->program) + " " + std::string{frame->payload};
      }
      char bytes[4096];
      const ssize_t got = recv(socket_.get(), bytes, sizeof bytes, 0);
      if (got <= 0) return "end";
      reader_.add({bytes, static_cast<size_t>(got)});
    }
  }
  // So many bytes, as they come; and whether more are there now.
  size_t take_bytes(size_t most) const {
    size_t taken = 0;
    char bytes[4096];
    while (taken < most) {
      const ssize_t got = recv(socket_.get(), bytes, std::min(most - taken, sizeof bytes), 0);
      if (got <= 0) break;
      taken += static_cast<size_t>(got);
    }
    return taken;
  }
  bool has_more() const {
    char byte = 0;
    return recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
  }
  void leave() { socket_ = {}; }

 private:
  OwnedFd socket_;
  FrameReader reader_;
};

class GuestLineTest : public testing::Test {
 protected:
  GuestLineTest() {
    auto line = GuestLine::open("h1", scratch_.socket());
    if (!line) throw std::runtime_error(line.error().message);
    line_ = std::move(*line);
    guest_ = std::make_unique<Speaker>(OwnedFd{dup(line_->guest_end())});
    line_->close_guest_end();
  }

  Speaker user() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    scratch_.socket().native().copy(address.sun_path, sizeof address.sun_path - 1);
    OwnedFd socket{::socket(AF_UNIX, SOCK_STREAM, 0)};
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return Speaker{std::move(socket)};
  }
  void greet() const { guest_->say({FrameKind::kHello, Stream::kInput, 0, kHelloText}); }
  // A user whose program the guest knows by the number, which is returned.
  std::pair<Speaker, uint32_t> user_with_program() {
    Speaker one = user();
    one.say({FrameKind::kEnd, Stream::kInput, 0, {}});
    const std::string heard = guest_->hear();
    EXPECT_EQ(heard.substr(0, 4), "5 0 ");
    return {std::move(one), static_cast<uint32_t>(std::stoul(heard.substr(4)))};
  }

  tests::SocketScratch scratch_;
  std::unique_ptr<GuestLine> line_;
  std::unique_ptr<Speaker> guest_;
};

TEST_F(GuestLineTest, HoldsWhatComesBeforeTheGuestHasGreetedAndGivesEachUserANumber) {
  Speaker first = user();
  first.say({FrameKind::kWords, Stream::kInput, 0, "one"});
  Speaker second = user();
  second.say({FrameKind::kWords, Stream::kInput, 77, "two"});
  greet();
  EXPECT_EQ(guest_->hear(), "2 0 1 one");
  EXPECT_EQ(guest_->hear(), "2 0 2 two");
}

TEST_F(GuestLineTest, PassesEachProgramsFramesToItsUserUntilItEnds) {
  greet();
  auto [first, one] = user_with_program();
  auto [second, two] = user_with_program();
  guest_->say({FrameKind::kData, Stream::kErrors, two, "oops"});
  guest_->say({FrameKind::kData, Stream::kOutput, one, "hello"});
  guest_->say({FrameKind::kTaken, Stream::kInput, one, "1234"});
  guest_->say({FrameKind::kEnded, Stream::kInput, one, "1234"});
  guest_->say({FrameKind::kData, Stream::kOutput, one, "late"});
  guest_->say({FrameKind::kStopped, Stream::kInput, two, {}});
  EXPECT_EQ(first.hear(), "4 1 0 hello");
  EXPECT_EQ(first.hear(), "6 0 0 1234");
  EXPECT_EQ(first.hear(), "12 0 0 1234");
  EXPECT_EQ(first.hear(), "end");
  EXPECT_EQ(second.hear(), "4 2 0 oops");
  EXPECT_EQ(second.hear(), "11 0 0 ");
  second.say({FrameKind::kResume, Stream::kInput, 0, {}});
  EXPECT_EQ(guest_->hear(), "9 0 " + std::to_string(two) + " ");
}

// More would throttle a guest's terminal, and user-mode Linux reads no more then.
TEST_F(GuestLineTest, SendsNoMoreThanTheGuestHasRoomForAndMoreAsItReads) {
  greet();
  auto [one, number] = user_with_program();
  one.say({FrameKind::kData, Stream::kInput, 0, std::string(10'000, 'x')});
  size_t room = kLineBytes - kHeaderBytes;  // the frame of user_with_program()
  for (const uint32_t read : {100U, 1'000U, 2'500U}) {
    EXPECT_EQ(guest_->take_bytes(room), room);
    guest_->say({FrameKind::kStopped, Stream::kInput, number, {}});
    EXPECT_EQ(one.hear(), "11 0 0 ");
    EXPECT_FALSE(guest_->has_more());
    std::string answer;
    append_number(answer, FrameKind::kTaken, Stream::kInput, 0, read);
    guest_->say_bytes(answer);
    room = read;
  }
  EXPECT_EQ(guest_->take_bytes(room), room);
}

TEST_F(GuestLineTest, HangsUpForAUserWhoIsGone) {
  greet();
  auto [one, number] = user_with_program();
  one.leave();
  EXPECT_EQ(guest_->hear(), "10 0 " + std::to_string(number) + " ");
}

TEST_F(GuestLineTest, AUserWhoSaysWhatOnlyGuestsSayIsSentAway) {
  greet();
  auto [one, number] = user_with_program();
  one.say({FrameKind::kEnded, Stream::kInput, 0, "1234"});
  EXPECT_EQ(one.hear(), "end");
  EXPECT_EQ(guest_->hear(), "10 0 " + std::to_string(number) + " ");
}

TEST_F(GuestLineTest, WhatOnlyUsersSayIsNotPassedOnFromTheGuest) {
  greet();
  auto [one, number] = user_with_program();
  guest_->say({FrameKind::kLost, Stream::kInput, number, "me"});
  guest_->say({FrameKind::kData, Stream::kInput, number, "in"});
  guest_->say({FrameKind::kData, Stream::kOutput, number + 1, "of nobody"});
  guest_->say({FrameKind::kData, Stream::kOutput, number, "out"});
  EXPECT_EQ(one.hear(), "4 1 0 out");
}

TEST_F(GuestLineTest, TellsAllWhenTheGuestHasEnded) {
  greet();
  auto [one, number] = user_with_program();
  guest_->say({FrameKind::kData, Stream::kOutput, number, "last"});
  guest_->leave();
  EXPECT_EQ(one.hear(), "4 1 0 last");
  EXPECT_EQ(one.hear(), "13 0 0 h1 has ended");
  EXPECT_EQ(one.hear(), "end");
  EXPECT_TRUE(line_->has_ended());
  Speaker late = user();
  EXPECT_EQ(late.hear(), "13 0 0 h1 has ended");
}

TEST_F(GuestLineTest, AGuestThatSendsNoFramesLosesAll) {
  greet();
  auto [one, number] = user_with_program();
  guest_->say_bytes("login: login: ");
  EXPECT_EQ(one.hear(), "13 0 0 h1 has sent what is no frame on its line");
  EXPECT_EQ(one.hear(), "end");
}

TEST_F(GuestLineTest, AnotherAgentIsNotSpokenTo) {
  Speaker one = user();
  guest_->say({FrameKind::kHello, Stream::kInput, 0, "softspine-agent 99"});
  EXPECT_EQ(one.hear(), "13 0 0 h1 has another softspine-agent");
}

// 9 bytes a frame of one, 12 an answer: what an honest agent can have under way comes in any case.
TEST_F(GuestLineTest, AGuestThatSendsMoreThanWasAskedForLosesThatProgramAlone) {
  greet();
  auto [slow, flooded] = user_with_program();
  auto [other, number] = user_with_program();
  std::string honest;
  for (size_t i = 0; i < kWindowBytes; ++i) {
    append_frame(honest, {FrameKind::kData, Stream::kOutput, flooded, "a"});
    append_frame(honest, {FrameKind::kData, Stream::kErrors, flooded, "b"});
    append_number(honest, FrameKind::kTaken, Stream::kInput, flooded, 1);
  }
  guest_->say_bytes(honest);
  guest_->say({FrameKind::kData, Stream::kOutput, number, "still here"});
  EXPECT_EQ(other.hear(), "4 1 0 still here");
  const std::string more(kMaxPayloadBytes, 'x');
  for (int i = 0; i < 200; ++i) guest_->say({FrameKind::kData, Stream::kOutput, flooded, more});
  EXPECT_EQ(guest_->hear(), "10 0 " + std::to_string(flooded) + " ");
  std::string last;
  for (std::string heard = slow.hear(); heard != "end"; heard = slow.hear()) last = heard;
  EXPECT_EQ(last, "13 0 0 h1 sends more than was asked for");
  guest_->say({FrameKind::kEnded, Stream::kInput, number, "1234"});
  EXPECT_EQ(other.hear(), "12 0 0 1234");
}

TEST_F(GuestLineTest, ItsEndIsAnEndForAll) {
  greet();
  auto [one, number] = user_with_program();
  line_.reset();
  EXPECT_EQ(one.hear(), "13 0 0 the fabric has ended");
  EXPECT_EQ(guest_->hear(), "end");
  EXPECT_FALSE(std::filesystem::exists(scratch_.socket()));
}

TEST_F(GuestLineTest, ItsSocketIsForThisUserAlone) {
  struct stat found{};
  ASSERT_EQ(stat(scratch_.socket().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
}

TEST(GuestLineSocket, TakesThePlaceOfOneThatWasLeftAndOfNothingElse) {
  const tests::SocketScratch scratch;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  scratch.socket().native().copy(address.sun_path, sizeof address.sun_path - 1);
  const OwnedFd left{::socket(AF_UNIX, SOCK_STREAM, 0)};
  ASSERT_EQ(bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_TRUE(GuestLine::open("h1", scratch.socket()));
  std::ofstream(scratch.socket()) << "somebody's";
  const auto refused = GuestLine::open("h1", scratch.socket());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().path, scratch.socket().native());
  std::string text;
  std::getline(std::ifstream(scratch.socket()), text);
  EXPECT_EQ(text, "somebody's");
  EXPECT_FALSE(GuestLine::open("h1", scratch.folder() / std::string(100, 'x')));
}

}  // namespace
}  // namespace softspine::testbeds
