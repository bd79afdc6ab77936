// SPDX-License-Identifier: Apache-2.0
// Frames that no sound peer sends and work that no library posts: nothing is written, and the queue pair that they
// concern has failed, if it is theirs at all.
#include "tests/scenario/verbs_device/rnics.hpp"

namespace softspine::testbeds {
namespace {

class WrongFrames : public Rnics {
 protected:
  RoceAddress to(uint32_t qp, uint32_t address = TwoRnics::kSecond) {
    return {.destination = address, .destination_qp = qp, .source_port = 50'000};
  }
  DropReason inject(uint32_t qp, const RdmaFields& fields, uint32_t bytes = 0) {
    return it_.inject(it_.second, to(qp), fields, bytes);
  }
  // A write or a part of one, to the peer's memory.
  RdmaFields write(uint8_t opcode, uint32_t psn, uint32_t length) {
    return {.opcode = opcode, .psn = psn, .address = theirs_.at(0), .key = theirs_.key, .dma_bytes = length};
  }
  void expect_refused(uint32_t qp, const char* of) {
    SCOPED_TRACE(of);
    EXPECT_TRUE(it_.second.pair(qp).has_failed());
    const auto event = it_.second.heard<AsyncEvent>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->type, uint32_t{IBV_EVENT_QP_REQ_ERR});
    OwedAnswers& answers = it_.second.pair(qp).receiver.answers;
    ASSERT_FALSE(answers.empty());
    EXPECT_EQ(answers.front().syndrome, rdma::kInvalidRequest);
    EXPECT_TRUE(it_.second.all_completions().empty());
    EXPECT_EQ(theirs_.bytes, before_);
  }
  std::vector<uint8_t> before_ = theirs_.bytes;
};

TEST_F(WrongFrames, AFrameThatIsSpoiledOrNotForUsEndsBeforeItIsRead) {
  const auto [a, b] = it_.connect();
  EXPECT_EQ(it_.inject(it_.second, to(b), write(bth::kWriteOnly, 0, 8), 8, 1), DropReason::kBadIcrc);
  EXPECT_EQ(it_.inject(it_.second, to(b, TwoRnics::kFirst), write(bth::kWriteOnly, 0, 8), 8), DropReason::kNotForUs);
  EXPECT_EQ(it_.second.rnic().ground().counters.rcvd_pkts, 0U);
  it_.second.rnic().flush();
  EXPECT_EQ(theirs_.bytes, before_);
}

TEST_F(WrongFrames, AQueuePairThatIsNotReadyOrOfAnotherKindTakesNothing) {
  const auto [a, b] = it_.connect();
  const uint32_t fresh = it_.second.make_pair();
  inject(fresh, write(bth::kWriteOnly, 0, 8), 8);
  inject(b, write(rdma::kUc | bth::kWriteOnly, 0, 8), 8);
  inject(b + 1'000, write(bth::kWriteOnly, 0, 8), 8);
  EXPECT_EQ(it_.second.rnic().ground().counters.unknown_qp, 3U);
  it_.second.rnic().flush();
  EXPECT_EQ(theirs_.bytes, before_);
}

TEST_F(WrongFrames, AMessageKeepsItsOrderAndItsLength) {
  struct Case {
    const char* of;
    RdmaFields fields;
    uint32_t bytes;
  };
  RdmaFields long_read = write(bth::kReadRequest, 0, (1U << 30) + 1);
  long_read.key = it_.second.register_memory(theirs_.bytes.data(), 1U << 31, kAll);
  const std::vector<Case> cases = {
      {"a middle without a first", write(bth::kWriteMiddle, 0, 0), 1024},
      {"a send's middle without a first", write(bth::kSendMiddle, 0, 0), 1024},
      {"a last without a first", write(bth::kWriteLast, 0, 0), 8},
      {"a first that is shorter than the MTU", write(bth::kWriteFirst, 0, 2000), 1000},
      {"a packet longer than the MTU", write(bth::kWriteOnly, 0, 1028), 1028},
      {"more bytes than said", write(bth::kWriteOnly, 0, 7), 8},
      {"a read of more than a message has", long_read, 0},
  };
  for (const Case& each : cases) {
    const auto [a, b] = it_.connect();
    inject(b, each.fields, each.bytes);
    expect_refused(b, each.of);
  }
}

TEST_F(WrongFrames, AWriteThatEndsBeforeItsLengthIsRefused) {
  const auto [a, b] = it_.connect();
  inject(b, write(bth::kWriteOnly, 0, 9), 8);
  EXPECT_TRUE(it_.second.pair(b).has_failed());
}

TEST_F(WrongFrames, AnAtomicLiesOnItsEightBytes) {
  const auto [a, b] = it_.connect();
  RdmaFields add = write(rdma::kFetchAdd, 0, 0);
  add.address += 4;
  add.swap_or_add = 1;
  inject(b, add);
  expect_refused(b, "an atomic at an odd place");
}

TEST_F(WrongFrames, AReadThatComesAgainIsWithinWhatWasAskedFor) {
  const auto [a, b] = it_.connect();
  inject(b, write(bth::kWriteOnly, 0, 1024), 1024);
  it_.run();
  ReceiverState& state = it_.second.pair(b).receiver;
  ASSERT_TRUE(state.answers.empty());
  inject(b, write(bth::kReadRequest, 0, 2048));  // its second response would be the PSN that comes next
  EXPECT_TRUE(state.answers.empty());
  it_.second.pair(b).attributes.access = 0;
  inject(b, write(bth::kReadRequest, 0, 1024));
  EXPECT_TRUE(state.answers.empty());
}

TEST_F(WrongFrames, AReadThatComesAgainWhileItIsOwedIsOwedOnce) {
  const auto [a, b] = it_.connect();
  inject(b, write(bth::kReadRequest, 0, 2048));
  for (uint32_t i = 0; i < 100; ++i) inject(b, write(bth::kReadRequest, i % 2, 2048 - i % 2 * 1024));
  inject(b, write(bth::kReadRequest, 2, 1024));
  EXPECT_FALSE(it_.second.pair(b).has_failed());
  std::vector<uint32_t> psns;
  it_.set_fate([&psns](const Packet& packet) {
    psns.push_back(load24(packet.data() + 51));
    return 0U;
  });
  it_.run(Duration::us(5));
  EXPECT_EQ(psns, (std::vector<uint32_t>{0, 1, 2}));
}

TEST_F(WrongFrames, AResponseOfAnotherLengthIsABadOne) {
  for (const uint8_t opcode : {bth::kReadResponseOnly, rdma::kAtomicAcknowledge}) {
    const auto [a, b] = it_.connect();
    it_.set_fate([](const Packet&) { return 0U; });
    it_.first.post(a, work(IBV_WR_RDMA_READ, 0, 0, 100));
    it_.run(Duration::us(5));
    it_.inject(it_.first, to(a, TwoRnics::kFirst), {.opcode = opcode, .psn = 0, .syndrome = rdma::kAck},
               opcode == bth::kReadResponseOnly ? 96 : 0);
    EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_BAD_RESP_ERR});
  }
}

TEST_F(WrongFrames, AReadIntoMemoryThatIsNotThereIsNotASuccess) {
  const auto [a, b] = it_.connect();
  const uint32_t nowhere = it_.first.register_memory(reinterpret_cast<void*>(0x1000), 1 << 20, kAll);
  Posted read = work(IBV_WR_RDMA_READ, 0, 0, 100);
  read.pieces = {{0x1000, 100, nowhere}};
  it_.first.post(a, read);
  it_.run();
  EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_LOC_PROT_ERR});
}

