// SPDX-License-Identifier: Apache-2.0
// Collectives of a testbed, whole: from the file to the report. Where nothing competes their times are closed forms.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/collectives/bus_bandwidth.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

constexpr double kRate = 100e9 / 8;  // bytes a second
constexpr double kFrame = 4'178;     // on the wire, of 4,096 bytes of payload
constexpr double kRethOfMessage = 16;

std::string star(uint32_t hosts, const std::string& collectives) {
  return fmt::format(
      "name: c\nrun: {{duration: 200ms}}\nfabric: {{kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: {}, "
      "host_link: "
      "{{rate: 100Gbps, length: 3m}}, fabric_link: {{rate: 100Gbps, length: 3m}}}}\nroles: {{tor: lossless}}\n"
      "collectives:\n{}",
      hosts, collectives);
}

double seconds_of(const Json& report, const std::string& name, uint64_t bytes) {
  const Json& size = report["collectives"][name]["sizes"][std::to_string(bytes)];
  EXPECT_EQ(size["done"], 1) << name;
  return static_cast<double>(number(size, "time_ps")) / 1e12;
}

// Of so many packets in so many messages.
double time_of(double packets, double messages) {
  return (packets * kFrame + messages * kRethOfMessage) / kRate;
}

// The ranks' own counts and those of the queue pairs, of which each message has `parts`.
void expect_counts_agree(const Json& report, uint64_t parts = 1) {
  const Json& ranks = report["collectives"]["g"];
  const Json& flows = report["flows"]["g"];
  EXPECT_EQ(number(ranks, "messages_received") * parts, number(flows, "received_messages"));
  EXPECT_EQ(number(ranks, "messages_sent"), number(ranks, "messages_received"));
  EXPECT_EQ(number(ranks, "received_bytes"), number(flows, "received_bytes"));
  EXPECT_EQ(number(ranks, "messages_unclaimed"), 0u);
}

class RingOf : public testing::TestWithParam<uint32_t> {};

