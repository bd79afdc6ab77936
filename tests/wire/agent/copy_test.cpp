// SPDX-License-Identifier: Apache-2.0
// Files to a guest and from it, whatever the guest is up to. What it sends is the archive of a `tar` of its own.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/wire/agent/agent_fixture.hpp"
#include "tools/softspine/labs/guest_copy.hpp"

namespace softspine::testbeds {
namespace {

namespace fs = std::filesystem;

class GuestCopy : public AgentTest {
 protected:
  GuestCopy() { fs::create_directory(here()); }

  fs::path here() const { return folder_.path() / "here"; }
  void write(const fs::path& file, const std::string& text) const { std::ofstream(file) << text; }
  int from_guest(const std::string& from, const fs::path& to) const {
    return tools::copy_from_guest(entrance(environment_), from, to).value_or(200);
  }
  int to_guest(const fs::path& from, const std::string& to) const {
    return tools::copy_to_guest(entrance(environment_), from, to).value_or(200);
  }
  // From now on the guest's tar is this script; "$real" is this machine's, which writes to stdout what the guest sends.
  void put_tar(const std::string& script) {
    const fs::path programs = folder_.path() / "programs";
    fs::create_directories(programs / "made");
    write(programs / "tar", "#!/bin/sh\nreal=/bin/tar\ncd " + (programs / "made").native() + "\n" + script);
    fs::permissions(programs / "tar", fs::perms::owner_all);
    environment_["PATH"] = programs.native() + ":/usr/sbin:/usr/bin:/sbin:/bin";
    write(guests_folder() / "asked", std::string(10'000, 'a'));
  }
  // What cp leaves beside the file that it writes.
  std::vector<std::string> names_here() const {
    std::vector<std::string> names;
    for (const auto& each : fs::directory_iterator{here()}) names.push_back(each.path().filename());
    std::ranges::sort(names);
    return names;
  }

  std::map<std::string, std::string> environment_;
};

using Names = std::vector<std::string>;

TEST_F(GuestCopy, CarriesFilesAndFoldersBothWays) {
  for (const size_t size : {0U, 10U, 5'000U, 300'000U}) {
    const std::string text = random_bytes(size, size);
    write(here() / "one", text);
    EXPECT_EQ(to_guest(here() / "one", "there"), 0);
    EXPECT_EQ(text_of(guests_folder() / "there"), text);
    EXPECT_EQ(from_guest("there", here() / "back"), 0);
    EXPECT_EQ(text_of(here() / "back"), text);
  }
  fs::create_directories(here() / "tree" / "below");
  write(here() / "tree" / "below" / "file", "it");
  fs::create_symlink("below/file", here() / "tree" / "link");
  EXPECT_EQ(to_guest(here() / "tree", ""), 0);
  EXPECT_EQ(from_guest("tree/", here() / "copy"), 0);
  EXPECT_EQ(text_of(here() / "copy" / "below" / "file"), "it");
  EXPECT_EQ(text_of(here() / "copy" / "link"), "it");
  EXPECT_FALSE(fs::is_symlink(here() / "copy" / "link"));
  EXPECT_EQ(names_here(), (Names{"back", "copy", "one", "tree"}));
}

TEST_F(GuestCopy, KeepsModesButNoRightsOfAnother) {
  write(guests_folder() / "script", std::string(5'000, '#'));
  ASSERT_EQ(chmod((guests_folder() / "script").c_str(), 06750), 0);
  EXPECT_EQ(from_guest("script", here()), 0);
  struct stat found{};
  ASSERT_EQ(stat((here() / "script").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0750U);
}

TEST_F(GuestCopy, NamesMayBeginWithADash) {
  write(here() / "-x", "dash");
  for (const char* const name : {"-x", "-C"}) {
    EXPECT_EQ(to_guest(here() / "-x", name), 0);
    EXPECT_EQ(text_of(guests_folder() / name), "dash");
    EXPECT_EQ(from_guest(name, here()), 0);
    EXPECT_EQ(text_of(here() / name), "dash");
  }
  fs::create_directory(guests_folder() / "-d");
  write(guests_folder() / "-d" / "-f", std::string(5'000, 'f'));
  EXPECT_EQ(to_guest(here() / "-x", "-d"), 0);
  EXPECT_EQ(from_guest("-d", here()), 0);
  EXPECT_EQ(text_of(here() / "-d" / "-x"), "dash");
}

TEST_F(GuestCopy, FilesOfTheKernelComeWithWhatTheyHold) {
  EXPECT_EQ(from_guest("/proc/version", here()), 0);
  EXPECT_EQ(text_of(here() / "version"), text_of("/proc/version"));
  EXPECT_EQ(from_guest("/sys/devices/system/cpu/online", here()), 0);
  EXPECT_EQ(text_of(here() / "online"), text_of("/sys/devices/system/cpu/online"));
  EXPECT_EQ(from_guest("/proc/sys/kernel", here()), 1) << "it would come with empty files";
  EXPECT_EQ(names_here(), (Names{"online", "version"}));
}

TEST_F(GuestCopy, OneThatFailsHasTheStatusOne) {
  write(here() / "file", "it");
  EXPECT_EQ(from_guest("nothing", here()), 1);
  EXPECT_EQ(from_guest("nothing", here() / "nowhere" / "x"), 1);
  EXPECT_EQ(to_guest(here() / "nothing", "x"), 1);
  EXPECT_EQ(to_guest(here() / "file", "nowhere/x"), 1);
  put_tar("exit 2\n");
  EXPECT_EQ(from_guest("asked", here()), 1);
  EXPECT_EQ(to_guest(here() / "file", "x"), 1);
  EXPECT_EQ(names_here(), Names{"file"});
}

TEST_F(GuestCopy, TheNameIsTheOneThatWasAskedFor) {
  put_tar("echo evil >.bashrc; $real -cf - .bashrc\n");
  EXPECT_EQ(from_guest("asked", here()), 0);
  EXPECT_EQ(names_here(), Names{"asked"});
  fs::remove(here() / "asked");
  fs::create_directory(here() / "asked");
  EXPECT_EQ(from_guest("asked", here()), 1) << "not into a folder of that name";
  EXPECT_TRUE(fs::is_empty(here() / "asked"));
  for (const char* const none : {"", ".", "..", "/", "x/..", "x/."}) EXPECT_EQ(from_guest(none, here()), 1) << none;
  put_tar("echo a >a; echo b >b; $real -cf - a b\n");
  EXPECT_EQ(from_guest("asked", here() / "new"), 1) << "two";
  EXPECT_EQ(names_here(), Names{"asked"});
}

TEST_F(GuestCopy, AFolderAboveHasNoNameOnOtherHostsEither) {
  fs::create_directory(here() / "to");
  fs::create_directory(guests_folder() / "below");
  EXPECT_EQ(tools::copy_files(guests_folder() / "below" / "..", here() / "to"), 1);
  EXPECT_EQ(names_here(), Names{"to"}) << "nothing beside it";
}

// A link, and what follows it; links in a folder; names that lead elsewhere; pipes.
TEST_F(GuestCopy, AHostileArchiveWritesNothingElsewhere) {
  const std::string victim = folder_.path() / "victim";
  fs::create_directory(victim);
  write(victim + "/file", "mine");
  write(here() / "file", "mine");
  const std::string behind = "rm asked; mkdir asked; echo evil >asked/file; $real -rf a.tar asked/file; cat a.tar\n";
  const std::vector<std::pair<std::string, int>> scripts{
      {"ln -s " + victim + "/file asked; $real -cf - asked\n", 1},
      {"ln -s " + victim + " asked; $real -cf a.tar asked; " + behind, 1},
      {"mkdir asked; ln -s " + victim + " asked/link; $real -cf - asked\n", 1},
      {"mkdir asked; ln -s ../../../file asked/link; $real -cf - asked\n", 1},
      {"mkfifo asked; $real -cf - asked\n", 1},
      {"mkdir asked; mkfifo asked/pipe; $real -cf - asked\n", 1},
      {"echo evil >file; $real -cPf - --transform='s,^,../,' file\n", 1},
      {"echo evil >file; $real -cPf - --transform='s,^," + victim + "/,' file\n", 0},
  };
  for (const auto& [script, status] : scripts) {
    SCOPED_TRACE(script);
    fs::remove_all(folder_.path() / "programs");
    put_tar(script);
    EXPECT_EQ(from_guest("asked", here() / "new"), status);
    EXPECT_EQ(text_of(victim + "/file"), "mine");
    EXPECT_EQ(text_of(here() / "file"), "mine");
    EXPECT_EQ(fs::remove_all(here() / "new") > 0, status == 0);
    EXPECT_EQ(names_here(), Names{"file"});
  }
}

// A folder of theirs with all rights, or few, neither lays the work folder open nor keeps it.
TEST_F(GuestCopy, ModesOfAnArchivesFoldersAreNotThoseOfOurs) {
  put_tar(
      "mkdir asked asked/shut; echo it >asked/shut/file; chmod 400 asked/shut/file; chmod 500 asked/shut; chmod 777 .\n"
      "$real -cf - ./\n");
  EXPECT_EQ(from_guest("asked", here()), 0);
  EXPECT_EQ(names_here(), Names{"asked"});
  EXPECT_EQ(text_of(here() / "asked" / "shut" / "file"), "it\n");
}

TEST_F(GuestCopy, AVariableOfTheUserIsNotTheWorkFolder) {
  const fs::path kept = folder_.path() / "kept";
  fs::create_directory(kept);
  write(guests_folder() / "file", std::string(5'000, 'f'));
  for (const char* const name : {"copy", "new", "path", "name"}) environment_[name] = kept;
  EXPECT_EQ(from_guest("file", here()), 0);
  EXPECT_EQ(from_guest("nothing", here()), 1);
  EXPECT_EQ(to_guest(here() / "file", "back"), 0);
  EXPECT_EQ(to_guest(here() / "file", "nowhere/back"), 1);
  EXPECT_TRUE(fs::exists(kept));
}

TEST_F(GuestCopy, CtrlCEndsItAndLeavesNothing) {
  put_tar("echo $$ >&2; exec sleep 1000\n");
  write(here() / "file", "it");
  for (const bool is_to_guest : {true, false}) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const dataplane::OwnedFd errors{ends[0]};
    dataplane::OwnedFd its{ends[1]};
    Beside user{[&] {
      setpgid(0, 0);
      dup2(its.get(), 2);
      return is_to_guest ? to_guest(here() / "file", "file") : from_guest("asked", here() / "new");
    }};
    its = {};
    std::string process;
    for (char byte = 0; read(errors.get(), &byte, 1) == 1 && byte != '\n';) process += byte;
    kill(-user.process(), SIGINT);
    EXPECT_EQ(user.status(), 128 + SIGINT);
    EXPECT_TRUE(ends_soon(std::stoi(process)));
    EXPECT_EQ(names_here(), Names{"file"});
  }
  for (const auto& each : fs::directory_iterator{guests_folder()}) EXPECT_EQ(each.path().filename(), "asked");
}

}  // namespace
}  // namespace softspine::testbeds
