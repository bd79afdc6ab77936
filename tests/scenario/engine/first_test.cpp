// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace softspine::tests
