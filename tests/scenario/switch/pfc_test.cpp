// SPDX-License-Identifier: Apache-2.0
// Pauses in both directions: when they are sent and with which bytes, and what they hold back.
#include "dataplane/buffer/headroom.hpp"
#include "dataplane/flow_control/pause_timing.hpp"
#include "tests/scenario/switch/bench.hpp"
#include "tests/scenario/switch/line_rate_sender.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

using Core = Bench<pipelines::Core>;

constexpr uint8_t kLossless = 1 << 3 | 1 << 4;
constexpr uint32_t kCell = 208;
constexpr int64_t kPsPerMetre = 5'050;  // 1.98e8 m/s

// Everything plain but groups 3 and 4: lossless, a static limit, headroom.
std::shared_ptr<QosPlan> lossless_plan(uint32_t limit_cells = 100, uint32_t headroom_cells = 2000) {
  QosPlan plan = QosPlan::plain(kBenchPorts, {});
  plan.buffer.cell = CellSize{kCell};
  for (PortBufferPlan& port : plan.buffer.ports) {
    for (QueuePlan& queue : port.queues) queue.limit = SharedLimit::fixed(BufferPlan::kUnlimitedCells);
    for (const int g : {3, 4}) {
      port.groups[g] = {.lossless = true,
                        .limit = SharedLimit::fixed(limit_cells),
                        .headroom_cells = headroom_cells,
                        .xon_cells = limit_cells / 2,
                        .xon_offset_cells = limit_cells};
    }
  }
  for (uint16_t p = 0; p < kBenchPorts; ++p) {
    plan.ports[p].pfc_enabled = kLossless;
    plan.ports[p].mac = {0x02, 0xbb, 0, 0, 0, static_cast<uint8_t>(p)};
  }
  return std::make_shared<QosPlan>(std::move(plan));
}
ForwardingState state_with(std::shared_ptr<const QosPlan> plan) {
  ForwardingState state = bench_state();
  state.plan = std::move(plan);
  return state;
}

Bytes pfc_frame(uint8_t enable, std::array<uint16_t, 8> times, const Mac& source = station(4)) {
  Bytes body = join({be16(0x0101), be16(enable)});
  for (const uint16_t time : times) body = join({body, be16(time)});
  body.resize(46, 0);
  return ethernet_frame({0x01, 0x80, 0xc2, 0, 0, 1}, source, 0x8808, body);
}
Bytes pfc_frame(uint8_t enable, uint16_t time, const Mac& source = station(4)) {
  std::array<uint16_t, 8> times{};
  for (uint32_t p = 0; p < 8; ++p) times[p] = (enable >> p & 1) != 0 ? time : uint16_t{0};
  return pfc_frame(enable, times, source);
}
size_t count_at(const Frames& frames, uint16_t port) {
  return static_cast<size_t>(std::ranges::count(frames, port, &Frame::port));
}

// Two ports at full rate into one: the first frame with which its group has reached its limit makes it say XOFF, in
// the bytes of 802.1Qbb, and when the group has drained to xon it says XON.
TEST(Pfc, IsSentWhenAGroupReachesItsLimitAndAgainWhenItHasDrained) {
  Core bench{state_with(lossless_plan())};
  constexpr uint16_t kFrames = 100;
  const Instant start = bench.engine().now();
  for (uint16_t i = 0; i < kFrames; ++i) {
    bench.send_at(start, 6, data_frame(3, i));
    bench.send_at(start, 7, data_frame(3, static_cast<uint16_t>(1000 + i)));
  }
  const Frames out = bench.run();
  EXPECT_EQ(count_at(out, 4), 2u * kFrames) << "nothing is lost";
  EXPECT_EQ(bench.drops(), Drops{});
  for (const uint16_t port : {uint16_t{6}, uint16_t{7}}) {
    std::vector<Bytes> said;
    for (const Frame& frame : out) {
      if (frame.port == port) said.push_back(frame.bytes);
    }
    const Mac own{0x02, 0xbb, 0, 0, 0, static_cast<uint8_t>(port)};
    EXPECT_EQ(said, (std::vector<Bytes>{pfc_frame(1 << 3, 0xffff, own), pfc_frame(1 << 3, 0, own)}));
    EXPECT_EQ(bench.node().egress().flow_control(PortNo{port}).pfc_tx_frames(Priority{3}), 2u);
    const PriorityGroupUse& group = bench.node().egress().mmu().pg(port, 3);
    EXPECT_EQ(group.shared_watermark, 100u);
    EXPECT_GT(bench.node().egress().mmu().extremes(port, 3).headroom_watermark, 0u);
    EXPECT_FALSE(group.xoff);
  }
}

