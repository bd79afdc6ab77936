// SPDX-License-Identifier: Apache-2.0
#include "control/server/listening_socket.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "control/server/socket_path.hpp"
#include "tests/unit/server/socket_scratch.hpp"

namespace softspine::control {
namespace {

using tests::SocketScratch;

mode_t mode_of(const std::filesystem::path& path) {
  struct stat about{};
  EXPECT_EQ(::lstat(path.c_str(), &about), 0);
  return about.st_mode & 07777;
}

TEST(ListeningSocket, IsItsOwnersOnlyWhateverTheUmask) {
  const SocketScratch scratch;
  const mode_t before = ::umask(0);
  const auto socket = listen_at(scratch.socket());
  ::umask(before);
  ASSERT_TRUE(socket) << socket.error();
  EXPECT_EQ(mode_of(scratch.socket()), 0600);
}

TEST(ListeningSocket, ReplacesOneThatIsLeftOver) {
  const SocketScratch scratch;
  {
    const auto killed = listen_at(scratch.socket());
  }
  ASSERT_TRUE(std::filesystem::is_socket(scratch.socket())) << "closing alone leaves the file";
  const auto socket = listen_at(scratch.socket());
  EXPECT_TRUE(socket) << socket.error();
}

TEST(ListeningSocket, RefusesToReplaceOneThatAnswers) {
  const SocketScratch scratch;
  const auto first = listen_at(scratch.socket());
  ASSERT_TRUE(first) << first.error();
  const auto second = listen_at(scratch.socket());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), "another fabric answers at " + scratch.socket().native());
  EXPECT_TRUE(std::filesystem::is_socket(scratch.socket()));
}

TEST(ListeningSocket, LeavesAFileThatIsNoSocketAlone) {
  const SocketScratch scratch;
  std::ofstream{scratch.socket()} << "mine";
  const auto socket = listen_at(scratch.socket());
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error(), scratch.socket().native() + " is in the way: it is not a socket");
  EXPECT_EQ(std::filesystem::file_size(scratch.socket()), 4u);
}

TEST(ListeningSocket, NamesAPathThatCannotBe) {
  const SocketScratch scratch;
  EXPECT_EQ(listen_at(scratch.folder() / "none" / "a.sock").error(),
            "cannot open the folder " + (scratch.folder() / "none").native() + ": No such file or directory");
  const std::filesystem::path longest = scratch.folder() / std::string(107 - 1 - scratch.folder().native().size(), 'x');
  EXPECT_TRUE(listen_at(longest)) << "107 bytes and the zero at their end";
  EXPECT_EQ(listen_at(longest.native() + 'x').error(), "too long for a socket's path: " + longest.native() + 'x');
}

class SocketPath : public testing::Test {
 protected:
  SocketPath() { setenv("XDG_RUNTIME_DIR", scratch_.folder().c_str(), 1); }
  ~SocketPath() override { unsetenv("XDG_RUNTIME_DIR"); }
  SocketScratch scratch_;
};

TEST_F(SocketPath, LeadsIntoAFolderOfThisUser) {
  const std::string mine = "softspine-" + std::to_string(getuid());
  EXPECT_EQ(*socket_path("fat-tree.4"), scratch_.folder() / mine / "fat-tree.4.sock");
  setenv("XDG_RUNTIME_DIR", "", 1);
  EXPECT_EQ(socket_folder(), "/tmp/" + mine);
}

TEST_F(SocketPath, IsNoWayOutOfItsFolder) {
  for (const char* name : {"", ".", "..", "../x", "a/b", ".hidden", "a b", "a\n"})
    EXPECT_FALSE(socket_path(name)) << name;
}

TEST_F(SocketPath, NeedsAFolderThatNobodyElseCanEnter) {
  ASSERT_TRUE(make_socket_folder());
  EXPECT_EQ(mode_of(socket_folder()) & 077, 0u);
  EXPECT_TRUE(make_socket_folder()) << "it may be there already";
  ::chmod(socket_folder().c_str(), 0755);
  EXPECT_EQ(make_socket_folder().error(), socket_folder().native() + " is open to other users; make it 0700");
  std::filesystem::remove(socket_folder());
  std::ofstream{socket_folder()} << "";
  EXPECT_EQ(make_socket_folder().error(), socket_folder().native() + " is in the way: it is not a folder");
}

TEST_F(SocketPath, ListsTheSocketsThatAreThere) {
  EXPECT_TRUE(fabrics_in_folder().empty()) << "nor is the folder";
  ASSERT_TRUE(make_socket_folder());
  const auto b = listen_at(*socket_path("b"));
  const auto a = listen_at(*socket_path("a"));
  std::ofstream{socket_folder() / "c.sock"} << "";
  EXPECT_EQ(fabrics_in_folder(), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace softspine::control
