// SPDX-License-Identifier: Apache-2.0
#include "control/steps/port_looks.hpp"

#include <gtest/gtest.h>

#include "tests/unit/steps/microseconds.hpp"
#include "tests/unit/steps/star_of_three.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using tests::us;

constexpr LinkEnd kHost{0, 0};
constexpr uint8_t kThree = 1U << 3;

class Looks : public testing::Test {
 protected:
  void look(Instant at, LinkEnd port, PortLook seen) {
    std::vector<PortLook> ports(looks_.ports().size());
    ports[looks_.ports().of(port)] = seen;
    looks_.add(at, std::move(ports));
  }
  static PortLook stopped(Duration time, Duration stay = {}) {
    PortLook out{.longest_stay = stay};
    out.stopped[3] = time;
    return out;
  }

  Fabric fabric_ = tests::star_of_three();
  PortLooks looks_{fabric_};
};

TEST_F(Looks, KnowNobodyBeforeTheFirst) {
  EXPECT_TRUE(looks_.pausers_of(kHost, kThree, {}).nodes.empty());
}

// The switch's port towards the host that it paused has not made it do so.
TEST_F(Looks, LeaveOutThePortThatPaused) {
  std::vector<PortLook> ports(looks_.ports().size());
  ports[looks_.ports().of({3, 0})].longest_stay = Duration::us(90);
  ports[looks_.ports().of({3, 1})].longest_stay = Duration::us(30);
  looks_.add(us(50), std::move(ports));
  EXPECT_EQ(looks_.pausers_of(kHost, kThree, {}).congested, (LinkEnd{3, 1}));
}

TEST_F(Looks, LeaveOutWhatWasBefore) {
  look(us(10), {3, 2}, {.longest_stay = Duration::us(40)});
  look(us(60), {3, 1}, {.longest_stay = Duration::us(30)});
  EXPECT_EQ(looks_.pausers_of(kHost, kThree, us(20)).congested, (LinkEnd{3, 1}));
  EXPECT_EQ(looks_.pausers_of(kHost, kThree, us(5)).congested, (LinkEnd{3, 2}));
}

// The first that is kept is that of 7 us: the port has stood still for 63 us since, and a packet for longer than twice.
TEST_F(Looks, CountFromTheFirstThatIsKept) {
  for (int64_t i = 1; i <= 70; ++i) look(us(i), {3, 1}, stopped(Duration::us(i), Duration::us(i == 70 ? 130 : 0)));
  EXPECT_EQ(looks_.pausers_of(kHost, kThree, {}).congested, (LinkEnd{3, 1}));
  look(us(71), {3, 1}, stopped(Duration::us(80), Duration::us(130)));
  EXPECT_FALSE(looks_.pausers_of(kHost, kThree, {}).congested) << "rather paused: by h1";
  EXPECT_EQ(looks_.pausers_of(kHost, kThree, {}).nodes, (std::vector<uint32_t>{3, 1}));
  EXPECT_TRUE(looks_.pausers_of(kHost, 1U << 4, {}).congested) << "another priority was not paused";
}

}  // namespace
}  // namespace softspine::control
