// SPDX-License-Identifier: Apache-2.0
#include "control/traces/simai_flows.hpp"

#include <gtest/gtest.h>

#include "control/traces/recorded_work.hpp"

namespace softspine::control {
namespace {

using Strings = std::vector<std::string>;

// A flow's line: all that nothing depends on is 1.
std::string flow(int id, int from, int to, int bytes, const Strings& prev = {}, int layer = 0, int delay_ns = 0) {
  std::string out;
  for (const int number : {id, from, to, bytes}) out += std::to_string(number) + " ";
  out += "1 1 1 RING 0 3 1 1 100 " + std::to_string(prev.size());
  for (const std::string& each : prev) out += " " + each;
  return out + " 1 -1 0 " + std::to_string(layer) + " 1 1 2 " + std::to_string(delay_ns) + "\n";
}

Strings said_of_flows(const std::string& text) {
  Strings out;
  const auto read = read_simai_flows(text, "f.txt");
  if (read) return out;
  for (const Error& error : read.error())
    out.push_back(std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.message);
  return out;
}

SimaiFlows flows_of(const std::string& text) {
  auto read = read_simai_flows(text, "f.txt");
  if (read) return std::move(*read);
  for (const Error& error : read.error()) ADD_FAILURE() << to_string(error);
  return {.work = std::make_shared<RecordedWork>()};
}

// "send 900 1 [0]": kind, bytes, peer, needs; of a computation its nanoseconds.
Strings done_by(const SimaiFlows& flows, uint32_t rank) {
  Strings out;
  RecordedStream stream(*flows.work, rank);
  TraceOperation op;
  while (stream.next(op)) {
    std::string text = op.kind == OperationKind::kSend ? "send " : "receive ";
    if (op.kind == OperationKind::kCompute) {
      text = "wait " + std::to_string(op.time.count_ps() / 1'000);
    } else {
      text += std::to_string(op.bytes) + " " + std::to_string(op.peer);
    }
    for (const uint64_t need : op.needs) text += " " + std::to_string(need);
    out.push_back(text);
  }
  return out;
}

TEST(SimaiFlows, WaitForFlowsThatTheirSenderReceives) {
  const SimaiFlows flows = flows_of("2\n" + flow(7, 0, 1, 900) + flow(3, 1, 2, 800, {"7"}, 0, 250));
  EXPECT_EQ(done_by(flows, 0), (Strings{"send 900 1"}));
  EXPECT_EQ(done_by(flows, 1), (Strings{"receive 900 0", "wait 250 0", "send 800 2 1"}));
  EXPECT_EQ(done_by(flows, 2), (Strings{"receive 800 1"}));
  EXPECT_EQ(flows.flows, 2u);
  EXPECT_EQ(flows.waits, 1u);
  EXPECT_EQ(flows.delayed, 1u);
  EXPECT_EQ(flows.notices, 0u);
  EXPECT_EQ(flows.connections.at("RING"), 2u);
}

// Whoever does not receive a flow is told once, however many of its flows wait for it.
TEST(SimaiFlows, OthersThanItsReceiverAreToldThatAFlowIsOver) {
  const SimaiFlows flows = flows_of("4\n" + flow(0, 0, 1, 900) + flow(1, 0, 1, 800, {"0"}) + flow(2, 2, 1, 700, {"0"}) +
                                    flow(3, 2, 0, 600, {"0"}));
  EXPECT_EQ(done_by(flows, 0), (Strings{"send 900 1", "receive 0 1", "send 800 1 1", "receive 600 2"}));
  EXPECT_EQ(done_by(flows, 1),
            (Strings{"receive 900 0", "send 0 0 0", "receive 800 0", "send 0 2 0", "receive 700 2"}));
  EXPECT_EQ(done_by(flows, 2), (Strings{"receive 0 1", "send 700 1 0", "send 600 0 0"}));
  EXPECT_EQ(flows.notices, 2u);
}

// Layer 9 is the one behind 2. Rank 2 sends its first flow: it hears of 1, has received from 1 itself, and tells 0.
TEST(SimaiFlows, ALayerBeginsWhenAllFlowsOfTheOneBeforeItAreOver) {
  const SimaiFlows flows = flows_of("4\n" + flow(0, 2, 0, 9, {}, 9) + flow(1, 0, 1, 900, {}, 2) +
                                    flow(2, 1, 2, 800, {}, 2) + flow(3, 0, 2, 700, {}, 9, 5));
  EXPECT_EQ(flows.layers, 2u);
  EXPECT_EQ(flows.notices, 2u);
  EXPECT_EQ(done_by(flows, 1), (Strings{"receive 900 0", "send 800 2", "send 0 2 0"}));
  EXPECT_EQ(done_by(flows, 2),
            (Strings{"receive 800 1", "receive 0 1", "wait 0 0 1", "send 0 0 2", "send 9 0 2", "receive 700 0"}));
  EXPECT_EQ(done_by(flows, 0), (Strings{"send 900 1", "receive 0 2", "receive 9 2", "wait 5 1", "send 700 2 3"}));
}

// Delays of a node pass at once: each on a cpu of its own.
TEST(SimaiFlows, DelaysOfANodePassAtOnce) {
  const SimaiFlows flows = flows_of("2\n" + flow(0, 0, 1, 9, {}, 0, 5) + flow(1, 0, 1, 9, {}, 0, 5));
  RecordedStream stream(*flows.work, 0);
  std::vector<uint32_t> cpus;
  TraceOperation op;
  while (stream.next(op)) cpus.push_back(op.cpu);
  EXPECT_EQ(cpus, (std::vector<uint32_t>{1, 1, 2, 2}));
}

TEST(SimaiFlows, MistakesHaveTheirPlace) {
  const auto one = [](const std::string& line) { return said_of_flows("1\n" + line + "\n"); };
  const std::string good = flow(0, 0, 1, 9);
  EXPECT_EQ(said_of_flows("1\n" + good), Strings{});
  EXPECT_EQ(said_of_flows(""), Strings{"1:1 has no flows: its first line says how many"});
  EXPECT_EQ(said_of_flows("0\n"),
            Strings{"1:1 the number of flows is a number from 1 to 1048576, and here stands '0'"});
  EXPECT_EQ(said_of_flows("1 2\n" + good), Strings{"1:3 nothing stands behind the number of flows"});
  EXPECT_EQ(said_of_flows("2\n" + good), Strings{"2:1 the first line says 2 flows, and here are 1"});
  EXPECT_EQ(said_of_flows("1\n" + good + good), Strings{"3:1 the first line says 1 flows, and here is another"});
  EXPECT_EQ(said_of_flows("2\n" + good + good), Strings{"3:1 the flow 0 stands in line 2 already"});
  EXPECT_EQ(one("x 0 1 9"), Strings{"2:1 flow_id is a number from 0 to 4294967295, and here stands 'x'"});
  EXPECT_EQ(one("0 0 65536 9"), Strings{"2:5 dst is a number from 0 to 65535, and here stands '65536'"});
  EXPECT_EQ(one("0 0 1 0"), Strings{"2:7 bytes is a number from 1 to 2147483648, and here stands '0'"});
  EXPECT_EQ(one("0 0 1 9 1 x"), Strings{"2:11 chunk is a number, and here stands 'x'"});
  EXPECT_EQ(one("0 0 1 9 1 1 1"), Strings{"2:13 the line ends here, and has no connection"});
  EXPECT_EQ(one("0 0 1 9 1 1 1 NVLS_TREE"),
            Strings{"2:15 'NVLS_TREE' goes through an NVSwitch, which is no rank of a testbed"});
  EXPECT_EQ(one("0 0 1 9 1 1 1 RING 0 3 1 1 100 2 7"), Strings{"2:34 the line ends here, and has no prev"});
  EXPECT_EQ(one("0 0 1 9 1 1 1 RING 0 3 1 1 100 5000000"),
            Strings{"2:32 the number of prev is a number from 0 to 4194304, and here stands '5000000'"});
  EXPECT_EQ(one("0 0 1 9 1 1 1 RING 0 3 1 1 100 0 2 5"), Strings{"2:36 the line ends here, and has no parent"});
  EXPECT_EQ(one("0 0 1 9 1 1 1 RING 0 3 1 1 100 0 0 1"), Strings{"2:36 the line ends here, and has no child"});
  EXPECT_EQ(one("0 0 1 9 1 1 1 RING 0 3 1 1 100 0 0 0 0 1 1 2"),
            Strings{"2:44 the line ends here, and has no relative_delay_ns: without it, SimAI's prev are ranks, not "
                    "flows"});
  EXPECT_EQ(one("0 0 1 9 1 1 1 RING 0 3 1 1 100 0 0 0 0 1 1 2 0 8"),
            Strings{"2:48 nothing stands behind relative_delay_ns"});
  EXPECT_EQ(one("0 0 0 9 1 1 1 RING 0 3 1 1 100 0 0 0 0 1 1 2 0"), Strings{"2:3 goes from a rank to itself"});
  EXPECT_EQ(said_of_flows("1\n" + flow(0, 0, 1, 9, {"4"})), Strings{"2:1 waits for flow 4, which is not in the file"});
}

TEST(SimaiFlows, ThatWaitForEachOtherAreRefused) {
  const std::string rest = ", which never starts: flows wait for each other, by prev or by layer";
  EXPECT_EQ(said_of_flows("3\n" + flow(8, 0, 1, 9) + flow(0, 0, 1, 9, {"1"}) + flow(1, 1, 0, 9, {"8", "0"})),
            Strings{"3:1 waits for the flow of line 4" + rest});
  EXPECT_EQ(said_of_flows("1\n" + flow(0, 0, 1, 9, {"0"})), Strings{"2:1 waits for the flow of line 2" + rest});
  EXPECT_EQ(said_of_flows("2\n" + flow(0, 0, 1, 9, {"1"}, 0) + flow(1, 1, 2, 9, {}, 1)),
            Strings{"2:1 waits for the flow of line 3" + rest});
}

}  // namespace
}  // namespace softspine::control
