// SPDX-License-Identifier: Apache-2.0
#include "control/traces/htsim.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/harness/samples.hpp"

namespace softspine::control {
namespace {

using Said = std::vector<std::string>;

Said said_of_matrix(const std::string& text) {
  Said out;
  const auto work = read_htsim(text, "t.cm", StartUnit::kMicroseconds);
  if (work) return out;
  for (const Error& error : work.error())
    out.push_back(std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.message);
  return out;
}

// "send 900 1 [0]": kind, bytes, peer, needs; of a computation its nanoseconds.
std::vector<std::string> steps_of(const RecordedWork& work, uint32_t rank) {
  std::vector<std::string> out;
  RecordedStream stream(work, rank);
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
using Steps = std::vector<std::string>;

SharedWork work_of(const std::string& text, StartUnit unit = StartUnit::kMicroseconds) {
  auto work = read_htsim(text, "t.cm", unit);
  if (work) return *work;
  for (const Error& error : work.error()) ADD_FAILURE() << to_string(error);
  return std::make_shared<RecordedWork>();
}

std::string matrix_head(int nodes, int flows, int triggers = 0) {
  return "Nodes " + std::to_string(nodes) + "\nConnections " + std::to_string(flows) +
         (triggers > 0 ? "\nTriggers " + std::to_string(triggers) : "") + "\n";
}

TEST(Htsim, FlowsAreMessages) {
  const auto work =
      work_of("# a comment\n" + matrix_head(3, 2) + "0->2 start 0 size 900 # and another\n2->1 id 7 start 40 size 5\n");
  EXPECT_EQ(steps_of(*work, 0), (Steps{"send 900 2"}));
  EXPECT_EQ(steps_of(*work, 1), (Steps{"receive 5 2"}));
  EXPECT_EQ(steps_of(*work, 2), (Steps{"receive 900 0", "wait 40000", "send 5 1 1"}));
  ASSERT_EQ(work->pairs.size(), 2u);
}

TEST(Htsim, StartsAreInMicrosecondsOrPicoseconds) {
  const std::string text = matrix_head(2, 1) + "0->1 start 40000 size 5\n";
  EXPECT_EQ(steps_of(*work_of(text), 0).at(0), "wait 40000000");
  EXPECT_EQ(steps_of(*work_of(text, StartUnit::kPicoseconds), 0).at(0), "wait 40");
}

// Starts of a node's flows pass at once: each on a cpu of its own.
TEST(Htsim, FlowsOfANodeWaitAtOnce) {
  const auto work = work_of(matrix_head(2, 2) + "0->1 start 5 size 5\n0->1 start 5 size 6\n");
  std::vector<uint32_t> cpus;
  RecordedStream stream(*work, 0);
  TraceOperation op;
  while (stream.next(op)) cpus.push_back(op.cpu);
  EXPECT_EQ(cpus, (std::vector<uint32_t>{1, 1, 2, 2}));
}

TEST(Htsim, TheEndOfAFlowStartsOthers) {
  // 1 hears 0, and then sends: nobody else need know.
  const auto local = work_of(matrix_head(3, 2, 1) +
                             "0->1 id 1 start 0 size 900 recv_done_trigger 4\n1->2 id 2 trigger 4 size 7\n"
                             "trigger id 4 oneshot\n");
  EXPECT_EQ(steps_of(*local, 1), (Steps{"receive 900 0", "send 7 2 0"}));
  // The sender knows by an answer of no bytes.
  const auto sender = work_of(matrix_head(3, 2, 1) +
                              "0->1 id 1 start 0 size 900 send_done_trigger 4\n0->2 id 2 trigger 4 size 7\n"
                              "trigger id 4 oneshot\n");
  EXPECT_EQ(steps_of(*sender, 0), (Steps{"send 900 1", "receive 0 1", "send 7 2 1"}));
  EXPECT_EQ(steps_of(*sender, 1), (Steps{"receive 900 0", "send 0 0 0"}));
  // Another node is told.
  const auto told = work_of(matrix_head(3, 2, 1) +
                            "0->1 id 1 start 0 size 900 recv_done_trigger 4\n2->0 id 2 trigger 4 size 7\n"
                            "trigger id 4 multishot\n");
  EXPECT_EQ(steps_of(*told, 1), (Steps{"receive 900 0", "send 0 2 0"}));
  EXPECT_EQ(steps_of(*told, 2), (Steps{"receive 0 1", "send 7 0 0"}));
}

TEST(Htsim, ANodeIsToldOnceOfAllThatItStarts) {
  const auto work = work_of(matrix_head(4, 4, 1) +
                            "0->1 id 1 start 0 size 900 recv_done_trigger 4\n2->0 id 2 trigger 4 size 7\n"
                            "2->3 id 3 trigger 4 size 8\n3->0 id 4 trigger 4 size 9\ntrigger id 4 oneshot\n");
  EXPECT_EQ(steps_of(*work, 1), (Steps{"receive 900 0", "send 0 2 0", "send 0 3 0"}));
  EXPECT_EQ(steps_of(*work, 2), (Steps{"receive 0 1", "send 7 0 0", "send 8 3 0"}));
}

TEST(Htsim, ABarrierWaitsForAll) {
  const auto work = work_of(matrix_head(3, 3, 1) +
                            "0->2 id 1 start 0 size 1 recv_done_trigger 9\n1->2 id 2 start 0 size 2 "
                            "recv_done_trigger 9\n2->0 id 3 trigger 9 size 3\ntrigger id 9 barrier count 2\n");
  EXPECT_EQ(steps_of(*work, 2), (Steps{"receive 1 0", "receive 2 1", "send 3 0 0 1"}));
}

// 2,048 firings by 2,048 flows are as many as may be; one more of each is too many.
TEST(Htsim, FiringsByFlowsHaveALimit) {
  const auto matrix = [](int firings) {
    std::string out = matrix_head(2, firings + 2'048, 1) + "trigger id 1 barrier count " + std::to_string(firings);
    for (int i = 0; i < firings; ++i)
      out += "\n0->1 id " + std::to_string(i + 1) + " start 0 size 5 recv_done_trigger 1";
    for (int i = 0; i < 2'048; ++i) out += "\n1->0 id " + std::to_string(10'000 + i) + " trigger 1 size 5";
    return out;
  };
  EXPECT_EQ(said_of_matrix(matrix(2'048)), Said{});
  EXPECT_EQ(said_of_matrix(matrix(2'049)),
            (Said{"4:1 trigger 1 has 2049 firings for 2048 flows: of firings by flows there are 4194304 at most in "
                  "all"}));
}

TEST(Htsim, MessagesOfOneConnectionShareItsId) {
  EXPECT_EQ(said_of_matrix(matrix_head(2, 2) + "0->1 id 1 msg start 0 size 5\n0->1 id 1 msg 2 start 0 size 5\n"),
            Said{});
  EXPECT_EQ(said_of_matrix(matrix_head(2, 2) + "0->1 id 1 start 0 size 5\n0->1 id 1 start 0 size 5\n"),
            (Said{"4:1 the id 1 stands in line 3 already, and both are not messages of one connection"}));
  for (const auto* const other : {"2->1", "0->2"}) {
    EXPECT_EQ(
        said_of_matrix(matrix_head(3, 2) + "0->1 id 1 msg start 0 size 5\n" + other + " id 1 msg start 0 size 5\n"),
        (Said{"4:1 the id 1 stands in line 3 already, and both are not messages of one connection"}));
  }
}

TEST(Htsim, MistakesHaveTheirPlace) {
  EXPECT_EQ(said_of_matrix("Nodes 2\n"), (Said{"1:1 needs Nodes and Connections"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 2) + "0->1 start 0 size 5\n"),
            (Said{"1:1 Connections is 2, and here are 1 flows"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1, 3) + "0->1 start 0 size 5\n"),
            (Said{"1:1 Triggers is 3, and here are 0"}));
  EXPECT_EQ(said_of_matrix("0->1 start 0 size 5\n"), (Said{"1:1 Nodes comes before the flows"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1) + "0->2 start 0 size 5\n"),
            (Said{"3:1 expected two of the 2 nodes, as 0->1, and here stands '0->2'"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1) + "1->1 start 0 size 5\n"), (Said{"3:1 goes from a node to itself"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1) + "0->1 start 0\n"), (Said{"3:1 has no size"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1) + "0->1 size 5\n"), (Said{"3:1 needs either start or trigger"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1) + "0->1 start 0 size 0\n"),
            (Said{"3:19 size is a number from 1 to 2147483648, and here stands '0'"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1) + "0->1 start 0 size\n"), (Said{"3:14 'size' needs a number"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1) + "0->1 id 0 start 0 size 5\n"),
            (Said{"3:9 id is a number from 1 to 4294967294, and here stands '0'"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1) + "0->1 start 0 size 5 prio 2\n"),
            (Said{"3:21 priorities are not known here: a trace has one 'dscp'"}));
  EXPECT_EQ(
      said_of_matrix(matrix_head(2, 1) + "0->1 start 0 size 5 colour 2\n"),
      (Said{"3:21 expected id, msg, start, trigger, size, send_done_trigger or recv_done_trigger, and here stands "
            "'colour'"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 0) + "failure switch_type AGG switch_id 0 link_id 0\n"),
            (Said{"3:1 a failed link is one of the testbed's faults, not of its traffic"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 0) + "Failures 1\nfailure switch_type AGG switch_id 0 link_id 0\n"),
            (Said{"3:1 a failed link is one of the testbed's faults, not of its traffic (and 1 more of this kind)"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1) + "Failures 0\n0->1 start 0 size 5\n"), Said{});
  EXPECT_EQ(said_of_matrix(matrix_head(2, 1) + "0->1 start 0 size 5 recv_done_trigger 1\n"),
            (Said{"3:1 needs an id, since it has a trigger"}));
}

TEST(Htsim, TriggersThatCannotBeKeptAreRefused) {
  const std::string two =
      matrix_head(3, 2, 1) + "0->1 id 1 start 0 size 9 recv_done_trigger 4\n1->2 id 2 trigger 4 size 7\n";
  EXPECT_EQ(said_of_matrix(two + "trigger id 4 barrier count 2\n"),
            (Said{"4:1 trigger 4 waits for 2 firings, and has 1: its flows never start"}));
  EXPECT_EQ(said_of_matrix(matrix_head(3, 2, 0) +
                           "0->1 id 1 start 0 size 9 recv_done_trigger 4\n1->2 id 2 trigger 4 size 7\n"),
            (Said{"3:1 trigger 4 has no line that says what it is"}));
  EXPECT_EQ(
      said_of_matrix(matrix_head(3, 3, 1) + "0->1 id 1 start 0 size 9 recv_done_trigger 4\n2->1 id 3 start 0 size 9 "
                                            "recv_done_trigger 4\n1->2 id 2 trigger 4 size 7\ntrigger id 4 oneshot\n"),
      (Said{"4:1 trigger 4 has 2 firings, and waits for 1: which come first is known to a run alone"}));
  EXPECT_EQ(said_of_matrix(matrix_head(3, 3, 1) + "0->1 id 1 start 0 size 9 recv_done_trigger 4\n1->2 id 2 trigger 4 "
                                                  "size 7\n1->0 id 3 trigger 4 size 7\ntrigger id 4 multishot\n"),
            (Said{"4:1 trigger 4 starts one flow a firing, and has 2 flows"}));
  EXPECT_EQ(said_of_matrix(matrix_head(2, 2, 2) +
                           "0->1 id 1 trigger 2 size 9 recv_done_trigger 1\n1->0 id 2 trigger 1 size 7 "
                           "recv_done_trigger 2\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n"),
            (Said{"4:1 waits for trigger 2, which its own end fires, or those of flows that wait for it"}));
}

// htsim's own, where they are.
TEST(Htsim, ItsConnectionMatricesAreRead) {
  const tests::Samples samples = tests::samples_of("SOFTSPINE_HTSIM", "uet-htsim", "htsim's matrices");
  if (!samples.missing.empty()) GTEST_SKIP() << samples.missing;
  uint32_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(samples.folder / "connection_matrices")) {
    const auto work = load_htsim(entry.path().string(), StartUnit::kMicroseconds);
    // One declares 3,600 flows, and has 240.
    EXPECT_EQ(work.has_value(), entry.path().filename() != "a2a.cm") << entry.path();
    ++found;
  }
  EXPECT_GE(found, 28u);
  const auto serial = load_htsim((samples.folder / "connection_matrices" / "alltoall_serial_16n.cm").string(),
                                 StartUnit::kMicroseconds);
  ASSERT_TRUE(serial);
  EXPECT_EQ((*serial)->totals.sends, 240u + 224) << "an answer for each trigger";
  EXPECT_EQ((*serial)->pairs.size(), 240u);
}

}  // namespace
}  // namespace softspine::control
