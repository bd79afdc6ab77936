// SPDX-License-Identifier: Apache-2.0
// Traces of a testbed, whole: from the file to the report. Their times are held to what LogGOPSim makes of the same
// programs (at L = 1,000 ns, G = 1 ns/B, o = g = O = 0, all eager), by the closed difference of the two.
//
// LogGOPSim: a message of n bytes takes n − 1 ns of its sender's link and of its receiver's, at once, and 1,000 ns.
// Here: hosts at 8 Gb/s, so 1 B/ns, on one switch that stores and forwards. A packet of p bytes of payload takes p + 82
// on the wire (42 of headers, 16 of BTH and ICRC, 4 of FCS, 20 of preamble and gap), the last of a message 4 more, of
// immediate data. So a message's last bit arrives one packet later, and everything takes 2 % longer. An acknowledgement
// takes 86, of each 16 packets and of each message's last, on the link that its receiver sends by.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

constexpr uint64_t kMtu = 4'096;

// Cables of 500 ns.
std::string star(uint32_t hosts, const std::string& more) {
  return fmt::format(
      "name: c\nrun: {{duration: 500ms}}\nfabric: {{kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: {}, "
      "host_link: {{rate: 8Gbps, length: 99m}}, fabric_link: {{rate: 100Gbps, length: 3m}}}}\n"
      "roles: {{tor: lossless}}\n{}",
      hosts, more);
}

class TraceFile {
 public:
  explicit TraceFile(const std::string& text) : path_(testing::TempDir() + "run.goal") { std::ofstream(path_) << text; }
  ~TraceFile() { std::filesystem::remove(path_); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  std::string row(const std::string& keys = "") const { return "traces: [{name: t, file: " + path_ + keys + "}]\n"; }

 private:
  std::string path_;
};

// A program whose lines are written rank by rank.
class Program {
 public:
  explicit Program(uint32_t ranks) : lines_(ranks) {}
  void add(uint32_t rank, const std::string& line) { lines_[rank] += line + "\n"; }
  uint32_t ranks() const { return static_cast<uint32_t>(lines_.size()); }
  std::string text() const {
    std::string out = fmt::format("num_ranks {}\n", lines_.size());
    for (size_t r = 0; r < lines_.size(); ++r) out += fmt::format("rank {} {{\n{}}}\n", r, lines_[r]);
    return out;
  }

