// SPDX-License-Identifier: Apache-2.0
// The run's end of a line. The test is the guest's agent, and the users of its programs.
#include "testbeds/guest_line/guest_line.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "control/server/socket_address.hpp"
#include "tests/harness/frame_talk.hpp"
#include "tests/unit/server/socket_scratch.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::OwnedFd;
using tests::FrameTalk;

const std::string kGreeting = "1 0 0 " + std::string{kHelloText};

class GuestLineTest : public testing::Test {
 protected:
  GuestLineTest() {
    auto line = GuestLine::open("h1", scratch_.socket());
    if (!line) throw std::runtime_error(line.error().message);
    line_ = std::move(*line);
    guest_ = std::make_unique<FrameTalk>(OwnedFd{dup(line_->guest_end())});
    line_->close_guest_end();
  }

  FrameTalk user() const { return FrameTalk{scratch_.socket()}; }
  void greet() const {
    guest_->put_bytes(hello_frame());
    EXPECT_EQ(guest_->next_text(), kGreeting);
    guest_->put_number(FrameKind::kTaken, 0);
  }
  // A user whose program the guest knows by the number, which is returned.
  std::pair<FrameTalk, uint32_t> user_with_program() {
    FrameTalk one = user();
    one.put({FrameKind::kEnd, Stream::kInput, 0, {}});
    const std::string heard = guest_->next_text();
    EXPECT_EQ(heard.substr(0, 4), "5 0 ");
    return {std::move(one), static_cast<uint32_t>(std::stoul(heard.substr(4)))};
  }

  tests::SocketScratch scratch_;
  std::unique_ptr<GuestLine> line_;
  std::unique_ptr<FrameTalk> guest_;
};

TEST_F(GuestLineTest, HoldsWhatComesBeforeTheGuestHasGreetedAndGivesEachUserANumber) {
  FrameTalk first = user();
  first.put({FrameKind::kWords, Stream::kInput, 0, "one"});
  FrameTalk second = user();
  second.put({FrameKind::kWords, Stream::kInput, 77, "two"});
  greet();
  EXPECT_EQ(guest_->next_text(), "2 0 1 one");
  EXPECT_EQ(guest_->next_text(), "2 0 2 two");
}

TEST_F(GuestLineTest, PassesEachProgramsFramesToItsUserUntilItEnds) {
  greet();
  auto [first, one] = user_with_program();
  auto [second, two] = user_with_program();
  guest_->put({FrameKind::kData, Stream::kErrors, two, "oops"});
  guest_->put({FrameKind::kData, Stream::kOutput, one, "hello"});
  guest_->put({FrameKind::kTaken, Stream::kInput, one, "1234"});
  guest_->put({FrameKind::kEnded, Stream::kInput, one, "1234"});
  guest_->put({FrameKind::kData, Stream::kOutput, one, "late"});
  guest_->put({FrameKind::kStopped, Stream::kInput, two, {}});
  EXPECT_EQ(first.next_text(), "4 1 0 hello");
  EXPECT_EQ(first.next_text(), "6 0 0 1234");
  EXPECT_EQ(first.next_text(), "12 0 0 1234");
  EXPECT_EQ(first.next_text(), "end");
  EXPECT_EQ(second.next_text(), "4 2 0 oops");
  EXPECT_EQ(second.next_text(), "11 0 0 ");
  second.put({FrameKind::kResume, Stream::kInput, 0, {}});
  EXPECT_EQ(guest_->next_text(), "9 0 " + std::to_string(two) + " ");
}

