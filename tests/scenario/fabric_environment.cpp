// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/fabric_environment.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "dataplane/dpdk/eal.hpp"

namespace softspine::tests {

namespace {

std::unique_ptr<dataplane::PacketPool> pool;

// Runs before the result of a test is final, so a failure here is the test's own.
class PoolWatcher : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    if (pool && pool->in_use() != 0) {
      ADD_FAILURE() << pool->in_use() << " packets were not released by " << test.name();
    }
  }
};

class FabricEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    dataplane::start_eal({.memory_mib = 256});
    pool = std::make_unique<dataplane::PacketPool>("scenario", kScenarioPackets, kScenarioRoomBytes);
  }
  void TearDown() override { pool.reset(); }
};

// Registered before main runs: the program that links this file has the environment.
[[maybe_unused]] const auto* const environment = testing::AddGlobalTestEnvironment(new FabricEnvironment);
[[maybe_unused]] const bool watched = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new PoolWatcher);
  return true;
}();

}  // namespace

dataplane::PacketPool& packet_pool() {
  return *pool;
}

}  // namespace softspine::tests
