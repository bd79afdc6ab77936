// SPDX-License-Identifier: Apache-2.0
// The thread that shows carriers to the outside: each change of a link, and what the outside's system refuses.
#include "testbeds/run/carriers.hpp"

#include <gtest/gtest.h>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/edge/nic.hpp"
#include "dataplane/engine/wall_clock.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::EdgeError;
using dataplane::Instant;
using dataplane::PortNo;

// An outside that takes or refuses what it is shown.
class ShownNic final : public dataplane::Nic {
 public:
  ShownNic(dataplane::PacketPool& pool, bool refuses) : Nic("outside", {}, pool), refuses_(refuses) {}
  Instant run(Instant) noexcept override { return Instant::never(); }
  void drain() noexcept override { end_waiting(); }

  // The link changes, and what it is now has been shown when this returns.
  void change(bool up) {
    const uint32_t before = shown_.load();
    link_changed(PortNo{0}, up, Instant{});
    shown_.wait(before);
  }
  bool last() const { return last_; }

 private:
  std::expected<void, EdgeError> show_carrier(bool carrier) override {
    last_ = carrier;
    shown_.fetch_add(1);
    shown_.notify_one();
    if (refuses_) return std::unexpected(EdgeError{.where = "ioctl", .message = "Operation not permitted"});
    return {};
  }

  bool refuses_;
  std::atomic<bool> last_{true};
  std::atomic<uint32_t> shown_{0};
};

constexpr const char* kTwoHosts = R"(
name: two
run: {duration: 1ms}
topology:
  nodes: {h1: {kind: host}, h2: {kind: host}}
  links: [{endpoints: ["h1:eth0", "h2:eth0"], rate: 100Gbps, length: 3m}]
)";

// What is reported when links of both edges go down and up, three times. h2's system refuses.
std::vector<control::RunError> report_of_three_flaps() {
  dataplane::start_eal({.memory_mib = 256});
  const control::Testbed testbed = testbed_of(kTwoHosts);
  dataplane::PacketPool pool{"carriers_pool", 255, dataplane::kMaxFrameBytes};
  ShownNic takes{pool, false};
  ShownNic refuses{pool, true};
  dataplane::WallClock clock{{}};
  dataplane::Engine engine{clock, {}};
  LocalNodes nodes{testbed.fabric, engine};
  nodes.add({0, 0}, takes);
  nodes.add({1, 0}, refuses);
  control::ErrorChannel errors{[] { return Instant{}; }};
  {
    Carriers carriers{testbed, nodes, errors};
    carriers.start();
    for (const bool up : {false, true, false, true, false, true}) {
      for (ShownNic* nic : {&takes, &refuses}) {
        nic->change(up);
        EXPECT_EQ(nic->last(), up);
      }
    }
  }
  return errors.all();
}

TEST(Carriers, FollowTheirLinksAndReportWhatIsRefusedOnce) {
  const auto errors = report_of_three_flaps();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].who, "h2:eth0");
  EXPECT_EQ(errors[0].what, "the outside cannot be shown that the link is down: ioctl: Operation not permitted");
  EXPECT_EQ(errors[0].count, 1U);
}

}  // namespace
}  // namespace softspine::testbeds