// More would throttle a guest's terminal, and user-mode Linux reads no more then.
TEST_F(GuestLineTest, SendsNoMoreThanTheGuestHasRoomForAndMoreAsItReads) {
  greet();
  auto [one, number] = user_with_program();
  one.put({FrameKind::kData, Stream::kInput, 0, std::string(10'000, 'x')});
  size_t room = kLineBytes - kHeaderBytes;  // the frame of user_with_program()
  for (const uint32_t read : {100U, 1'000U, 2'500U}) {
    EXPECT_EQ(guest_->take_bytes(room), room);
    guest_->put({FrameKind::kStopped, Stream::kInput, number, {}});
    EXPECT_EQ(one.next_text(), "11 0 0 ");
    EXPECT_FALSE(guest_->has_more());
    guest_->put_number(FrameKind::kTaken, read);
    room = read;
  }
  EXPECT_EQ(guest_->take_bytes(room), room);
}

TEST_F(GuestLineTest, HangsUpForAUserWhoIsGone) {
  greet();
  auto [one, number] = user_with_program();
  one.leave();
  EXPECT_EQ(guest_->next_text(), "10 0 " + std::to_string(number) + " ");
}

TEST_F(GuestLineTest, AUserWhoSaysWhatOnlyGuestsSayIsSentAway) {
  greet();
  auto [one, number] = user_with_program();
  one.put({FrameKind::kEnded, Stream::kInput, 0, "1234"});
  EXPECT_EQ(one.next_text(), "end");
  EXPECT_EQ(guest_->next_text(), "10 0 " + std::to_string(number) + " ");
}

TEST_F(GuestLineTest, WhatOnlyUsersSayIsNotPassedOnFromTheGuest) {
  greet();
  auto [one, number] = user_with_program();
  guest_->put({FrameKind::kLost, Stream::kInput, number, "me"});
  guest_->put({FrameKind::kData, Stream::kInput, number, "in"});
  guest_->put({FrameKind::kData, Stream::kOutput, number + 1, "of nobody"});
  guest_->put({FrameKind::kData, Stream::kOutput, number, "out"});
  EXPECT_EQ(one.next_text(), "4 1 0 out");
}

TEST_F(GuestLineTest, TellsAllWhenTheGuestHasEnded) {
  greet();
  auto [one, number] = user_with_program();
  guest_->put({FrameKind::kData, Stream::kOutput, number, "last"});
  guest_->leave();
  EXPECT_EQ(one.next_text(), "4 1 0 last");
  EXPECT_EQ(one.next_text(), "13 0 0 h1 has ended");
  EXPECT_EQ(one.next_text(), "end");
  EXPECT_TRUE(line_->has_ended());
  FrameTalk late = user();
  EXPECT_EQ(late.next_text(), "13 0 0 h1 has ended");
}

TEST_F(GuestLineTest, WhatTheGuestHasSentComesThoughItReadsNoMore) {
  greet();
  auto [one, number] = user_with_program();
  one.put({FrameKind::kData, Stream::kInput, 0, std::string(10'000, 'x')});
  EXPECT_EQ(guest_->take_bytes(kLineBytes - kHeaderBytes), kLineBytes - kHeaderBytes);
  std::string last;
  for (int i = 0; i < 10; ++i) {
    append_frame(last, {FrameKind::kData, Stream::kOutput, number, std::string(10'000, 'y')});
    append_number(last, FrameKind::kTaken, Stream::kInput, 0, 100);
  }
  append_number(last, FrameKind::kEnded, Stream::kInput, number, 0);
  guest_->put_bytes(last);
  guest_->leave();
  size_t got = 0;
  std::string text = one.next_text();
  for (; text.starts_with("4 1 0 "); text = one.next_text()) got += text.size() - 6;
  EXPECT_EQ(text.substr(0, 7), "12 0 0 ");
  EXPECT_EQ(got, 100'000U);
}

TEST_F(GuestLineTest, AGuestThatSendsNoFramesLosesAll) {
  greet();
  auto [one, number] = user_with_program();
  guest_->put_bytes("login: login: ");
  EXPECT_EQ(one.next_text(), "13 0 0 h1 has sent what is no frame on its line");
  EXPECT_EQ(one.next_text(), "end");
}

TEST_F(GuestLineTest, AnotherAgentIsNotSpokenTo) {
  FrameTalk one = user();
  guest_->put({FrameKind::kHello, Stream::kInput, 0, "softspine-agent 99"});
  EXPECT_EQ(one.next_text(), "13 0 0 h1 has another softspine-agent");
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
  guest_->put_bytes(honest);
  guest_->put({FrameKind::kData, Stream::kOutput, number, "still here"});
  EXPECT_EQ(other.next_text(), "4 1 0 still here");
  const std::string more(kMaxPayloadBytes, 'x');
  for (int i = 0; i < 200; ++i) guest_->put({FrameKind::kData, Stream::kOutput, flooded, more});
  EXPECT_EQ(guest_->next_text(), "10 0 " + std::to_string(flooded) + " ");
  std::string last;
  for (std::string heard = slow.next_text(); heard != "end"; heard = slow.next_text()) last = heard;
  EXPECT_EQ(last, "13 0 0 h1 sends more than was asked for");
  guest_->put({FrameKind::kEnded, Stream::kInput, number, "1234"});
  EXPECT_EQ(other.next_text(), "12 0 0 1234");
}

TEST_F(GuestLineTest, ItsEndIsAnEndForAll) {
  greet();
  auto [one, number] = user_with_program();
  line_.reset();
  EXPECT_EQ(one.next_text(), "13 0 0 the fabric has ended");
  EXPECT_EQ(guest_->next_text(), "end");
  EXPECT_FALSE(std::filesystem::exists(scratch_.socket()));
}

TEST_F(GuestLineTest, ItsSocketIsForThisUserAlone) {
  struct stat found{};
  ASSERT_EQ(stat(scratch_.socket().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
}

// The first one's frame was cut off, and so is what was on its way to it.
TEST_F(GuestLineTest, AnAgentThatIsStartedAgainKnowsNoProgram) {
  greet();
  auto [one, number] = user_with_program();
  one.put({FrameKind::kData, Stream::kInput, 0, std::string(10'000, 'x')});
  EXPECT_EQ(guest_->take_bytes(kLineBytes - kHeaderBytes), kLineBytes - kHeaderBytes);
  FrameTalk waiting = user();
  std::string cut;
  append_frame(cut, {FrameKind::kData, Stream::kOutput, number, "cut off"});
  guest_->put_bytes(cut.substr(0, cut.size() - 3));
  guest_->put_bytes(hello_frame());
  EXPECT_EQ(one.next_text(), "13 0 0 h1: its softspine-agent has been started again");
  EXPECT_EQ(one.next_text(), "end");
  EXPECT_EQ(guest_->next_text(), kGreeting);
  waiting.put({FrameKind::kWords, Stream::kInput, 0, std::string(kLineBytes, 'w')});
  guest_->put_number(FrameKind::kTaken, 0);
  EXPECT_EQ(guest_->take_bytes(kLineBytes), kLineBytes) << "the whole of the line is free again";
  EXPECT_FALSE(line_->has_ended());
}

TEST_F(GuestLineTest, AUserWhoFloodsHoldsUpNoOther) {
  greet();
  auto [flooder, one] = user_with_program();
  auto [other, two] = user_with_program();
  for (int i = 0; i < 60; ++i) flooder.put({FrameKind::kData, Stream::kInput, 0, std::string(1'000, 'x')});
  other.put({FrameKind::kEnd, Stream::kInput, 0, {}});
  int before = 0;
  for (; guest_->next_text() != "5 0 " + std::to_string(two) + " "; ++before) {
    guest_->put_number(FrameKind::kTaken, kHeaderBytes + 1'000);
  }
  EXPECT_LE(before, 10) << "what is on the line, as much again, and a turn";
}

TEST_F(GuestLineTest, AUserWhoSendsMoreThanHisWindowIsSentAway) {
  greet();
  auto [one, number] = user_with_program();
  for (size_t sent = 0; sent <= kWindowBytes; sent += 1'024) {
    one.put({FrameKind::kData, Stream::kInput, 0, std::string(1'024, 'x')});
  }
  size_t got = 0;
  while (guest_->next_text() != "10 0 " + std::to_string(number) + " ") {
    got += 1'024;
    guest_->put_number(FrameKind::kTaken, kHeaderBytes + 1'024);
  }
  EXPECT_EQ(got, kWindowBytes);
  EXPECT_EQ(one.next_text(), "end");
}

TEST_F(GuestLineTest, AUserWhoseInputIsTakenSendsMore) {
  greet();
  auto [one, number] = user_with_program();
  const std::string data = "4 0 " + std::to_string(number) + " ";
  for (size_t sent = 0; sent <= 2 * kWindowBytes; sent += 1'024) {
    one.put({FrameKind::kData, Stream::kInput, 0, std::string(1'024, 'x')});
    ASSERT_EQ(guest_->next_text().substr(0, data.size()), data);
    guest_->put_number(FrameKind::kTaken, kHeaderBytes + 1'024);
    guest_->put_number(FrameKind::kTaken, 1'024, number);
    ASSERT_EQ(one.next_text().substr(0, 6), "6 0 0 ");
  }
}

TEST_F(GuestLineTest, TheSixtyFifthWaitsForItsTurn) {
  greet();
  std::vector<FrameTalk> users;
  for (size_t i = 0; i <= GuestLine::kMaxPrograms; ++i) {
    users.push_back(user());
    users.back().put({FrameKind::kEnd, Stream::kInput, 0, {}});
  }
  for (size_t i = 1; i <= GuestLine::kMaxPrograms; ++i)
    EXPECT_EQ(guest_->next_text(), "5 0 " + std::to_string(i) + " ");
  // Once through the thread and back: it would have come with that.
  guest_->put({FrameKind::kStopped, Stream::kInput, 64, {}});
  EXPECT_EQ(users[63].next_text(), "11 0 0 ");
  users[63].put({FrameKind::kResume, Stream::kInput, 0, {}});
  EXPECT_EQ(guest_->next_text(), "9 0 64 ");
  guest_->put_number(FrameKind::kEnded, 0, 1);
  EXPECT_EQ(guest_->next_text(), "5 0 65 ");
}

TEST_F(GuestLineTest, ASecondRunInTheSameFolderIsRefused) {
  const auto second = GuestLine::open("h1", scratch_.socket());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().path, scratch_.socket().native());
  EXPECT_NE(second.error().message.find("another fabric answers"), std::string::npos) << second.error().message;
  greet();
  user_with_program();
}

TEST(GuestLineSocket, TakesThePlaceOfOneThatWasLeftAndOfNothingElse) {
  const tests::SocketScratch scratch;
  const sockaddr_un address = control::socket_address(scratch.socket());
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
