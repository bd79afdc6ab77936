// SPDX-License-Identifier: Apache-2.0
// Files with very many mistakes: all are named, in order; past kMaxErrors the first, and how many more.
#include <gtest/gtest.h>

#include <algorithm>

#include "control/document/error_log.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::with_fabric;

constexpr int kMany = 10'000;

// One wrong line after another, from line 5 on; expects one complaint a line, with `path(i)` and `message(i)`.
template <typename Line, typename What>
void expect_one_a_line(std::string text, int first_line, Line line, What what) {
  for (int i = 0; i < kMany; ++i) text += std::string(line(i)) + "\n";
  const Complaints found = complaints_about(text);
  ASSERT_EQ(found.size(), static_cast<size_t>(kMany)) << found.back();
  for (int i = 0; i < kMany; ++i)
    ASSERT_EQ(found[static_cast<size_t>(i)], std::to_string(first_line + i) + " " + what(std::to_string(i)));
}

TEST(ManyErrors, TenThousandUnknownKeys) {
  expect_one_a_line(
      std::string(tests::kSmallFabric), 4, [](int i) { return "zzzzzzz" + std::to_string(i) + ": 1"; },
      [](const std::string& i) { return "zzzzzzz" + i + ": unknown key 'zzzzzzz" + i + "'"; });
}

TEST(ManyErrors, TenThousandMissingUnits) {
  expect_one_a_line(
      with_fabric("profiles:\n"), 5, [](int i) { return "  p" + std::to_string(i) + ": {queue_limit: 7}"; },
      [](const std::string& i) {
        return "profiles.p" + i +
               ".queue_limit: '7' has no unit: expected a size such as 96KiB (B, KB, KiB, MB, MiB, GB, GiB)";
      });
}

TEST(ManyErrors, TenThousandLinksToNowhere) {
  std::string text = "name: t\nfabric: {kind: leaf-spine, tors: 100, spines: 1, hosts_per_tor: 100,\n";
  text += "  host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}\ntopology:\n  links:\n";
  expect_one_a_line(
      text, 6, [](int) { return "    - {endpoints: [tor1, zzzzzzzzzzzzzzz], rate: 1Gbps}"; },
      [](const std::string& i) {
        return "topology.links[" + i + "].endpoints[1]: there is no node 'zzzzzzzzzzzzzzz'";
      });
}

TEST(ManyErrors, TenThousandCyclesOfBases) {
  expect_one_a_line(
      with_fabric("profiles:\n"), 5,
      [](int i) { return "  p" + std::to_string(i) + ": {base: p" + std::to_string(i) + "}"; },
      [](const std::string& i) {
        return "profiles.p" + i + ".base: the profile p" + i + " is, by way of its bases, its own base";
      });
}

TEST(ManyErrors, TenThousandDuplicateAddresses) {
  std::string text = "name: t\nfabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 4,\n";
  text += "  host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}\n";
  text += "topology:\n  links:\n    - &l {endpoints: [x0, s0], rate: 1Gbps}\n";
  for (int i = 1; i <= kMany; ++i)
    text += "    - {endpoints: [x" + std::to_string(i) + ", s" + std::to_string(i % 100) + "], rate: 1Gbps}\n";
  text += "  nodes:\n    x0: {kind: host, mac: \"02:00:00:ff:00:01\"}\n";
  for (int s = 0; s < 100; ++s) text += "    s" + std::to_string(s) + ": {kind: switch}\n";
  const int first_line = static_cast<int>(std::ranges::count(text, '\n')) + 1;
  const auto line = [](int i) {
    return "    x" + std::to_string(i + 1) + ": {kind: host, mac: \"02:00:00:ff:00:01\"}";
  };
  for (int i = 0; i < kMany; ++i) text += std::string(line(i)) + "\n";
  const Complaints found = complaints_about(text);
  ASSERT_EQ(found.size(), static_cast<size_t>(kMany));
  EXPECT_EQ(found.front(),
            std::to_string(first_line) + " topology.nodes.x1.mac: 02:00:00:ff:00:01 is the address of x0 already");
  EXPECT_EQ(found.back(), std::to_string(first_line + kMany - 1) +
                              " topology.nodes.x10000.mac: 02:00:00:ff:00:01 is the address of x0 already");
}

