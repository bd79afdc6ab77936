// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/board_signals.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace softspine::testbeds {
namespace {

namespace fs = std::filesystem;

class BoardSignalsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::path(testing::TempDir()) / "board-XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    board_ = made;
  }
  void TearDown() override { fs::remove_all(board_); }

  // As softspine-guest signals: aside, then renamed.
  void signal(const std::string& name, const std::string& text) {
    std::ofstream(board_ / ("." + name + ".h1.1")) << text;
    fs::rename(board_ / ("." + name + ".h1.1"), board_ / name);
  }
  static std::string text_of(const std::vector<BoardSignal>& signals) {
    std::string out;
    for (const BoardSignal& each : signals) out += each.name + "=" + each.text + ";";
    return out;
  }
  std::string taken(BoardSignals& signals) {
    std::vector<Error> errors;
    std::string out = text_of(signals.take_new(errors));
    for (const Error& error : errors) out += fs::path(error.path).filename().string() + ": " + error.message;
    return out;
  }

  std::string text(const std::string& name) const {
    std::string out;
    std::getline(std::ifstream(board_ / name), out);
    return out;
  }
  static void put(BoardSignals& signals, const std::string& name, const std::string& text) {
    const auto done = signals.put({name, text});
    EXPECT_TRUE(done) << done.error().path << ": " << done.error().message;
  }

  fs::path board_;
};

TEST_F(BoardSignalsTest, AreTakenOnce) {
  std::ofstream(board_ / "hosts") << "10.0.0.1 h1";
  BoardSignals signals(board_);
  EXPECT_EQ(taken(signals), "") << "what was there before";
  signal("b", "two");
  signal("a", std::string("one\0\n", 5));
  EXPECT_EQ(taken(signals), std::string("a=one\0\n;b=two;", 14));
  EXPECT_EQ(taken(signals), "");
  signal("b", "two");
  EXPECT_EQ(taken(signals), "b=two;") << "signalled again";
  std::ofstream(board_ / ".c.h1.7") << "half";
  fs::create_directory(board_ / "folder");
  ASSERT_EQ(mkfifo((board_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("hosts", board_ / "link");
  EXPECT_EQ(taken(signals), "");
}

TEST_F(BoardSignalsTest, OfAnotherBoardAreNotSentBack) {
  BoardSignals signals(board_);
  put(signals, "ready", "port 7");
  EXPECT_EQ(text("ready"), "port 7");
  EXPECT_EQ(taken(signals), "");
  signal("ready", "port 8");
  EXPECT_EQ(taken(signals), "ready=port 8;");
  signals.see_own({"ready", "port 8"});
  put(signals, "ready", "port 9");
  EXPECT_EQ(text("ready"), "port 9");
  EXPECT_EQ(taken(signals), "");
  for (const char* wrong : {"", ".hidden", "../outside", "a/b"}) put(signals, wrong, "x");
  EXPECT_FALSE(fs::exists(board_.parent_path() / "outside"));
  EXPECT_EQ(std::distance(fs::directory_iterator(board_), fs::directory_iterator()), 1);
}

// Two boards, and the order in which all signals reach both.
TEST_F(BoardSignalsTest, StandUntilTheirTurnAndTheLastOneStays) {
  BoardSignals signals(board_);
  signal("port", "new");
  put(signals, "port", "older, of elsewhere");
  EXPECT_EQ(text("port"), "new") << "not taken yet";
  EXPECT_EQ(taken(signals), "port=new;");
  put(signals, "port", "older, too");
  EXPECT_EQ(text("port"), "new") << "its turn has not come";
  signal("port", "newer");
  EXPECT_EQ(taken(signals), "port=newer;");
  signals.see_own({"port", "new"});
  put(signals, "port", "between the two");
  EXPECT_EQ(text("port"), "newer");
  signals.see_own({"port", "newer"});
  put(signals, "port", "last");
  EXPECT_EQ(text("port"), "last");
  EXPECT_EQ(taken(signals), "");
}

TEST_F(BoardSignalsTest, HaveNamesAsLongAsFilesCan) {
  BoardSignals signals(board_);
  const std::string longest(NAME_MAX, 'n');
  put(signals, longest, "there");
  EXPECT_EQ(text(longest), "there");
  EXPECT_FALSE(signals.put({longest + "n", "x"}));
  fs::remove_all(board_);
  const auto done = signals.put({"name", "x"});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "No such file or directory");
}

TEST_F(BoardSignalsTest, AreNoFilesOfAnySize) {
  BoardSignals signals(board_);
  signal("most", std::string(BoardSignals::kMostBytes, 'x'));
  EXPECT_EQ(taken(signals).size(), BoardSignals::kMostBytes + 6);
  signal("more", std::string(BoardSignals::kMostBytes + 1, 'x'));
  EXPECT_EQ(taken(signals), "more: is larger than a signal may be, and reaches no other rank");
  EXPECT_EQ(taken(signals), "") << "said once";
}

}  // namespace
}  // namespace softspine::testbeds
