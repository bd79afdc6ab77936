// SPDX-License-Identifier: Apache-2.0
#include "control/document/setting.hpp"

#include <gtest/gtest.h>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::kSmallFabric;
using tests::with_fabric;

std::vector<Setting> settings(const std::vector<std::string>& texts) {
  std::vector<Setting> out;
  for (const std::string& text : texts) out.push_back(setting_of(text).value());
  return out;
}

Testbed with(std::string_view rest, const std::vector<std::string>& texts) {
  return tests::read_well(with_fabric(rest), {.settings = settings(texts)});
}

Complaints complaints(std::string_view rest, const std::vector<std::string>& texts) {
  return complaints_about(with_fabric(rest), {.settings = settings(texts)});
}

constexpr std::string_view kTwoWorkloads =
    "run: {seed: 3, workers: 2}\n"
    "workload:\n"
    "  - {name: a, pattern: permutation, message: 1KiB, messages: 1}\n"
    "  - {name: b, pattern: permutation, message: 1KiB, messages: 1}\n";

TEST(Setting, IsAPathAndAValue) {
  EXPECT_EQ(setting_of("run.seed=3")->path, "run.seed");
  EXPECT_EQ(setting_of("a=b=c")->value, "b=c");
  EXPECT_EQ(setting_of("a=")->value, "");
  for (const std::string_view wrong : {"", "run.seed", "=3", ".a=1", "a.=1", "a..b=1"})
    EXPECT_FALSE(setting_of(wrong)) << wrong;
}

// As if the value had been written there: each of these files says the same.
TEST(Setting, IsAsIfItStoodInTheFile) {
  EXPECT_EQ(with(kTwoWorkloads, {"run.seed=7"}).run.seed, 7u);
  EXPECT_EQ(with(kTwoWorkloads, {"run.seed=7"}).run.workers, 2u);
  EXPECT_EQ(with("", {"run.seed=7"}).run.seed, 7u) << "the map that leads to it is made";
  EXPECT_EQ(with(kTwoWorkloads, {"run={seed: 9}"}).run.workers, 1u) << "a map takes the place of the whole map";
  EXPECT_EQ(with(kTwoWorkloads, {"run.seed=7", "run.seed=8"}).run.seed, 8u);
  EXPECT_EQ(with(kTwoWorkloads, {"name=other"}).name, "other");
  EXPECT_EQ(with(kTwoWorkloads, {"run.seed=7"}).settings, std::vector<std::string>{"run.seed=7"});
}

// The longest name that is there, wherever it stands among the others.
TEST(Setting, ReachesKeysThatHoldDotsThemselves) {
  for (const std::string text : {"{p: 1, p.q: 2, p.q.r: 3}", "{p.q.r: 3, p.q: 2, p: 1}", "{p.q: 2, p: 1, p.q.r: 3}"}) {
    ErrorLog log;
    auto document = Document::parse(text, "t.yaml", log);
    document = with_settings(std::move(document), settings({"p.q=7"}), log);
    EXPECT_EQ(log.count(), 0u);
    EXPECT_EQ(document->root().child("p.q").text(), "7") << text;
    EXPECT_EQ(document->root().child("p").text(), "1") << text;
    EXPECT_EQ(document->root().child("p.q.r").text(), "3") << text;
  }
}

TEST(Setting, ReachesItemsOfLists) {
  for (const std::string path : {"workload[1]", "workload.1"}) {
    const Testbed testbed = with(kTwoWorkloads, {path + ".qps=4"});
    EXPECT_EQ(testbed.workloads[0].qps, 1u);
    EXPECT_EQ(testbed.workloads[1].qps, 4u) << path;
  }
  for (const std::string path : {"workload[*].qps=4", "workload.*.qps=4"}) {
    const Testbed testbed = with(kTwoWorkloads, {path});
    EXPECT_EQ(testbed.workloads[0].qps, 4u) << path;
    EXPECT_EQ(testbed.workloads[1].qps, 4u) << path;
  }
  const Testbed replaced =
      with(kTwoWorkloads, {"workload=[{name: c, pattern: incast, from: [h2, h3], to: h1, message: 2KiB, messages: 3}]",
                           "workload[0].from=[h3, h4]"});
  ASSERT_EQ(replaced.workloads.size(), 1u);
  EXPECT_EQ(replaced.workloads[0].messages, 3u);
}

