// SPDX-License-Identifier: Apache-2.0
// What a NIC believes of its outside's carrier: while it withholds carrier itself, what it sees says nothing.
#include <gtest/gtest.h>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/edge/nic.hpp"

namespace softspine::dataplane {
namespace {

// An outside that shows what it is given, and has what the test says.
class CarrierNic final : public Nic {
 public:
  explicit CarrierNic(PacketPool& pool) : Nic("outside", {}, pool) {}
  Instant run(Instant) noexcept override { return Instant::never(); }
  void drain() noexcept override { end_waiting(); }
  using Nic::expect_no_carrier_yet;
  using Nic::see_carrier;

  std::vector<bool> shown;

 private:
  std::expected<void, EdgeError> show_carrier(bool carrier) override {
    shown.push_back(carrier);
    return {};
  }
};

class CarrierTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { start_eal({.memory_mib = 256}); }

  PacketPool pool{"carrier_pool", 255, kMaxFrameBytes};
  CarrierNic nic{pool};
};

TEST_F(CarrierTest, IsTheOutsidesOwn) {
  EXPECT_TRUE(nic.outside_has_carrier());
  nic.see_carrier(false);
  EXPECT_FALSE(nic.outside_has_carrier());
  nic.see_carrier(true);
  EXPECT_TRUE(nic.outside_has_carrier());
}

TEST_F(CarrierTest, OfAnOutsideThatIsNotSetUpYetIsNotLost) {
  nic.expect_no_carrier_yet();
  nic.see_carrier(false);
  EXPECT_TRUE(nic.outside_has_carrier());
  nic.see_carrier(true);
  nic.see_carrier(false);
  EXPECT_FALSE(nic.outside_has_carrier());
}

// The link goes down, and the outside is shown so; it comes up again.
TEST_F(CarrierTest, IsNotLookedAtWhileItIsWithheld) {
  std::atomic<uint32_t> bell{0};
  nic.set_carrier_bell(bell);
  nic.link_changed(PortNo{0}, false, Instant{});
  EXPECT_EQ(bell.load(), 1u);
  nic.see_carrier(false);
  EXPECT_TRUE(nic.outside_has_carrier()) << "it is to be withheld";
  EXPECT_TRUE(nic.give_carrier(nic.should_give_carrier()));
  nic.link_changed(PortNo{0}, true, Instant{});
  EXPECT_EQ(bell.load(), 2u);
  nic.see_carrier(false);
  EXPECT_TRUE(nic.outside_has_carrier()) << "it is withheld still";
  EXPECT_TRUE(nic.give_carrier(nic.should_give_carrier()));
  EXPECT_EQ(nic.shown, (std::vector{false, true}));
  nic.see_carrier(false);
  EXPECT_FALSE(nic.outside_has_carrier());
}

// A link that is down because the outside has no carrier does not withhold it: else it could never come again.
TEST_F(CarrierTest, IsGivenToAnOutsideThatLostItItself) {
  nic.set_outside_lost(true);
  nic.link_changed(PortNo{0}, false, Instant{});
  EXPECT_TRUE(nic.should_give_carrier());
  nic.set_outside_lost(false);
  EXPECT_FALSE(nic.should_give_carrier());
}

}  // namespace
}  // namespace softspine::dataplane