TEST_F(WrongFrames, WorkThatTheLibraryWouldRefuseEndsItsQueuePair) {
  Posted too_long = work(IBV_WR_RDMA_WRITE, 0, 0, 0);
  too_long.flags |= IBV_SEND_INLINE;
  too_long.inlined.resize(65);  // of 64
  for (const auto& [post, status] :
       std::vector<std::pair<Posted, uint32_t>>{{too_long, IBV_WC_LOC_QP_OP_ERR},
                                                {work(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0, 4), IBV_WC_LOC_LEN_ERR},
                                                {work(IBV_WR_BIND_MW, 0, 0, 8), IBV_WC_LOC_QP_OP_ERR}}) {
    const auto [a, b] = it_.connect();
    it_.first.post(a, post);
    it_.run();
    EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{status});
  }
}

// PSNs are compared over half their range.
TEST_F(WrongFrames, WorkIsFetchedAsFarAsItsPsnsCanBeCompared) {
  const auto [a, b] = it_.connect();
  Posted long_read = work(IBV_WR_RDMA_READ, 0, 0, 8);
  long_read.pieces[0].length = 1U << 30;  // 2^20 packets of 1024 bytes
  for (int i = 0; i < 6; ++i) it_.first.post(a, long_read);
  it_.first.rnic().take_doorbells();
  it_.first.rnic().pump(it_.now());
  EXPECT_EQ(it_.first.pair(a).sends.taken(), 4U);
}

