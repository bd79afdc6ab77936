// SPDX-License-Identifier: Apache-2.0
// What the kernel says of the memory that malloc then hands out.
#include "dataplane/packet/huge_heap.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/packet/memory_shortage.hpp"

namespace softspine::dataplane {
namespace {

// VmFlags of the mapping that a byte lies in.
std::string flags_at(const void* byte) {
  const auto address = reinterpret_cast<uintptr_t>(byte);
  std::ifstream maps{"/proc/self/smaps"};
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t from = 0;
    uintptr_t to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) is_here = from <= address && address < to;
    if (is_here && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

// In a process of its own: malloc keeps what it was told.
template <typename F>
void in_new_process(F is_right) {
  EXPECT_EXIT(std::exit(is_right() ? 0 : 1), testing::ExitedWithCode(0), "");
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsGlibcsMalloc = false;
#else
constexpr bool kIsGlibcsMalloc = true;
#endif

class HugeHeap : public testing::Test {
 protected:
  void SetUp() override {
    if (!kIsGlibcsMalloc) GTEST_SKIP() << "a sanitizer has a malloc of its own";
    if (!std::ifstream{"/sys/kernel/mm/transparent_hugepage/enabled"}.good())
      GTEST_SKIP() << "this kernel has no transparent huge pages";
    const MemoryLimits limits = read_memory_limits();
    if (limits.address_space || limits.strict_commit) GTEST_SKIP() << "memory is limited here: the heap stays as it is";
  }
};

TEST_F(HugeHeap, SmallAndLargeBlocksLieInHugePages) {
  in_new_process([] {
    if (!use_huge_pages_for_heap()) return false;
    const auto large = std::make_unique<char[]>(20 << 20);
    std::vector<std::unique_ptr<char[]>> small;
    for (int i = 0; i < 10'000; ++i) small.push_back(std::make_unique<char[]>(1'000));
    return flags_at(&large[1 << 20]).find(" hg ") != std::string::npos &&
           flags_at(small.back().get()).find(" hg ") != std::string::npos;
  });
}

TEST_F(HugeHeap, OtherwiseTheyDoNot) {
  in_new_process([] {
    const auto large = std::make_unique<char[]>(20 << 20);
    const std::string flags = flags_at(&large[1 << 20]);
    return !flags.empty() && flags.find(" hg ") == std::string::npos;
  });
}

// A heap that cannot grow by gibibytes stays as it was, and large blocks are to be had. (The data segment's limit is
// not asked for beforehand: the heap's own growth fails.)
TEST_F(HugeHeap, LeavesALimitedProcessWithPagesOf4KiB) {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    in_new_process([resource] {
      const rlimit limit{rlim_t{400} << 20, rlim_t{400} << 20};
      if (setrlimit(resource, &limit) != 0) return false;
      const bool is_used = use_huge_pages_for_heap();
      const auto large = std::make_unique<char[]>(100 << 20);
      std::vector<std::unique_ptr<char[]>> small;
      for (int i = 0; i < 100'000; ++i) small.push_back(std::make_unique<char[]>(1'000));
      return !is_used && flags_at(&large[50 << 20]).find(" hg ") == std::string::npos &&
             flags_at(small.back().get()).find(" hg ") == std::string::npos;
    });
  }
}

}  // namespace
}  // namespace softspine::dataplane