 private:
  std::vector<std::string> lines_;
};

Outcome run_program(const Program& program, const std::string& keys = "", const std::string& more = "") {
  const TraceFile file{program.text()};
  return run_text(star(program.ranks(), file.row(keys) + more));
}

constexpr uint64_t kAckNs = 86;

// What it takes on one link. Lengths are multiples of 4.
uint64_t wire_ns(uint64_t bytes) {
  return bytes + std::max<uint64_t>(1, (bytes + kMtu - 1) / kMtu) * 82 + 4;
}
// From its posting to its last bit at the receiver: two cables, and a packet that the switch stores. A short last
// packet waits there for the one before it.
uint64_t message_ns(uint64_t bytes) {
  const uint64_t last = (bytes - 1) % kMtu + 1 + 86;
  return wire_ns(bytes) + (bytes > kMtu ? std::max(kMtu + 82, last) : last) + 1'000;
}

// `loggopsim_ns`: 0 where it says nothing.
void expect_end(const Outcome& out, uint32_t ranks, uint64_t ns, uint64_t loggopsim_ns) {
  const Json& trace = out.report["traces"]["t"];
  EXPECT_EQ(trace["ranks_done"], ranks);
  EXPECT_EQ(trace["operations"], trace["operations_done"]);
  EXPECT_EQ(trace["opened_late"], 0);
  EXPECT_EQ(trace["messages_unclaimed"], 0);
  EXPECT_TRUE(trace["waiting"].empty());
  EXPECT_NEAR(static_cast<double>(number(trace, "ended_ps")) / 1e3, static_cast<double>(ns), 1);
  if (loggopsim_ns == 0) return;
  EXPECT_NEAR(static_cast<double>(ns) / static_cast<double>(loggopsim_ns), 1, 0.06);
}

// 2 (8 − 1) steps of 128 KiB.
Program ring(uint32_t ranks, uint64_t bytes) {
  Program out(ranks);
  const uint64_t part = bytes / ranks;
  for (uint32_t r = 0; r < ranks; ++r) {
    for (uint32_t step = 0; step < 2 * (ranks - 1); ++step) {
      out.add(r, fmt::format("s{}: send {}b to {} tag {}", step, part, (r + 1) % ranks, step));
      out.add(r, fmt::format("r{}: recv {}b from {} tag {}", step, part, (r + ranks - 1) % ranks, step));
      if (step > 0) out.add(r, fmt::format("s{} requires r{}", step, step - 1));
    }
  }
  return out;
}

// 32 packets a step: two acknowledgements of each but the last, whose last one nobody waits for.
TEST(Traces, RingEndsAsInLogGopsim) {
  expect_end(run_program(ring(8, 1 << 20)), 8, 14 * message_ns(131'072) + 27 * kAckNs, 1'848'994);
}

TEST(Traces, IncastEndsAsInLogGopsim) {
  Program incast(9);
  for (uint32_t r = 1; r < 9; ++r) {
    incast.add(0, fmt::format("recv 1000000b from {}", r));
    incast.add(r, "send 1000000b to 0");
  }
  const Outcome out = run_program(incast);
  const Json& trace = out.report["traces"]["t"];
  EXPECT_EQ(trace["ranks_done"], 9);
  // The receiver's link carries all, without a gap, from when the first packet is at the switch.
  const uint64_t all = 8 * wire_ns(1'000'000) + 1'000 + kMtu + 82;
  EXPECT_NEAR(static_cast<double>(number(trace, "ended_ps")) / 1e3, static_cast<double>(all), 100);
  EXPECT_NEAR(static_cast<double>(all) / 8'000'992, 1, 0.03);
  EXPECT_EQ(trace["by_rank"]["1"]["ended_ps"], 0) << "a send is done when it is posted";
}

TEST(Traces, OutcastEndsAsInLogGopsim) {
  Program outcast(9);
  for (uint32_t r = 1; r < 9; ++r) {
    outcast.add(0, fmt::format("s{}: send 1000000b to {}", r, r));
    outcast.add(r, "recv 1000000b from 0");
  }
  const Outcome out = run_program(outcast);
  const uint64_t all = 7 * wire_ns(1'000'000) + message_ns(1'000'000);
  const Json& trace = out.report["traces"]["t"];
  EXPECT_NEAR(static_cast<double>(number(trace, "ended_ps")) / 1e3, static_cast<double>(all), 4'100);
  EXPECT_NEAR(static_cast<double>(all) / 8'000'992, 1, 0.03);
}

// As a binomial broadcast to 16, in LogGOPSim: 0 → 8 → 12 → 14 → 15, each when it has heard. The next message waits for
// the acknowledgement of the last packet.
TEST(Traces, ChainEndsAsInLogGopsim) {
  Program chain(5);
  for (uint32_t r = 0; r < 5; ++r) {
    if (r > 0) chain.add(r, fmt::format("l: recv 1000000b from {}", r - 1));
    if (r < 4) chain.add(r, fmt::format("s: send 1000000b to {}", r + 1));
    if (r > 0 && r < 4) chain.add(r, "s requires l");
  }
  expect_end(run_program(chain), 5, 4 * message_ns(1'000'000) + 3 * kAckNs, 4'003'996);
}

// A NIC's queue pairs take turns, a packet each, where LogGOPSim's NIC sends one message after the other. So the four
// messages of rank 0 end together, then the three of rank 8, …: ten messages' time, where LogGOPSim has four.
TEST(Traces, BroadcastTakesLongerThanInLogGopsimSinceQueuePairsTakeTurns) {
  Program broadcast(16);
  for (uint32_t r = 0; r < 16; ++r) {
    const uint32_t lowest = r == 0 ? 16 : r & -r;
    if (r > 0) broadcast.add(r, fmt::format("l: recv 1000000b from {}", r - lowest));
    for (uint32_t step = lowest / 2; step > 0; step /= 2) {
      broadcast.add(r, fmt::format("s{}: send 1000000b to {}", step, r + step));
      if (r > 0) broadcast.add(r, fmt::format("s{} requires l", step));
    }
  }
  const Json trace = run_program(broadcast).report["traces"]["t"];
  EXPECT_EQ(trace["ranks_done"], 16);
  EXPECT_NEAR(static_cast<double>(number(trace, "ended_ps")) / 1e3 / static_cast<double>(10 * wire_ns(1'000'000)), 1,
              0.003);
}

TEST(Traces, ComputeAndCostsTakeTheirCpusTime) {
  Program program(2);
  program.add(0,
              "a: calc 5000\nb: calc 3000 cpu 1\nc: calc 2000\nd: send 1004b to 1 tag 4\nd requires a\nd requires b\nd "
              "requires c");
  program.add(1, "recv 1004b from -1 tag -1");
  const Outcome out = run_program(program, ", post_cost: 400ns, receive_cost: 300ns, byte_cost: 2ps");
  // 7 µs on cpu 0, o + 1003 O on both sides, and the message.
  expect_end(out, 2, 7'000 + 402 + message_ns(1'004) + 302, 0);
  EXPECT_EQ(out.report["traces"]["t"]["by_rank"]["0"]["ended_ps"], 7'402'006);
}

// What a message costs is the processor's, and computing the GPU's.
TEST(Traces, ComputeForLongerOnASlowGpu) {
  Program program(2);
  program.add(0, "a: calc 5000\nb: send 1004b to 1 tag 4\nb requires a");
  program.add(1, "recv 1004b from 0 tag 4");
  const Outcome out = run_program(program, ", post_cost: 400ns", "topology: {nodes: {h1: {compute_scale: 150%}}}\n");
  expect_end(out, 2, 7'500 + 400 + message_ns(1'004), 0);
}

TEST(Traces, SayWhoWaitsForWhomAtTheEnd) {
  Program program(3);
  program.add(0, "a: recv 8b from 1 tag 5\nb: send 8b to 1 tag 6\nb requires a");
  program.add(1, "a: recv 8b from 0 tag 6\nb: send 8b to 0 tag 5\nb requires a");
  program.add(2, "calc 10");
  const Json trace = run_program(program).report["traces"]["t"];
  EXPECT_EQ(trace["ranks_done"], 1);
  ASSERT_EQ(trace["waiting"].size(), 2u);
  EXPECT_EQ(trace["waiting"][0]["for"], "receive of 8 bytes from rank 1, tag 5 (line 3)");
  EXPECT_EQ(trace["waiting"][1]["for"], "receive of 8 bytes from rank 0, tag 6 (line 8)");
  EXPECT_EQ(trace["waiting"][1]["host"], "h2");
}

TEST(Traces, AreTheSameForAnyNumberOfWorkers) {
  const TraceFile file{ring(8, 1 << 18).text()};
  std::string first;
  for (const uint32_t workers : {1u, 2u, 3u}) {
    control::Overrides overrides;
    overrides.workers = workers;
    const Outcome out = run_text(
        "name: c\nrun: {duration: 20ms}\nfabric: {kind: leaf-spine, tors: 4, spines: 2, hosts_per_tor: 2, host_link: "
        "{rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 30m}}\nroles: {tor: lossless, "
        "aggregation: lossless}\n" +
            file.row(),
        overrides);
    const std::string text = without_engine(out.report);
    if (first.empty()) first = text;
    EXPECT_EQ(text, first) << workers << " workers";
    EXPECT_EQ(out.report["traces"]["t"]["ranks_done"], 8);
  }
}

// Payload by host: what our own ring sends, in as many bytes.
TEST(Traces, RingCarriesTheBytesOfTheBuiltInRing) {
  const auto sent = [](const Outcome& out) {
    std::map<std::string, uint64_t> bytes;
    for (const control::FlowSnapshot& flow : out.snapshot.flows)
      bytes[flow.source + flow.destination] += flow.sent_bytes;
    return bytes;
  };
  const Outcome trace = run_program(ring(4, 4 << 20));
  const Outcome ours = run_text(star(
      4, "collectives: [{name: t, op: all_reduce, algorithm: ring, protocol: simple, size: 4MiB, admission: open}]\n"));
  EXPECT_EQ(sent(trace), sent(ours));
  EXPECT_EQ(trace.report["flows"]["t"]["received_bytes"], ours.report["flows"]["t"]["received_bytes"]);
}

}  // namespace
}  // namespace softspine::testbeds
