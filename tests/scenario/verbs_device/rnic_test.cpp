// SPDX-License-Identifier: Apache-2.0
// Two RNICs and their programs: every operation, on a good wire and on a bad one, and what ends a queue pair.
#include <algorithm>
#include <random>

#include "tests/harness/seed.hpp"
#include "tests/scenario/verbs_device/rnics.hpp"

namespace softspine::testbeds {
namespace {

TEST_F(Rnics, AWriteArrivesWholeAndNowhereElse) {
  const auto [a, b] = it_.connect();
  const std::vector<uint8_t> before = theirs_.bytes;
  it_.first.post(a, work(IBV_WR_RDMA_WRITE, 100, 5000, 10'001));
  it_.run();
  EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_SUCCESS});
  EXPECT_TRUE(it_.second.all_completions().empty());
  std::vector<uint8_t> expected = before;
  std::copy_n(own_.bytes.begin() + 100, 10'001, expected.begin() + 5000);
  EXPECT_EQ(theirs_.bytes, expected);
}

TEST_F(Rnics, AReadBringsWhatIsThere) {
  const auto [a, b] = it_.connect();
  it_.first.post(a, work(IBV_WR_RDMA_READ, 0, 3000, 9'999));
  it_.run();
  EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_SUCCESS});
  EXPECT_TRUE(std::equal(own_.bytes.begin(), own_.bytes.begin() + 9'999, theirs_.bytes.begin() + 3000));
}

TEST_F(Rnics, ASendFillsThePiecesOfAReceiveInTheirOrder) {
  const auto [a, b] = it_.connect();
  it_.second.post_receive(b, 77, {theirs_.piece(0, 1000), theirs_.piece(2000, 3000)});
  Posted sent = work(IBV_WR_SEND_WITH_IMM, 0, 0, 2'500);
  sent.immediate = 0x12345678;
  it_.first.post(a, sent);
  it_.run();
  const auto got = it_.second.all_completions();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].id, 77u);
  EXPECT_EQ(got[0].bytes, 2'500u);
  EXPECT_EQ(got[0].immediate, 0x12345678u);
  EXPECT_EQ(got[0].flags, uint32_t{IBV_WC_WITH_IMM});
  EXPECT_TRUE(std::equal(own_.bytes.begin(), own_.bytes.begin() + 1000, theirs_.bytes.begin()));
  EXPECT_TRUE(std::equal(own_.bytes.begin() + 1000, own_.bytes.begin() + 2'500, theirs_.bytes.begin() + 2000));
}

TEST_F(Rnics, AtomicsReturnWhatWasThereAndAreDoneOnceEach) {
  const auto [a, b] = it_.connect();
  uint64_t value = 40;
  std::memcpy(theirs_.bytes.data() + 64, &value, sizeof value);
  // A third of all answers is lost: what comes again is not done again.
  uint32_t count = 0;
  it_.set_fate([&count](const Packet& packet) { return packet.data()[33] == 1 && ++count % 3 == 1 ? 0U : 1U; });
  Posted add = work(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 64, 8);
  add.compare_add = 2;
  Posted swap = work(IBV_WR_ATOMIC_CMP_AND_SWP, 8, 64, 8);
  swap.compare_add = 42;
  swap.swap = 99;
  it_.first.post(a, add);
  it_.first.post(a, swap);
  it_.run();
  EXPECT_EQ(statuses(it_.first), (std::vector<uint32_t>{IBV_WC_SUCCESS, IBV_WC_SUCCESS}));
  uint64_t found[2];
  std::memcpy(found, own_.bytes.data(), sizeof found);
  std::memcpy(&value, theirs_.bytes.data() + 64, sizeof value);
  EXPECT_EQ(found[0], 40u);
  EXPECT_EQ(found[1], 42u);
  EXPECT_EQ(value, 99u);
}

TEST_F(Rnics, ASendWaitsForAReceiverThatIsNotReady) {
  const auto [a, b] = it_.connect();
  it_.first.post(a, work(IBV_WR_SEND, 0, 0, 3'000));
  it_.run(Duration::us(100));
  EXPECT_GT(it_.second.rnic().ground().counters.send_rnr_err, 0u);
  EXPECT_TRUE(it_.first.all_completions().empty());
  it_.second.post_receive(b, 5, {theirs_.piece(0, 3'000)});
  it_.run();
  EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_SUCCESS});
  EXPECT_TRUE(std::equal(own_.bytes.begin(), own_.bytes.begin() + 3'000, theirs_.bytes.begin()));
}

TEST_F(Rnics, AReceiverThatIsNeverReadyEndsTheQueuePair) {
  QueuePairAttributes impatient = TwoRnics::usual();
  impatient.rnr_retries = 3;
  const auto [a, b] = it_.connect(impatient);
  it_.first.post(a, work(IBV_WR_SEND, 0, 0, 3'000));
  it_.first.post(a, work(IBV_WR_RDMA_WRITE, 0, 0, 10));
  it_.run();
  EXPECT_EQ(statuses(it_.first), (std::vector<uint32_t>{IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(it_.first.rnic().ground().counters.rcvd_rnr_err, 4u);
}

TEST_F(Rnics, ASilentPeerEndsTheQueuePairAfterItsRetriesAndTheRestIsFlushed) {
  const auto [a, b] = it_.connect();
  it_.set_fate([](const Packet&) { return 0U; });
  it_.first.post_receive(a, 9, {own_.piece(0, 10)});
  for (uint64_t id = 1; id <= 3; ++id) it_.first.post(a, work(IBV_WR_RDMA_WRITE, 0, 0, 5'000, id));
  it_.run();
  EXPECT_EQ(statuses(it_.first), (std::vector<uint32_t>{IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR,
                                                        IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(it_.first.rnic().ground().counters.completer_retry_err, 8u);
  it_.first.post(a, work(IBV_WR_RDMA_WRITE, 0, 0, 10));
  it_.first.post_receive(a, 10, {own_.piece(0, 10)});
  it_.run();
  EXPECT_EQ(statuses(it_.first), (std::vector<uint32_t>{IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR}));
}

TEST_F(Rnics, MemoryThatIsNotThePeersToReachIsARemoteAccessError) {
  for (const uint32_t opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    const auto [a, b] = it_.connect();
    const std::vector<uint8_t> before = theirs_.bytes;
    Posted beyond = work(opcode, 0, 0, 8);
    beyond.remote = theirs_.at(kBytes);
    it_.first.post(a, beyond);
    it_.run();
    EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_REM_ACCESS_ERR}) << opcode;
    EXPECT_EQ(theirs_.bytes, before);
    EXPECT_TRUE(it_.second.pair(b).has_failed());
  }
}

TEST_F(Rnics, MemoryThatIsNotTheProgramsEndsItsOwnQueuePairOnly) {
  const auto [a, b] = it_.connect();
  const auto [c, d] = it_.connect();
  // Registered, and not there.
  const uint32_t nowhere = it_.first.register_memory(reinterpret_cast<void*>(0x1000), 1 << 20, kAll);
  Posted from_nowhere = work(IBV_WR_RDMA_WRITE, 0, 0, 8);
  from_nowhere.pieces = {{0x1000, 4096, nowhere}};
  it_.first.post(a, from_nowhere);
  it_.first.post(c, work(IBV_WR_RDMA_WRITE, 0, 0, 5'000, 2));
  it_.run();
  auto all = it_.first.all_completions();
  std::ranges::sort(all, {}, &CompletionSlot::id);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].status, uint32_t{IBV_WC_LOC_PROT_ERR});
  EXPECT_EQ(all[1].status, uint32_t{IBV_WC_SUCCESS});
}

TEST_F(Rnics, AMessageLongerThanItsReceiveEndsBoth) {
  const auto [a, b] = it_.connect();
  it_.second.post_receive(b, 1, {theirs_.piece(0, 1'500)});
  it_.first.post(a, work(IBV_WR_SEND, 0, 0, 2'000));
  it_.run();
  EXPECT_EQ(statuses(it_.second), std::vector<uint32_t>{IBV_WC_LOC_LEN_ERR});
  EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_REM_INV_REQ_ERR});
}

// Writes, reads and sends of random places and lengths, one after the other, against plain copies.
TEST_F(Rnics, RandomOperationsOnABadWireAreThoseOfAModel) {
  std::mt19937 random(static_cast<uint32_t>(tests::seed()));
  const auto below = [&random](size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); };
  const auto [a, b] = it_.connect();
  it_.set_fate([&below](const Packet&) {
    const size_t drawn = below(100);
    return drawn < 4 ? 0U : drawn < 6 ? 2U : 1U;
  });
  std::vector<uint8_t> own = own_.bytes;
  std::vector<uint8_t> theirs = theirs_.bytes;
  for (uint64_t id = 1; id <= 1'500; ++id) {
    const size_t count = below(5) == 0 ? below(12'000) : below(2'100);
    const size_t from = below(kBytes - count);
    const size_t to = below(kBytes - count);
    const size_t kind = below(3);
    if (kind == 1) it_.second.post_receive(b, id, {theirs_.piece(to, count)});
    it_.first.post(a, work(kind == 0   ? IBV_WR_RDMA_WRITE
                           : kind == 1 ? IBV_WR_SEND
                                       : IBV_WR_RDMA_READ,
                           from, to, count, id));
    if (kind == 2) {
      std::copy_n(theirs.begin() + static_cast<ptrdiff_t>(to), count, own.begin() + static_cast<ptrdiff_t>(from));
    } else {
      std::copy_n(own.begin() + static_cast<ptrdiff_t>(from), count, theirs.begin() + static_cast<ptrdiff_t>(to));
    }
    // A read that is under way and a write behind it may meet in one place: then the write may come first.
    if (kind == 2 || below(8) == 0) it_.run(Duration::ms(50));
  }
  it_.run(Duration::ms(50));
  for (const uint32_t status : statuses(it_.first)) ASSERT_EQ(status, uint32_t{IBV_WC_SUCCESS});
  EXPECT_TRUE(own == own_.bytes);
  EXPECT_TRUE(theirs == theirs_.bytes);
  EXPECT_GT(it_.first.rnic().ground().counters.retransmitted_pkts, 0u);
}

TEST_F(Rnics, GarbageInARingEndsItsQueuePairAtMost) {
  std::mt19937 random(static_cast<uint32_t>(tests::seed()));
  const auto [c, d] = it_.connect();
  for (int round = 0; round < 300; ++round) {
    const auto [a, b] = it_.connect();
    for (WorkRing* ring : {&it_.first.pair(a).sends, &it_.first.pair(a).receives}) {
      const size_t bytes = queue_bytes(ring->slots(), 64);
      for (size_t i = 0; i < bytes; i += 4) {
        const auto word = static_cast<uint32_t>(random() % 4 == 0 ? random() : random() % 20);
        std::memcpy(ring->memory().place() + i, &word, sizeof word);
      }
    }
    it_.first.ring_for(a);
    it_.run(Duration::us(300));
    DeviceRequest gone{.call = Call::kDestroyQp};
    gone.handle = a;
    EXPECT_EQ(it_.first.ask(gone).error, 0);
    gone.handle = b;
    EXPECT_EQ(it_.second.ask(gone).error, 0);
    it_.first.all_completions();
  }
  it_.first.post(c, work(IBV_WR_RDMA_WRITE, 0, 0, 5'000));
  it_.run();
  EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_SUCCESS});
}

TEST_F(Rnics, CallsWithRandomArgumentsAreRefusedOrCarriedOut) {
  std::mt19937 random(static_cast<uint32_t>(tests::seed()));
  const auto [c, d] = it_.connect();
  for (int round = 0; round < 20'000; ++round) {
    DeviceRequest request;
    auto* const words = reinterpret_cast<uint32_t*>(&request);
    for (size_t i = 0; i < sizeof request / 4; ++i)
      words[i] = static_cast<uint32_t>(random() % 3 == 0 ? random() : random() % 70);
    request.call = static_cast<Call>(random() % 20);
    const bool hits_ours = request.handle == c || request.call == Call::kForgetMemory;
    if (!hits_ours) static_cast<void>(it_.first.ask(request));
    it_.first.rnic().pump(Instant{});
  }
  it_.first.all_completions();
  it_.first.post(c, work(IBV_WR_RDMA_WRITE, 0, 0, 5'000));
  it_.run();
  EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_SUCCESS});
}

TEST_F(Rnics, ThatAClientHasGoneLeavesNothingOfIt) {
  const auto [a, b] = it_.connect();
  it_.first.post(a, work(IBV_WR_RDMA_WRITE, 0, 0, 30'000));
  it_.first.rnic().take_doorbells();
  it_.first.rnic().pump(Instant{});
  it_.first.rnic().forget_client(it_.first.client());
  const VerbsObjects& left = it_.first.rnic().ground().objects;
  EXPECT_EQ(left.queue_pairs.count() + left.completion_queues.count() + left.channels.count(), 0u);
  EXPECT_EQ(left.regions.count(), 0u);
  EXPECT_EQ(left.slots, 0u);
  it_.second.post(
      b, {.opcode = IBV_WR_RDMA_WRITE, .remote = own_.at(0), .key = own_.key, .pieces = {theirs_.piece(0, 10)}});
  it_.run();
  EXPECT_EQ(statuses(it_.second), std::vector<uint32_t>{IBV_WC_RETRY_EXC_ERR});
}

// The NIC keeps what it has: nothing is added but what is under way in a batch, and each pair gets its turn.
TEST_F(Rnics, PairsThatTheNicHasNoRoomForWaitAndGetTheirTurn) {
  it_.set_room(8);
  std::vector<uint32_t> pairs;
  for (int i = 0; i < 40; ++i) {
    const auto [from, to] = it_.connect();
    it_.first.post(from, work(IBV_WR_RDMA_WRITE, 0, 0, 40 << 10, from));
    pairs.push_back(from);
  }
  it_.run();
  std::vector<uint32_t> done;
  for (const CompletionSlot& each : it_.first.all_completions()) {
    EXPECT_EQ(each.status, uint32_t{IBV_WC_SUCCESS});
    done.push_back(each.qp);
  }
  std::ranges::sort(done);
  std::ranges::sort(pairs);
  EXPECT_EQ(done, pairs);
  EXPECT_LE(it_.most_kept(), 8 + FrameBatch::kFrames);
  EXPECT_EQ(it_.first.rnic().ground().counters.completer_retry_err, 0U);
}

}  // namespace
}  // namespace softspine::testbeds