TEST(Setting, OfAnAnchorIsSetForItsAliases) {
  constexpr std::string_view kAliases =
      "workload:\n"
      "  - {name: a, pattern: permutation, message: &size 1KiB, messages: 1}\n"
      "  - {name: b, pattern: permutation, message: *size, messages: 1}\n";
  const Testbed both = with(kAliases, {"workload[0].message=2KiB"});
  EXPECT_EQ(both.workloads[0].message_bytes, 2048u);
  EXPECT_EQ(both.workloads[1].message_bytes, 2048u);
  const Testbed one = with(kAliases, {"workload[1].message=2KiB"});
  EXPECT_EQ(one.workloads[0].message_bytes, 1024u);
  EXPECT_EQ(one.workloads[1].message_bytes, 2048u);
  constexpr std::string_view kMaps = "profiles:\n  a: &a {mtu: 9000}\n  b: *a\n";
  EXPECT_EQ(complaints(kMaps, {"profiles.b.mtu=4000"}),
            (Complaints{"0 --set profiles.b.mtu: profiles.b is an alias of profiles.a: set it there"}));
}

TEST(Setting, AnErrorOfAValueHasItsPath) {
  EXPECT_EQ(complaints(kTwoWorkloads, {"run.seed=x"}).size(), 1u);
  EXPECT_EQ(complaints(kTwoWorkloads, {"run.seed=x"})[0].substr(0, 12), "0 run.seed: ");
  EXPECT_EQ(complaints(kTwoWorkloads, {"workload[1].qps={a: [1]}"})[0].substr(0, 19), "0 workload[1].qps: ");
  EXPECT_EQ(complaints("", {"workload=[{name: a, pattern: permutation, message: 1KiB, messages: x}]"})[0].substr(0, 23),
            "0 workload[0].messages:");
  EXPECT_EQ(complaints(kTwoWorkloads, {"run.sede=1"})[0].substr(0, 12), "0 run.sede: ");
}

TEST(Setting, WhatCannotBeSetIsNamed) {
  const auto said = [](const std::string& text) { return complaints(kTwoWorkloads, {text}); };
  EXPECT_EQ(said("workload[2].qps=4"),
            (Complaints{"0 --set workload[2].qps: workload has 2 items, numbered from 0: there is no 2"}));
  EXPECT_EQ(said("workload.a.qps=4"),
            (Complaints{"0 --set workload.a.qps: workload is a list, whose items have numbers, and 'a' is none"}));
  EXPECT_EQ(said("run.seed.more=4"), (Complaints{"0 --set run.seed.more: run.seed is '3'"}));
  EXPECT_EQ(said("run[0]=4"), (Complaints{"0 --set run[0]: run is no list"}));
  EXPECT_EQ(said("faults.*.at=4us"), (Complaints{"0 --set faults.*.at: there is no 'faults', and no items of it"}));
  EXPECT_EQ(said("run.seed="), (Complaints{"0 --set run.seed: a value is missing; '' is an empty word"}));
  const auto broken = parse_testbed(with_fabric(""), "t.yaml", {.settings = settings({"run.seed=[1"})});
  ASSERT_EQ(broken.error().size(), 1u);
  EXPECT_EQ(broken.error()[0].file, "--set run.seed");
}

// A value with all kinds in it keeps its order, its text and its aliases.
TEST(Setting, TakesAWholeTree) {
  const Testbed testbed = with("", {"workload=[{name: a, pattern: permutation, message: &m 4KiB, messages: &n 2}, "
                                    "{name: b, pattern: incast, from: [h4, h3], to: h1, message: *m, messages: *n}]"});
  ASSERT_EQ(testbed.workloads.size(), 2u);
  EXPECT_EQ(testbed.workloads[1].name, "b");
  EXPECT_EQ(testbed.workloads[1].message_bytes, 4096u);
  EXPECT_EQ(testbed.workloads[1].messages, 2u);
}

}  // namespace
}  // namespace softspine::control
