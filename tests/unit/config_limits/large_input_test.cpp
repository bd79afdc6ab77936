// SPDX-License-Identifier: Apache-2.0
// Input that tries to cost much: size, depth, aliases, long words. Each ends with one clear error, or with a testbed.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "control/document/document.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::with_fabric;

std::string repeated(std::string_view piece, size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (size_t i = 0; i < times; ++i) out += piece;
  return out;
}

// Else a kernel that gives huge pages unasked, as Debian's does, gives more memory than is asked for.
[[maybe_unused]] const int kWithoutHugePages = prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);

// The most memory that this process has had, in MiB.
long peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;  // several times slower and larger
#else
constexpr bool kSanitized = false;
#endif
constexpr size_t kHundredMb = 100'000'000;

TEST(LargeInput, AHundredMegabytesOfTextAreRefusedUnread) {
  const std::string text = with_fabric(repeated("# words\n", kHundredMb / 8));
  EXPECT_EQ(complaints_about(text), (Complaints{"0 : larger than 16 MiB, the most that is read"}));
}

TEST(LargeInput, AFileOfAHundredMegabytesIsRefusedUnread) {
  char path[] = "/tmp/softspine-large-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, kHundredMb), 0);
  close(fd);
  const auto testbed = load_testbed(path);
  unlink(path);
  ASSERT_FALSE(testbed);
  EXPECT_EQ(to_string(testbed.error().at(0)), std::string(path) + ": larger than 16 MiB, the most that is read");
}

TEST(LargeInput, ATextOfTheLargestSizeIsRead) {
  std::string text = with_fabric("workload:\n");
  while (text.size() + 200 < kMaxTextBytes) {
    text += "- {name: w" + std::to_string(text.size()) + ", pattern: permutation, message: 64KiB}  # as they come\n";
  }
  text += repeated("#", kMaxTextBytes - text.size());
  ASSERT_EQ(text.size(), kMaxTextBytes);
  EXPECT_GT(tests::read_well(text).workloads.size(), 200'000u);
  EXPECT_EQ(complaints_about(text + "#"), (Complaints{"0 : larger than 16 MiB, the most that is read"}));
}

TEST(LargeInput, ManyValuesAreCountedNotKept) {
  EXPECT_EQ(complaints_about("name: t\nx: [" + repeated("1,", 5'000'000) + "]\n"),
            (Complaints{"2 : more than 2000000 values"}));
}

TEST(LargeInput, NestingHasAnEnd) {
  for (const std::string& tail :
       {"x: " + repeated("[", 1'000'000), "x: " + repeated("{a: ", 1'000'000), "x:\n" + repeated("- ", 1'000'000),
        repeated("? ", 1'000'000), "x: " + repeated("[[[[\n", 200'000)}) {
    const Complaints found = complaints_about("name: t\n" + tail);
    ASSERT_EQ(found.size(), 1u) << tail.substr(0, 30);
    EXPECT_TRUE(found[0].ends_with(" : nested more than 64 deep")) << found[0];
    EXPECT_LE(std::stoi(found[0]), 18) << tail.substr(0, 30);
  }
  std::string steps = "name: t\n";
  for (size_t i = 0; i < 2'000; ++i) steps += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(complaints_about(steps), (Complaints{"66 : nested more than 64 deep"}));
}

TEST(LargeInput, AliasesOfAliasesAreCountedWrittenOut) {
  std::string text = "name: t\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + repeated(", " + before, 9) + "]\n";
  }
  EXPECT_EQ(complaints_about(text), (Complaints{"8 : with aliases written out, more than 2000000 values"}));
}

TEST(LargeInput, ALongWordIsNotCopiedAMillionTimes) {
  const std::string word(8 << 20, 'a');
  const std::string text =
      with_fabric("profiles: {p: {base: &long " + word + "}}\nworkload: [{name: w, pattern: ring, hosts: [" +
                  repeated("*long, ", 500'000) + "]}]\n");
  EXPECT_EQ(complaints_about(text), (Complaints{"5 : with aliases written out, more than 64 MiB"}));
}

TEST(LargeInput, ALongWordIsShownShort) {
  const Complaints found = complaints_about(with_fabric("run: {seed: " + std::string(1 << 20, '9') + "}\n"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LT(found[0].size(), 250u);
  const Complaints key = complaints_about(with_fabric("\"" + std::string(1'000, 'k') + "\": 1\n"));
  ASSERT_EQ(key.size(), 1u);
  EXPECT_LT(key[0].size(), 250u);
}

TEST(LargeInput, AMillionEmptyRowsAreRefusedWithinMemory) {
  EXPECT_GT(
      complaints_about(with_fabric("workload: [" + repeated("{},", kSanitized ? 190'000 : 1'900'000) + "]")).size(),
      100'000u);
  std::string text = with_fabric("topology:\n nodes:\n");
  for (int i = 0; i < 300'000; ++i) text += "  " + std::to_string(i) + ": {}\n";
  EXPECT_GT(complaints_about(text).size(), 100'000u);
  text = with_fabric("profiles:\n");
  for (int i = 0; i < 300'000; ++i) text += "  " + std::to_string(i) + ": {}\n";
  EXPECT_TRUE(complaints_about(text).empty());
  if (!kSanitized) {
    EXPECT_LT(peak_mib(), 2'000);
  }
}

TEST(LargeInput, RowsBehindOneAliasAreReadOnceEach) {
  const std::string row = "&r {value: a, between: [1, 2], within: 3}";
  const std::string text = with_fabric("expect: [" + row + repeated(", *r", 150'000) + "]\n");
  EXPECT_EQ(complaints_about(text).size(), 1u);
}

TEST(LargeInput, ListsWithinRowsAreWalkedOnce) {
  const auto list = [](std::string_view item) { return "[" + repeated(std::string(item) + ", ", 100'000) + "]"; };
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {tor1: {subnet: " + list("10.9.0.0/24") + "}}}\n")),
            Complaints{});
  EXPECT_GT(complaints_about(with_fabric("topology: {nodes: {h1: {address: " + list("10.0.1.9") + "}}}\n")).size(), 9u);
  EXPECT_GT(complaints_about(with_fabric("expect: [{value: a, between: " + list("word") + "}]\n")).size(), 0u);
  EXPECT_GT(complaints_about(with_fabric("workload: [{name: w, pattern: pairs, from: " + list("h1") +
                                         ", to: " + list("h1") + "}]\n"))
                .size(),
            9u);
  EXPECT_GT(complaints_about(with_fabric("topology: {links: [{endpoints: " + list("h1") + ", rate: 1Gbps}]}\n")).size(),
            0u);
}

TEST(LargeInput, GuessingHasABudget) {
  std::string text = "name: t\nfabric: {kind: leaf-spine, tors: 1000, spines: 1, hosts_per_tor: 100,\n";
  text += "  host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}\nfaults:\n";
  for (int i = 0; i < 20'000; ++i) text += "  - {at: 1ms, node: g" + std::to_string(100'000 + i) + ", set: down}\n";
  EXPECT_EQ(complaints_about(text).size(), 20'000u);
}

}  // namespace
}  // namespace softspine::control