class Remarks final : public Tap {
 public:
  void frame(Direction, const Packet& packet, Instant, const char* comment) noexcept override {
    const bool is_pause = load16(packet.data() + ethernet::kType) == ethernet::kTypeMacControl;
    said.emplace_back(comment == nullptr ? "" : std::string(comment).substr(0, is_pause ? 10 : 9));
  }
  std::vector<std::string> said;
};

TEST(Pfc, TellsCapturesWhatAFrameIsAbout) {
  auto plan = lossless_plan();
  plan->wred.push_back({.mark = {.min_bytes = 5000, .max_bytes = 5001, .max_probability = 0}, .drop = {}});
  plan->ports[4].queues[3].wred = 1;
  Core bench{state_with(plan)};
  Remarks back;
  Remarks out;
  bench.node().transmitter(PortNo{6}).set_tap(&back);
  bench.node().transmitter(PortNo{4}).set_tap(&out);
  const Instant start = bench.engine().now();
  for (uint16_t i = 0; i < 60; ++i) {
    Bytes frame = data_frame(3, i);
    bench.send_at(start, 6, frame);
    bench.send_at(start, 7, frame);
  }
  bench.send_at(start + Duration::us(1), 4, pfc_frame(1 << 3, 0xffff));
  bench.send_at(start + Duration::us(300), 4, pfc_frame(1 << 3, 0));
  bench.run();
  EXPECT_EQ(back.said, (std::vector<std::string>{"XOFF: a pr", "XOFF again", "XON: the p"}));
  EXPECT_EQ(out.said, std::vector<std::string>(120, "")) << "none of these can be marked";
  bench.node().transmitter(PortNo{6}).set_tap(nullptr);
  bench.node().transmitter(PortNo{4}).set_tap(nullptr);
}

// The instant: when the frame that reaches the limit has come, the wire back being free.
TEST(Pfc, LeavesAtOnceWhenTheWireIsFree) {
  Core bench{state_with(lossless_plan(10))};
  bench.send(4, pfc_frame(1 << 3, 0xffff));  // so that what comes stays
  bench.run_for(Duration::us(5));
  const Instant start = bench.engine().now();
  const Duration frame = kBenchRate.time_of_frame(1000);
  for (uint16_t i = 0; i < 4; ++i) bench.send_at(start, 6, data_frame(3, i));
  bench.run_for(Duration::us(5));
  ASSERT_EQ(bench.arrivals(6).size(), 1u);
  // 5 cells each: with the second there are 10.
  const Instant second = start + frame * 2 + kBenchPropagation;
  EXPECT_EQ(bench.arrivals(6)[0].at, second + kBenchRate.time_of_frame(60) + kBenchPropagation);
  bench.send(4, pfc_frame(1 << 3, 0));
}

