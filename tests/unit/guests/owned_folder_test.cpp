// SPDX-License-Identifier: Apache-2.0
// Folders of runs, and what else may lie under their names.
#include "testbeds/guests/owned_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "testbeds/guests/guest_folder.hpp"

namespace softspine::testbeds {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class OwnedFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = fs::temp_directory_path() / "softspine-owned-XXXXXX";
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    scratch_ = made;
  }
  void TearDown() override { fs::remove_all(scratch_); }
  fs::path path(const char* name) const { return scratch_ / name; }
  static void put(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  fs::path scratch_;
};

HostSetup guest() {
  return {.name = "h1", .nics = {{"/run/a", "02:00:00:00:00:01", {"10.0.0.1/24"}, {}, 1500}}, .run = "true"};
}

TEST_F(OwnedFolder, OfSomebodyElseIsLeftAsItIs) {
  put(path("board/keep"), "mine");
  for (const auto& done : {check_folder(path("board")), take_folder(path("board")), empty_folder(path("board")),
                           lay_board(path("board"), {}), write_folder(path("board"), guest())}) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().path, path("board"));
    EXPECT_THAT(done.error().message, HasSubstr(".softspine"));
  }
  EXPECT_EQ(text_of(path("board/keep")), "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(path("board")), fs::directory_iterator{}), 1);
}

TEST_F(OwnedFolder, IsTheOneThatARunHasMadeAndTheNextOneEmptiesIt) {
  EXPECT_TRUE(check_folder(path("new")));
  EXPECT_FALSE(fs::exists(path("new"))) << "only looked at";
  ASSERT_TRUE(empty_folder(path("new")));
  put(path("new/signal"), "up");
  put(path("new/deep/er/file"), "left by a command");
  fs::create_symlink(path("elsewhere"), path("new/link"));
  put(path("elsewhere/file"), "stays");
  ASSERT_TRUE(empty_folder(path("new")));
  EXPECT_EQ(std::distance(fs::directory_iterator(path("new")), fs::directory_iterator{}), 1) << "its mark";
  EXPECT_EQ(text_of(path("elsewhere/file")), "stays") << "nothing is removed through a link";
}

TEST_F(OwnedFolder, IsAnyThatHoldsNothing) {
  fs::create_directories(path("empty"));
  EXPECT_TRUE(take_folder(path("empty")));
  put(path("empty/more"), "of a run");
  EXPECT_TRUE(take_folder(path("empty")));
  EXPECT_EQ(text_of(path("empty/more")), "of a run") << "taken is not emptied";
}

TEST_F(OwnedFolder, IsNoLinkAndNoFile) {
  put(path("file"), "mine");
  fs::create_directories(path("target"));
  fs::create_symlink(path("target"), path("link"));
  fs::create_symlink(path("nowhere"), path("dangling"));
  for (const char* name : {"file", "link", "dangling"}) EXPECT_FALSE(empty_folder(path(name))) << name;
  EXPECT_TRUE(fs::is_empty(path("target")));
  EXPECT_EQ(text_of(path("file")), "mine");
  EXPECT_FALSE(fs::exists(path("nowhere")));
}

// A mark that is no file of its own marks nothing.
TEST_F(OwnedFolder, IsNotMarkedByALink) {
  put(path("other/keep"), "mine");
  fs::create_symlink(path("other/keep"), path("other/.softspine"));
  EXPECT_FALSE(empty_folder(path("other")));
  EXPECT_EQ(text_of(path("other/keep")), "mine");
}

// Whoever is in the folder may have left anything under our names.
TEST_F(OwnedFolder, IsWrittenToThroughNoLink) {
  ASSERT_TRUE(write_folder(path("h1"), guest()));
  put(path("victim"), "mine");
  for (const char* name : {"settings", "env", "run", "stop", "console", "ready"}) {
    fs::remove(path("h1") / name);
    fs::create_symlink(path("victim"), path("h1") / name);
  }
  ASSERT_TRUE(ask_to_stop(path("h1")));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path("h1/stop"))));
  ASSERT_TRUE(write_folder(path("h1"), guest()));
  EXPECT_EQ(text_of(path("victim")), "mine");
  EXPECT_EQ(text_of(path("h1/run")), "true\n");
  EXPECT_FALSE(fs::exists(fs::symlink_status(path("h1/stop"))));
}

TEST_F(OwnedFolder, IsReadThroughNoLinkPipeOrDeviceAndNotForEver) {
  put(path("secret"), "0\n");
  fs::create_directories(path("h1"));
  const auto result = [&] { return read_result(path("h1")); };
  fs::create_symlink(path("secret"), path("h1/exit_status"));
  EXPECT_FALSE(result());
  fs::remove(path("h1/exit_status"));
  ASSERT_EQ(mkfifo(path("h1/exit_status").c_str(), 0600), 0);
  EXPECT_FALSE(result()) << "nobody waits for a writer";
  fs::remove(path("h1/exit_status"));
  put(path("h1/exit_status"), "7\n");
  put(path("h1/counters"), "rxe0 a 1\n");
  EXPECT_EQ(result()->exit_status, 7);
  put(path("h1/counters"), std::string((1U << 20) + 1, '\n'));
  EXPECT_THAT(result().error().message, HasSubstr("larger"));
  EXPECT_FALSE(read_file_end("/dev/zero", 10));
  put(path("long"), std::string(1000, 'a') + "end");
  EXPECT_EQ(read_file_end(path("long"), 5), "aaend");
  EXPECT_EQ(read_file_end(path("long"), 5000)->size(), 1003U);
}

}  // namespace
}  // namespace softspine::testbeds
