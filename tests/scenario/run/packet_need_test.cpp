// SPDX-License-Identifier: Apache-2.0
// How many packets a testbed may have under way, against the formula of packet_need.hpp, with its numbers put in by
// hand.
#include "testbeds/run/packet_need.hpp"

#include <fmt/format.h>

#include "dataplane/packet/pool.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::PacketPool;

constexpr uint64_t kInCache = 1'280;  // of one worker
constexpr uint64_t kQueue = 1 << 20;  // a queue's limit, unless a profile says otherwise

// Hosts h1 … on one switch, or on several below one spine. All links have 100 Gb/s: a byte in 80 ps.
std::string rack(int tors, int hosts_per_tor, const std::string& workload, const std::string& more = "") {
  return fmt::format(R"(
name: need
run: {{duration: 10ms, workers: 1}}
fabric: {{kind: leaf-spine, tors: {}, spines: {}, hosts_per_tor: {}, host_link: {{rate: 100Gbps, length: 3m}}, fabric_link: {{rate: 100Gbps, length: 3m}}}}
workload:
  - {{name: w, {}}}
{})",
                     tors, tors > 1 ? 1 : 0, hosts_per_tor, workload, more);
}
constexpr const char* kLong = "pattern: pairs, from: [h1], to: [h2], message: 1MiB, messages: 1000, mtu: 4096";

uint64_t packets_for(const std::string& text) {
  return packet_need(testbed_of(text)).packets;
}

// Frames of 14 + 20 + 8 + 12 + 4 bytes and the payload, with 24 more on the wire.
constexpr uint64_t kFrame = 58 + 4'096;
constexpr uint64_t kFrameTime = (kFrame + 24) * 80;
constexpr uint64_t kFlight = 15'152;  // ps for 3 m, and as much for a window
// Each way as long as the flight, a window and two frames, and two more.
constexpr uint64_t kOnLink = 2 * ((2 * kFlight + 2 * kFrameTime) / kFrameTime + 2);
static_assert(kOnLink == 8);

// Its own queue, that of its answers, which is the same, and that of CNPs; and one packet of each of eight.
uint64_t in_switch(uint64_t ports, uint64_t frame, uint64_t queues = 2) {
  return ports * (queues * kQueue / frame + 8);
}

TEST(PacketNeed, IsOfTheLinksAndSwitchesThatPacketsComeTo) {
  // h3's link counts for its switch's port and for two pauses alone.
  const PacketNeed need = packet_need(testbed_of(rack(1, 3, kLong)));
  EXPECT_EQ(need.packets, 2 * kOnLink + in_switch(3, kFrame) + 2 * 3 + kInCache);
  EXPECT_EQ(need.bytes, need.packets * PacketPool::memory_bytes(kHeaderRoom));
  // Two workers have two caches.
  std::string text = rack(1, 3, kLong);
  text.replace(text.find("workers: 1"), 10, "workers: 2");
  EXPECT_EQ(packets_for(text), need.packets + kInCache);
}

// As soon as a workload leaves a ToR: the spine, and both ToRs with their own hosts and no other.
TEST(PacketNeed, LeavesOutToRsThatNobodyIsOn) {
  const uint64_t fixed = 2 * 6 + kInCache;
  EXPECT_EQ(packets_for(rack(3, 1, kLong)), 4 * kOnLink + 2 * in_switch(2, kFrame) + in_switch(3, kFrame) + fixed);
  EXPECT_EQ(packets_for(rack(3, 1, "pattern: ring, message: 1MiB, messages: 1000, mtu: 4096")),
            6 * kOnLink + 3 * in_switch(2, kFrame) + in_switch(3, kFrame) + fixed);
  // h2 and h4 are on ToRs that others use, and take no part.
  EXPECT_EQ(packets_for(rack(2, 2, "pattern: pairs, from: [h1], to: [h3], message: 1MiB, messages: 1000, mtu: 4096")),
            4 * kOnLink + 2 * in_switch(3, kFrame) + in_switch(2, kFrame) + fixed);
  const uint64_t one_rack = 2 * kOnLink + in_switch(3, kFrame) + 2 * 9 + kInCache;
  EXPECT_EQ(packets_for(rack(3, 2, kLong)), one_rack) << "h1 and h2 are on one ToR, and the spine is not used";
}

// Frames are taken for as small as the smallest, and links for as long as the largest keeps them.
TEST(PacketNeed, IsOfTheSmallestFramesBesideTheLargest) {
  constexpr uint64_t kSmallFrame = 58 + 256;
  constexpr uint64_t kOnLinkOfSmall = 2 * ((2 * kFlight + 2 * kFrameTime) / ((kSmallFrame + 24) * 80) + 2);
  static_assert(kOnLinkOfSmall == 54);
  const std::string small =
      "  - {name: v, pattern: pairs, from: [h1], to: [h2], message: 1MiB, messages: 1000, mtu: 256}\n";
  EXPECT_EQ(packets_for(rack(1, 2, kLong, small)), 2 * kOnLinkOfSmall + in_switch(2, kSmallFrame) + 2 * 2 + kInCache);
  // A message of a byte is a frame of the least size, 60 bytes.
  EXPECT_EQ(packets_for(rack(1, 2, "pattern: pairs, from: [h1], to: [h2], message: 1B, messages: 1000000, mtu: 4096")),
            2 * 2 * ((2 * kFlight + 2 * kFrameTime) / (84 * 80) + 2) + in_switch(2, 60) + 2 * 2 + kInCache);
}