TEST_F(WrongFrames, ASwapThatDoesNotCompareChangesNothing) {
  const auto [a, b] = it_.connect();
  Posted swap = work(IBV_WR_ATOMIC_CMP_AND_SWP, 0, 64, 8);
  swap.compare_add = 1;
  swap.swap = 2;
  it_.first.post(a, swap);
  it_.run();
  EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_SUCCESS});
  EXPECT_EQ(theirs_.bytes, before_);
  EXPECT_TRUE(std::equal(own_.bytes.begin(), own_.bytes.begin() + 8, before_.begin() + 64));
}

TEST_F(WrongFrames, AReadFindsWhatTheWriteBeforeItHasWritten) {
  const auto [a, b] = it_.connect();
  it_.first.post(a, work(IBV_WR_RDMA_WRITE, 0, 0, 5'000, 1));
  it_.first.post(a, work(IBV_WR_RDMA_READ, 20'000, 0, 5'000, 2));
  it_.run();
  EXPECT_TRUE(std::equal(own_.bytes.begin(), own_.bytes.begin() + 5'000, own_.bytes.begin() + 20'000));
}

TEST_F(WrongFrames, WorkThatAsksForNoCompletionHasNone) {
  const auto [a, b] = it_.connect();
  Posted silent = work(IBV_WR_RDMA_WRITE, 0, 0, 8, 1);
  silent.flags = 0;
  it_.first.post(a, silent);
  it_.first.post(a, work(IBV_WR_RDMA_WRITE, 0, 0, 8, 2));
  it_.run();
  const auto all = it_.first.all_completions();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].id, 2U);
}

TEST_F(WrongFrames, AQueuePairThatItsProgramEndsOwesNothingAndFlushesWhatIsPosted) {
  const uint32_t channel = it_.second.ask({.call = Call::kCreateChannel}).handle;
  DeviceRequest make{.call = Call::kCreateCq};
  make.number = 8;
  make.channel = channel + 1;
  it_.second.use(it_.second.ask(make).handle, it_.second.pd());
  const auto [a, b] = it_.connect();
  auto& queue = *it_.second.rnic().ground().objects.completion_queues.find(it_.second.cq());
  reinterpret_cast<QueueHead*>(queue.memory().place())->armed = kSolicitedArmed;
  it_.second.post_receive(b, 5, {theirs_.piece(0, 10)});
  inject(b, write(bth::kReadRequest, 0, 1024));
  DeviceRequest end{.call = Call::kModifyQp, .handle = b};
  end.number = IBV_QP_STATE;
  end.attributes.state = IBV_QPS_ERR;
  EXPECT_EQ(it_.second.ask(end).error, 0);
  EXPECT_TRUE(it_.second.pair(b).receiver.answers.empty());
  EXPECT_EQ(statuses(it_.second), std::vector<uint32_t>{IBV_WC_WR_FLUSH_ERR});
  EXPECT_EQ(it_.second.heard<uint32_t>(), it_.second.cq());  // an error is as a solicited one
  // The library rings from now on for receives as well.
  EXPECT_EQ(reinterpret_cast<QueueHead*>(it_.second.pair(b).receives.memory().place())->armed, 1U);
}

}  // namespace
}  // namespace softspine::testbeds
