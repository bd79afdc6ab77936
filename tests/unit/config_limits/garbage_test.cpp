// SPDX-License-Identifier: Apache-2.0
// Bytes at random, and good files with bytes changed: an answer each time, with a place in the text.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/harness/seed.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

constexpr std::string_view kGood = R"(name: good
run: {duration: 2ms, seed: 7}
fabric:
  kind: leaf-spine
  tors: 2
  spines: 2
  hosts_per_tor: 2
  host_link: &link {rate: 100Gbps, length: 5m}
  fabric_link: *link
profiles:
  default: {mtu: 9000, hash: {algorithm: CRC, fields: [SRC_IP, DST_IP], seed: 1}}
  other: {base: default, DSCP_TO_TC_MAP: {AZURE: {3: 3, 4: 4}}, queue_limits: {3: 2MiB}}
roles: {tor: other}
topology:
  nodes:
    h1: {address: [10.0.1.9, "fd00:0:0:1::9"], mac: "02:00:00:ff:00:01"}
    h4: {edge: {pcap: {in: a.pcap, out: b.pcap}}}
    x: {kind: host}
  links:
    - {endpoints: ["tor1:Ethernet40", x], rate: 25Gbps, mtu: 1500}
workload:
  - {name: w, pattern: incast, from: 2, to: h3, message: 64KiB, qps: 2, mtu: 1024}
faults:
  - {at: 1ms, link: "spine1:Ethernet0", set: down}
expect:
  - {value: flows.*.fct_p99, at_most: 40us}
  - {value: rate, equal: 97Gbps, within: 1%}
)";

void expect_an_answer(const std::string& text) {
  const int lines = static_cast<int>(std::ranges::count(text, '\n')) + 1;
  const auto testbed = parse_testbed(text, "t.yaml");
  if (testbed) return;
  ASSERT_FALSE(testbed.error().empty());
  for (const Error& error : testbed.error()) {
    ASSERT_FALSE(error.message.empty());
    ASSERT_LE(error.line, lines + 1) << to_string(error);
    for (const char c : to_string(error)) ASSERT_GE(static_cast<unsigned char>(c), 0x20) << to_string(error);
  }
}

TEST(Garbage, TheUnchangedFileIsGood) {
  EXPECT_EQ(tests::read_well(kGood).workloads.size(), 1u);
}

TEST(Garbage, RandomBytesGetAnAnswer) {
  std::mt19937_64 random(tests::seed());
  for (int i = 0; i < 3'000; ++i) {
    std::string text(random() % 300, '\0');
    for (char& c : text) c = static_cast<char>(random());
    expect_an_answer(text);
  }
}

TEST(Garbage, RandomMarksOfYamlGetAnAnswer) {
  std::mt19937_64 random(tests::seed());
  constexpr std::string_view kMarks = "{}[]:,-?&*!|>'\"%@`#\n\n\n   ab1~.<=\t\\";
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 60, ' ');
    for (char& c : text) c = kMarks[random() % kMarks.size()];
    expect_an_answer(i % 2 == 0 ? text : "name: t\nfabric: " + text);
  }
}

TEST(Garbage, AGoodFileWithAFewBytesChangedGetsAnAnswer) {
  std::mt19937_64 random(tests::seed());
  for (int i = 0; i < 5'000; ++i) {
    std::string text(kGood);
    for (uint64_t n = 1 + random() % 4; n > 0; --n) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(' ' + random() % 95); break;
        case 1: text.erase(at, 1 + random() % 20); break;
        case 2: text.insert(at, text.substr(random() % text.size(), random() % 30)); break;
        default: text[at] = text[random() % text.size()]; break;
      }
    }
    expect_an_answer(text);
  }
}

TEST(Garbage, AFileCutAnywhereGetsAnAnswer) {
  for (size_t n = 0; n < kGood.size(); ++n) expect_an_answer(std::string(kGood.substr(0, n)));
}

}  // namespace
}  // namespace softspine::control
