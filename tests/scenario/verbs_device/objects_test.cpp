// SPDX-License-Identifier: Apache-2.0
// What programs make: steps of a queue pair, rights of memory, handles that are old or another's, and what programs
// are told.
#include <cerrno>
#include <map>

#include "tests/scenario/verbs_device/rnics.hpp"

namespace softspine::testbeds {
namespace {

class Objects : public Rnics {
 protected:
  int change(uint32_t qp, uint32_t mask, uint32_t state) {
    DeviceRequest request{.call = Call::kModifyQp, .handle = qp};
    request.number = mask;
    request.attributes = TwoRnics::usual();
    request.attributes.state = state;
    request.attributes.port = 1;
    request.attributes.has_address = 1;
    return it_.first.ask(request).error;
  }
  // What becomes of a message of eight bytes to the memory that `key` names.
  uint32_t status_of(uint32_t opcode, uint64_t remote, uint32_t key) {
    const auto [a, b] = it_.connect();
    Posted post = work(opcode, 0, 0, 8);
    post.remote = remote;
    post.key = key;
    it_.first.post(a, post);
    it_.run();
    const auto all = statuses(it_.first);
    return all.size() == 1 ? all[0] : UINT32_MAX;
  }
  CompletionQueue& queue() { return *it_.second.rnic().ground().objects.completion_queues.find(it_.second.cq()); }
  QueueHead& head() { return *reinterpret_cast<QueueHead*>(queue().memory().place()); }
};

// Linux's qp_state_table (drivers/infiniband/core/verbs.c), as far as the device has it.
TEST_F(Objects, AQueuePairChangesAsTheKernelsTableAllows) {
  constexpr uint32_t kInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  constexpr uint32_t kPath = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  constexpr uint32_t kRetries = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  struct Row {
    uint32_t type, from, to, needed, allowed;
  };
  const Row rows[] = {
      {IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, kInit | IBV_QP_QKEY, 0},
      {IBV_QPT_UC, IBV_QPS_RESET, IBV_QPS_INIT, kInit | IBV_QP_ACCESS_FLAGS, 0},
      {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, kInit | IBV_QP_ACCESS_FLAGS, 0},
      {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_INIT, 0, kInit | IBV_QP_QKEY},
      {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_INIT, 0, kInit | IBV_QP_ACCESS_FLAGS},
      {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
      {IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR, kPath, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
      {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, kPath | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
       IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
      {IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
      {IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
      {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN | kRetries,
       IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
      {IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
      {IBV_QPT_UC, IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
      {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
      {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_ERR, 0, 0},
      {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RESET, 0, 0},
  };
  constexpr uint32_t kBits[] = {
      IBV_QP_CUR_STATE, IBV_QP_ACCESS_FLAGS,     IBV_QP_PKEY_INDEX,    IBV_QP_PORT,      IBV_QP_QKEY,
      IBV_QP_AV,        IBV_QP_PATH_MTU,         IBV_QP_TIMEOUT,       IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY,
      IBV_QP_RQ_PSN,    IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER, IBV_QP_SQ_PSN,    IBV_QP_MAX_DEST_RD_ATOMIC,
      IBV_QP_DEST_QPN};
  for (const Row& row : rows) {
    const auto step = [&](uint32_t mask) {
      const uint32_t qp = it_.first.make_pair(row.type);
      it_.first.pair(qp).attributes.state = row.from;
      it_.first.pair(qp).attributes.path_mtu = IBV_MTU_1024;
      const int error = change(qp, mask | IBV_QP_STATE, row.to);
      DeviceRequest gone{.call = Call::kDestroyQp, .handle = qp};
      EXPECT_EQ(it_.first.ask(gone).error, 0);
      return error;
    };
    SCOPED_TRACE(testing::Message() << "type " << row.type << " from " << row.from << " to " << row.to);
    EXPECT_EQ(step(row.needed), 0);
    EXPECT_EQ(step(row.needed | row.allowed), 0);
    for (const uint32_t bit : kBits) {
      const bool is_needed = (row.needed & bit) != 0;
      const bool is_known = is_needed || (row.allowed & bit) != 0;
      EXPECT_EQ(step(is_needed ? row.needed & ~bit : row.needed | bit), !is_needed && is_known ? 0 : EINVAL) << bit;
    }
    EXPECT_EQ(step(row.needed | IBV_QP_ALT_PATH), EOPNOTSUPP);
  }
  for (const auto& [from, to] : std::initializer_list<std::pair<uint32_t, uint32_t>>{{IBV_QPS_RESET, IBV_QPS_RTR},
                                                                                     {IBV_QPS_RESET, IBV_QPS_RTS},
                                                                                     {IBV_QPS_RTR, IBV_QPS_RTR},
                                                                                     {IBV_QPS_RTS, IBV_QPS_INIT},
                                                                                     {IBV_QPS_ERR, IBV_QPS_INIT},
                                                                                     {IBV_QPS_ERR, IBV_QPS_RTS}}) {
    const uint32_t qp = it_.first.make_pair();
    it_.first.pair(qp).attributes.state = from;
    EXPECT_EQ(change(qp, IBV_QP_STATE, to), EINVAL) << from << " to " << to;
  }
}

TEST_F(Objects, ARegionAllowsWhatItWasRegisteredFor) {
  const std::map<uint32_t, uint32_t> right_of = {{IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE},
                                                 {IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ},
                                                 {IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC}};
  for (const auto& [opcode, right] : right_of) {
    const uint32_t only = it_.second.register_memory(theirs_.bytes.data(), 64, right | IBV_ACCESS_LOCAL_WRITE);
    const uint32_t without = it_.second.register_memory(theirs_.bytes.data(), 64, kAll & ~right);
    EXPECT_EQ(status_of(opcode, theirs_.at(0), only), uint32_t{IBV_WC_SUCCESS}) << opcode;
    EXPECT_EQ(status_of(opcode, theirs_.at(0), without), uint32_t{IBV_WC_REM_ACCESS_ERR}) << opcode;
    // The queue pair's own rights count as well.
    const auto [a, b] = it_.connect();
    it_.second.pair(b).attributes.access &= ~right;
    it_.first.post(a, work(opcode, 0, 0, 8));
    it_.run();
    EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_REM_ACCESS_ERR}) << opcode;
  }
}

TEST_F(Objects, AReadNeedsTheRightToWriteHere) {
  const uint32_t read_only = it_.first.register_memory(own_.bytes.data(), 64, 0);
  const auto [a, b] = it_.connect();
  Posted read = work(IBV_WR_RDMA_READ, 0, 0, 8);
  read.pieces[0].key = read_only;
  it_.first.post(a, read);
  it_.run();
  EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_LOC_PROT_ERR});
}

TEST_F(Objects, ARegionsLastByteIsItsLast) {
  const uint32_t key = it_.second.register_memory(theirs_.bytes.data() + 64, 64, kAll);
  EXPECT_EQ(status_of(IBV_WR_RDMA_WRITE, theirs_.at(120), key), uint32_t{IBV_WC_SUCCESS});
  EXPECT_EQ(status_of(IBV_WR_RDMA_WRITE, theirs_.at(121), key), uint32_t{IBV_WC_REM_ACCESS_ERR});
  EXPECT_EQ(status_of(IBV_WR_RDMA_WRITE, theirs_.at(63), key), uint32_t{IBV_WC_REM_ACCESS_ERR});
}

TEST_F(Objects, ARegionIsNamedByItsOwnAddresses) {
  DeviceRequest request{.call = Call::kRegisterMemory};
  request.pd = it_.second.pd();
  request.address = theirs_.at(256);
  request.remote_address = 0x7000;
  request.length = 64;
  request.access = kAll;
  const uint32_t key = it_.second.ask(request).number;
  EXPECT_EQ(status_of(IBV_WR_RDMA_WRITE, 0x7008, key), uint32_t{IBV_WC_SUCCESS});
  EXPECT_TRUE(std::equal(own_.bytes.begin(), own_.bytes.begin() + 8, theirs_.bytes.begin() + 264));
  EXPECT_EQ(status_of(IBV_WR_RDMA_WRITE, theirs_.at(256), key), uint32_t{IBV_WC_REM_ACCESS_ERR});
}

TEST_F(Objects, AKeyThatWasGivenBackOrIsOfAnotherDomainReachesNothing) {
  const uint32_t key = it_.second.register_memory(theirs_.bytes.data(), 64, kAll);
  DeviceRequest forget{.call = Call::kForgetMemory, .handle = key};
  EXPECT_EQ(it_.second.ask(forget).error, 0);
  EXPECT_EQ(it_.second.ask(forget).error, EINVAL);
  const uint32_t next = it_.second.register_memory(theirs_.bytes.data(), 64, kAll);
  EXPECT_EQ(next >> 8, key >> 8);  // the same place
  EXPECT_EQ(status_of(IBV_WR_RDMA_WRITE, theirs_.at(0), key), uint32_t{IBV_WC_REM_ACCESS_ERR});
  EXPECT_EQ(status_of(IBV_WR_RDMA_WRITE, theirs_.at(0), next), uint32_t{IBV_WC_SUCCESS});
  it_.second.use(it_.second.cq(), it_.second.ask({.call = Call::kAllocatePd}).handle);
  EXPECT_EQ(status_of(IBV_WR_RDMA_WRITE, theirs_.at(0), next), uint32_t{IBV_WC_REM_ACCESS_ERR});
}

TEST_F(Objects, MemoryThatGoesWhileItIsReadIsAnAccessError) {
  const auto [a, b] = it_.connect();
  const uint32_t key = it_.second.register_memory(theirs_.bytes.data(), kBytes, kAll);
  // With the first response sixteen have left, and the others are still owed.
  uint32_t count = 0;
  it_.set_fate([&](const Packet&) {
    if (++count == 2) {
      EXPECT_EQ(it_.second.ask({.call = Call::kForgetMemory, .handle = key}).error, 0);
    }
    return 1U;
  });
  Posted read = work(IBV_WR_RDMA_READ, 0, 0, 40'000);
  read.key = key;
  it_.first.post(a, read);
  it_.run();
  EXPECT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_REM_ACCESS_ERR});
  EXPECT_TRUE(it_.second.pair(b).has_failed());
}

TEST_F(Objects, WhatIsInUseStaysAndAnOldHandleFindsNothing) {
  const uint32_t qp = it_.first.make_pair();
  DeviceRequest free_pd{.call = Call::kFreePd, .handle = it_.first.pd()};
  EXPECT_EQ(it_.first.ask(free_pd).error, EBUSY);
  DeviceRequest destroy_cq{.call = Call::kDestroyCq, .handle = it_.first.cq()};
  EXPECT_EQ(it_.first.ask(destroy_cq).error, EBUSY);
  DeviceRequest destroy{.call = Call::kDestroyQp, .handle = qp};
  EXPECT_EQ(it_.first.ask(destroy).error, 0);
  EXPECT_EQ(it_.first.ask(destroy).error, EINVAL);
  EXPECT_EQ(it_.first.ask(destroy_cq).error, 0);
}

TEST_F(Objects, AHandleIsItsProgramsOnly) {
  const auto [a, b] = it_.connect();
  Program other(it_.first_device);
  for (const auto& [call, handle] : std::initializer_list<std::pair<Call, uint32_t>>{{Call::kDestroyQp, a},
                                                                                     {Call::kQueryQp, a},
                                                                                     {Call::kModifyQp, a},
                                                                                     {Call::kDestroyCq, it_.first.cq()},
                                                                                     {Call::kForgetMemory, own_.key},
                                                                                     {Call::kFreePd, it_.first.pd()}}) {
    DeviceRequest request{.call = call, .handle = handle};
    EXPECT_EQ(other.ask(request).error, EINVAL) << static_cast<uint32_t>(call);
  }
  // Nor does its bell ring for it.
  it_.run();
  it_.first.post(a, work(IBV_WR_RDMA_WRITE, 0, 0, 8));
  it_.first.clear_bells();
  other.ring_for(a);
  it_.run();
  EXPECT_TRUE(it_.first.all_completions().empty());
}

TEST_F(Objects, AChannelTellsOfTheNextCompletionThatWasAskedFor) {
  const uint32_t channel = it_.second.ask({.call = Call::kCreateChannel}).handle;
  DeviceRequest make{.call = Call::kCreateCq};
  make.number = 2;
  make.channel = channel + 1;
  it_.second.use(it_.second.ask(make).handle, it_.second.pd());
  const auto [a, b] = it_.connect();
  const auto arrive = [&, a = a, b = b](uint32_t flags) {
    it_.second.post_receive(b, 1, {theirs_.piece(0, 100)});
    Posted send = work(IBV_WR_SEND, 0, 0, 10);
    send.flags |= flags;
    it_.first.post(a, send);
    it_.run();
    return it_.second.heard<uint32_t>();
  };
  EXPECT_FALSE(arrive(0));
  head().armed = kSolicitedArmed;
  EXPECT_FALSE(arrive(0));
  it_.second.all_completions();
  EXPECT_EQ(arrive(IBV_SEND_SOLICITED), it_.second.cq());
  EXPECT_FALSE(arrive(IBV_SEND_SOLICITED));  // once
  it_.second.all_completions();
  head().armed = kAnyArmed;
  EXPECT_EQ(arrive(0), it_.second.cq());
}

TEST_F(Objects, ACompletionQueueThatIsFullSaysSoAndTakesNothingMore) {
  DeviceRequest make{.call = Call::kCreateCq};
  make.number = 2;
  it_.second.use(it_.second.ask(make).handle, it_.second.pd());
  const auto [a, b] = it_.connect();
  for (uint64_t id = 1; id <= 4; ++id) {
    it_.second.post_receive(b, id, {theirs_.piece(0, 100)});
    it_.first.post(a, work(IBV_WR_SEND, 0, 0, 10));
    it_.run();
  }
  EXPECT_EQ(it_.second.all_completions().size(), 2U);
  EXPECT_EQ(it_.second.rnic().ground().counters.cq_overflows, 1U);
  const auto event = it_.second.heard<AsyncEvent>();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, uint32_t{IBV_EVENT_CQ_ERR});
  EXPECT_EQ(event->handle, it_.second.cq());
}

TEST_F(Objects, ProgramsHearOfTheirPortAndOfAQueuePairThatFails) {
  it_.first.rnic().link_changed(false);
  it_.first.rnic().link_changed(true);
  for (const uint32_t type : {IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE}) {
    const auto event = it_.first.heard<AsyncEvent>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->type, type);
    EXPECT_EQ(event->handle, 1U);
  }
  const auto [a, b] = it_.connect();
  it_.first.post(a, work(IBV_WR_RDMA_WRITE, 0, kBytes, 8));
  it_.run();
  auto event = it_.second.heard<AsyncEvent>();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, uint32_t{IBV_EVENT_QP_ACCESS_ERR});
  EXPECT_EQ(event->handle, b);
  event = it_.first.heard<AsyncEvent>();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, uint32_t{IBV_EVENT_QP_FATAL});
}

}  // namespace
}  // namespace softspine::testbeds
