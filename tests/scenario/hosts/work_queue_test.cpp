// SPDX-License-Identifier: Apache-2.0
// Messages that are posted: of different sizes, while others are under way, complete in the order of posting.
#include "testbeds/hosts/work_queue.hpp"

#include <algorithm>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {
namespace {

using Tags = std::vector<uint64_t>;

Tags completed(WorkQueue& queue, uint64_t until) {
  Tags out;
  queue.complete(until, [&](uint64_t tag) { out.push_back(tag); });
  return out;
}

TEST(WorkQueue, CutsMessagesIntoPacketsAndTellsEachOnceInOrder) {
  WorkQueue queue{1024, 3};
  for (const auto& [bytes, tag] : {std::pair{0u, 7u}, {2049u, 5u}, {1024u, 9u}}) EXPECT_TRUE(queue.post(bytes, tag));
  std::vector<bool> ends;
  while (queue.has_next()) ends.push_back(queue.advance());
  EXPECT_EQ(ends, (std::vector{true, false, false, true, true}));
  EXPECT_EQ(completed(queue, 3), Tags{7}) << "the last packet of the second is missing";
  EXPECT_EQ(completed(queue, 5), (Tags{5, 9}));
  EXPECT_EQ(completed(queue, 5), Tags{});
}

TEST(WorkQueue, HasNoPlaceForMoreThanItsDepthUntilOneIsComplete) {
  WorkQueue queue{1024, 2};
  EXPECT_TRUE(queue.post(10, 0));
  EXPECT_TRUE(queue.post(10, 1));
  EXPECT_FALSE(queue.post(10, 2));
  queue.advance();
  EXPECT_FALSE(queue.post(10, 2)) << "sent is not complete";
  EXPECT_EQ(completed(queue, 1), Tags{0});
  EXPECT_TRUE(queue.post(10, 2));
}

TEST(WorkQueue, FilledWithoutEndHasAlwaysANext) {
  WorkQueue queue{1024, 0};
  queue.fill(3000, 0);
  queue.go_to(3'000'000'000'001);
  EXPECT_TRUE(queue.has_next());
  EXPECT_EQ(queue.position(), 1u);
  EXPECT_EQ(queue.payload_before(3'000'000'000'001), 3'000'000'001'024'000u - 1'024'000u + 1024u);
}

// A list of packets, each with its message.
struct PlainQueue {
  struct Packet {
    uint64_t message;
    uint64_t bytes;
    uint32_t position;
    uint32_t payload;
    bool is_last;
  };
  std::vector<Packet> packets;
  uint64_t posted = 0;
  uint64_t una = 0;
  uint64_t next = 0;

  uint64_t complete() const { return una == packets.size() ? posted : packets[una].message; }
  void post(uint64_t bytes, uint32_t mtu) {
    uint64_t left = bytes;
    for (uint32_t i = 0; i == 0 || left > 0; ++i) {
      const auto payload = static_cast<uint32_t>(std::min<uint64_t>(left, mtu));
      left -= payload;
      packets.push_back({posted, bytes, i, payload, left == 0});
    }
    ++posted;
  }
};

TEST(WorkQueue, IsAsAListOfPacketsWhateverIsPostedSentRepeatedAndAcknowledged) {
  constexpr uint32_t kMtu = 256;
  constexpr uint32_t kDepth = 5;
  for (uint64_t round = 0; round < 20; ++round) {
    SCOPED_TRACE(tests::seed() * 1000 + round);
    Rng rng{tests::seed() * 1000 + round, 0};
    WorkQueue queue{kMtu, kDepth};
    PlainQueue plain;
    uint64_t told = 0;
    for (int step = 0; step < 2'000; ++step) {
      switch (rng.below(5)) {
        case 0: {
          const uint64_t bytes = rng.below(2'000);
          const bool has_room = plain.posted - plain.complete() < kDepth;
          ASSERT_EQ(queue.post(bytes, plain.posted), has_room);
          if (has_room) plain.post(bytes, kMtu);
          break;
        }
        case 1: {
          const uint64_t una = plain.una + rng.below(plain.next - plain.una + 1);
          uint64_t payload = 0;
          for (uint64_t i = plain.una; i < una; ++i) payload += plain.packets[i].payload;
          if (plain.posted > 0) {
            ASSERT_EQ(queue.payload_before(una) - queue.payload_before(plain.una), payload);
          }
          plain.una = una;
          queue.complete(una, [&](uint64_t tag) { ASSERT_EQ(tag, told++); });
          ASSERT_EQ(told, plain.complete());
          break;
        }
        case 2:
          plain.next = plain.una;
          queue.go_to(plain.una);
          break;
        default:
          if (plain.next == plain.packets.size()) break;
          ASSERT_EQ(queue.advance(), plain.packets[plain.next++].is_last);
      }
      ASSERT_EQ(queue.next(), plain.next);
      ASSERT_EQ(queue.has_next(), plain.next < plain.packets.size());
      if (!queue.has_next()) continue;
      const PlainQueue::Packet& packet = plain.packets[plain.next];
      ASSERT_EQ(queue.position(), packet.position);
      ASSERT_EQ(queue.is_last(), packet.is_last);
      ASSERT_EQ(queue.message_bytes(), packet.bytes);
    }
    EXPECT_GT(told, 20u);
  }
}

// Writes down what it is told; posts the rest of its list as messages are complete.
struct Diary : WorkEvents {
  RoceHost* sender = nullptr;
  std::vector<uint64_t> rest;  // bytes
  Tags completed_tags;
  Tags received_numbers;
  std::vector<Instant> completed_at;
  std::vector<Instant> received_at;

  void completed(uint32_t flow, uint64_t tag, Instant now) noexcept override {
    completed_tags.push_back(tag);
    completed_at.push_back(now);
    if (rest.empty()) return;
    EXPECT_TRUE(sender->post(flow, rest.front(), 100 - rest.size(), now));
    rest.erase(rest.begin());
  }
  void received(uint32_t, uint64_t number, Instant now) noexcept override {
    received_numbers.push_back(number);
    received_at.push_back(now);
  }
};

FlowConfig posted_flow(TransportKind transport) {
  FlowConfig flow = flow_config();
  flow.transport = transport;
  flow.mtu = 1024;
  flow.queue_depth = 3;
  flow.reliable.ack_timeout = 4;
  return flow;
}

// Two are posted at 5 us, one of them alone in its packet, and three more when others are complete.
void post_five(TwoHosts& hosts, Diary& sender, Diary& receiver) {
  sender.sender = &hosts.a();
  sender.rest = {1, 70'001, 1024};
  hosts.a().listen(sender);
  hosts.b().listen(receiver);
  hosts.engine().at(us(5), [&](Instant now) {
    EXPECT_TRUE(hosts.a().post(0, 5'000, 95, now));
    EXPECT_TRUE(hosts.a().post(0, 100, 96, now));
    hosts.engine().wake(hosts.a().id(), now);
  });
}

void expect_five(const RoceHost& receiver, const Diary& sent, const Diary& received) {
  EXPECT_EQ(sent.completed_tags, (Tags{95, 96, 97, 98, 99}));
  EXPECT_EQ(received.received_numbers, (Tags{0, 1, 2, 3, 4}));
  EXPECT_EQ(receiver.received(0).bytes, 5'000u + 100 + 1 + 70'001 + 1024);
  EXPECT_EQ(receiver.counters().message_latency_ps.count(), 5u);
  EXPECT_TRUE(std::ranges::is_sorted(sent.completed_at));
}

// The five, over a path of 500 ns.
struct FiveMessages {
  Diary sender;
  Diary receiver;
  TwoHosts hosts;

  explicit FiveMessages(TransportKind transport) {
    hosts.flow(posted_flow(transport));
    post_five(hosts, sender, receiver);
    hosts.run();
    expect_five(hosts.b(), sender, receiver);
  }
};

TEST(PostedWork, OfAReliableConnectionIsCompleteWhenItsAcknowledgementIsIn) {
  FiveMessages five{TransportKind::kReliable};
  for (size_t i = 0; i < 5; ++i)
    EXPECT_GE(five.sender.completed_at[i] - five.receiver.received_at[i], Duration::ns(500));
  EXPECT_GE(five.hosts.a().sent(0).first_sent, us(5)) << "nothing was there to send before";
}

TEST(PostedWork, OfAnOpenLoopIsCompleteWhenItsLastBitHasLeft) {
  FiveMessages five{TransportKind::kOpenLoop};
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(five.receiver.received_at[i] - five.sender.completed_at[i], Duration::ns(500));
}

// Every seventh packet towards the receiver, and every fifth back, is lost: messages of all sizes are sent again. The
// receiving host takes no frame whose lengths or ICRC are not those of its message.
TEST(PostedWork, IsWholeOverAPathThatLoses) {
  Diary sender;
  Diary receiver;
  uint64_t count[2]{};
  uint64_t lost = 0;
  TwoHosts hosts{{.meddle = [&](Meddler& self, Packet packet) {
    const uint16_t from = packet.meta().in_port;
    if (++count[from] % (from == 0 ? 7 : 5) == 0) {
      ++lost;
      return PacketPool::release(std::move(packet));
    }
    self.pass(std::move(packet));
  }}};
  hosts.flow(posted_flow(TransportKind::kReliable));
  post_five(hosts, sender, receiver);
  hosts.run();
  expect_five(hosts.b(), sender, receiver);
  EXPECT_GT(lost, 10u);
  EXPECT_GT(hosts.a().sent(0).reliable.retransmitted_packets, 10u);
  EXPECT_EQ(dropped(hosts.b(), DropReason::kBadIcrc), 0u);
  EXPECT_EQ(hosts.a().sent(0).messages, 5u);
}

TEST(PostedWork, IsRefusedWhenTheQueueIsFull) {
  TwoHosts hosts;
  hosts.flow(posted_flow(TransportKind::kReliable));
  hosts.engine().at(us(1), [&](Instant now) {
    for (uint64_t tag = 0; tag < 3; ++tag) EXPECT_TRUE(hosts.a().post(0, 10, tag, now));
    EXPECT_FALSE(hosts.a().post(0, 10, 3, now));
    hosts.engine().wake(hosts.a().id(), now);
  });
  hosts.run();
  EXPECT_EQ(hosts.b().received(0).messages, 3u);
}

}  // namespace
}  // namespace softspine::testbeds
