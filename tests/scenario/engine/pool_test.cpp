// SPDX-License-Identifier: Apache-2.0
// Packet pools: they hold as many packets as are under way, on any number of threads, and say when memory has run out.
#include "dataplane/packet/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "tests/scenario/fabric_environment.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

constexpr uint32_t kRoom = 640;

void end_all(std::vector<Packet>& packets) {
  for (Packet& packet : packets) PacketPool::release(std::move(packet));
  packets.clear();
}

TEST(PacketPool, TakesNoMemoryBeforeItsFirstPacket) {
  PacketBudget budget{uint64_t{1} << 30};
  PacketPool pool{{.name = "lazy", .room_bytes = kRoom, .budget = &budget}};
  EXPECT_EQ(budget.taken_bytes(), 0u);
  PacketPool::release(pool.make(60));
  EXPECT_GT(budget.taken_bytes(), 0u);
  EXPECT_EQ(budget.taken_bytes(), pool.made() * PacketPool::memory_bytes(kRoom));
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(PacketPool, HasAsManyPacketsAsAreUnderWayAndReusesThem) {
  constexpr size_t kMany = 200'000;
  PacketPool pool{"many", kMany + 2'000, kRoom};
  std::vector<Packet> held;
  std::set<const void*> places;
  for (uint32_t i = 0; i < kMany; ++i) {
    Packet packet = pool.make(kRoom);
    ASSERT_TRUE(packet) << i;
    std::memset(packet.data(), static_cast<int>(i), kRoom);
    std::memcpy(packet.data(), &i, sizeof i);
    places.insert(packet.data());
    held.push_back(std::move(packet));
  }
  EXPECT_EQ(places.size(), kMany);
  for (uint32_t i = 0; i < kMany; ++i) {
    uint32_t number = 0;
    std::memcpy(&number, held[i].data(), sizeof number);
    ASSERT_EQ(number, i) << "nobody else's bytes";
    ASSERT_EQ(held[i].data()[kRoom - 1], static_cast<uint8_t>(i));
  }
  EXPECT_EQ(pool.in_use(), kMany);
  end_all(held);
  const uint64_t made = pool.made();
  for (uint32_t i = 0; i < kMany; ++i) held.push_back(pool.make(60));
  EXPECT_LE(pool.made(), made + 513) << "hardly one is new: only what fills a cache and its request";
  end_all(held);
}

TEST(PacketPool, OneForDevicesHasAllItsPacketsAtOnceAndNoMore) {
  PacketPool pool{{.name = "devices", .room_bytes = kRoom, .packet_limit = 1'023, .for_devices = true}};
  EXPECT_EQ(pool.made(), 1'023u);
  EXPECT_EQ(pool.in_use(), 0u);
  std::vector<Packet> held;
  for (uint32_t i = 0; i < 1'023; ++i) {
    held.push_back(pool.make(60));
    ASSERT_TRUE(held.back()) << i;
  }
  EXPECT_EQ(pool.in_use(), 1'023u);
  EXPECT_FALSE(pool.make(60));
  end_all(held);
}

TEST(PacketPool, SaysOnceThatTheBudgetIsSpentAndGivesItBack) {
  constexpr uint64_t kPackets = 1'000;
  int told = 0;
  PacketBudget budget{kPackets * PacketPool::memory_bytes(kRoom), [&told] { ++told; }};
  {
    PacketPool pool{{.name = "spent", .room_bytes = kRoom, .budget = &budget}};
    std::vector<Packet> held;
    while (Packet packet = pool.make(60)) held.push_back(std::move(packet));
    EXPECT_EQ(held.size(), kPackets) << "each byte of it";
    EXPECT_TRUE(budget.is_spent());
    EXPECT_EQ(told, 1);
    EXPECT_FALSE(pool.make(60));
    EXPECT_EQ(told, 1);
    end_all(held);
    Packet again = pool.make(60);
    EXPECT_TRUE(again);
    PacketPool::release(std::move(again));
  }
  EXPECT_EQ(budget.taken_bytes(), 0u);
}

TEST(PacketPool, CopiesWhatDoesNotFitIntoTheLargerPool) {
  PacketPool large{"large", 63, 2'000};
  PacketPool small{"smaller", 63, kRoom};
  Packet frame = large.make(1'500);
  std::memset(frame.data(), 7, 1'500);
  EXPECT_FALSE(small.copy(frame)) << "there is no larger one yet";
  small.set_larger(&large);
  Packet copy = small.copy(frame);
  ASSERT_TRUE(copy);
  EXPECT_EQ(std::memcmp(copy.data(), frame.data(), 1'500), 0);
  EXPECT_EQ(large.in_use(), 2u);
  Packet tiny = small.make_any(60);
  EXPECT_EQ(small.in_use(), 1u);
  for (Packet* each : {&frame, &copy, &tiny}) PacketPool::release(std::move(*each));
}

// So a run that reads what it did not write differs from the next.
TEST(PacketPool, GivesOtherBytesWithEachPacketToTests) {
  PacketPool pool{"poisoned", 1'023, kRoom};
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    Packet packet = pool.make(kRoom);
    const auto* const bytes = packet.data();
    seen.emplace(bytes, bytes + kRoom);
    seen.emplace(reinterpret_cast<const char*>(&packet.meta().born), sizeof(Instant));
    PacketPool::release(std::move(packet));
  }
  EXPECT_EQ(seen.size(), 200u);
}

// What one thread makes another ends: the pool grows on all of them, and in the end all is there.
TEST(PacketPool, GrowsOnAnyThread) {
  constexpr uint32_t kThreads = 3;
  constexpr uint32_t kRounds = 60;
  constexpr uint32_t kEach = 700;
  PacketPool pool{"threads", UINT32_MAX / 1'024, kRoom};
  std::atomic<rte_mbuf*> handed[kThreads][kEach] = {};
  {
    std::vector<std::jthread> threads;
    for (uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        register_worker_thread();
        for (uint32_t round = 0; round < kRounds; ++round) {
          for (uint32_t i = 0; i < kEach; ++i) {
            Packet packet = pool.make(60);
            ASSERT_TRUE(packet);
            rte_mbuf* other = handed[(t + 1) % kThreads][i].exchange(packet.take());
            if (other != nullptr) PacketPool::release(Packet{other});
          }
        }
        unregister_worker_thread();
      });
    }
  }
  for (auto& row : handed) {
    for (auto& mbuf : row) {
      if (mbuf != nullptr) PacketPool::release(Packet{mbuf});
    }
  }
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_LE(pool.made(), kThreads * (kEach + 2 * 1'280)) << "no more than was out, and the caches";
}

}  // namespace
}  // namespace softspine::tests
