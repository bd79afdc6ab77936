// SPDX-License-Identifier: Apache-2.0
// Arrivals against a std::deque, over random operations: few packets, which lie in one cache line, and many.
#include "dataplane/link/arrivals.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "dataplane/units/rng.hpp"
#include "tests/harness/bare_packet.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

constexpr uint32_t kPackets = 200;

class ArrivalsAndModel {
 public:
  explicit ArrivalsAndModel(Rng rng) : rng_(rng) {
    for (uint32_t i = 0; i < kPackets; ++i) free_.push_back(std::make_unique<tests::BarePacket>("packet"));
  }

  // One more, or one less; never more than `most`.
  void step(uint32_t most) {
    if (model_.size() < most && (model_.empty() || rng_.below(2) == 0)) {
      push();
    } else {
      pop();
    }
  }
  void expect_alike() const {
    ASSERT_EQ(arrivals_.size(), model_.size());
    ASSERT_EQ(arrivals_.empty(), model_.empty());
    if (model_.empty()) return;
    ASSERT_EQ(arrivals_.front_at(), model_.front().at);
    ASSERT_EQ(arrivals_.back_at(), model_.back().at);
    auto each = model_.begin();
    arrivals_.for_each([&](const PacketGlance& packet) { ASSERT_EQ(packet.flow, (each++)->flow); });
    ASSERT_EQ(each, model_.end());
  }
  void drain() {
    while (!model_.empty()) pop();
  }

 private:
  struct Entry {
    std::unique_ptr<tests::BarePacket> packet;
    uint32_t flow;
    Instant at;
  };
  void push() {
    now_ = now_ + Duration::ps(static_cast<int64_t>(rng_.below(3)));
    Entry entry{std::move(free_.back()), next_flow_++, now_};
    free_.pop_back();
    Packet packet{(**entry.packet).mbuf()};
    packet.set_flow(entry.flow);
    arrivals_.push(std::move(packet), entry.at);
    model_.push_back(std::move(entry));
  }
  void pop() {
    Entry entry = std::move(model_.front());
    model_.pop_front();
    const auto port = static_cast<uint16_t>(rng_.below(64));
    Packet packet = arrivals_.pop(port);
    EXPECT_EQ(packet.flow(), entry.flow);
    EXPECT_EQ(packet.meta().at, entry.at);
    EXPECT_EQ(packet.meta().in_port, port);
    (void)packet.take();
    free_.push_back(std::move(entry.packet));
  }

  Rng rng_;
  Arrivals arrivals_;
  std::deque<Entry> model_;
  std::vector<std::unique_ptr<tests::BarePacket>> free_;
  Instant now_;
  uint32_t next_flow_ = 0;
};

TEST(Arrivals, LeaveInTheOrderInWhichTheyCame) {
  for (const uint32_t most : {1U, 3U, 4U, 5U, 30U, kPackets}) {
    ArrivalsAndModel both{Rng{tests::seed(), most}};
    for (uint32_t i = 0; i < 20'000; ++i) {
      both.step(most);
      both.expect_alike();
      if (testing::Test::HasFatalFailure()) return;
    }
    both.drain();
  }
}

}  // namespace
}  // namespace softspine::dataplane
