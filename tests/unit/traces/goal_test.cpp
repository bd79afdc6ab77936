// SPDX-License-Identifier: Apache-2.0
// What GOAL's text says, and what is said of text that says it wrongly.
#include "control/traces/goal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace softspine::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SharedWork read_well(std::string_view text) {
  auto read = read_goal(text, "t.goal");
  if (read) return *read;
  for (const Error& error : read.error()) ADD_FAILURE() << to_string(error);
  return nullptr;
}

// An operation on one line: kind, amount, peer, tag, cpu, its needs, those that must have started.
std::vector<std::string> texts_of(const RecordedWork& work, uint32_t rank) {
  std::vector<std::string> out;
  TraceOperation op;
  for (RecordedStream stream(work, rank); stream.next(op);) {
    std::string& text = out.emplace_back();
    const auto any = [](uint32_t number) { return number == UINT32_MAX ? "any" : std::to_string(number); };
    if (op.kind == OperationKind::kCompute) {
      text = "calc " + std::to_string(op.time.count_ps() / 1'000);
    } else {
      text = (op.kind == OperationKind::kSend ? "send " : "recv ") + std::to_string(op.bytes) + " " + any(op.peer) +
             " tag " + any(op.tag);
    }
    text += " cpu " + std::to_string(op.cpu);
    for (const uint64_t need : op.needs) text += " after " + std::to_string(need);
    for (const uint64_t need : op.needs_started) text += " with " + std::to_string(need);
  }
  return out;
}

std::vector<std::string> complaints(std::string_view text) {
  const auto read = read_goal(text, "t.goal");
  std::vector<std::string> out;
  if (read) return {"nothing is wrong"};
  for (const Error& error : read.error()) out.push_back(to_string(error));
  return out;
}

std::string two_ranks(const std::string& first, const std::string& second = "") {
  return "num_ranks 2\nrank 0 {\n" + first + "\n}\nrank 1 {\n" + second + "\n}\n";
}

TEST(Goal, IsReadWithAllThatAnOperationMayHave) {
  const SharedWork work = read_well(R"(
num_ranks 2
/* a block
   of two lines */
rank 0 {
  a: calc 1500            // nanoseconds
  b: send 1000b to 1 tag 7 cpu 3 nic 2
  b requires a            # b starts when a is done
  s: send 0b to 1 tag 4294967294
  calc 9 cpu 65535
}
rank 1 {
  c: recv 1000b from -1 tag -1 cpu 1
  d: recv 0b from 0 nic 1 tag 4294967294
  d irequires c
})");
  ASSERT_NE(work, nullptr);
  EXPECT_THAT(texts_of(*work, 0), ElementsAre("calc 1500 cpu 0", "send 1000 1 tag 7 cpu 3 after 0",
                                              "send 0 1 tag 4294967294 cpu 0", "calc 9 cpu 65535"));
  EXPECT_THAT(texts_of(*work, 1), ElementsAre("recv 1000 any tag any cpu 1", "recv 0 0 tag 4294967294 cpu 0 with 0"));
  EXPECT_EQ(work->totals.operations(), 6u);
  EXPECT_EQ(work->totals.wildcards, 1u);
  EXPECT_EQ(work->totals.nics, 3u);
  EXPECT_EQ(work->totals.compute_ns, 1'509u);
  ASSERT_EQ(work->pairs.size(), 1u);
  EXPECT_EQ(work->pairs[0].messages, 2u);
  EXPECT_EQ(work->pairs[0].bytes, 1'000u);
}

// Schedgen writes all operations first; others name what comes later in the file.
TEST(Goal, PutsWhatIsNeededBeforeWhatNeedsIt) {
  const SharedWork work =
      read_well(two_ranks("a: calc 1\nb: calc 2\nc: calc 3\nd: calc 4\n"
                          "a requires c\nb requires a\nd irequires b\nb requires a",
                          "send 1b to 1 tag 1 recv 1b from 1 tag 1"));
  ASSERT_NE(work, nullptr);
  EXPECT_THAT(texts_of(*work, 0),
              ElementsAre("calc 3 cpu 0", "calc 1 cpu 0 after 0", "calc 2 cpu 0 after 1", "calc 4 cpu 0 with 2"));
  EXPECT_TRUE(work->pairs.empty()) << "what a rank sends itself crosses no fabric";
  EXPECT_EQ(work->totals.to_itself, 1u);
}

TEST(Goal, NamesTheLineOfEachMistake) {
  EXPECT_THAT(
      complaints(two_ranks("a: calc 1\na: calc 2\nb: send 10b to 2\nb requires zz\nc: recv 10 from 1\n"
                           "send 5b to 1 tag 4 tag 4\ncalc -1\nhello world\nrank: calc 1\nsend 1b to 1 cpu 65536")),
      ElementsAre("t.goal:4:4: the label 'a' stands in line 3 already", HasSubstr("t.goal:5:16: there is no rank 2"),
                  HasSubstr("t.goal:6:12: there is no label 'zz' before this in rank 0"),
                  HasSubstr("t.goal:7:9: expected bytes, as 8b, and here stands '10'"),
                  HasSubstr("t.goal:8:20: 'tag' stands here twice"), HasSubstr("t.goal:9:6: expected nanoseconds"),
                  HasSubstr("t.goal:10:7: expected ':', 'requires' or 'irequires' behind 'hello'"),
                  HasSubstr("t.goal:11:1: 'rank' is a word of the format"),
                  HasSubstr("t.goal:12:18: expected a cpu, a number from 0 to 65535")));
}

TEST(Goal, NamesACircleOfNeeds) {
  EXPECT_THAT(complaints(two_ranks("a: calc 1\nb: calc 2\nc: calc 3\nb requires c\nc irequires b")),
              ElementsAre("t.goal:4:1: a circle of needs in rank 0: b (line 4) → c (line 5) → b"));
  EXPECT_THAT(complaints(two_ranks("a: calc 1\na requires a")), ElementsAre(HasSubstr("a (line 3) → a")));
}

TEST(Goal, SaysWhereItIsCutOff) {
  EXPECT_THAT(complaints("num_ranks 2\nrank 0 {\ncalc 1\n"),
              ElementsAre("t.goal:4:1: the file ends within rank 0: it is cut off"));
  EXPECT_THAT(complaints("num_ranks 2\nrank 0 {\n}\n"), ElementsAre(HasSubstr("the file ends before rank 1")));
  EXPECT_THAT(complaints("num_ranks 2 rank 1 {}"), ElementsAre(HasSubstr("expected rank 0, and here stands 1")));
  EXPECT_THAT(complaints("num_ranks 1 rank 0 {} rank 1 {}"), ElementsAre(HasSubstr("the file ends behind rank 0")));
  EXPECT_THAT(complaints("rank 0 {}"), ElementsAre(HasSubstr("expected 'num_ranks'")));
  EXPECT_THAT(complaints("num_ranks 1 rank 0 { /* "),
              ElementsAre(HasSubstr("here stands '/*'"), HasSubstr("it is cut off")));
  EXPECT_THAT(complaints(""), ElementsAre(HasSubstr("the file ends here")));
}

TEST(Goal, FindsMessagesThatNobodyReceivesAndReceivesThatNobodySendsFor) {
  EXPECT_THAT(
      complaints(two_ranks("send 5b to 1 tag 3\nsend 5b to 1 tag 3", "recv 5b from 0 tag 3\nrecv 1b from 0 tag 4")),
      ElementsAre("t.goal:4:1: 2 sends from rank 0 to rank 1 with tag 3, and 1 receive: nobody receives the rest",
                  "t.goal:8:1: 0 sends from rank 0 to rank 1 with tag 4, and 1 receive: nobody sends the rest"));
  // A receive of any tag may take the one or the other: numbers must do.
  EXPECT_THAT(complaints(two_ranks("send 5b to 1 tag 3", "recv 5b from 0 tag 3\nrecv 1b from 0 tag -1")),
              ElementsAre(HasSubstr("1 send from rank 0 to rank 1, and 2 receives: nobody sends the rest")));
  EXPECT_THAT(complaints(two_ranks("send 5b to 1 tag 3", "recv 5b from -1 tag 3\nrecv 1b from -1")),
              ElementsAre("t.goal: rank 1 is sent 1 message, and has 2 receives"));
  EXPECT_THAT(complaints(two_ranks("send 5b to 1 tag 3", "recv 5b from -1 tag -1")), ElementsAre("nothing is wrong"));
}

TEST(Goal, GivesUpAfterFiftyMistakes) {
  std::string lines;
  for (int i = 0; i < 1'000; ++i) lines += "nonsense\n";
  EXPECT_EQ(complaints(two_ranks(lines)).size(), 50u);
}

// The buffer is smaller than the file, so its end cuts words.
TEST(Goal, IsReadFromAFileAsFromMemory) {
  std::string lines;
  for (int i = 0; i < 30'000; ++i) {
    lines += "label" + std::to_string(i) + ": calc " + std::to_string(i * 7) + " /* a comment */ cpu 1\n";
    if (i > 0) lines += "label" + std::to_string(i) + " requires label" + std::to_string(i / 2) + "\n";
  }
  const std::string text = two_ranks(lines);
  const std::string path = testing::TempDir() + "from_a_file.goal";
  std::ofstream(path) << text;
  const auto from_file = load_goal(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(from_file);
  EXPECT_EQ(texts_of(**from_file, 0), texts_of(*read_well(text), 0));
}

TEST(Goal, SaysWhyAFileCannotBeRead) {
  EXPECT_THAT(to_string(load_goal("/nowhere/x.goal").error().at(0)), HasSubstr("cannot be opened"));
  EXPECT_THAT(to_string(load_goal("/").error().at(0)), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace softspine::control
