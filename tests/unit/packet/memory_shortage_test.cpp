// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/memory_shortage.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace softspine::dataplane {
namespace {

constexpr uint64_t kMebi = 1U << 20;

TEST(MemoryShortage, NamesTheLimitOfTheProcessAndHowToLiftIt) {
  EXPECT_EQ(memory_shortage(256 * kMebi, {.address_space = 400 * kMebi, .strict_commit = true, .available = kMebi}),
            "256 MiB of memory are not to be had: a process may have 400 MiB of address space here; "
            "`ulimit -v unlimited` lifts that");
}

TEST(MemoryShortage, NamesTheMachinesWayToCommitMemory) {
  EXPECT_EQ(memory_shortage(kMebi, {.address_space = {}, .strict_commit = true, .available = kMebi}),
            "1 MiB of memory are not to be had: this machine commits no more memory than it has "
            "(vm.overcommit_memory is 2); `sysctl vm.overcommit_memory=0` changes that");
}

TEST(MemoryShortage, SaysOtherwiseWhatIsThere) {
  EXPECT_EQ(memory_shortage(512 * kMebi, {.address_space = {}, .strict_commit = false, .available = 100 * kMebi}),
            "512 MiB of memory are not to be had: 100 MiB are available on this machine, or in this container");
}

TEST(MemoryShortage, OfAThreadIsOneOfProcessesWhereMemoryIsNotLimited) {
  const MemoryLimits limited{.address_space = 400 * kMebi, .strict_commit = false, .available = kMebi};
  EXPECT_EQ(thread_limit(limited), memory_limit(limited));
  EXPECT_EQ(thread_limit({}),
            "the number of processes and threads is limited here: `ulimit -u`, or a container's pids.max");
}

TEST(MemoryShortage, SeesTheLimitOfThisProcess) {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  if (before.rlim_cur != RLIM_INFINITY) {
    EXPECT_EQ(read_memory_limits().address_space, before.rlim_cur);
    return;
  }
  EXPECT_FALSE(read_memory_limits().address_space);
  EXPECT_GT(read_memory_limits().available, 0U);
}

TEST(HugepageShortage, IsNoneWhenEnoughAreFreeInAllSizesTogether) {
  EXPECT_EQ(hugepage_shortage(256 * kMebi, {{2 * kMebi, 128, 128}}, kNoNumaNode), "");
  EXPECT_EQ(hugepage_shortage(1030 * kMebi, {{2 * kMebi, 3, 3}, {1024 * kMebi, 1, 1}}, kNoNumaNode), "");
}

// 256 MiB less 2 x 2 MiB are 126 pages of 2 MiB, beside the 10 that others hold and the 2 that are free.
TEST(HugepageShortage, SaysHowManyThereMustBe) {
  EXPECT_EQ(hugepage_shortage(256 * kMebi, {{2 * kMebi, 12, 2}, {1024 * kMebi, 0, 0}}, kNoNumaNode),
            "a PCI device needs 256 MiB of hugepages, and 4 MiB of them are free; as root: echo 138 "
            ">/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
  EXPECT_EQ(hugepage_shortage(3 * kMebi, {{2 * kMebi, 0, 0}}, kNoNumaNode),
            "a PCI device needs 3 MiB of hugepages, and 0 MiB of them are free; as root: echo 2 "
            ">/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
  EXPECT_EQ(hugepage_shortage(kMebi, {}, kNoNumaNode),
            "a PCI device needs 1 MiB of hugepages, and this machine's kernel has none");
}

TEST(HugepageShortage, OfANumaNodeNamesItAndItsOwnFile) {
  EXPECT_EQ(hugepage_shortage(6 * kMebi, {{2 * kMebi, 5, 1}}, 3),
            "a PCI device needs 6 MiB of hugepages on its NUMA node 3, and 2 MiB of them are free; as root: echo 7 "
            ">/sys/devices/system/node/node3/hugepages/hugepages-2048kB/nr_hugepages");
}

TEST(HugepageShortage, ReadsTheKernelsFolderSmallestPagesFirst) {
  std::string made = "/tmp/softspine-hugepages-XXXXXX";
  ASSERT_NE(mkdtemp(made.data()), nullptr);
  const std::filesystem::path folder = made;
  const auto pages = [&](const char* name, const char* total, const char* free) {
    std::filesystem::create_directory(folder / name);
    std::ofstream(folder / name / "nr_hugepages") << total << "\n";
    std::ofstream(folder / name / "free_hugepages") << free << "\n";
  };
  pages("hugepages-1048576kB", "1", "0");
  pages("hugepages-2048kB", "20", "7");
  pages("other", "5", "5");
  const auto found = read_hugepages(folder);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].page_bytes, 2 * kMebi);
  EXPECT_EQ(found[0].total, 20U);
  EXPECT_EQ(found[0].free, 7U);
  EXPECT_EQ(found[1].page_bytes, 1024 * kMebi);
  EXPECT_TRUE(read_hugepages(folder).empty()) << "there is no such folder any more";
}

}  // namespace
}  // namespace softspine::dataplane
