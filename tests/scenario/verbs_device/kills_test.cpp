// SPDX-License-Identifier: Apache-2.0
// A program ends at any instant, on either side, in the middle of whatever was going on: its peer sees a retry error,
// and nothing is left.
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "tests/harness/seed.hpp"
#include "tests/scenario/verbs_device/rnics.hpp"

namespace softspine::testbeds {
namespace {

// A program of its own at a device, with memory and a queue pair.
struct Ending {
  explicit Ending(RnicAndCalls& device) : program(device), memory(program) {}
  Program program;
  Memory memory;
  uint32_t qp = program.make_pair(IBV_QPT_RC, 16);
};

class Kills : public testing::Test {
 protected:
  static constexpr uint32_t kOpcodes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
                                          IBV_WR_RDMA_WRITE_WITH_IMM};

  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  void post(Ending& from, Ending& to) {
    const uint32_t opcode = kOpcodes[below(std::size(kOpcodes))];
    const uint32_t bytes = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : below(9'000);
    from.program.post(from.qp, {.opcode = opcode,
                                .id = 1,
                                .remote = to.memory.at(8 * below(1'000)),
                                .key = to.memory.key,
                                .pieces = {from.memory.piece(below(1'000), bytes)}});
  }
  static std::array<uint64_t, 5> left_at(Program& program) {
    const VerbsObjects& all = program.rnic().ground().objects;
    return {all.queue_pairs.count(), all.completion_queues.count(), all.channels.count(), all.regions.count(),
            all.slots};
  }
  // The survivor sees one error, and behind it nothing but flushed work.
  static void expect_retry_error(Ending& survivor) {
    uint32_t errors = 0;
    for (const CompletionSlot& each : survivor.program.all_completions()) {
      if (each.status == IBV_WC_RETRY_EXC_ERR) {
        ++errors;
      } else {
        EXPECT_EQ(each.status, uint32_t{errors == 0 ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR}) << "receives end flushed";
      }
    }
    EXPECT_EQ(errors, 1U);
  }
  void kill_one() {
    std::array<Ending, 2> side{Ending{it_.first_device}, Ending{it_.second_device}};
    QueuePairAttributes own = TwoRnics::usual();
    own.rnr_retries = 7;
    side[0].program.connect(side[0].qp, TwoRnics::kSecond, side[1].qp, own);
    side[1].program.connect(side[1].qp, TwoRnics::kFirst, side[0].qp, own);
    for (uint32_t i = 0; i < 8; ++i) {
      for (uint32_t which : {0U, 1U}) {
        side[which].program.post_receive(side[which].qp, 2, {side[which].memory.piece(0, 9'000)});
        post(side[which], side[1 - which]);
      }
    }
    const uint32_t killed = below(2);
    int left = static_cast<int>(below(60));
    it_.set_fate([&](const Packet&) {
      if (left-- == 0) side[killed].program.rnic().forget_client(side[killed].program.client());
      return 1U;
    });
    it_.run();
    if (left >= 0) side[killed].program.rnic().forget_client(side[killed].program.client());
    it_.set_fate({});
    post(side[1 - killed], side[killed]);  // if it had nothing under way
    it_.run(Duration::ms(50));
    expect_retry_error(side[1 - killed]);
    side[1 - killed].program.rnic().forget_client(side[1 - killed].program.client());
  }

  TwoRnics it_;
  std::mt19937 random_{static_cast<uint32_t>(tests::seed())};
};

TEST_F(Kills, AKilledProgramIsARetryErrorToItsPeerAndLeavesNothing) {
  const auto first = left_at(it_.first);
  const auto second = left_at(it_.second);
  const uint32_t kills = tests::to_repeat(1'000);
  for (uint32_t i = 0; i < kills && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    kill_one();
    EXPECT_EQ(left_at(it_.first), first);
    EXPECT_EQ(left_at(it_.second), second);
  }
}

// A kernel takes a process' queue pairs before its memory: a peer hears nothing, and no refusal.
TEST_F(Kills, BetweenAProgramsEndAndItsDevicesSeeingItNobodyAnswers) {
  const pid_t ended = fork();
  ASSERT_GE(ended, 0);
  if (ended == 0) _exit(0);
  ASSERT_EQ(waitpid(ended, nullptr, 0), ended);
  for (const uint32_t opcode : kOpcodes) {
    Ending survivor{it_.first_device};
    Ending gone{it_.second_device};
    survivor.program.connect(survivor.qp, TwoRnics::kSecond, gone.qp, TwoRnics::usual());
    gone.program.connect(gone.qp, TwoRnics::kFirst, survivor.qp, TwoRnics::usual());
    gone.program.post_receive(gone.qp, 2, {gone.memory.piece(0, 9'000)});
    VerbsClient& client = *gone.program.rnic().ground().objects.clients[gone.program.client()];
    client.reads = client.writes = ProcessMemory{ended};
    survivor.program.post(survivor.qp, {.opcode = opcode,
                                        .id = 1,
                                        .remote = gone.memory.at(0),
                                        .key = gone.memory.key,
                                        .pieces = {survivor.memory.piece(0, 8)}});
    it_.run(Duration::ms(50));
    SCOPED_TRACE(opcode);
    expect_retry_error(survivor);
    for (Ending* each : {&survivor, &gone}) each->program.rnic().forget_client(each->program.client());
  }
}

TEST_F(Kills, AThousandQueuePairsAndTenThousandRegionsAreUsedAndGo) {
  const auto first = left_at(it_.first);
  {
    Ending from{it_.first_device};
    Ending to{it_.second_device};
    std::vector<uint32_t> keys;
    for (int i = 0; i < 10'000; ++i) keys.push_back(to.program.register_memory(to.memory.bytes.data(), 4096, kAll));
    for (uint32_t i = 0; i < 1'000; ++i) {
      const uint32_t a = from.program.make_pair(IBV_QPT_RC, 4);
      const uint32_t b = to.program.make_pair(IBV_QPT_RC, 4);
      from.program.connect(a, TwoRnics::kSecond, b, TwoRnics::usual());
      to.program.connect(b, TwoRnics::kFirst, a, TwoRnics::usual());
      from.program.post(a, {.opcode = IBV_WR_RDMA_WRITE,
                            .id = i,
                            .remote = to.memory.at(i),
                            .key = keys[i * 10 + 9],
                            .pieces = {from.memory.piece(i, 1)}});
    }
    it_.run();
    uint32_t done = 0;
    for (const CompletionSlot& each : from.program.all_completions()) done += each.status == IBV_WC_SUCCESS;
    EXPECT_EQ(done, 1'000U);
    EXPECT_TRUE(std::equal(from.memory.bytes.begin(), from.memory.bytes.begin() + 1'000, to.memory.bytes.begin()));
    for (Ending* each : {&from, &to}) each->program.rnic().forget_client(each->program.client());
  }
  EXPECT_EQ(left_at(it_.first), first);
}

}  // namespace
}  // namespace softspine::testbeds