TEST(Pfc, WaitsForTheFrameOnTheWireAndForNoQueue) {
  Core bench{state_with(lossless_plan(15))};
  bench.introduce4(6, station(6), "10.0.30.2", "10.0.30.1");
  bench.send(4, pfc_frame(1 << 3, 0xffff));
  bench.run_for(Duration::us(5));
  // Towards port 6, whose neighbour will be told: a long frame on the wire and more behind it.
  const Bytes back =
      ethernet_frame(kRouter, station(104), 0x0800,
                     ipv4_packet({.from = ip4("10.1.0.1"), .to = ip4("10.0.30.2"), .tos = 48 << 2}, counting(1400)));
  const Instant from = bench.engine().now();
  for (int i = 0; i < 5; ++i) {
    bench.send_at(from, 4, back);
    bench.send_at(from, 5, back);
  }
  for (uint16_t i = 0; i < 4; ++i) bench.send_at(from + Duration::ns(40), 6, data_frame(3, i));
  bench.run_for(Duration::us(20));
  std::vector<bool> is_pause;
  for (const auto& arrival : bench.arrivals(6)) {
    if (arrival.at > from && arrival.bytes[12] == 0x88 && arrival.bytes[13] == 0x08) is_pause.push_back(true);
    if (arrival.at > from && arrival.bytes.size() > 1400) is_pause.push_back(false);
  }
  EXPECT_EQ(is_pause, (std::vector<bool>{false, false, true, false, false, false, false, false, false, false, false}));
  bench.send(4, pfc_frame(1 << 3, 0));
}

// Half of the longest pause apart, for as long as it is needed: the sender's timer never ends by itself.
TEST(Pfc, IsRepeatedBeforeItLapses) {
  Core bench{state_with(lossless_plan(10))};
  const Instant start = bench.engine().now();
  const Duration longest = pause_quantum(kBenchRate) * 0xffff;
  for (int i = 0; i < 12; ++i) bench.send_at(start + longest / 4 * i, 4, pfc_frame(1 << 3, 0xffff));
  for (uint16_t i = 0; i < 4; ++i) bench.send_at(start + Duration::us(5), 6, data_frame(3, i));
  bench.engine().run(start + longest * 3);
  PauseState sender;
  int frames = 0;
  for (const auto& arrival : bench.arrivals(6)) {
    if (frames++ > 0) {
      EXPECT_EQ(sender.advance(arrival.at), 1 << 3) << "paused without a gap";
    }
    sender.receive(*read_pfc(arrival.bytes.data(), 60), arrival.at, pause_quantum(kBenchRate), Duration{});
  }
  EXPECT_GE(frames, 5);
  bench.send_at(bench.engine().now(), 4, pfc_frame(1 << 3, 0));
}

// After the response time no frame of the priority begins; others go on. XON ends it at once.
TEST(Pfc, HoldsThePausedPriorityAndNoOther) {
  Core bench{state_with(lossless_plan(5000))};
  const Instant start = bench.engine().now();
  const Duration response = kBenchRate.time_of_bytes(64 * 394);
  for (uint16_t i = 0; i < 60; ++i) {
    bench.send_at(start, 6, data_frame(3, i));
    bench.send_at(start, 7, data_frame(8, i));
  }
  const Instant sent = start + Duration::ns(100);
  bench.send_at(sent, 4, pfc_frame(1 << 3, 0xffff));
  bench.engine().run(start + Duration::us(50));
  const Instant stop = sent + kBenchRate.time_of_frame(60) + kBenchPropagation + response;
  const Duration frame = kBenchRate.time_of_frame(1000);
  size_t lossless = 0;
  size_t others = 0;
  for (const auto& arrival : bench.arrivals(4)) {
    if (arrival.bytes[15] >> 2 == 3) {
      ++lossless;
      EXPECT_LT(arrival.at - frame - kBenchPropagation, stop) << "begun after the response time";
    } else {
      ++others;
    }
  }
  EXPECT_EQ(others, 60u);
  EXPECT_GT(lossless, 0u);
  EXPECT_LT(lossless, 60u);
  EXPECT_EQ(bench.counters(4).queues[3].current_packets, 60 - lossless);
  const Instant on = bench.engine().now();
  bench.send_at(on, 4, pfc_frame(1 << 3, 0));
  bench.run();
  EXPECT_EQ(bench.arrivals(4)[others + lossless].at,
            on + kBenchRate.time_of_frame(60) + kBenchPropagation + frame + kBenchPropagation);
  const PauseState& pauses = bench.node().egress().flow_control(PortNo{4}).pauses();
  EXPECT_EQ(pauses.on_to_off(Priority{3}), 1u);
  EXPECT_EQ(pauses.paused_time(Priority{3}, bench.engine().now()),
            on + kBenchRate.time_of_frame(60) + kBenchPropagation - stop);
}

