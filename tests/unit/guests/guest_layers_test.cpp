// SPDX-License-Identifier: Apache-2.0
// Copies of files for a guest.
#include "testbeds/guests/guest_layers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace softspine::testbeds {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class GuestFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = fs::temp_directory_path() / "softspine-files-XXXXXX";
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    scratch_ = made;
    put("mine/conf", "key = 1\n", 0640);
    put("mine/bin/tool", "#!/bin/sh\n", 0755);
  }
  void TearDown() override { fs::remove_all(scratch_); }

  fs::path mine(const char* name = "") const { return scratch_ / "mine" / name; }
  fs::path laid(const char* name = "") const { return files_tree(folder()) / name; }
  fs::path folder() const { return scratch_ / "h1.files"; }
  void put(const char* name, const std::string& text, mode_t mode) const {
    fs::create_directories((scratch_ / name).parent_path());
    std::ofstream(scratch_ / name) << text;
    chmod((scratch_ / name).c_str(), mode);
  }
  static std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static mode_t mode_of(const fs::path& path) {
    struct stat found{};
    return lstat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
  }
  std::string error_of(const std::vector<LaidFile>& files, uint64_t bytes = kMaxFilesBytes,
                       uint64_t entries = kMaxFilesEntries) const {
    const auto done = lay_files(folder(), files, bytes, entries);
    return done ? "" : done.error().path + ": " + done.error().message;
  }

  fs::path scratch_;
};

TEST_F(GuestFiles, LieAtTheirPlacesWithBytesModesAndTimes) {
  const mode_t before = umask(077);
  chmod(mine("bin").c_str(), 0711);
  EXPECT_EQ(error_of({{"/opt", mine()}, {"/etc/app/conf", mine("conf")}}), "");
  umask(before);
  EXPECT_EQ(text_of(laid("etc/app/conf")), "key = 1\n");
  EXPECT_EQ(mode_of(laid("etc/app/conf")), 0640U);
  EXPECT_EQ(mode_of(laid("etc/app")), 0755U);
  EXPECT_EQ(mode_of(laid()), 0755U);
  EXPECT_EQ(mode_of(laid("opt/bin")), 0711U);
  EXPECT_EQ(mode_of(laid("opt/bin/tool")), 0755U);
  EXPECT_EQ(fs::last_write_time(laid("opt/bin/tool")), fs::last_write_time(mine("bin/tool")));
}

TEST_F(GuestFiles, LoseTheSetuidBitAndKeepTheirOwnersRightToRemoveThem) {
  chmod(mine("conf").c_str(), 06755);
  chmod(mine("bin").c_str(), 0555);
  EXPECT_EQ(error_of({{"/opt", mine()}}), "");
  EXPECT_EQ(mode_of(laid("opt/conf")), 0755U);
  EXPECT_EQ(mode_of(laid("opt/bin")), 0755U);
  chmod(mine("bin").c_str(), 0755);
}

TEST_F(GuestFiles, MayReplaceWhatAFolderHasBrought) {
  put("other", "mine is better\n", 0600);
  EXPECT_EQ(error_of({{"/opt", mine()}, {"/opt/conf", scratch_ / "other"}}), "");
  EXPECT_EQ(text_of(laid("opt/conf")), "mine is better\n");
  EXPECT_EQ(mode_of(laid("opt/conf")), 0600U);
  EXPECT_EQ(text_of(mine("conf")), "key = 1\n");
}

// Else a link in a folder would lead our copies to a file of this machine.
TEST_F(GuestFiles, AreNeverWrittenThroughALink) {
  fs::create_directory(scratch_ / "victim");
  put("victim/file", "before", 0644);
  fs::create_symlink(scratch_ / "victim", mine("link"));
  fs::create_symlink(scratch_ / "victim/file", mine("file"));
  EXPECT_THAT(error_of({{"/opt", mine()}, {"/opt/link/new", mine("conf")}}),
              HasSubstr("what is laid above it is a link"));
  EXPECT_EQ(error_of({{"/opt", mine()}, {"/opt/file", mine("conf")}}), "");
  EXPECT_EQ(text_of(scratch_ / "victim/file"), "before");
  EXPECT_FALSE(fs::exists(scratch_ / "victim/new"));
  EXPECT_EQ(fs::read_symlink(laid("opt/link")), scratch_ / "victim") << "links come as links";
}

TEST_F(GuestFiles, AreFilesFoldersAndLinksAlone) {
  ASSERT_EQ(mkfifo(mine("pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of({{"/opt", mine()}}), HasSubstr("mine/pipe: is neither a file, a folder nor a link"));
  fs::remove(mine("pipe"));
  EXPECT_THAT(error_of({{"/opt", mine("nothing")}}), HasSubstr("mine/nothing: No such file"));
}

TEST_F(GuestFiles, HaveALimit) {
  EXPECT_EQ(error_of({{"/opt", mine()}}, 18, 4), "");
  EXPECT_THAT(error_of({{"/opt", mine()}}, 17, 4), HasSubstr("too many bytes"));
  EXPECT_THAT(error_of({{"/opt", mine()}}, 18, 3), HasSubstr("too many entries"));
}

TEST_F(GuestFiles, AreMadeAnewAndRemoved) {
  EXPECT_EQ(error_of({{"/old", mine("conf")}}), "");
  EXPECT_EQ(error_of({{"/new", mine("conf")}}), "");
  EXPECT_FALSE(fs::exists(laid("old")));
  EXPECT_FALSE(fs::exists(laid(".softspine"))) << "the guest does not see the mark";
  remove_files(folder());
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(GuestFiles, LeaveAFolderOfSomebodyElse) {
  put("h1.files/keep", "mine", 0644);
  EXPECT_THAT(error_of({{"/a", mine("conf")}}), HasSubstr(".softspine"));
  EXPECT_EQ(text_of(scratch_ / "h1.files/keep"), "mine");
}

}  // namespace
}  // namespace softspine::testbeds