TEST(ManyErrors, TenThousandKeysThatStandTwice) {
  std::string text = with_fabric("profiles:\n");
  for (int i = 0; i < kMany; ++i) text += "  p: {mtu: 9000, mtu: 9000}\n";
  const Complaints found = complaints_about(text);
  ASSERT_EQ(found.size(), 2u * kMany - 1);  // `mtu` each time, `p` each time but the first
  EXPECT_EQ(found[1], "6 profiles.p: the key 'p' stands in this map already");
  EXPECT_EQ(found[2], "6 profiles.p.mtu: the key 'mtu' stands in this map already");
}

TEST(ManyErrors, MistakesOfEveryStageComeInTheOrderOfTheFile) {
  std::string text(tests::kSmallFabric);
  const auto section = [&](std::string_view head, std::string_view line) {
    text += head;
    for (int i = 0; i < 2'500; ++i) text += std::string(line) + "\n";
  };
  section("expect:\n", "  - {value: a..b, equal: 1}");
  section("faults:\n", "  - {at: 1ms, node: qqqqqqq, set: down}");
  section("workload:\n", "  - {name: w, pattern: ring, hosts: [qqqqqqq, h1]}");
  section("topology:\n  links:\n", "    - {endpoints: [h1, qqqqqqq], rate: 1}");
  const auto testbed = parse_testbed(text, "t.yaml");
  ASSERT_FALSE(testbed);
  EXPECT_EQ(testbed.error().size(), 2'500u + 2'500 + 2 * 2'500 - 1 + 2 * 2'500);
  EXPECT_TRUE(std::ranges::is_sorted(testbed.error(), {}, &Error::line));
}

TEST(ManyErrors, PastTheLimitTheFirstAreListedAndTheRestCounted) {
  constexpr size_t kErrors = 2 * kMaxErrors + 12'345;
  std::string text = with_fabric("workload:\n");
  for (size_t i = 0; i < kErrors; ++i) text += "- 1\n";
  const auto testbed = parse_testbed(text, "t.yaml");
  ASSERT_FALSE(testbed);
  const Errors& errors = testbed.error();
  ASSERT_EQ(errors.size(), kMaxErrors + 1);
  EXPECT_EQ(to_string(errors.front()), "t.yaml:5:3: workload[0]: expected a map (workload), found '1'");
  for (size_t i = 0; i < kMaxErrors; ++i) ASSERT_EQ(errors[i].line, static_cast<int>(5 + i));
  EXPECT_EQ(to_string(errors.back()), "t.yaml: and 112345 more after line 100004: only the first 100000 are listed");
}

TEST(ErrorLog, KeepsTheFirstByLineInWhateverOrderTheyCome) {
  ErrorLog log;
  const auto add = [&](size_t line) { log.add({"f", "", static_cast<int>(line), 1, "m"}); };
  constexpr size_t kErrors = 5 * kMaxErrors / 2;
  for (size_t i = 0; i < kErrors; ++i) add(1 + (i * 7'919) % kErrors);  // 7919 is prime, and no divisor
  const Errors errors = log.finish();
  ASSERT_EQ(errors.size(), kMaxErrors + 1);
  for (size_t i = 0; i < kMaxErrors; ++i) ASSERT_EQ(errors[i].line, static_cast<int>(i + 1));
  EXPECT_EQ(errors.back().message, "and 150000 more after line 100000: only the first 100000 are listed");
  EXPECT_TRUE(log.finish().empty());
}

TEST(ErrorLog, ListsAllOfExactlyAsManyAsItHolds) {
  ErrorLog log;
  for (size_t i = kMaxErrors; i > 0; --i) log.add({"f", "", static_cast<int>(i), 1, "m"});
  const Errors errors = log.finish();
  ASSERT_EQ(errors.size(), kMaxErrors);
  EXPECT_EQ(errors.back().line, static_cast<int>(kMaxErrors));
}

}  // namespace
}  // namespace softspine::control