TEST(Pfc, LapsesAfterItsQuanta) {
  Core bench{state_with(lossless_plan(5000))};
  const Instant start = bench.engine().now();
  constexpr uint16_t kQuanta = 4000;
  bench.send_at(start, 4, pfc_frame(1 << 3, kQuanta));
  const Instant heard = start + kBenchRate.time_of_frame(60) + kBenchPropagation;
  bench.send_at(heard + Duration::us(3), 6, data_frame(3, 1));
  bench.run();
  ASSERT_EQ(bench.arrivals(4).size(), 1u);
  EXPECT_EQ(bench.arrivals(4)[0].at,
            heard + pause_quantum(kBenchRate) * kQuanta + kBenchRate.time_of_frame(1000) + kBenchPropagation);
}

TEST(Pfc, IsIgnoredWhereThePortDoesNotHaveThePriority) {
  auto plan = lossless_plan();
  plan->ports[4].pfc_enabled = 1 << 4;
  Core bench{state_with(plan)};
  bench.send(4, pfc_frame(kLossless, 0xffff));
  bench.run_for(Duration::us(5));
  bench.send(6, data_frame(3, 1));
  bench.send(6, data_frame(4, 2));
  bench.run_for(Duration::us(5));  // the pause lasts 335
  ASSERT_EQ(bench.arrivals(4).size(), 1u) << "the one of the priority that is not enabled, and not the other";
  EXPECT_EQ(bench.arrivals(4)[0].bytes[15] >> 2, 3);
  EXPECT_EQ(bench.node().egress().flow_control(PortNo{4}).blocked(), 1 << 4);
  EXPECT_EQ(bench.node().egress().flow_control(PortNo{4}).pfc_rx_frames(Priority{3}), 1u) << "counted all the same";
  bench.run();
}

TEST(Pfc, EndsWithTheLinkAndIsToldAgainWhenItIsBack) {
  Core bench{state_with(lossless_plan(10))};
  bench.send(4, pfc_frame(1 << 3, 0xffff));
  bench.run_for(Duration::us(5));
  for (uint16_t i = 0; i < 4; ++i) bench.send(6, data_frame(3, i));
  bench.run_for(Duration::us(5));
  ASSERT_EQ(bench.arrivals(6).size(), 1u);
  bench.set_link(6, false);
  bench.set_link(6, true);
  bench.engine().run(bench.engine().now() + Duration::us(10));
  ASSERT_EQ(bench.arrivals(6).size(), 2u) << "what still has to stop is told to who has just come";
  EXPECT_EQ(bench.arrivals(6)[1].bytes, bench.arrivals(6)[0].bytes);
  bench.set_link(4, false);  // and what was waiting for a paused neighbour ends with that link
  bench.run();
  EXPECT_EQ(bench.drops()["link_down"], 4u);
  EXPECT_EQ(bench.arrivals(6).back().bytes, pfc_frame(1 << 3, 0, {0x02, 0xbb, 0, 0, 0, 6}));
  bench.set_link(4, true);
  EXPECT_EQ(count_at(bench.exchange(6, data_frame(3, 9)), 4), 1u) << "no pause is left";
}

// Looked at while the pause would still hold: 0xFFFF quanta are 335 us at 100G.
TEST(Pfc, APauseEndsWithTheLinkThatItCameBy) {
  Core bench{state_with(lossless_plan(5000))};
  bench.send(4, pfc_frame(1 << 3, 0xffff));
  bench.run_for(Duration::us(5));
  ASSERT_EQ(bench.node().egress().flow_control(PortNo{4}).blocked(), 1 << 3);
  bench.set_link(4, false);
  bench.set_link(4, true);
  const Instant back = bench.engine().now();
  bench.send(6, data_frame(3, 1));
  bench.run_for(Duration::us(5));
  ASSERT_EQ(bench.arrivals(4).size(), 1u);
  const Duration frame = kBenchRate.time_of_frame(1000);
  EXPECT_EQ(bench.arrivals(4)[0].at, back + frame + kBenchPropagation + frame + kBenchPropagation);
  EXPECT_EQ(bench.node().egress().flow_control(PortNo{4}).pauses().on_to_off(Priority{3}), 1u);
  bench.run();
}

