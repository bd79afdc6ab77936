// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/labs/lab_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "control/server/listening_socket.hpp"
#include "control/server/socket_path.hpp"
#include "tests/unit/server/socket_scratch.hpp"

namespace softspine::tools {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class LabFolderTest : public testing::Test {
 protected:
  LabFolderTest() { setenv("XDG_RUNTIME_DIR", scratch_.folder().c_str(), 1); }
  ~LabFolderTest() override { unsetenv("XDG_RUNTIME_DIR"); }

  static LabFolder taken(const std::string& name) {
    auto folder = LabFolder::take(name);
    EXPECT_TRUE(folder) << folder.error();
    return std::move(*folder);
  }

 private:
  tests::SocketScratch scratch_;
};

TEST_F(LabFolderTest, IsUpWhileItIsHeld) {
  {
    LabFolder held = taken("lab");
    held.write_process(4711);
    const auto lab = lab_named("lab");
    ASSERT_TRUE(lab);
    EXPECT_TRUE(lab->is_up);
    EXPECT_EQ(lab->process, 4711);
    EXPECT_FALSE(lab->status);
    held.write_status(1);
  }
  const auto lab = lab_named("lab");
  ASSERT_TRUE(lab);
  EXPECT_FALSE(lab->is_up);
  EXPECT_FALSE(lab->process);
  EXPECT_EQ(lab->status, 1);
}

TEST_F(LabFolderTest, IsTakenOnce) {
  const LabFolder held = taken("lab");
  const auto second = LabFolder::take("lab");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error(), HasSubstr("lab is up already"));
  EXPECT_TRUE(lab_named("lab")->is_up);
}

TEST_F(LabFolderTest, IsTakenAnewWithoutLeftovers) {
  {
    const LabFolder held = taken("lab");
    held.write_status(2);
    std::ofstream{held.log()} << "old";
  }
  const LabFolder held = taken("lab");
  EXPECT_FALSE(std::filesystem::exists(held.log()));
  EXPECT_FALSE(lab_named("lab")->status);
}

TEST_F(LabFolderTest, StaysWithAChild) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = 0;
  {
    const LabFolder held = taken("lab");
    child = fork();
    if (child == 0) {
      close(ends[1]);
      char byte = 0;
      _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
  }
  EXPECT_TRUE(lab_named("lab")->is_up);
  close(ends[1]);
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_FALSE(lab_named("lab")->is_up);
  close(ends[0]);
}

TEST_F(LabFolderTest, IsForgottenWithADeadSocket) {
  {
    const LabFolder held = taken("lab");
  }
  const auto socket = control::socket_path("lab");
  {
    const auto listening = control::listen_at(*socket);
  }
  ASSERT_TRUE(std::filesystem::exists(*socket));
  forget_lab("lab");
  EXPECT_FALSE(std::filesystem::exists(*socket));
  EXPECT_THAT(labs(), IsEmpty());
  EXPECT_FALSE(lab_named("lab"));
}

TEST_F(LabFolderTest, LeavesASocketOnWhichSomebodyListens) {
  {
    const LabFolder held = taken("lab");
  }
  const auto socket = control::socket_path("lab");
  const auto listening = control::listen_at(*socket);
  forget_lab("lab");
  EXPECT_TRUE(std::filesystem::exists(*socket));
}

TEST_F(LabFolderTest, AreSortedByName) {
  const LabFolder b = taken("b");
  const LabFolder a = taken("a");
  std::vector<std::string> names;
  for (const Lab& lab : labs()) names.push_back(lab.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
}

TEST_F(LabFolderTest, NeedsANameOfAFile) {
  EXPECT_FALSE(LabFolder::take("../lab"));
  EXPECT_FALSE(lab_named(".."));
}

}  // namespace
}  // namespace softspine::tools
