// SPDX-License-Identifier: Apache-2.0
// The PFC watchdog: when it finds a storm, what each action does, when all is as before.
#include "dataplane/flow_control/pause_timing.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

constexpr Duration kPoll = Duration::us(100);
constexpr Duration kDetection = Duration::us(300);
constexpr Duration kRestoration = Duration::us(500);
constexpr uint8_t kPriority = 3;

class Watchdog : public ::testing::Test {
 protected:
  void start(WatchdogAction action, uint8_t priorities = 0xff) {
    bench_ = std::make_unique<Bench<pipelines::Core>>(state_of(action, priorities));
    begin_ = bench_->engine().now();
  }
  static ForwardingState state_of(WatchdogAction action, uint8_t priorities = 0xff) {
    std::array<uint32_t, 8> limits{};
    limits.fill(BufferPlan::kUnlimitedCells);
    QosPlan plan = QosPlan::plain(kBenchPorts, limits);
    plan.watchdog_poll = kPoll;
    for (PortQosPlan& port : plan.ports) {
      port.pfc_enabled = 1 << kPriority;
      port.watchdog = {action, kDetection, kRestoration, priorities};
    }
    ForwardingState state = bench_state();
    state.plan = std::make_shared<QosPlan>(std::move(plan));
    return state;
  }
  // The station at port 4 pauses from `from` to `to` without end: a frame every 20 µs.
  void storm(Duration from, Duration to) {
    Bytes frame(mac_control::kFrameBytes);
    write_pfc(frame.data(), {2, 0, 0, 0, 0, 4}, PfcFrame::of(1 << kPriority, 0xffff));
    for (Duration at = from; at < to; at += Duration::us(20)) bench_->send_at(begin_ + at, 4, frame);
    write_pfc(frame.data(), {2, 0, 0, 0, 0, 4}, PfcFrame::of(1 << kPriority, 0));
    bench_->send_at(begin_ + to, 4, frame);
  }
  // From the station at `port`, DSCP 3.
  void send(Duration at, uint16_t port, const std::string& to = "10.1.0.1") {
    const Bytes packet = ipv4_packet({.from = ip4("10.0.30.2"), .to = ip4(to), .tos = 3 << 2}, counting(966));
    bench_->send_at(begin_ + at, port, ethernet_frame(kRouter, station(6), 0x0800, packet));
  }
  void pause_port5(Duration at, uint16_t quanta) {
    Bytes frame(mac_control::kFrameBytes);
    write_pfc(frame.data(), {2, 0, 0, 0, 0, 5}, PfcFrame::of(1 << kPriority, quanta));
    bench_->send_at(begin_ + at, 5, frame);
  }
  void run_to(Duration at) { bench_->engine().run(begin_ + at); }
  const PfcWatchdog& watchdog(uint16_t port = 4) {
    return bench_->node().egress().watchdogs().at(PortNo{port}, Priority{kPriority});
  }
  WatchdogTraffic in_storms() {
    return watchdog().in_storms(bench_->node().egress().watchdogs().traffic(PortNo{4}, Priority{kPriority}));
  }
  WatchdogTraffic in_last_storm() {
    return watchdog().in_last_storm(bench_->node().egress().watchdogs().traffic(PortNo{4}, Priority{kPriority}));
  }
  uint64_t drops(uint16_t port, DropReason reason = DropReason::kPfcWatchdog) {
    return bench_->counters(port).drops[static_cast<size_t>(reason)];
  }

  std::unique_ptr<Bench<pipelines::Core>> bench_;
  Instant begin_;
};

TEST_F(Watchdog, FindsAStormWithinAPollOfTheDetectionTimeAndEndsItWithinOneOfTheRestorationTime) {
  start(WatchdogAction::kDrop);
  storm(Duration::us(10), Duration::us(2000));
  send(Duration::us(50), 6);
  Duration found;
  Duration restored;
  for (Duration at = Duration::us(1); at < Duration::us(4000); at += Duration::us(1)) {
    run_to(at);
    if (watchdog().stormed() && found == Duration{}) found = at;
    if (watchdog().restored() == 1 && restored == Duration{}) restored = at;
  }
  EXPECT_GE(found, Duration::us(10) + kDetection - kPoll);
  EXPECT_LE(found, Duration::us(10) + kDetection + kPoll + Duration::us(1));
  EXPECT_GE(restored, Duration::us(2000) + kRestoration - kPoll);
  EXPECT_LE(restored, Duration::us(2000) + kRestoration + kPoll + Duration::us(1));
  EXPECT_EQ(watchdog().storms(), 1u);
}