// Each packet may have an answer, and each host holds 1,024 of them at each of its ports.
TEST(PacketNeed, HasAnswersWhereATransportAcknowledges) {
  const std::string text = rack(1, 3, std::string(kLong) + ", transport: rc, window: 100000");
  EXPECT_EQ(packets_for(text), 2 * (2 * kOnLink + in_switch(3, kFrame)) + 2 * 1'024 + 2 * 3 + kInCache);
}

// What is outside sends frames of any size: 256 bytes are the average, 9,234 the largest, and all classes are used.
TEST(PacketNeed, HasFramesOfItsOwnForWhatIsOutside) {
  constexpr uint64_t kOnLinkOutside = 2 * ((2 * kFlight + 2 * (9'234 + 24) * 80) / ((256 + 24) * 80) + 2);
  const PacketNeed need =
      packet_need(testbed_of(rack(1, 3, kLong, "topology: {nodes: {h3: {edge: {pcap: {in: none.pcap}}}}}\n")));
  const uint64_t packets = 3 * kOnLinkOutside + in_switch(3, 256, 3);
  const uint64_t headers = packets + 2 * 3 + kInCache;
  const uint64_t frames = packets + 4'096 + kInCache;
  EXPECT_EQ(need.packets, headers + frames);
  EXPECT_EQ(need.bytes,
            headers * PacketPool::memory_bytes(kHeaderRoom) + frames * PacketPool::memory_bytes(kFrameRoom));
}

// No more than is sent: flows × messages × packets of a message.
TEST(PacketNeed, IsNoMoreThanWorkloadsSend) {
  const uint64_t fixed = 2 * 4 + kInCache;
  for (const auto& [workload, packets] :
       {std::pair{"pattern: pairs, from: [h1], to: [h2], message: 4096B, messages: 3, mtu: 4096", 1U * 3},
        {"pattern: pairs, from: [h1, h2], to: [h3, h4], message: 4097B, messages: 1, mtu: 4096", 2U * 2},
        {"pattern: incast, from: [h1, h2, h3], to: h4, message: 8KiB, messages: 1, mtu: 4096", 3U * 2},
        {"pattern: all_to_all, message: 4096B, messages: 2, mtu: 1024", 4U * 3 * 2 * 4},
        {"pattern: ring, message: 1B, messages: 5, mtu: 1024", 4U * 5},
        {"pattern: permutation, message: 1KiB, messages: 5, mtu: 512", 4U * 5 * 2},
        {"pattern: pairs, from: [h1], to: [h2], message: 4096B, messages: 2, mtu: 1024, qps: 3", 3U * 2 * 4}}) {
    EXPECT_EQ(packets_for(rack(1, 4, workload)), packets + fixed) << workload;
  }
}

// Nor more than the senders' links carry in the run: 10 ms at a frame's time each, and one more.
TEST(PacketNeed, IsNoMoreThanTheSendersLinksCarry) {
  std::string text = rack(1, 2, kLong);
  text.replace(text.find("10ms"), 4, "10us");
  EXPECT_EQ(packets_for(text), 10'000'000 / kFrameTime + 1 + 2 * 2 + kInCache);
  std::string both = rack(1, 2, "pattern: ring, message: 1MiB, messages: 1000, mtu: 4096");
  both.replace(both.find("10ms"), 4, "10us");
  EXPECT_EQ(packets_for(both), 2 * (10'000'000 / kFrameTime + 1) + 2 * 2 + kInCache);
}

// Nor twice what reliable connections' windows let be under way, where all are reliable; each packet has an answer.
TEST(PacketNeed, IsNoMoreThanTwiceReliableWindows) {
  const std::string reliable = std::string(kLong) + ", transport: rc, window: 16";
  EXPECT_EQ(packets_for(rack(1, 2, reliable)), 2 * 2 * 16 + 2 * 2 + kInCache);
  EXPECT_EQ(packets_for(rack(1, 2, reliable + ", qps: 3")), 2 * 2 * 3 * 16 + 2 * 2 + kInCache);
  const std::string open_loop =
      "  - {name: v, pattern: pairs, from: [h2], to: [h1], message: 1MiB, messages: 1000, mtu: 4096}\n";
  EXPECT_GT(packets_for(rack(1, 2, reliable, open_loop)), 2'000U) << "the other has no window";
}

// A switch holds what the largest of the profiles that it will have can hold; another switch's are not its own.
TEST(PacketNeed, IsOfTheLargestProfileThatAFaultGivesASwitch) {
  const std::string profiles =
      "profiles: {small: {queue_limit: 64KiB}, large: {queue_limit: 4MiB}}\nroles: {tor: small, aggregation: small}\n";
  const auto with = [&](const char* node, const char* profile) {
    return packets_for(
        rack(2, 1, kLong, profiles + fmt::format("faults: [{{at: 1ms, node: {}, profile: {}}}]\n", node, profile)));
  };
  const auto of = [](uint64_t bytes) { return 2 * (2 * bytes / kFrame + 8); };
  const uint64_t rest = 4 * kOnLink + 2 * 4 + kInCache;
  EXPECT_EQ(packets_for(rack(2, 1, kLong, profiles)), rest + 3 * of(64 << 10));
  EXPECT_EQ(with("tor1", "large"), rest + of(4 << 20) + 2 * of(64 << 10));
  EXPECT_EQ(with("tor1", "small"), rest + 3 * of(64 << 10));
}

}  // namespace
}  // namespace softspine::testbeds