// What a group holds may be little by a new plan: then there is nothing left to wait for, and no packet has to leave
// for its sender to hear so.
TEST(Pfc, ANewPlanThatHasRoomSaysXonAtOnce) {
  Core bench{state_with(lossless_plan(10))};
  bench.send(4, pfc_frame(1 << 3, 0xffff));
  bench.run_for(Duration::us(5));
  for (uint16_t i = 0; i < 4; ++i) bench.send(6, data_frame(3, i));
  bench.run_for(Duration::us(5));
  ASSERT_EQ(bench.arrivals(6).size(), 1u);
  ASSERT_EQ(bench.node().egress().flow_control(PortNo{6}).raised_xoff(), 1 << 3);
  // 20 cells are held, 10 of them in headroom. Without headroom's charge they would be below xon.
  auto lossy = lossless_plan(5000);
  for (PortBufferPlan& port : lossy->buffer.ports) port.groups[3].lossless = false;
  const Instant now = bench.engine().now();
  bench.publish(state_with(lossy), now);
  bench.run_for(Duration::us(5));
  ASSERT_EQ(bench.arrivals(6).size(), 2u);
  EXPECT_EQ(bench.arrivals(6)[1].bytes, pfc_frame(1 << 3, 0, {0x02, 0xbb, 0, 0, 0, 6}));
  EXPECT_EQ(bench.arrivals(6)[1].at, now + kBenchRate.time_of_frame(60) + kBenchPropagation);
  EXPECT_EQ(bench.node().egress().flow_control(PortNo{6}).raised_xoff(), 0);
  EXPECT_EQ(bench.counters(4).queues[3].current_packets, 4u) << "nothing has left";
  bench.send(4, pfc_frame(1 << 3, 0));
}

// Nothing is in headroom any more, and what is shared is still above xon: by a plan whose xon is higher it is not.
TEST(Pfc, ANewPlanWithAHigherXonSaysXonAtOnce) {
  auto plan = lossless_plan(100);
  plan->ports[4].link.pfc_response = pause_quantum(kBenchRate);
  Core bench{state_with(plan)};
  bench.send(4, pfc_frame(1 << 3, 0xffff));
  bench.run_for(Duration::us(5));
  for (uint16_t i = 0; i < 22; ++i) bench.send(6, data_frame(3, i));
  bench.run_for(Duration::us(5));
  const auto group = [&]() -> const PriorityGroupUse& { return bench.node().egress().mmu().pg(6, 3); };
  ASSERT_EQ(group().headroom, 10u);
  while (group().headroom != 0) {  // a frame at a time
    bench.send(4, pfc_frame(1 << 3, 0));
    bench.send(4, pfc_frame(1 << 3, 0xffff));
    bench.run_for(Duration::us(2));
  }
  ASSERT_EQ(group().shared, 100u);
  ASSERT_EQ(bench.arrivals(6).size(), 1u) << "XOFF, and 100 cells are above its xon of 50";
  auto higher = lossless_plan(200);
  higher->ports[4].link.pfc_response = pause_quantum(kBenchRate);
  bench.publish(state_with(higher), bench.engine().now());
  bench.run_for(Duration::us(2));
  ASSERT_EQ(bench.arrivals(6).size(), 2u);
  EXPECT_EQ(bench.arrivals(6)[1].bytes, pfc_frame(1 << 3, 0, {0x02, 0xbb, 0, 0, 0, 6}));
  EXPECT_EQ(group().shared, 100u) << "nothing has left";
  bench.send(4, pfc_frame(1 << 3, 0));
}