TEST_F(Watchdog, RecordsTheBeginAndTheEndOfEachStorm) {
  std::atomic<bool> wants_rest;
  EventBuffer events{1'000, wants_rest};
  EventRecorder recorder{events, 7, kBenchPorts};
  start(WatchdogAction::kDrop);
  bench_->node().egress().record_events(&recorder);
  storm(Duration::us(10), Duration::us(2000));
  storm(Duration::us(4010), Duration::us(6000));
  send(Duration::us(50), 6);
  send(Duration::us(4050), 6);
  run_to(Duration::us(8000));
  std::vector<EventKind> found;
  events.take([&](const Event& event) {
    if (event.kind != EventKind::kStormDetected && event.kind != EventKind::kStormRestored) return;
    found.push_back(event.kind);
    EXPECT_EQ(event.port, 4);
    EXPECT_EQ(event.priorities, 1 << kPriority);
  });
  EXPECT_EQ(found, (std::vector{EventKind::kStormDetected, EventKind::kStormRestored, EventKind::kStormDetected,
                                EventKind::kStormRestored}));
}

TEST_F(Watchdog, DropEmptiesTheQueueAndRefusesWhatIsForItAndWhatComesFromThere) {
  start(WatchdogAction::kDrop);
  storm(Duration::us(10), Duration::us(3000));
  for (int i = 0; i < 5; ++i) send(Duration::us(50), 6);
  run_to(Duration::us(299));
  EXPECT_EQ(bench_->counters(4).queues[3].current_packets, 5u);
  run_to(Duration::us(450));
  EXPECT_EQ(bench_->counters(4).queues[3].current_packets, 0u);
  EXPECT_EQ(drops(6), 5u);
  send(Duration::us(500), 6);
  send(Duration::us(500), 4, "10.4.0.1");  // from the port that storms, of the same priority
  run_to(Duration::us(600));
  EXPECT_EQ(drops(6), 6u);
  EXPECT_EQ(bench_->counters(4).queues[3].dropped_packets, 6u) << "the same six, at the queue that they were for";
  EXPECT_EQ(drops(4, DropReason::kPfcWatchdogIngress), 1u);
  EXPECT_EQ(in_last_storm(), (WatchdogTraffic{.tx_drops = 6, .rx_drops = 1}));
  run_to(Duration::us(3700));
  EXPECT_FALSE(watchdog().stormed());
  send(Duration::us(3800), 6);
  send(Duration::us(3800), 4, "10.4.0.1");
  run_to(Duration::us(3900));
  EXPECT_EQ(bench_->counters(4).queues[3].packets, 1u) << "as before";
  EXPECT_EQ(bench_->counters(5).queues[3].packets, 1u);
  EXPECT_EQ(in_storms(), (WatchdogTraffic{.tx_drops = 6, .rx_drops = 1})) << "what came after is of no storm";
}

// A chip that keeps what waits: only what comes ends, and the queue goes on where it was.
TEST_F(Watchdog, WhereTheChipKeepsWhatWaitsOnlyWhatComesIsDropped) {
  ForwardingState state = state_of(WatchdogAction::kDrop);
  QosPlan plan = *state.plan;
  for (PortQosPlan& port : plan.ports) port.watchdog.keeps_waiting = true;
  state.plan = std::make_shared<QosPlan>(std::move(plan));
  bench_ = std::make_unique<Bench<pipelines::Core>>(std::move(state));
  begin_ = bench_->engine().now();
  storm(Duration::us(10), Duration::us(3000));
  for (int i = 0; i < 5; ++i) send(Duration::us(50), 6);
  run_to(Duration::us(450));
  ASSERT_TRUE(watchdog().stormed());
  send(Duration::us(500), 6);
  run_to(Duration::us(600));
  EXPECT_EQ(bench_->counters(4).queues[3].current_packets, 5u);
  EXPECT_EQ(drops(6), 1u);
  run_to(Duration::us(3700));
  EXPECT_EQ(bench_->counters(4).queues[3].packets, 5u) << "once the storm is over";
  EXPECT_EQ(drops(6), 1u);
}

// The frame leaves 340 ns before the poll that ends the storm, and nothing comes behind it.
TEST_F(Watchdog, CountsAFrameThatHasLeftShortlyBeforeItLooks) {
  start(WatchdogAction::kForward);
  storm(Duration::us(10), Duration::us(1000));
  run_to(Duration::us(700));
  ASSERT_TRUE(watchdog().stormed());
  send(Duration::us(1599), 6);
  run_to(Duration::us(1599));
  ASSERT_TRUE(watchdog().stormed());
  run_to(Duration::us(1700));
  ASSERT_FALSE(watchdog().stormed());
  EXPECT_EQ(in_last_storm(), (WatchdogTraffic{.tx_packets = 1}));
}

TEST_F(Watchdog, CountsWhatPassesInTheLastStormAndInAll) {
  start(WatchdogAction::kForward);
  send(Duration::us(2), 6);  // before any storm
  for (int n = 0; n < 2; ++n) {
    const Duration begin = Duration::us(10 + 2000 * n);
    storm(begin, begin + Duration::us(1000));
    for (int i = 0; i < 3 + n; ++i) send(begin + Duration::us(600), 6);
    for (int i = 0; i < 2 - n; ++i) send(begin + Duration::us(600), 4, "10.4.0.1");
    run_to(begin + Duration::us(700));
    ASSERT_TRUE(watchdog().stormed());
    EXPECT_EQ(in_last_storm().tx_packets, 3u + static_cast<unsigned>(n));
    run_to(begin + Duration::us(1900));
    ASSERT_FALSE(watchdog().stormed());
  }
  EXPECT_EQ(in_last_storm(), (WatchdogTraffic{.tx_packets = 4, .rx_packets = 1}));
  EXPECT_EQ(in_storms(), (WatchdogTraffic{.tx_packets = 7, .rx_packets = 3}));
}

// A pause whose last frame was long ago is still in effect when the watchdog gives it its way again: 65,535 quanta are
// 335 us. The priority stands still until its pauses are ignored, and again from the end of the frame that then leaves.
TEST_F(Watchdog, StandsStillBeforeAndAfterItForwardsAndNotWhileItsFrameLeaves) {
  ForwardingState state = state_of(WatchdogAction::kForward);
  QosPlan plan = *state.plan;
  for (PortQosPlan& port : plan.ports) port.watchdog.restoration = Duration::us(200);
  state.plan = std::make_shared<QosPlan>(std::move(plan));
  bench_ = std::make_unique<Bench<pipelines::Core>>(std::move(state));
  begin_ = bench_->engine().now();
  std::atomic<bool> wants_rest;
  EventBuffer events{1'000, wants_rest};
  EventRecorder recorder{events, 7, kBenchPorts};
  bench_->node().egress().record_events(&recorder);
  Bytes xoff(mac_control::kFrameBytes);
  write_pfc(xoff.data(), {2, 0, 0, 0, 0, 4}, PfcFrame::of(1 << kPriority, 0xffff));
  for (Duration at = Duration::us(10); at < Duration::us(600); at += Duration::us(20))
    bench_->send_at(begin_ + at, 4, xoff);
  send(Duration::us(50), 6);  // waits: there is something to find
  for (const int64_t poll : {700, 800, 900}) {
    for (int64_t i = 0; i < 100; ++i) send(Duration::us(poll - 4) + kBenchRate.time_of_frame(1000) * i, 6);
  }
  run_to(Duration::us(1000));
  Instant found;
  Instant restored;
  events.take([&](const Event& event) {
    if (event.kind == EventKind::kStormDetected) found = event.at;
    if (event.kind == EventKind::kStormRestored) restored = event.at;
  });
  const Duration heard_after = kBenchRate.time_of_frame(60) + kBenchPropagation;
  const Instant stop = begin_ + Duration::us(10) + heard_after + PauseTiming::of(kBenchRate).response;
  const Instant until = begin_ + Duration::us(590) + heard_after + pause_quantum(kBenchRate) * 0xffff;
  Instant left;
  for (const auto& frame : bench_->arrivals(4)) {
    if (frame.at - kBenchPropagation < until) left = std::max(left, frame.at - kBenchPropagation);
  }
  ASSERT_LT(restored, left) << "a frame was leaving";
  ASSERT_LT(left, until);
  const PauseState& pauses = bench_->node().egress().flow_control(PortNo{4}).pauses();
  EXPECT_EQ(pauses.stopped_time(Priority{kPriority}, begin_ + Duration::us(1000)), (found - stop) + (until - left));
}

// Who changes which groups or queues a priority has would leave those shut that it had: the storm ends first.
TEST_F(Watchdog, AStormEndsWithThePlanThatGivesThePriorityOtherGroupsOrQueues) {
  for (const bool groups : {true, false}) {
    start(WatchdogAction::kDrop);
    storm(Duration::us(10), Duration::us(500));
    run_to(Duration::us(450));
    ASSERT_TRUE(watchdog().stormed());
    ForwardingState next = state_of(WatchdogAction::kDrop);
    QosPlan plan = *next.plan;
    auto& masks = groups ? plan.ports[4].priorities_of_pg : plan.ports[4].queues_of_priority;
    std::swap(masks[kPriority], masks[5]);
    next.plan = std::make_shared<QosPlan>(std::move(plan));
    bench_->publish(std::move(next), bench_->engine().now());
    EXPECT_FALSE(watchdog().stormed()) << (groups ? "groups" : "queues");
    EXPECT_FALSE(bench_->node().egress().mmu().pg(4, kPriority).shut);
    EXPECT_FALSE(bench_->node().egress().mmu().queue(4, kPriority).shut);
  }
}

// A plan that watches no more, or does something else about a storm: nothing stays shut.
TEST_F(Watchdog, AStormEndsWithThePlanThatLookedForIt) {
  for (const WatchdogAction next : {WatchdogAction::kNone, WatchdogAction::kAlert}) {
    start(WatchdogAction::kDrop);
    storm(Duration::us(10), Duration::us(500));
    run_to(Duration::us(450));
    ASSERT_TRUE(watchdog().stormed());
    bench_->node().publish(std::make_shared<const ForwardingState>(state_of(WatchdogAction::kDrop)),
                           bench_->engine().now());
    ASSERT_TRUE(watchdog().stormed()) << "watched as before";
    bench_->node().publish(std::make_shared<const ForwardingState>(state_of(next)), bench_->engine().now());
    EXPECT_FALSE(watchdog().stormed());
    EXPECT_EQ(watchdog().restored(), 1u);
    EXPECT_EQ(bench_->node().egress().watchdogs().at(PortNo{4}, Priority{5}).restored(), 0u) << "no storm of its own";
    send(Duration::us(600), 6);
    send(Duration::us(600), 4, "10.4.0.1");
    run_to(Duration::us(700));
    EXPECT_EQ(bench_->counters(4).queues[3].packets, 1u);
    EXPECT_EQ(bench_->counters(5).queues[3].packets, 1u);
  }
}

// A plan that changes something else, again and again within a poll: the watchdogs keep their rhythm.
TEST_F(Watchdog, PlansThatWatchAlikeDoNotPutOffItsNextLook) {
  start(WatchdogAction::kDrop);
  storm(Duration::us(10), Duration::us(2000));
  send(Duration::us(50), 6);
  for (uint32_t i = 1; i < 25; ++i) {
    run_to(Duration::us(40) * i);
    ForwardingState next = state_of(WatchdogAction::kDrop);
    QosPlan plan = *next.plan;
    plan.wred[0].drop.min_bytes = 1'000'000 + i;
    next.plan = std::make_shared<QosPlan>(std::move(plan));
    bench_->publish(std::move(next), bench_->engine().now());
  }
  EXPECT_TRUE(watchdog().stormed());
}

TEST_F(Watchdog, ForwardDisobeysThePauseUntilItEnds) {
  start(WatchdogAction::kForward);
  storm(Duration::us(10), Duration::us(3000));
  for (int i = 0; i < 5; ++i) send(Duration::us(50), 6);
  run_to(Duration::us(450));
  EXPECT_EQ(bench_->counters(4).queues[3].packets, 5u);
  EXPECT_EQ(drops(6), 0u);
  run_to(Duration::us(3700));
  EXPECT_FALSE(watchdog().stormed());
  EXPECT_EQ(bench_->node().egress().flow_control(PortNo{4}).pfc_tx_frames(Priority{kPriority}), 0u)
      << "whose group is not in its headroom asks nobody to stop";
  EXPECT_EQ(bench_->node().egress().flow_control(PortNo{4}).raised_xoff(), 0);
  storm(Duration::us(3800), Duration::us(4000));
  send(Duration::us(3850), 6);
  run_to(Duration::us(3990));
  EXPECT_EQ(bench_->counters(4).queues[3].current_packets, 1u) << "obeyed again";
}

// Port 4's neighbour pauses it and sends to port 5, which may not send either: so port 4 has told it to stop. That is
// over with the storm's beginning, and comes again only with its end, if the headroom is in use then.
TEST_F(Watchdog, ForwardStopsItsNeighbourNoMore) {
  ForwardingState state = state_of(WatchdogAction::kForward);
  QosPlan plan = *state.plan;
  plan.buffer.cell = CellSize{208};
  for (PortBufferPlan& port : plan.buffer.ports) {
    port.groups[kPriority] = {.lossless = true,
                              .limit = SharedLimit::fixed(10),
                              .headroom_cells = 2'000,
                              .xon_cells = 5,
                              .xon_offset_cells = 10};
  }
  plan.ports[5].watchdog.action = WatchdogAction::kNone;
  state.plan = std::make_shared<QosPlan>(std::move(plan));
  bench_ = std::make_unique<Bench<pipelines::Core>>(std::move(state));
  begin_ = bench_->engine().now();
  for (int i = 0; i < 12; ++i) pause_port5(Duration::us(200 * i), 0xffff);
  storm(Duration::us(10), Duration::us(1'000));
  for (int i = 0; i < 4; ++i) send(Duration::us(12), 4, "10.4.0.1");
  run_to(Duration::us(50));
  EXPECT_EQ(bench_->node().egress().flow_control(PortNo{4}).raised_xoff(), 1 << kPriority);
  run_to(Duration::us(350));
  ASSERT_TRUE(watchdog().stormed());
  EXPECT_EQ(bench_->node().egress().flow_control(PortNo{4}).raised_xoff(), 0) << "XON, as the storm began";
  const uint64_t told = bench_->node().egress().flow_control(PortNo{4}).pfc_tx_frames(Priority{kPriority});
  pause_port5(Duration::us(410), 0);  // what waits goes, so that the group may enter its headroom once more
  pause_port5(Duration::us(430), 0xffff);
  for (int i = 0; i < 4; ++i) send(Duration::us(450), 4, "10.4.0.1");
  run_to(Duration::us(900));
  ASSERT_TRUE(watchdog().stormed());
  ASSERT_TRUE(bench_->node().egress().mmu().pg(4, kPriority).xoff);
  EXPECT_EQ(bench_->node().egress().flow_control(PortNo{4}).pfc_tx_frames(Priority{kPriority}), told)
      << "and no XOFF while it lasts";
  EXPECT_EQ(bench_->node().egress().flow_control(PortNo{4}).raised_xoff(), 0);
  run_to(Duration::us(1'800));
  ASSERT_FALSE(watchdog().stormed());
  EXPECT_EQ(bench_->node().egress().flow_control(PortNo{4}).raised_xoff(), 1 << kPriority)
      << "the headroom is still in use: it asks again";
  EXPECT_EQ(bench_->node().egress().flow_control(PortNo{4}).pfc_tx_frames(Priority{kPriority}) - told, 2u)
      << "XOFF, and its refresh";
  pause_port5(Duration::us(2'500), 0);
}

TEST_F(Watchdog, AlertOnlyCounts) {
  start(WatchdogAction::kAlert);
  storm(Duration::us(10), Duration::us(1000));
  send(Duration::us(50), 6);
  run_to(Duration::us(900));
  EXPECT_TRUE(watchdog().stormed());
  EXPECT_EQ(bench_->counters(4).queues[3].current_packets, 1u);
  run_to(Duration::us(1100));
  EXPECT_EQ(bench_->counters(4).queues[3].packets, 1u);
}

TEST_F(Watchdog, AStormWithNothingWaitingIsOneToo) {
  start(WatchdogAction::kAlert);
  storm(Duration::us(10), Duration::us(1000));
  run_to(Duration::us(550));
  EXPECT_EQ(watchdog().storms(), 1u);
}

TEST_F(Watchdog, LooksOnlyAfterThePrioritiesThatItIsFor) {
  start(WatchdogAction::kDrop, 1 << (kPriority + 1));
  storm(Duration::us(10), Duration::us(1000));
  send(Duration::us(50), 6);
  run_to(Duration::us(900));
  EXPECT_EQ(watchdog().storms(), 0u);
  EXPECT_EQ(bench_->counters(4).queues[3].current_packets, 1u) << "paused, as nobody overrules it";
}

TEST_F(Watchdog, IsQuietWhileTheQueueMovesBetweenPauses) {
  start(WatchdogAction::kDrop);
  for (int i = 0; i < 30; ++i) {
    storm(Duration::us(100 * i + 5), Duration::us(100 * i + 75));
    send(Duration::us(100 * i + 6), 6);
  }
  run_to(Duration::us(3500));
  EXPECT_EQ(watchdog().storms(), 0u);
  EXPECT_EQ(bench_->counters(4).queues[3].packets, 30u);
}

}  // namespace
}  // namespace softspine::tests
