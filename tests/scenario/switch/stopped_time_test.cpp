// SPDX-License-Identifier: Apache-2.0
// How long a paused priority of a switch's port stands still: from the end of the frame that was leaving, by the rate
// and the length of that frame alone.
#include "dataplane/flow_control/pause_timing.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

using Core = Bench<pipelines::Core>;

constexpr uint8_t kPaused = 1 << 3;
const Duration kFrame = kBenchRate.time_of_frame(1000);
const Duration kHeardAfter = kBenchRate.time_of_frame(60) + kBenchPropagation;

// Port 4 obeys pauses of priority 3.
struct StoppedPort {
  explicit StoppedPort(Duration response) : bench(state_with(response)) {}

  static ForwardingState state_with(Duration response) {
    QosPlan plan =
        QosPlan::plain(kBenchPorts, {1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20});
    plan.ports[4].pfc_enabled = kPaused;
    plan.ports[4].link.pfc_response = response;
    ForwardingState state = bench_state();
    state.plan = std::make_shared<QosPlan>(std::move(plan));
    return state;
  }
  void pause_at(Instant heard) {
    Bytes frame(mac_control::kFrameBytes);
    write_pfc(frame.data(), {2, 0, 0, 0, 0, 4}, PfcFrame::of(kPaused, 0xffff));
    bench.send_at(heard - kHeardAfter, 4, frame);
  }
  // A frame of 1,000 bytes: store and forward.
  Instant begins_at(Instant sent) const { return sent + kFrame + kBenchPropagation; }
  Duration stopped() { return pauses().stopped_time(Priority{3}, bench.engine().now()); }
  const PauseState& pauses() { return bench.node().egress().flow_control(PortNo{4}).pauses(); }

  Core bench;
};

// Of a third of the frame, and a pause that takes effect at once: two thirds of it are no standstill. A frame of
// another priority holds nothing up.
TEST(StoppedTime, BeginsWhenTheFrameIsOutThatThePauseFound) {
  for (const uint8_t dscp : {uint8_t{3}, uint8_t{8}}) {
    StoppedPort port{Duration{}};
    const Instant start = port.bench.engine().now();
    port.bench.send_at(start, 6, data_frame(dscp, 0));
    const Instant begun = port.begins_at(start);
    const Instant heard = begun + kFrame / 3;
    port.pause_at(heard);
    port.bench.engine().run(start + Duration::us(20));
    ASSERT_EQ(port.bench.arrivals(4).size(), 1u);
    ASSERT_EQ(port.bench.arrivals(4)[0].at, begun + kFrame + kBenchPropagation);
    const Instant now = port.bench.engine().now();
    EXPECT_EQ(port.pauses().paused_time(Priority{3}, now), now - heard);
    EXPECT_EQ(port.stopped(), now - (dscp == 3 ? begun + kFrame : heard)) << int{dscp};
  }
}

// Back to back at line rate: what is sent and what stands still fill the time to the picosecond.
TEST(StoppedTime, AndSendingTimeAreTheWholeTime) {
  StoppedPort port{kBenchRate.time_of_bytes(64 * 394)};
  const Instant start = port.bench.engine().now();
  for (uint16_t i = 0; i < 60; ++i) port.bench.send_at(start, 6, data_frame(3, i));
  port.pause_at(start + Duration::us(2));
  port.bench.engine().run(start + Duration::us(20));
  const auto sent = static_cast<int64_t>(port.bench.arrivals(4).size());
  EXPECT_GT(sent, 0);
  EXPECT_LT(sent, 60);
  EXPECT_EQ(port.stopped() + kFrame * sent, port.bench.engine().now() - port.begins_at(start));
}

// A port that hears again, and one whose watchdog ignores no longer, stand still when their frame is out.
TEST(StoppedTime, OfAPauseThatIsObeyedAgainBeginsWhenTheFrameIsOut) {
  StoppedPort port{Duration{}};
  Core& bench = port.bench;
  const Instant start = bench.engine().now();
  bench.node().egress().make_deaf(PortNo{4}, kPaused, start);
  port.pause_at(start + Duration::us(1));
  const Instant sent = start + Duration::us(5);
  bench.send_at(sent, 6, data_frame(3, 0));
  const Instant begun = port.begins_at(sent);
  bench.engine().at(begun + kFrame / 2, [&](Instant now) {
    bench.node().egress().make_deaf(PortNo{4}, 0, now);
    bench.engine().wake(bench.node().id(), now);
  });
  bench.engine().run(start + Duration::us(20));
  EXPECT_EQ(port.stopped(), bench.engine().now() - (begun + kFrame));
  EXPECT_EQ(port.pauses().paused_time(Priority{3}, bench.engine().now()), bench.engine().now() - (begun + kFrame / 2));
}

}  // namespace
}  // namespace softspine::tests
