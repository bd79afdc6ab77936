// SPDX-License-Identifier: Apache-2.0
// What a testbed gives its guests: memory, processors, a root folder or image, files, a kernel.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "control/load/guest_images.hpp"
#include "control/rows/guest_files_format.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

namespace fs = std::filesystem;
using tests::Complaints;
using tests::complaints_about;
using tests::node_of;
using tests::read_well;
using tests::with_fabric;

std::string with_guest(const std::string& keys) {
  return with_fabric("topology: {nodes: {h1: {guest: {" + keys + "}}}}\n");
}

std::string bzimage(uint16_t protocol = 0x020f, uint16_t flags = 1) {
  std::string bytes(1024, '\0');
  std::memcpy(&bytes[0x202], "HdrS", 4);
  std::memcpy(&bytes[0x206], &protocol, sizeof protocol);
  std::memcpy(&bytes[0x236], &flags, sizeof flags);
  return bytes;
}

// A header, one section of names, and in it the name of a second section.
std::string elf(const std::string& section, uint16_t machine = EM_X86_64) {
  const std::string names = std::string("\0", 1) + section + std::string("\0", 1);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = machine;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_shstrndx = 0;
  header.e_shoff = sizeof header;
  Elf64_Shdr sections[2]{};
  sections[0].sh_offset = sizeof header + sizeof sections;
  sections[0].sh_size = names.size();
  sections[1].sh_name = 1;
  std::string bytes(sizeof header + sizeof sections, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(&bytes[sizeof header], sections, sizeof sections);
  return bytes + names;
}

// A folder with a testbed in it, and what that names.
class GuestParts : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = fs::temp_directory_path() / "softspine-parts-XXXXXX";
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    folder_ = fs::canonical(made);
    fs::create_directory(folder_ / "root");
    put("app.conf", "key = 1\n");
    put("linux", elf(".uml.setup.init"));
    chmod((folder_ / "linux").c_str(), 0755);
    put("bzImage", bzimage());
    put("squashfs", "hsqs rest");
    put("ext4", std::string(1080, '\0') + "\x53\xef");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void put(const char* name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  std::string at(const char* name) const { return (folder_ / name).string(); }

  std::expected<Testbed, Errors> read(const std::string& keys) const {
    return parse_testbed(with_guest(keys), (folder_ / "t.yaml").string());
  }
  Guest guest(const std::string& keys) const {
    const auto testbed = read(keys);
    if (testbed) return std::get<Guest>(node_of(*testbed, "h1").attachment);
    for (const Error& error : testbed.error()) ADD_FAILURE() << to_string(error);
    return {};
  }
  Complaints complaints(const std::string& keys) const {
    Complaints out;
    const auto testbed = read(keys);
    if (testbed) return out;
    for (const Error& error : testbed.error())
      out.push_back(std::to_string(error.line) + " " + error.path + ": " + error.message);
    return out;
  }

  fs::path folder_;
};

TEST(GuestKeys, HaveMemoryAndProcessorsWithinLimits) {
  const Guest usual = std::get<Guest>(node_of(read_well(with_guest("")), "h1").attachment);
  EXPECT_EQ(usual.memory_bytes, 384ULL << 20);
  EXPECT_EQ(usual.cpus, 1u);
  EXPECT_EQ(usual.root_kind, GuestRoot::kOurs);
  const Guest given =
      std::get<Guest>(node_of(read_well(with_guest("kind: qemu, memory: 2GiB, cpus: 4")), "h1").attachment);
  EXPECT_EQ(given.memory_bytes, 2ULL << 30);
  EXPECT_EQ(given.cpus, 4u);
  EXPECT_EQ(complaints_about(with_guest("memory: 63MiB")),
            Complaints{"4 topology.nodes.h1.guest.memory: must be at least 64MiB, not '63MiB'"});
  EXPECT_EQ(complaints_about(with_guest("memory: 65GiB")),
            Complaints{"4 topology.nodes.h1.guest.memory: must be at most 64GiB, not '65GiB'"});
  EXPECT_EQ(complaints_about(with_guest("kind: qemu, cpus: 0")),
            Complaints{"4 topology.nodes.h1.guest.cpus: must be at least 1, not '0'"});
}

TEST(GuestKeys, RefuseProcessorsThatUserModeLinuxLacks) {
  EXPECT_EQ(complaints_about(with_guest("kind: uml, cpus: 2")),
            Complaints{"4 topology.nodes.h1.guest.cpus: user-mode Linux has one processor; guests of 'kind: qemu' have "
                       "more"});
}

TEST(GuestPaths, AreAbsoluteAndMeanWhatTheyShow) {
  for (const char* good : {"/a", "/etc/app.conf", "/opt/a b/c", "/bin/x", "/runs", "/devices/x", "/..a"})
    EXPECT_EQ(obstacle_to_guest_path(good), "") << good;
  for (const char* bad : {"",        "a",      "./a",       "/",          "//a",    "/a/",    "/a//b",
                          "/./a",    "/a/..",  "/../a",     "/a/../../b", "/a\nb",  "/\x7f",  "/proc",
                          "/proc/x", "/sys/x", "/dev/null", "/run/x",     "/tmp/x", "/guest", "/board/x"})
    EXPECT_NE(obstacle_to_guest_path(bad), "") << bad;
  EXPECT_EQ(obstacle_to_guest_path("/" + std::string(255, 'a')), "");
  EXPECT_NE(obstacle_to_guest_path("/" + std::string(256, 'a')), "");
  std::string deep;
  while (deep.size() < 1024) deep += "/abcdefg";
  EXPECT_EQ(obstacle_to_guest_path(deep), "");
  EXPECT_NE(obstacle_to_guest_path(deep + "x"), "");
}

TEST_F(GuestParts, AreBesideTheFileThatNamesThem) {
  const Guest it = guest("root: root, kernel: ./linux, files: {/opt/b/c: app.conf, /opt/b: ./root/../root}");
  EXPECT_EQ(it.root, at("root"));
  EXPECT_EQ(it.root_kind, GuestRoot::kFolder);
  EXPECT_EQ(it.kernel, at("linux"));
  ASSERT_EQ(it.files.size(), 2u);
  EXPECT_EQ(it.files[0].place, "/opt/b") << "a folder before what lies in it";
  EXPECT_EQ(it.files[0].source, at("root"));
  EXPECT_EQ(it.files[1].source, at("app.conf"));
  EXPECT_EQ(read("kernel: linux, root: squashfs, files: {/a: app.conf}")->inputs.size(), 3u);
}

TEST_F(GuestParts, MayBeImages) {
  EXPECT_EQ(guest("root: squashfs").root_kind, GuestRoot::kSquashfs);
  EXPECT_EQ(guest("root: " + at("ext4")).root_kind, GuestRoot::kExt4);
  EXPECT_EQ(
      complaints("root: app.conf"),
      Complaints{"4 topology.nodes.h1.guest.root: 'app.conf': is neither a folder nor an ext4 or squashfs image"});
}

TEST_F(GuestParts, AreReportedWithTheirLineWhenTheyAreMissing) {
  EXPECT_EQ(complaints("root: nowhere, kernel: none, files: {/etc/x: x.conf}"),
            (Complaints{"4 topology.nodes.h1.guest.root: 'nowhere': No such file or directory",
                        "4 topology.nodes.h1.guest.kernel: 'none': No such file or directory",
                        "4 topology.nodes.h1.guest.files.'/etc/x': 'x.conf': No such file or directory"}));
}

TEST_F(GuestParts, AreNoPipesAndNotTheWholeMachine) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(complaints("files: {/a: pipe}"),
            Complaints{"4 topology.nodes.h1.guest.files.'/a': 'pipe': is neither a file nor a folder"});
  EXPECT_EQ(complaints("root: /"), Complaints{"4 topology.nodes.h1.guest.root: '/': is this whole machine: name a "
                                              "folder that holds what the guest is to see"});
  EXPECT_EQ(complaints("files: {/a: /}"),
            Complaints{"4 topology.nodes.h1.guest.files.'/a': '/': is this whole machine"});
  fs::create_directory(folder_ / "a b");
  EXPECT_EQ(complaints("root: a b").size(), 1u) << "a kernel command line would cut it";
  EXPECT_EQ(guest("files: {/a: a b}").files.size(), 1u);
}

