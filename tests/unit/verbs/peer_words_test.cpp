// SPDX-License-Identifier: Apache-2.0
// A stranger's line: no depth, length or control character of it reaches what copies or prints it.
#include "tools/verbs/peer_words.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace softspine::tools {
namespace {

constexpr const char* kNotJson = "the other end does not speak JSON: is it softspine-verbs?";
constexpr const char* kTooMuch = "the other end says too much: is it softspine-verbs?";

std::string nested(int depth) {
  const auto times = static_cast<size_t>(depth);
  return R"({"terms":)" + std::string(times, '[') + "1" + std::string(times, ']') + "}";
}

std::string with_keys(int keys) {
  std::string line = "{";
  for (int i = 0; i < keys; ++i) line += fmt::format("{}\"k{}\":1", i == 0 ? "" : ",", i);
  return line + "}";
}

std::string error_of(const std::string& line) {
  const auto object = object_of(line);
  return object ? "" : object.error();
}

TEST(PeerWords, AreOneObject) {
  EXPECT_EQ(object_of(R"({"done": 5})").value()["done"], 5);
  for (const char* line : {"", "5", "[]", "null", "{", R"({"a":1}})", "SSH-2.0-OpenSSH_9.2\r", "{\"a\":\"\xff\"}"}) {
    EXPECT_EQ(error_of(line), kNotJson) << line;
  }
}

TEST(PeerWords, NestAsDeepAsOurOwnDoAndNoDeeper) {
  EXPECT_EQ(error_of(nested(kMaxNesting - 1)), "");
  EXPECT_EQ(error_of(nested(kMaxNesting)), kTooMuch);
  EXPECT_EQ(error_of(nested(32'000)), kTooMuch);
}

TEST(PeerWords, HaveNoMoreKeysThanCanBeCompared) {
  EXPECT_EQ(error_of(with_keys(kMaxKeys)), "");
  EXPECT_EQ(error_of(with_keys(kMaxKeys + 1)), kTooMuch);
}

TEST(PeerWords, AnErrorIsASentenceThatATerminalPrints) {
  EXPECT_EQ(error_of(R"({"error":"rxe0: no memory"})"), "the other end: rxe0: no memory");
  EXPECT_EQ(error_of(R"({"error":"a\u001b[2Jb\nc\u007f"})"), "the other end: a?[2Jb?c?");
  EXPECT_EQ(error_of(R"({"error":[1]})"), "the other end: [1]");
  // A cut within a character would be no text any more, and the answer could not be sent.
  const std::string dots = "…";
  std::string many;
  while (many.size() < 1000) many += dots;
  const std::string cut = error_of(Json{{"error", many}}.dump());
  EXPECT_EQ(cut.size(), std::string{"the other end: "}.size() + kMaxSentenceBytes);
  const std::string shifted = error_of(Json{{"error", "a" + many}}.dump());
  EXPECT_EQ(shifted.size(), std::string{"the other end: "}.size() + kMaxSentenceBytes - 2);
  EXPECT_NO_THROW(Json(shifted).dump());
}

TEST(PeerWords, ANumberIsWholeAndWithinItsRange) {
  const Json words = Json::parse(R"({"a": 5, "b": -5, "c": 1.5, "d": "5"})");
  const auto error = [&words](const char* key, uint64_t least, uint64_t most) {
    NumberReader numbers{words};
    uint64_t value = 77;
    numbers.read(key, value, least, most);
    EXPECT_EQ(value, numbers.error().empty() ? 5u : 77u);
    return numbers.error();
  };
  EXPECT_EQ(error("a", 5, 5), "");
  EXPECT_EQ(error("a", 6, 9), "the other end's a is 5, not in 6 … 9");
  EXPECT_EQ(error("a", 0, 4), "the other end's a is 5, not in 0 … 4");
  for (const char* key : {"b", "c", "d", "e"}) {
    EXPECT_EQ(error(key, 0, UINT64_MAX), fmt::format("the other end names no {}", key));
  }
}

TEST(PeerWords, OfSeveralNumbersTheFirstThatIsWrongIsTold) {
  const Json words = Json::parse(R"({"a": 5})");
  NumberReader numbers{words};
  uint64_t value = 0;
  numbers.read("b", value, 0, 9);
  numbers.read("c", value, 0, 9);
  numbers.read("a", value, 0, 9);
  EXPECT_EQ(numbers.error(), "the other end names no b");
  EXPECT_EQ(value, 5u);
}

}  // namespace
}  // namespace softspine::tools
