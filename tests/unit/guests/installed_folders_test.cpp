// SPDX-License-Identifier: Apache-2.0
// Where an installed program finds its parts.
#include "testbeds/process/installed_folders.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace softspine::testbeds {
namespace {

namespace fs = std::filesystem;

class InstalledFoldersTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = fs::temp_directory_path() / "softspine-installed-XXXXXX";
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    prefix_ = made;
  }
  void TearDown() override { fs::remove_all(prefix_); }
  fs::path prefix_;
};

TEST_F(InstalledFoldersTest, AProgramUnderThePrefixHasItsPartsThere) {
  fs::create_directories(prefix_ / "libexec/softspine");
  const auto found = installed_folders_of(prefix_ / "bin/softspine", "bin", "libexec");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->programs, prefix_ / "bin");
  EXPECT_EQ(found->parts, prefix_ / "libexec/softspine");
}

TEST_F(InstalledFoldersTest, FoldersMayHaveSeveralWords) {
  fs::create_directories(prefix_ / "lib/x86_64-linux-gnu/softspine");
  const auto found = installed_folders_of(prefix_ / "usr/bin/softspine", "usr/bin", "lib/x86_64-linux-gnu");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->parts, prefix_ / "lib/x86_64-linux-gnu/softspine");
  EXPECT_FALSE(installed_folders_of(prefix_ / "sbin/softspine", "usr/bin", "lib/x86_64-linux-gnu"));
}

TEST_F(InstalledFoldersTest, WithoutPartsItIsNoInstallation) {
  EXPECT_FALSE(installed_folders_of(prefix_ / "bin/softspine", "bin", "libexec"));
}

TEST_F(InstalledFoldersTest, AProgramInABuildFolderIsNotInstalled) {
  fs::create_directories(prefix_ / "build/libexec/softspine");
  EXPECT_FALSE(installed_folders_of(prefix_ / "build/tools/softspine", "bin", "libexec"));
}

TEST(OwnFiles, TheEnvironmentComesFirstThenWhatWasBuilt) {
  setenv("SOFTSPINE_TEST_PART", "/named", 1);
  EXPECT_EQ(own_part("SOFTSPINE_TEST_PART", "part", "/built"), "/named");
  EXPECT_EQ(own_program("SOFTSPINE_TEST_PART", "program", "/built"), "/named");
  setenv("SOFTSPINE_TEST_PART", "", 1);
  EXPECT_EQ(own_part("SOFTSPINE_TEST_PART", "part", "/built"), "/built");
  unsetenv("SOFTSPINE_TEST_PART");
  EXPECT_EQ(own_program("SOFTSPINE_TEST_PART", "program", "/built"), "/built");
}

}  // namespace
}  // namespace softspine::testbeds