TEST_F(GuestParts, CannotLieInAFile) {
  EXPECT_EQ(complaints("files: {/a/b: app.conf, /a: app.conf}"),
            Complaints{"4 topology.nodes.h1.guest.files.'/a/b': '/a/b' would lie in '/a', which is a file"});
  EXPECT_EQ(guest("files: {/a/b: app.conf, /a: root, /ab: app.conf}").files.size(), 3u);
}

TEST_F(GuestParts, AreAMapOfTextsOfLimitedSize) {
  EXPECT_EQ(complaints("files: [a]"),
            Complaints{"4 topology.nodes.h1.guest.files: expected a map such as {/etc/app.conf: ./app.conf}: the "
                       "guest's paths, and this machine's, found a list"});
  EXPECT_EQ(complaints("files: {/a: ''}"), Complaints{"4 topology.nodes.h1.guest.files.'/a': names no file"});
  EXPECT_EQ(
      complaints("files: {etc/a: app.conf}"),
      Complaints{"4 topology.nodes.h1.guest.files.'etc/a': 'etc/a' must be an absolute path of the guest, such as "
                 "/etc/app.conf"});
  std::string many;
  for (int i = 0; i <= 256; ++i) many += "/f" + std::to_string(i) + ": app.conf, ";
  EXPECT_EQ(complaints("files: {" + many + "}"),
            Complaints{"4 topology.nodes.h1.guest.files: names 257 files, and 256 are the most: name folders"});
}

