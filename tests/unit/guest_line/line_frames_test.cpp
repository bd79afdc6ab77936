// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guest_line/line_frames.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::testbeds {
namespace {

using namespace std::string_literals;

std::string bytes_of(const LineFrame& frame) {
  std::string out;
  append_frame(out, frame);
  return out;
}

TEST(LineFrames, HaveAHeaderOfEightBytes) {
  EXPECT_EQ(bytes_of({FrameKind::kData, Stream::kOutput, 0x01020304, "ab"}),
            "\x04\x01\x02\x00\x04\x03\x02\x01"s + "ab");
  std::string out;
  append_number(out, FrameKind::kEnded, Stream::kInput, 5, 0x89);
  EXPECT_EQ(out, "\x0c\x00\x04\x00\x05\x00\x00\x00\x89\x00\x00\x00"s);
  out.clear();
  append_begin(out, 7, {.has_terminal = true, .has_errors_apart = true, .size = {0x0128, 0x7b}});
  EXPECT_EQ(out, "\x03\x00\x05\x00\x07\x00\x00\x00\x03\x28\x01\x7b\x00"s);
}

TEST(LineFrames, ComeOutAsTheyWentInHoweverTheyAreCut) {
  dataplane::Rng rng{tests::seed(), 1};
  std::string all;
  std::vector<std::pair<LineFrame, std::string>> sent;
  for (int i = 0; i < 2'000; ++i) {
    const auto kind = static_cast<FrameKind>(1 + rng.below(13));
    const size_t most = rng.below(20) == 0 ? kMaxPayloadBytes : 40;
    std::string payload(rng.below(most + 1), '\0');
    for (char& byte : payload) byte = static_cast<char>(rng.below(256));
    const auto stream = static_cast<Stream>(rng.below(kStreams));
    sent.push_back({{kind, stream, static_cast<uint32_t>(rng.below(1ULL << 32)), {}}, std::move(payload)});
    LineFrame frame = sent.back().first;
    frame.payload = sent.back().second;
    append_frame(all, frame);
  }
  FrameReader reader;
  auto next = sent.begin();
  for (std::string_view rest = all; !rest.empty();) {
    const std::string_view piece = rest.substr(0, 1 + rng.below(rng.below(10) == 0 ? 50'000 : 20));
    reader.add(piece);
    rest.remove_prefix(piece.size());
    while (const auto frame = reader.next()) {
      ASSERT_NE(next, sent.end());
      EXPECT_EQ(frame->kind, next->first.kind);
      EXPECT_EQ(frame->stream, next->first.stream);
      EXPECT_EQ(frame->program, next->first.program);
      EXPECT_EQ(frame->payload, next->second);
      ++next;
    }
  }
  EXPECT_EQ(next, sent.end());
  EXPECT_FALSE(reader.is_broken());
}

TEST(LineFrames, WhatIsNoneBreaksTheReaderForGood) {
  for (const std::string& wrong : {"\x00\x00\x00\x00\x00\x00\x00\x00"s, "\x0f\x00\x00\x00\x00\x00\x00\x00"s,
                                   "\x04\x03\x00\x00\x00\x00\x00\x00"s, "\x04\x00\x01\x40\x00\x00\x00\x00"s}) {
    FrameReader reader;
    reader.add(wrong);
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.is_broken());
    reader.add(bytes_of({FrameKind::kHello, Stream::kInput, 0, kHelloText}));
    EXPECT_FALSE(reader.next());
  }
  FrameReader longest;
  longest.add(bytes_of({FrameKind::kData, Stream::kInput, 0, std::string(kMaxPayloadBytes, 'x')}));
  EXPECT_TRUE(longest.has_next());
  EXPECT_TRUE(longest.next());
  EXPECT_FALSE(longest.has_next());
}

TEST(LineFrames, CarryALongPayloadInSeveral) {
  std::string out;
  const std::string text(2 * kMaxPayloadBytes + 1, 'x');
  append_frames(out, {FrameKind::kWords, Stream::kInput, 3, text});
  EXPECT_EQ(out.size(), text.size() + 3 * kHeaderBytes);
  FrameReader reader;
  reader.add(out);
  std::string back;
  while (const auto frame = reader.next()) back += frame->payload;
  EXPECT_EQ(back, text);
}

TEST(LineFrames, HoldNumbersSizesAndTermsOfTheirLengthOnly) {
  for (size_t size = 0; size < 8; ++size) {
    const std::string payload(size, '\1');
    const LineFrame frame{FrameKind::kBegin, Stream::kInput, 0, payload};
    EXPECT_EQ(number_in(frame).has_value(), size == 4);
    EXPECT_EQ(size_in(frame).has_value(), size == 4);
    EXPECT_EQ(begin_in(frame).has_value(), size == 5);
  }
  EXPECT_EQ(number_in({FrameKind::kTaken, Stream::kInput, 0, "\xff\x00\x01\x80"s}), 0x800100ffU);
  const auto terms = begin_in({FrameKind::kBegin, Stream::kInput, 0, "\x01\x28\x01\x7b\x00"s});
  ASSERT_TRUE(terms);
  EXPECT_TRUE(terms->has_terminal);
  EXPECT_FALSE(terms->has_errors_apart);
  EXPECT_EQ(terms->size.rows, 0x128);
  EXPECT_EQ(terms->size.columns, 0x7b);
}

TEST(ProgramWordsText, ComesBackAsItWas) {
  const ProgramWords words{{"A=1", "B="}, {"sh", "", "-c", "echo \"$A\"\n"}};
  const auto back = words_in(words_text(words));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->environment, words.environment);
  EXPECT_EQ(back->command, words.command);
}

TEST(ProgramWordsText, IsACommandWithVariablesBeforeIt) {
  EXPECT_TRUE(words_in("\0ls\0"s));
  for (const std::string& wrong : {""s, "\0"s, "A=1\0"s, "A=1\0\0"s, "A=1\0ls\0"s, "\0ls"s, "=1\0\0ls\0"s, "ls\0"s}) {
    EXPECT_FALSE(words_in(wrong)) << testing::PrintToString(wrong);
  }
}

TEST(HelloFinder, FindsItWhereverItIsCut) {
  const std::string all = "\4\1\7\0\2\0\0\0half"s + hello_frame() + "rest";
  const size_t end = all.size() - 4;
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    HelloFinder finder;
    const auto first = finder.end_in(std::string_view{all}.substr(0, cut));
    const auto second = finder.end_in(std::string_view{all}.substr(cut));
    EXPECT_EQ(first, cut >= end ? std::optional<size_t>{end} : std::nullopt) << cut;
    EXPECT_EQ(second, cut < end ? std::optional<size_t>{end - cut} : std::nullopt) << cut;
  }
}

TEST(HelloFinder, FindsOneAfterTheOther) {
  HelloFinder finder;
  const std::string all = hello_frame() + hello_frame();
  const auto first = finder.end_in(all);
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, all.size() / 2);
  EXPECT_EQ(finder.end_in(std::string_view{all}.substr(*first)), all.size() / 2);
  EXPECT_FALSE(finder.end_in(all.substr(1, 10)));
}

TEST(StreamWindow, TakesBackWhatWasSentAndNoMore) {
  StreamWindow window;
  EXPECT_EQ(window.room(), kWindowBytes);
  EXPECT_FALSE(window.take_back(1));
  window.send(100);
  EXPECT_FALSE(window.take_back(101));
  EXPECT_TRUE(window.take_back(60));
  EXPECT_EQ(window.room(), kWindowBytes - 40);
}

}  // namespace
}  // namespace softspine::testbeds
