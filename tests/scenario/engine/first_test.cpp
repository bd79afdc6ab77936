// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "tests/scenario/fabric_environment.hpp"

namespace softspine::tests {
namespace {

TEST(FabricEnvironment, GivesPacketsAndTakesThemBack) {
  dataplane::Packet packet = packet_pool().make(60);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet.frame_bytes(), 60U);
  EXPECT_EQ(packet_pool().in_use(), 1U);
  dataplane::PacketPool::release(std::move(packet));
}

TEST(PacketPool, HasAReserveForWhatMustNotWait) {
  dataplane::PacketPool pool("small", 63, 640);
  std::vector<dataplane::Packet> held;
  while (dataplane::Packet packet = pool.make(640)) held.push_back(std::move(packet));
  EXPECT_EQ(held.size(), 63U);
  dataplane::Packet urgent = pool.make_urgent(60);
  ASSERT_TRUE(urgent);
  EXPECT_EQ(urgent.frame_bytes(), 60U);
  EXPECT_FALSE(pool.make(60)) << "for others it is as dry as it was";
  EXPECT_FALSE(pool.make_urgent(640)) << "the reserve's packets are small";
  EXPECT_EQ(pool.in_use(), 64U);
  dataplane::PacketPool::release(std::move(urgent));
  EXPECT_EQ(pool.in_use(), 63U);
  for (dataplane::Packet& packet : held) dataplane::PacketPool::release(std::move(packet));
  urgent = pool.make_urgent(640);
  EXPECT_TRUE(urgent) << "of the pool, as it has one";
  dataplane::PacketPool::release(std::move(urgent));
}

}  // namespace
}  // namespace softspine::tests