// The group was full before its priority could be paused: its neighbour hears of it as soon as it can.
TEST(Pfc, ANewPlanThatEnablesPausesRaisesXoffForFullGroups) {
  auto without = lossless_plan(10);
  without->ports[6].pfc_enabled = 0;
  Core bench{state_with(without)};
  bench.send(4, pfc_frame(1 << 3, 0xffff));
  bench.run_for(Duration::us(5));
  for (uint16_t i = 0; i < 4; ++i) bench.send(6, data_frame(3, i));
  bench.run_for(Duration::us(5));
  bench.publish(state_with(lossless_plan(10)), bench.engine().now());
  bench.run_for(Duration::us(2));
  ASSERT_EQ(bench.arrivals(6).size(), 1u);
  EXPECT_EQ(bench.arrivals(6)[0].bytes, pfc_frame(1 << 3, 0xffff, {0x02, 0xbb, 0, 0, 0, 6}));
  bench.send(4, pfc_frame(1 << 3, 0));
}

TEST(Pfc, ANewPlanThatMovesPrioritiesToOtherGroupsStopsThoseOfFullGroups) {
  Core bench{state_with(lossless_plan(10))};
  bench.send(4, pfc_frame(1 << 3, 0xffff));
  bench.run_for(Duration::us(5));
  for (uint16_t i = 0; i < 4; ++i) bench.send(6, data_frame(3, i));
  bench.run_for(Duration::us(5));
  auto moved = lossless_plan(10);
  for (PortQosPlan& port : moved->ports) std::swap(port.priorities_of_pg[3], port.priorities_of_pg[4]);
  bench.publish(state_with(moved), bench.engine().now());
  bench.run_for(Duration::us(2));
  ASSERT_EQ(bench.arrivals(6).size(), 2u);
  EXPECT_EQ(bench.arrivals(6)[1].bytes,
            pfc_frame(kLossless, std::array<uint16_t, 8>{0, 0, 0, 0, 0xffff, 0, 0, 0}, {0x02, 0xbb, 0, 0, 0, 6}));
  bench.send(4, pfc_frame(1 << 3, 0));
  bench.run();
  EXPECT_EQ(bench.node().egress().flow_control(PortNo{6}).raised_xoff(), 0);
}

// Groups that share a headroom pool: its watermark is what they held together at most, and a new plan keeps it.
TEST(Pfc, AHeadroomPoolRemembersTheMostThatItsGroupsHeldTogether) {
  auto plan = lossless_plan(10);
  plan->buffer.ingress_pools[0].headroom_cells = 3'000;
  Core bench{state_with(plan)};
  bench.send(4, pfc_frame(1 << 3, 0xffff));
  bench.run_for(Duration::us(5));
  for (uint16_t i = 0; i < 4; ++i) {
    bench.send(6, data_frame(3, i));
    bench.send(7, data_frame(3, i));
  }
  bench.run_for(Duration::us(5));
  // 5 cells a frame, two of four in headroom at each of two ports.
  const auto pool = [&]() -> const PoolUse& { return bench.node().egress().mmu().ingress_pools()[0]; };
  EXPECT_EQ(pool().headroom, 20u);
  EXPECT_EQ(pool().headroom_watermark, 20u);
  EXPECT_EQ(pool().watermark(), 20u);
  bench.send(4, pfc_frame(1 << 3, 0));
  bench.run();
  ASSERT_EQ(pool().headroom, 0u);
  auto next = lossless_plan(10);
  next->buffer.ingress_pools[0].headroom_cells = 4'000;
  bench.publish(state_with(next), bench.engine().now());
  EXPECT_EQ(pool().headroom_watermark, 20u);
  EXPECT_EQ(pool().watermark(), 20u);
  bench.node().egress().mmu().clear_watermarks();
  EXPECT_EQ(pool().headroom_watermark, 0u);
  EXPECT_EQ(pool().watermark(), 0u);
}

