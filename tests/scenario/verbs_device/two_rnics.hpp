// SPDX-License-Identifier: Apache-2.0
// Two RNICs back to back in a time of the test's own, and a program at each, which is this process: it writes rings as
// the library does, and its memory is ours. Between them a function decides what becomes of each packet.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "testbeds/verbs_device/device_calls_handler.hpp"
#include "testbeds/verbs_device/rnic.hpp"

namespace softspine::testbeds {

using namespace dataplane;

struct Posted {
  uint32_t opcode = IBV_WR_SEND;
  uint32_t flags = IBV_SEND_SIGNALED;
  uint64_t id = 0;
  uint64_t remote = 0;
  uint32_t key = 0;
  uint64_t compare_add = 0;
  uint64_t swap = 0;
  uint32_t immediate = 0;
  std::vector<MemoryPiece> pieces;
  std::vector<uint8_t> inlined;  // in the place of pieces, with IBV_SEND_INLINE
  // Datagrams.
  std::array<uint8_t, 16> remote_gid{};
  uint32_t remote_qp = 0;
  uint32_t remote_qkey = 0;
};

inline constexpr uint32_t kQkey = 0x11111111;

struct RnicAndCalls {
  RnicAndCalls(uint32_t ipv4, PacketPool& pool, RnicPort& port)
      : rnic({.mac = {2, 0, 0, 0, 0, 1},
              .ipv4 = ipv4,
              .ipv6 = {{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, static_cast<uint8_t>(ipv4)}},
              .gateway = {2, 0, 0, 0, 0, 2}},
             0, pool, port),
        handler(rnic, {.state = IBV_PORT_ACTIVE, .largest_mtu = IBV_MTU_4096, .active_mtu = IBV_MTU_4096}) {}
  Rnic rnic;
  DeviceCallsHandler handler;
};

// A program's view of one device: objects and rings.
class Program {
 public:
  explicit Program(RnicAndCalls& device) : Program(device.rnic, device.handler) {}
  Program(Rnic& rnic, DeviceCallsHandler& handler) : rnic_(rnic), handler_(handler) {
    client_ = *handler_.add_client(getpid());
    DeviceRequest open{.call = Call::kOpen};
    open.number = kDeviceVersion;
    EXPECT_EQ(ask(open).error, 0);
    bells_ = &rnic_.ground().objects.clients[client_]->bells();
    pd_ = ask({.call = Call::kAllocatePd}).handle;
    DeviceRequest cq{.call = Call::kCreateCq};
    cq.number = 4096;
    cq_ = ask(cq).handle;
  }