// 1 MiB a rank: chunks of one MiB, two messages each. All links are busy all the time.
TEST_P(RingOf, TakesTwiceAllButOneParts) {
  const uint32_t n = GetParam();
  const uint64_t bytes = uint64_t{n} << 20;
  const Outcome out = run_text(
      star(n, fmt::format("  - {{name: g, op: all_reduce, algorithm: ring, protocol: simple, size: {}B}}\n", bytes)));
  const double steps = 2.0 * (n - 1);
  EXPECT_NEAR(seconds_of(out.report, "g", bytes) / time_of(steps * 256, steps * 2), 1, 0.005 + 2e-6 / time_of(512, 4));
  EXPECT_EQ(out.report["collectives"]["g"]["ranks_done"], n);
  // Every byte once, and no more: each rank sends its steps' parts.
  EXPECT_EQ(number(out.report["flows"]["g"], "received_bytes"), n * static_cast<uint64_t>(steps) << 20);
  EXPECT_EQ(number(out.report["flows"]["g"], "retransmitted_bytes"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Ranks, RingOf, testing::Values(2, 3, 4, 8, 16));

TEST(Collectives, GiveBandwidthsByNcclTestsDefinitions) {
  const Outcome out =
      run_text(star(4, "  - {name: g, op: all_gather, algorithm: ring, protocol: simple, size: 4MiB}\n"));
  const Json& size = out.report["collectives"]["g"]["sizes"]["4194304"];
  const double algbw = 4'194'304 / seconds_of(out.report, "g", 4'194'304);
  EXPECT_NEAR(static_cast<double>(number(size, "algbw_bps")), algbw * 8, 8);
  EXPECT_NEAR(static_cast<double>(number(size, "busbw_bps")), algbw * 6, 8);
}

TEST(Collectives, RunSizesAndIterationsOneAfterTheOther) {
  const Outcome out = run_text(star(4, "  - {name: g, op: all_reduce, size: [64KiB, 4MiB], iterations: 3}\n"));
  const Json& sizes = out.report["collectives"]["g"]["sizes"];
  EXPECT_EQ(sizes["65536"]["done"], 3);
  EXPECT_EQ(sizes["4194304"]["done"], 3);
  EXPECT_LE(number(sizes["65536"], "time_min_ps"), number(sizes["65536"], "time_ps"));
  EXPECT_LE(number(sizes["65536"], "time_ps"), number(sizes["65536"], "time_max_ps"));
  EXPECT_LT(number(sizes["65536"], "time_max_ps"), number(sizes["4194304"], "time_min_ps"));
}

TEST(Collectives, BeginAtTheirStart) {
  const std::string text =
      "  - {{name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 1MiB, start: {}}}\n";
  const Outcome at_once = run_text(star(4, fmt::format(fmt::runtime(text), "0ms")));
  const Outcome later = run_text(star(4, fmt::format(fmt::runtime(text), "3ms")));
  EXPECT_EQ(seconds_of(at_once.report, "g", 1 << 20), seconds_of(later.report, "g", 1 << 20));
  const auto first = [](const Outcome& out) {
    return std::ranges::min_element(out.snapshot.flows, {}, &control::FlowSnapshot::first_sent)->first_sent;
  };
  EXPECT_EQ(first(later) - first(at_once), dataplane::Duration::ms(3));
}

// h2 begins to hold others up in the third iteration.
TEST(Collectives, HaveAMeanBetweenTheQuickestAndTheSlowestIteration) {
  const Outcome out =
      run_text(star(4,
                    "  - {name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 1MiB, iterations: 3}\n"
                    "faults: [{at: 350us, set: slow_receiver, node: h2, drain: 10Gbps}]\n"));
  const Json& size = out.report["collectives"]["g"]["sizes"]["1048576"];
  const uint64_t least = number(size, "time_min_ps");
  const uint64_t most = number(size, "time_max_ps");
  EXPECT_NEAR(static_cast<double>(least) / 1e12 / time_of(6 * 64, 12), 1, 0.02);
  EXPECT_GT(most, 2 * least);
  EXPECT_GT(number(size, "time_ps"), least);
  EXPECT_LT(number(size, "time_ps"), most);
}

// A rank works on each of its seven chunks of 1 MiB: six that have come, and its own that it sends first. One has come
// before the one before it is worked on.
TEST(Collectives, TakeTheirRanksTimeToReduce) {
  const Outcome out = run_text(
      star(4, "  - {name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 4MiB, reduce_rate: 8Gbps}\n"));
  EXPECT_EQ(seconds_of(out.report, "g", 4 << 20), 7 * 1'048'576 / 1e9);
  EXPECT_EQ(number(out.report["collectives"]["g"]["least_wait"], "reducing_ps"), 7'340'032'000u);
  EXPECT_EQ(number(out.report["collectives"]["g"], "ended_ps"), 7'340'032'000u);
}

// Twelve messages, and as many clear-to-sends.
TEST(Collectives, TakeTheirRanksTimeToPost) {
  const Outcome out = run_text(
      star(4, "  - {name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 4MiB, post_cost: 100us}\n"));
  EXPECT_NEAR(seconds_of(out.report, "g", 4 << 20), 24 * 100e-6 + time_of(128, 1), 5e-6);
  EXPECT_EQ(number(out.report["collectives"]["g"]["least_wait"], "posting_ps"), 2'400'000'000u);
}

// Four servers of four GPUs at 100G: each NIC carries one channel of four, in and out.
std::string rails(uint32_t servers, const std::string& keys, const std::string& more = "") {
  return fmt::format(
      "name: c\nrun: {{duration: 200ms{}}}\nfabric: {{kind: ai-zone, racks: {}, servers_per_rack: 1, nics_per_server: "
      "4, uplinks: \"1:1\", "
      "host_link: {{rate: 100Gbps, length: 3m}}, fabric_link: {{rate: 100Gbps, length: 3m}}}}\n"
      "profiles: {{default: {{base: lossless, groups: {{mode: pinned}}}}}}\n"
      "collectives: [{{name: g, protocol: simple, {}}}]\n",
      more, servers, keys);
}

class RailsOf : public testing::TestWithParam<uint32_t> {};

// 2 (n - 1) / n of the bytes, shared by the four NICs of a server. Inside a server they go beside the fabric.
TEST_P(RailsOf, CarryARingByAllNicsOfAServer) {
  const uint32_t n = 4 * GetParam();
  const uint64_t bytes = uint64_t{n} << 22;
  const Outcome out =
      run_text(rails(GetParam(), fmt::format("op: all_reduce, algorithm: ring, channels: 4, size: {}B", bytes)));
  const double packets = 2.0 * (n - 1) * 256;  // of each NIC: a quarter of the bytes, in parts of 1 MiB
  EXPECT_NEAR(seconds_of(out.report, "g", bytes) / time_of(packets, packets / 128), 1, 0.01 + 12e-6 / time_of(512, 4));
  const Json& ranks = out.report["collectives"]["g"];
  EXPECT_EQ(number(ranks, "servers"), GetParam());
  const uint64_t all = n * 2 * (n - 1) * 4;  // MiB
  EXPECT_EQ(number(ranks, "received_bytes"), all << 20);
  EXPECT_EQ(number(ranks, "scale_up_bytes"), all * 3 / 4 << 20);
  EXPECT_EQ(number(ranks, "clears_sent"), number(ranks, "messages_received")) << "beside the fabric, too";
  EXPECT_EQ(number(out.report["flows"]["g"], "received_bytes"), all / 4 << 20);
  EXPECT_EQ(number(out.report["flows"]["g"], "retransmitted_bytes"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Servers, RailsOf, testing::Values(2, 3, 4));

// One server: nothing crosses the fabric, and the scale-up links alone count. 450 GB/s by four channels of a ring, all
// of which leave a GPU by one link.
TEST(Collectives, OfOneServerStayInIt) {
  const Outcome out =
      run_text(rails(2,
                     "op: all_reduce, algorithm: ring, channels: 4, size: 64MiB, ranks: [z1-h1-nic1, z1-h1-nic2, "
                     "z1-h1-nic3, z1-h1-nic4]"));
  EXPECT_NEAR(seconds_of(out.report, "g", 64 << 20), 1.5 * (64 << 20) / 450e9, 12e-6);
  EXPECT_EQ(number(out.report["totals"], "sent_packets"), 0u);
  EXPECT_EQ(out.report["collectives"]["g"]["ranks_done"], 4);
}

// A megabyte at a GB/s, and 100 µs.
TEST(Collectives, TakeTheirServersScaleUpLinks) {
  std::string nodes;
  for (int nic = 1; nic <= 4; ++nic)
    nodes += fmt::format("{}z1-h1-nic{}: {{scale_up_rate: 8Gbps, scale_up_latency: 100us}}", nic > 1 ? ", " : "", nic);
  const Outcome out = run_text(rails(2,
                                     "op: send_recv, admission: open, size: 1000000B, "
                                     "ranks: [z1-h1-nic1, z1-h1-nic2, z1-h1-nic3, z1-h1-nic4]") +
                               "topology: {nodes: {" + nodes + "}}\n");
  EXPECT_NEAR(seconds_of(out.report, "g", 1'000'000), 1.1e-3, 1e-6);
}

TEST(Collectives, OfEveryKindEndOnServersOfSeveralGpus) {
  for (const char* way :
       {"all_reduce, algorithm: tree", "all_reduce, algorithm: halving_doubling", "all_reduce, algorithm: hierarchical",
        "all_gather, algorithm: ring", "reduce_scatter, algorithm: direct", "broadcast, root: 5", "reduce, root: 11",
        "all_to_all", "send_recv"}) {
    const Outcome out = run_text(rails(3, fmt::format("op: {}, channels: 5, size: 3000001B", way)));
    EXPECT_EQ(out.report["collectives"]["g"]["ranks_done"], 12) << way;
    const Json& ranks = out.report["collectives"]["g"];
    EXPECT_GT(number(ranks, "scale_up_bytes"), 0u) << way;
    EXPECT_EQ(number(ranks, "received_bytes"),
              number(ranks, "scale_up_bytes") + number(out.report["flows"]["g"], "received_bytes"))
        << way;
    EXPECT_EQ(number(ranks, "messages_received"),
              number(ranks, "scale_up_messages") + number(out.report["flows"]["g"], "received_messages"))
        << way;
  }
}

TEST(Collectives, OfServersAreTheSameForAnyNumberOfWorkers) {
  for (const char* way : {"all_reduce, algorithm: tree", "all_to_all"}) {
    const std::string keys = fmt::format("op: {}, channels: 2, size: 300001B", way);
    const Outcome one = run_text(rails(2, keys));
    const Outcome two = run_text(rails(2, keys, ", workers: 2"));
    EXPECT_EQ(one.report["collectives"].dump(), two.report["collectives"].dump()) << way;
    EXPECT_EQ(one.report["flows"].dump(), two.report["flows"].dump()) << way;
  }
}

// Each goes its way: h1 to h4 are ranks of both, and every rank ends both.
TEST(Collectives, ShareHostsAndTheirLinks) {
  const std::string text = "  - {{name: {}, op: all_reduce, algorithm: ring, protocol: simple, size: 8MiB{}}}\n";
  const std::string first = fmt::format(fmt::runtime(text), "g", "");
  const Outcome alone = run_text(star(4, first));
  const Outcome both = run_text(star(4, first + fmt::format(fmt::runtime(text), "other", "")));
  const Outcome apart = run_text(star(4, first + fmt::format(fmt::runtime(text), "other", ", start: 20ms")));
  const double time = seconds_of(alone.report, "g", 8 << 20);
  EXPECT_EQ(seconds_of(apart.report, "g", 8 << 20), time);
  EXPECT_NEAR(seconds_of(apart.report, "other", 8 << 20) / time, 1, 1e-3);
  for (const char* name : {"g", "other"}) {
    EXPECT_EQ(both.report["collectives"][name]["ranks_done"], 4);
    EXPECT_NEAR(seconds_of(both.report, name, 8 << 20) / time, 2, 0.1) << name;
  }
}

// Three times compute and communicate; the report's time is of communication alone.
TEST(Collectives, WaitForTheirRanksToCompute) {
  const std::string text =
      "  - {{name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 4MiB, iterations: 3{}}}\n";
  const Outcome plain = run_text(star(4, fmt::format(fmt::runtime(text), "")));
  const Outcome step = run_text(star(4, fmt::format(fmt::runtime(text), ", compute: 5ms, start: 1ms")));
  const auto ps = [](const Outcome& out, const char* key) {
    return static_cast<double>(number(out.report["collectives"]["g"]["sizes"]["4194304"], key));
  };
  EXPECT_NEAR(ps(step, "time_ps") / ps(plain, "time_ps"), 1, 0.01);
  const auto ended = static_cast<double>(number(step.report["collectives"]["g"], "ended_ps"));
  EXPECT_NEAR(ended, 16e9 + 3 * ps(step, "time_ps"), 5e6);
}

// A clear-to-send for each message; the first ones cost half a round trip, all others are under way before.
TEST(Collectives, AreAdmittedByTheirReceiversUnlessOpen) {
  const std::string text =
      "  - {{name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 16MiB, admission: {}}}\n";
  const Outcome open = run_text(star(4, fmt::format(fmt::runtime(text), "open")));
  const Outcome receiver = run_text(star(4, fmt::format(fmt::runtime(text), "receiver")));
  EXPECT_EQ(number(open.report["collectives"]["g"], "clears_sent"), 0u);
  EXPECT_FALSE(open.report["flows"].contains("g-cts"));
  const uint64_t messages = number(receiver.report["flows"]["g"], "received_messages");
  EXPECT_EQ(number(receiver.report["collectives"]["g"], "clears_sent"), messages);
  EXPECT_EQ(number(receiver.report["collectives"]["g"], "clears_received"), messages);
  const double later = seconds_of(receiver.report, "g", 16 << 20) - seconds_of(open.report, "g", 16 << 20);
  EXPECT_GT(later, 0.2e-6);
  EXPECT_LT(later, 5e-6);
}

class Scaled : public testing::TestWithParam<const char*> {};

TEST_P(Scaled, UsesEveryQueuePairAndMovesTheSameBytes) {
  const Outcome out = run_text(star(4, fmt::format("  - {{name: g, op: all_reduce, algorithm: ring, protocol: simple, "
                                                   "size: 16MiB, qps: 4, scaling: {}}}\n",
                                                   GetParam())));
  EXPECT_EQ(out.report["collectives"]["g"]["ranks_done"], 4);
  expect_counts_agree(out.report, std::string{GetParam()} == "split" ? 4 : 1);
  EXPECT_EQ(number(out.report["flows"]["g"], "received_bytes"), 4u * 6 * (4u << 20));
  EXPECT_EQ(out.report["flows"]["g"]["flows"], 16);
  for (const control::FlowSnapshot& flow : out.snapshot.flows) {
    EXPECT_GT(flow.received_bytes, 0u) << flow.source_qp;
    EXPECT_EQ(flow.received_messages, flow.planned_messages) << flow.source_qp;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Scaled, testing::Values("split", "round_robin"));

class Anything : public testing::TestWithParam<const char*> {};

// All ranks end, nothing is lost or left over, and the workers' number changes nothing.
TEST_P(Anything, EndsWithTheSameBytesForAnyNumberOfWorkers) {
  const std::string text =
      star(7, fmt::format("  - {{name: g, {}, reduce_rate: 800Gbps, post_cost: 1us}}\n", GetParam()));
  std::set<std::string> reports;
  for (const uint32_t workers : {1u, 2u, 3u}) {
    const Outcome out = run_text(text, {.workers = workers});
    EXPECT_EQ(out.report["collectives"]["g"]["ranks_done"], 7);
    EXPECT_TRUE(out.report["collectives"]["g"]["waiting"].empty());
    expect_counts_agree(out.report);
    EXPECT_EQ(number(out.report["collectives"]["g"], "clears_received"),
              number(out.report["flows"]["g-cts"], "received_messages"));
    reports.insert(without_engine(out.report));
  }
  EXPECT_EQ(reports.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Operations, Anything,
                         testing::Values("op: all_reduce, algorithm: ring, size: 1000001B, channels: 2",
                                         "op: all_reduce, algorithm: tree, size: 3MiB, channels: 2",
                                         "op: all_reduce, algorithm: halving_doubling, size: 1MiB",
                                         "op: all_gather, size: 700KiB", "op: reduce_scatter, size: 700KiB",
                                         "op: broadcast, root: 3, size: 3MiB", "op: reduce, root: 6, size: 3MiB",
                                         "op: all_to_all, size: 2MiB", "op: send_recv, size: 5MiB",
                                         "op: all_reduce, protocol: ll, size: 64KiB",
                                         "op: all_reduce, size: [1B, 5B, 4097B]"));

// Two queue pairs lose packets on the way; the transport repeats them.
TEST(Collectives, EndOnALinkThatLosesFrames) {
  const Outcome out =
      run_text(star(4,
                    "  - {name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 4MiB, ack_timeout: 5}\n"
                    "faults: [{at: 10us, set: lossy, node: h2, drop: 0.1%}]\n"));
  EXPECT_EQ(out.report["collectives"]["g"]["ranks_done"], 4);
  EXPECT_GT(number(out.report["flows"]["g"], "retransmitted_bytes"), 0u);
  EXPECT_EQ(number(out.report["flows"]["g"], "received_bytes"), 4u * 6 * (1u << 20));
}

// h3 takes a fifth of its link. h2 is held up in sending to it and never waits for a message; h4 waits for all that h3
// has not got yet.
TEST(Collectives, ShowWhomTheOthersWaitFor) {
  const Outcome out = run_text(star(6,
                                    "  - {name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 24MiB}\n"
                                    "faults: [{at: 1us, set: slow_receiver, node: h3, drain: 20Gbps}]\n"));
  const Json& collective = out.report["collectives"]["g"];
  EXPECT_EQ(collective["least_wait"]["host"], "h2");
  EXPECT_EQ(number(collective["least_wait"], "waited_ps"), 0u);
  EXPECT_EQ(collective["longest_wait"]["host"], "h4");
  const double share = static_cast<double>(number(collective["longest_wait"], "waited_ps")) / 1e12 /
                       seconds_of(out.report, "g", 24 << 20);
  EXPECT_GT(share, 0.7);
  EXPECT_LT(share, 0.9);
}

TEST(Collectives, NameWhoWaitsForWhomWhenALinkDies) {
  const Outcome out = run_text(star(3,
                                    "  - {name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 30MiB}\n"
                                    "faults: [{at: 100us, set: down, link: \"h2:eth0\"}]\n"),
                               {.duration = dataplane::Duration::ms(5)});
  const Json& collective = out.report["collectives"]["g"];
  EXPECT_EQ(collective["ranks_done"], 0);
  EXPECT_TRUE(collective["sizes"]["31457280"]["time_ps"].is_null());
  ASSERT_EQ(collective["waiting"].size(), 3u);
  bool names_h2 = false;
  for (const Json& each : collective["waiting"]) {
    names_h2 |= each["for"].get<std::string>().find("rank 1") != std::string::npos;
  }
  EXPECT_TRUE(names_h2);
}

}  // namespace
}  // namespace softspine::testbeds