// Frames at the most annoying moment and of the most annoying sizes, from a sender that obeys as late as it may.
struct Headroom {
  uint64_t gbps;
  uint32_t metres;
  uint32_t mtu;
  uint32_t frame;
  int dynamic_th;
};
void PrintTo(const Headroom& h, std::ostream* out) {
  *out << h.gbps << "G " << h.metres << " m, MTU " << h.mtu << ", frames of " << h.frame << ", 2^" << h.dynamic_th;
}
class HeadroomOf : public ::testing::TestWithParam<Headroom> {};

struct HeadroomRun {
  uint64_t lost;
  uint32_t used;  // cells
};
// Two passes: the first finds the instant at which the group says XOFF, the second has a largest frame begin just
// before it on the wire that the pause has to take.
HeadroomRun run_headroom(const Headroom& h, uint32_t headroom_cells) {
  const LosslessCase c{.rate = Rate::gbps(h.gbps),
                       .propagation = Duration::ps(int64_t{h.metres} * kPsPerMetre),
                       .largest_frame = h.mtu + 14,
                       .frame = h.frame,
                       .cell = kCell,
                       .pool_cells = 3'000,
                       .dynamic_th = h.dynamic_th,
                       .headroom_cells = headroom_cells};
  LosslessBottleneck scout{c, Instant::never()};
  scout.run();
  const Instant heard = scout.sender().first_pause();
  EXPECT_FALSE(heard.is_never());
  const Instant said = heard - c.propagation - c.rate.time_of_frame(mac_control::kFrameBytes);
  LosslessBottleneck rig{c, said - Duration::ps(1)};
  rig.run();
  EXPECT_EQ(rig.sender().first_pause(), heard + c.rate.time_of_frame(c.largest_frame) - Duration::ps(1));
  expect_conserved(rig.node());
  return {rig.lost(), rig.node().egress().mmu().extremes(0, 3).headroom_watermark};
}
uint64_t formula_for(const Headroom& h) {
  const Rate rate = Rate::gbps(h.gbps);
  return headroom_cells({.rate = rate,
                         .propagation = Duration::ps(int64_t{h.metres} * kPsPerMetre),
                         .largest_frame = h.mtu + 14,
                         .smallest_frame = 60,
                         .cell = CellSize{kCell},
                         .response = PauseTiming::of(rate).response});
}

TEST_P(HeadroomOf, TheFormulaIsEnough) {
  const HeadroomRun run = run_headroom(GetParam(), static_cast<uint32_t>(formula_for(GetParam())));
  EXPECT_EQ(run.lost, 0u);
  EXPECT_GT(run.used, 0u) << "the scenario has to fill it";
}

std::vector<Headroom> headrooms() {
  std::vector<Headroom> all;
  int turn = 0;
  for (const uint64_t gbps : {10, 25, 100, 400}) {
    for (const uint32_t metres : {5U, 40U, 300U}) {
      for (const uint32_t mtu : {1500U, 9216U}) {
        for (const uint32_t frame : {60U, 209U, 1000U, mtu + 14}) {
          all.push_back({gbps, metres, mtu, frame, -7 + turn++ % 11});
        }
      }
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Links, HeadroomOf, ::testing::ValuesIn(headrooms()));

// Against what the worst size really fills: the bound lies within two largest frames and a cell of it.
TEST(HeadroomFormula, IsTight) {
  for (const uint64_t gbps : {10, 25, 100, 400}) {
    for (const uint32_t metres : {5U, 300U}) {
      for (const uint32_t mtu : {1500U, 9216U}) {
        const Headroom worst{gbps, metres, mtu, 60, 0};
        const uint64_t bound = formula_for(worst);
        const HeadroomRun run = run_headroom(worst, static_cast<uint32_t>(bound));
        const uint64_t slack = 2 * uint64_t{CellSize{kCell}.cells_of(mtu + 14)} + 1;
        EXPECT_LE(bound, run.used + slack) << ::testing::PrintToString(worst);
        EXPECT_EQ(run_headroom(worst, run.used).lost, 0u);
        EXPECT_GT(run_headroom(worst, run.used - 1).lost, 0u) << "one cell less than needed: loss";
      }
    }
  }
}

}  // namespace
}  // namespace softspine::tests