  DeviceReply ask(const DeviceRequest& request) {
    CallResult result;
    handler_.handle(client_, request, result);
    if (result.owned[0]) channel_ = std::move(result.owned[0]);
    return result.reply;
  }
  // The next message of the channel that was made last: asynchronous events, if none was made.
  template <typename Message>
  std::optional<Message> heard() {
    Message out;
    if (recv(channel_.get(), &out, sizeof out, MSG_DONTWAIT) != sizeof out) return std::nullopt;
    return out;
  }
  // What is made from now on has this completion queue, protection domain, shared receive queue (0: none).
  void use(uint32_t cq, uint32_t pd, uint32_t srq = 0) { cq_ = cq, pd_ = pd, srq_ = srq; }
  uint32_t cq() const { return cq_; }
  uint32_t pd() const { return pd_; }
  uint32_t register_memory(void* place, size_t bytes, uint32_t access) {
    DeviceRequest request{.call = Call::kRegisterMemory};
    request.pd = pd_;
    request.address = request.remote_address = reinterpret_cast<uint64_t>(place);
    request.length = bytes;
    request.access = access;
    const DeviceReply reply = ask(request);
    EXPECT_EQ(reply.error, 0);
    return reply.number;
  }
  uint32_t make_pair(uint32_t type = IBV_QPT_RC, uint32_t slots = 64) {
    DeviceRequest request{.call = Call::kCreateQp};
    request.number = type;
    request.pd = pd_;
    request.send_cq = request.receive_cq = cq_;
    request.srq = srq_;
    request.sizes = {slots, slots, 4, 4, 64};
    const DeviceReply reply = ask(request);
    EXPECT_EQ(reply.error, 0);
    return reply.handle;
  }
  // RESET to RTS in three calls.
  void connect(uint32_t qp, uint32_t peer_ipv4, uint32_t peer_qp, QueuePairAttributes own) {
    own.port = 1;
    own.qkey = kQkey;
    own.has_address = 1;
    own.gid[10] = own.gid[11] = 0xff;
    store32(own.gid + 12, peer_ipv4);
    own.destination_qp = peer_qp;
    own.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    const auto change = [&](uint32_t state, uint32_t mask) {
      DeviceRequest request{.call = Call::kModifyQp};
      request.handle = qp;
      request.number = mask | IBV_QP_STATE;
      request.attributes = own;
      request.attributes.state = state;
      EXPECT_EQ(ask(request).error, 0) << state;
    };
    constexpr uint32_t kPath = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    constexpr uint32_t kRetries = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    const uint32_t type = pair(qp).type;
    const bool is_reliable = type == IBV_QPT_RC;
    const bool is_datagram = type == IBV_QPT_UD;
    change(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | (is_datagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
    change(IBV_QPS_RTR, is_datagram   ? 0
                        : is_reliable ? kPath | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER
                                      : kPath);
    change(IBV_QPS_RTS, IBV_QP_SQ_PSN | (is_reliable ? kRetries : 0));
  }

  QueuePair& pair(uint32_t qp) { return *rnic_.ground().objects.queue_pairs.find(qp); }
  void post(uint32_t qp, const Posted& work) {
    WorkRing& ring = pair(qp).sends;
    auto& head = *reinterpret_cast<QueueHead*>(ring.memory().place());
    const uint32_t index = head.produced.load();
    auto* const place = const_cast<uint8_t*>(ring.slot(index));
    SendSlot slot{.id = work.id,
                  .opcode = work.opcode,
                  .flags = work.flags,
                  .immediate = work.immediate,
                  .remote_key = work.key,
                  .remote_address = work.remote,
                  .compare_add = work.compare_add,
                  .swap = work.swap,
                  .pieces = static_cast<uint32_t>(work.pieces.size()),
                  .inline_bytes = static_cast<uint32_t>(work.inlined.size()),
                  .remote_qp = work.remote_qp,
                  .remote_qkey = work.remote_qkey};
    std::ranges::copy(work.remote_gid, slot.remote_gid);
    std::memcpy(place, &slot, sizeof slot);
    std::ranges::copy(work.inlined, place + sizeof slot);
    std::ranges::copy(std::as_bytes(std::span(work.pieces)), reinterpret_cast<std::byte*>(place + sizeof slot));
    head.produced.store(index + 1);
    ring_for(qp);
  }
  void post_receive(uint32_t qp, uint64_t id, const std::vector<MemoryPiece>& pieces) {
    post_receive(pair(qp).receives, id, pieces);
    ring_for(qp);
  }
  void post_receive(WorkRing& ring, uint64_t id, const std::vector<MemoryPiece>& pieces) {
    auto& head = *reinterpret_cast<QueueHead*>(ring.memory().place());
    const uint32_t index = head.produced.load();
    auto* const place = const_cast<uint8_t*>(ring.slot(index));
    const ReceiveSlot slot{.id = id, .pieces = static_cast<uint32_t>(pieces.size())};
    std::memcpy(place, &slot, sizeof slot);
    std::ranges::copy(std::as_bytes(std::span(pieces)), reinterpret_cast<std::byte*>(place + sizeof slot));
    head.produced.store(index + 1);
  }
  void ring_for(uint32_t qp) {
    Doorbells& bells = *bells_;
    const uint32_t number = qp % kQueuePairLimit;
    bells.words[number / 64] |= uint64_t{1} << (number % 64);
    bells.summary |= uint64_t{1} << (number / 64);
    if (bells.asleep.load() != 0 && bells.asleep.exchange(0) != 0) wake();
  }
  // What the library does when the device sleeps.
  std::function<void()> wake = [] {};
  void clear_bells() { bells_->summary = 0; }
  bool is_device_asleep() const { return bells_->asleep != 0; }
  std::optional<CompletionSlot> poll() {
    CompletionQueue& queue = *rnic_.ground().objects.completion_queues.find(cq_);
    auto& head = *reinterpret_cast<QueueHead*>(queue.memory().place());
    if (head.produced.load() == head.consumed.load()) return std::nullopt;
    CompletionSlot out;
    const uint32_t index = head.consumed.load();
    std::memcpy(&out, queue.memory().place() + sizeof head + size_t{index % queue.slots()} * sizeof out, sizeof out);
    head.consumed.store(index + 1);
    return out;
  }
  std::vector<CompletionSlot> all_completions() {
    std::vector<CompletionSlot> all;
    while (const auto next = poll()) all.push_back(*next);
    return all;
  }
  Rnic& rnic() { return rnic_; }
  uint32_t client() const { return client_; }

 private:
  Rnic& rnic_;
  DeviceCallsHandler& handler_;
  uint32_t client_ = 0;
  // Shared with the device, as in a real program: the device's tables are its thread's alone.
  Doorbells* bells_ = nullptr;
  uint32_t pd_ = 0;
  uint32_t cq_ = 0;
  uint32_t srq_ = 0;
  OwnedFd channel_;
};

class TwoRnics {
 public:
  static constexpr uint32_t kFirst = 0x0a000001;
  static constexpr uint32_t kSecond = 0x0a000002;
  // How many copies of it arrive.
  using Fate = std::function<uint32_t(const Packet&)>;

  ~TwoRnics() {
    for (Wire* wire : {&to_second_, &to_first_}) {
      while (!wire->packets.empty()) PacketPool::release(wire->pop());
    }
    for (Program* program : {&first, &second}) program->rnic().flush();
    EXPECT_EQ(pool_.in_use(), 0u);
  }

  // A connection; its queue pairs at both.
  std::pair<uint32_t, uint32_t> connect(const QueuePairAttributes& own = usual(), uint32_t type = IBV_QPT_RC,
                                        uint32_t slots = 64) {
    const uint32_t a = first.make_pair(type, slots);
    const uint32_t b = second.make_pair(type, slots);
    first.connect(a, kSecond, b, own);
    second.connect(b, kFirst, a, own);
    return {a, b};
  }
  static QueuePairAttributes usual() {
    return {.path_mtu = IBV_MTU_1024,
            .most_reads = 4,
            .most_reads_of_peer = 4,
            .rnr_timer = 1,
            .timeout = 4,
            .retries = 7,
            .rnr_retries = 7};
  }
  // Until nothing moves any more, and no timer runs that ends within `patience`.
  void run(Duration patience = Duration::ms(20)) {
    const Instant end = now_ + patience;
    for (;;) {
      for (Program* program : {&first, &second}) {
        program->rnic().take_doorbells();
        program->rnic().pump(now_);
      }
      now_ = now_ + Duration::ns(500);
      const bool moved = deliver(first, to_second_, second) | deliver(second, to_first_, first);
      if (moved || first.rnic().has_queued() || second.rnic().has_queued()) continue;
      const Instant next = std::min(first.rnic().next(), second.rnic().next());
      if (next > end) break;
      now_ = std::max(now_, next);
      for (Program* program : {&first, &second}) program->rnic().expire(now_);
    }
    for (Program* program : {&first, &second}) program->rnic().flush();
  }
  // How many packets the first's NIC keeps before it says that it is too much, and how many it had at most.
  void set_room(int64_t room) { to_second_.room = room; }
  int64_t most_kept() const { return to_second_.most; }
  void set_fate(Fate fate) { fate_ = std::move(fate); }
  Instant now() const { return now_; }
  // A frame that the other side has not sent, of zeros; its last byte is changed by `spoil`.
  DropReason inject(Program& to, const RoceAddress& address, const RdmaFields& fields, uint32_t bytes,
                    uint8_t spoil = 0) {
    const FrameLayout layout = layout_of(IpVersion::k4, fields.opcode, bytes);
    Packet packet = pool_.make(layout.bytes);
    write_headers(packet.data(), {.mac = {2, 0, 0, 0, 0, 9}, .ipv4 = kFirst}, address, fields, bytes);
    std::fill_n(packet.data() + layout.payload, bytes, uint8_t{0});
    seal(packet.data(), IpVersion::k4, layout, bytes);
    packet.data()[layout.bytes - 1] ^= spoil;
    return to.rnic().receive(std::move(packet), now_);
  }

 private:
  struct Wire final : RnicPort {
    PacketList packets;
    int64_t count = 0;
    void send(Packet packet, uint32_t sender, Instant) noexcept override {
      packet.meta().next_hop = sender;
      packets.push(std::move(packet)), ++count;
      most = std::max(most, count);
    }
    bool keeps_too_much() const noexcept override { return count > room; }
    EdgeCounters passed() const noexcept override { return counters; }
    EdgeCounters counters;
    int64_t room = INT64_MAX;
    int64_t most = 0;
    Packet pop() { return --count, packets.pop(); }
    // A microsecond a packet.
    Duration backlog(Instant) const noexcept override { return Duration::us(count); }
  };
  bool deliver(Program& from, Wire& wire, Program& to) {
    bool any = false;
    while (!wire.packets.empty()) {
      any = true;
      Packet packet = wire.pop();
      from.rnic().left(packet.meta().next_hop, now_);
      const uint32_t copies = fate_ ? fate_(packet) : 1;
      for (uint32_t i = 1; i < copies; ++i)
        EXPECT_EQ(to.rnic().receive(pool_.copy(packet), now_), DropReason::kConsumed);
      if (copies == 0) {
        PacketPool::release(std::move(packet));
      } else {
        EXPECT_EQ(to.rnic().receive(std::move(packet), now_), DropReason::kConsumed);
      }
    }
    return any;
  }

  PacketPool pool_{"rnics", 8191, 9280};
  Wire to_second_;
  Wire to_first_;
  Instant now_;
  Fate fate_;

 public:
  RnicAndCalls first_device{kFirst, pool_, to_second_};
  RnicAndCalls second_device{kSecond, pool_, to_first_};
  Program first{first_device};
  Program second{second_device};
};

}  // namespace softspine::testbeds
