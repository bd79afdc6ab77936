// SPDX-License-Identifier: Apache-2.0
// What a switch counts while it hashes: flowlets begun, and packets that are too short for a UDF of their key.
#include <fmt/format.h>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// h1 → h2 over two spines: only tor1 has a choice. A write of `message` in one packet is 14 + 20 + 8 + 12 + 16 +
// message padded to 4 + 4 bytes; layer 4 begins at 34.
Outcome run_profile(const std::string& profile, const std::string& message, const std::string& rate = "1Gbps") {
  return run_text(fmt::format(R"(
name: counted
run: {{duration: 5ms}}
fabric: {{kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {{rate: 10Gbps}}, fabric_link: {{rate: 10Gbps}}}}
profiles: {{default: {}}}
workload:
  - {{name: w, pattern: pairs, from: [h1], to: [h2], message: {}, messages: 25, mtu: 256, rate: {}}}
)",
                              profile, message, rate));
}

// Of 78 bytes, 44 from layer 4 on.
constexpr const char* kReachesToByte50 = "{hash: {udf: [{base: L4, offset: 40, length: 10}]}}";

TEST(HashCounters, CountPacketsThatAreTooShortForTheirUdf) {
  const Outcome out = run_profile(kReachesToByte50, "1B");
  EXPECT_EQ(out.report["flows"]["w"]["received_packets"], 25) << "they are hashed by what is there, and go on";
  EXPECT_EQ(out.report["switches"]["tor1"]["short_hash_keys"], 25);
  EXPECT_EQ(out.report["switches"]["spine1"]["short_hash_keys"], 0) << "has no choice to make";
}

TEST(HashCounters, CountNoneThatIsLongEnough) {
  // 8 bytes of payload: 48 bytes from layer 4 on, two too few; 12: 52.
  EXPECT_EQ(run_profile(kReachesToByte50, "8B").report["switches"]["tor1"]["short_hash_keys"], 25);
  EXPECT_EQ(run_profile(kReachesToByte50, "12B").report["switches"]["tor1"]["short_hash_keys"], 0);
}

TEST(HashCounters, CountAFlowletForEachGap) {
  // A packet of 334 bytes and 24 of the wire leaves each 2.86 µs at 1 Gb/s: after a longer gap than 2 µs, but not
  // than 5.
  const Outcome each = run_profile("{groups: {mode: flowlet, gap: 2us}}", "256B");
  const Outcome one = run_profile("{groups: {mode: flowlet, gap: 5us}}", "256B");
  EXPECT_EQ(each.report["switches"]["tor1"]["flowlets"], 25);
  EXPECT_EQ(one.report["switches"]["tor1"]["flowlets"], 1);
  EXPECT_EQ(one.report["switches"]["tor2"]["flowlets"], 0);
}

}  // namespace
}  // namespace softspine::testbeds