TEST_F(GuestParts, HaveAKernelOfTheirKind) {
  EXPECT_EQ(guest("kind: qemu, kernel: bzImage").kernel, at("bzImage"));
  const auto refused = [this](const std::string& keys, const std::string& why) {
    EXPECT_EQ(complaints(keys), Complaints{"4 topology.nodes.h1.guest.kernel: " + why});
  };
  const std::string no_uml = ": is no user-mode Linux: a program of a kernel that was built with ARCH=um for x86-64";
  const std::string no_bzimage = ": is no bzImage for x86-64, as QEMU boots it (arch/x86/boot/bzImage, or a vmlinuz)";
  refused("kind: uml, kernel: bzImage", "'bzImage'" + no_uml);
  refused("kind: uml, kernel: app.conf", "'app.conf'" + no_uml);
  refused("kind: qemu, kernel: linux", "'linux'" + no_bzimage);
  refused("kernel: root", "'root': is a folder");
  put("other", elf(".text"));
  refused("kernel: other", "'other'" + no_uml);
  put("arm", elf(".uml.setup.init", EM_AARCH64));
  refused("kernel: arm", "'arm'" + no_uml);
  put("old", bzimage(0x020b));
  refused("kind: qemu, kernel: old", "'old'" + no_bzimage);
  put("i386", bzimage(0x020f, 0));
  refused("kind: qemu, kernel: i386", "'i386'" + no_bzimage);
  chmod((folder_ / "linux").c_str(), 0644);
  refused("kernel: linux", "'linux': may not be executed: chmod +x");
}

// Cut anywhere, and with wild numbers in its header.
TEST_F(GuestParts, DamagedKernelsAreRefused) {
  const std::string whole = elf(".uml.setup.init");
  for (size_t size = 0; size < whole.size() - 1; ++size) {
    put("cut", whole.substr(0, size));
    EXPECT_NE(obstacle_to_kernel(at("cut"), GuestKind::kUml), "") << size;
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = '\xff';
    put("wild", bytes);
    static_cast<void>(obstacle_to_kernel(at("wild"), GuestKind::kUml));
  }
}

}  // namespace
}  // namespace softspine::control
